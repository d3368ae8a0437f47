"""Who uses which module: the imports of modules, notebooks and tests, followed to their ends."""

import ast
import re
import sys
from functools import cache

PACKAGE = "mcsvm_lit"
MAGIC = re.compile(r"^\s*[%!].*$", re.M)
# What a reader has who installed the package and runs notebooks.
BASE = {PACKAGE, "IPython", "joblib", "numpy", "scipy", "sklearn", "threadpoolctl", "tqdm"}


def module_name(file, root):
    """The dotted name of a Python file of the package."""
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules(root):
    """The modules and packages below `root`, as `{dotted name: file}`."""
    return {module_name(f, root): f for f in sorted((root / PACKAGE).rglob("*.py"))}


@cache
def homes(root):
    """Where each name is defined that the package and its chapters offer: `{name: module}`."""
    found = {}
    for node in ast.walk(ast.parse((root / PACKAGE / "__init__.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Dict) and all(isinstance(v, ast.List) for v in node.values):
            table = ast.literal_eval(node)
            found |= {
                name: f"{PACKAGE}.{module}" for module, names in table.items() for name in names
            }
    return found


def imported(tree, package):
    """The dotted names that a syntax tree of the package `package` imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".") if node.level else []
            start = above[: len(above) - node.level + 1] + (node.module or "").split(".")
            yield from (".".join([*filter(None, start), alias.name]) for alias in node.names)


def needed(nb):  # a notebook as JSON -> extras, packages that no extra brings
    """What a reader must have beside the package who runs a page of their own download."""
    try:
        from mcsvm_lit.engine.extras import EXTRA_OF
    except ModuleNotFoundError:  # a package without extras
        EXTRA_OF = {}
    code = "\n".join(MAGIC.sub("", c["source"]) for c in nb["cells"] if c["cell_type"] == "code")
    packages = {name.partition(".")[0] for name in imported(ast.parse(code), PACKAGE)}
    packages -= BASE | sys.stdlib_module_names
    return {EXTRA_OF[p] for p in packages & EXTRA_OF.keys()}, packages - EXTRA_OF.keys()


def in_a_clone(nb):
    """Does a page show what is in the repository and not in the package, such as stored tables?"""
    needs = r"full=True\)|repository_file\(\"benchmarks|Path\(\"\.\."
    return any(c["cell_type"] == "code" and re.search(needs, c["source"]) for c in nb["cells"])


@cache
def own_names(root):
    """What `__init__.py` of the package defines itself."""
    tree = ast.parse((root / PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    return {getattr(node, "name", "__version__") for node in tree.body}


def imported_names(source):
    """The dotted names that a program outside the package imports or names in its texts."""
    texts = re.findall(rf"\b{PACKAGE}(?:\.\w+)+", source)
    return {*imported(ast.parse(source), PACKAGE), *texts}


def resolved(name, root):
    """The modules that a dotted name stands for.

    A name that is neither a module nor a name in one stands for all that lies below its package:
    whoever imports a package, and not a module or a name of it, may use anything there.
    """
    known = modules(root)
    head, _, last = name.rpartition(".")
    for module in (name, head):
        if module in known and known[module].name != "__init__.py":
            return {module}
    if head in known and last in homes(root):
        return {homes(root)[last]}
    if head == PACKAGE and last in own_names(root) or last.startswith("_"):
        return set()
    package = name if name in known else head
    return {m for m in known if f"{m}.".startswith(f"{package}.")} if package in known else set()


def named(tree):
    """The dotted names in the strings of a syntax tree: of what is imported by its name.

    A package alone is none: its folder holds data, too.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = re.fullmatch(rf"({PACKAGE}(?:\.\w+)+\.|{PACKAGE}(?:\.\w+){{2,}})", node.value)
            if found:
                yield found[1].rstrip(".")


def used(names, root):
    """The modules of the package that dotted names stand for, with the package itself."""
    ours = (name for name in names if name.split(".")[0] == PACKAGE)
    return {PACKAGE}.union(*(resolved(name, root) for name in ours))


def uses_of(source, root):
    """The modules that a program outside the package uses, also those that its texts name."""
    return used(imported_names(source), root)


@cache
def arrows(root):
    """The modules that each module of the package imports.

    What `core` and `engine` do with the whole package they do to what is there: no arrow of theirs
    points up.
    """
    found = {}
    for name, file in modules(root).items():
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = {*imported(tree, package), *named(tree)}
        if name.split(".")[1:2] in (["core"], ["engine"]):
            names -= {PACKAGE}
        found[name] = used(names, root) - {name} if package != name else set()
    return found


def reached(names, root):
    """Modules with all that they import, and what that imports, and so on."""
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += arrows(root).get(name, ())
    return found


def users(module, root):
    """The modules that import a module, themselves or by way of others."""
    return {m for m in modules(root) if m != module and module in reached([m], root)}


def notebook_source(cells):
    """The code of a notebook as Python, without magics."""
    code = ("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    return "\n".join(MAGIC.sub("", s) for s in code if not s.startswith("%%"))
