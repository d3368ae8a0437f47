"""The house: who may import whom, and what every chapter gives to `core.solving`.

`engine` is lowest and imports nothing, `core` stands on it. A chapter imports these two and nothing
else of the package, so that it can be read, changed or removed alone. `scale` stands above the
chapters, `studies` above all, and nobody imports it.
"""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import mcsvm_lit
from mcsvm_lit.core.solving import Problem, Strategy

PACKAGE = Path(mcsvm_lit.__file__).parent
CHAPTERS = {"crammer_singer", "kernel_logistic", "twin_margin", "twin_ksvc", "probability"}
# What the modules of a folder may import, beside their own folder.
MAY_IMPORT = {
    "engine": set(),
    "core": {"engine"},
    **dict.fromkeys(CHAPTERS, {"engine", "core"}),
    "scale": {"engine", "core", *CHAPTERS},
    "studies": {"engine", "core", "scale", *CHAPTERS},
}


def imported(source, folder):
    """The modules of the package that a module text imports, wherever in it, as lists of parts.

    `folder` holds the parts of the folder in which the module stands, without `mcsvm_lit`.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            paths = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = ["mcsvm_lit", *folder]
            start = above[: len(above) - node.level + 1] if node.level else []
            start += node.module.split(".") if node.module else []
            paths = [[*start, alias.name] for alias in node.names]
        else:
            continue
        yield from (path[1:] for path in paths if path[0] == "mcsvm_lit" and len(path) > 1)


def home(path):
    """The folder that an import leads to; of a name that the package offers, that of its module."""
    homes = {
        name: module.split(".")[0] for module, names in mcsvm_lit._HOMES.items() for name in names
    }
    return homes.get(path[0], path[0])


def wrong_arrows(source, folder):
    """The folders that a module text imports and may not."""
    allowed = {folder[0], *MAY_IMPORT[folder[0]], "offer", "__version__"}
    return {home(path) for path in imported(source, folder)} - allowed


MODULES = sorted(f for f in PACKAGE.rglob("*.py") if f.parent != PACKAGE)


@pytest.mark.parametrize("file", MODULES, ids=lambda f: f.relative_to(PACKAGE).as_posix())
def test_private_parts_of_scikit_learn_are_used_in_one_module(file):
    if file.relative_to(PACKAGE).as_posix() == "core/scikit_learn.py":
        return
    tree = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    imports = [node for node in tree if isinstance(node, ast.ImportFrom) and node.module]
    ours = [node for node in imports if node.module.partition(".")[0] == "sklearn"]
    paths = [[*node.module.split("."), alias.name] for node in ours for alias in node.names]
    assert not [path for path in paths if any(part.startswith("_") for part in path)]


@pytest.mark.parametrize("file", MODULES, ids=lambda f: f.relative_to(PACKAGE).as_posix())
def test_arrows_point_down(file):
    folder = file.relative_to(PACKAGE).parts[:-1]
    assert not wrong_arrows(file.read_text(encoding="utf-8"), folder)


def test_every_folder_has_its_place():
    folders = {f.name for f in PACKAGE.iterdir() if (f / "__init__.py").exists()}
    assert folders == set(MAY_IMPORT)


@pytest.mark.parametrize(
    "folder, source, wrong",
    [
        ("core", "from ..twin_ksvc.problem import twin_dual", {"twin_ksvc"}),
        ("engine", "from mcsvm_lit.core.kernels import Kernel", {"core"}),
        ("probability", "from ..twin_margin import problem", {"twin_margin"}),
        ("probability", "from .. import twin_margin", {"twin_margin"}),
        ("twin_ksvc", "import mcsvm_lit.crammer_singer.problem", {"crammer_singer"}),
        ("twin_ksvc", "from mcsvm_lit import CrammerSingerSVC", {"crammer_singer"}),
        ("twin_ksvc", "def plot():\n    from ..studies.figures import axes", {"studies"}),
        ("studies.exhibits", "from ...scale import dask\nfrom ..figures import axes", set()),
        ("twin_ksvc", "from ..core.kernels import Kernel\nfrom .problem import twin_dual", set()),
    ],
)
def test_an_arrow_that_points_the_wrong_way_is_seen(folder, source, wrong):
    assert wrong_arrows(source, folder.split(".")) == wrong


# -- the order of the pages ------------------------------------------------------------------------
# A page that is read after another may use it, not the other way round. What stays is listed here.
LATER = {
    # kernels bound their rounding, which certificates count
    "01_kernels": {"04_certificates"},
    "09_paths": {"09a_drawing"},
}
PAGE = re.compile(r"File to edit: \S*/((\d+)([a-z]*)_\w+)\.ipynb")


def page_of(file):
    """The page that writes a module, and its place in the order; None if written by hand."""
    found = PAGE.search(file.read_text(encoding="utf-8")[:2000])
    return found and (found[1], (int(found[2]), found[3]))


PAGES = {f: page_of(f) for f in MODULES if page_of(f)}


def looks_ahead(source, place, folder, pages):
    """The later pages of its own chapter that a module text imports.

    `pages` says which page each module of the chapter is, and its place.
    """
    used = {path[1] for path in imported(source, [folder]) if path[0] == folder and path[1:]}
    used |= {
        module.split(".")[1]
        for path in imported(source, [folder])
        for module, names in mcsvm_lit._HOMES.items()
        if path[0] in names and module.split(".")[0] == folder
    }
    return {pages[m][0] for m in used if m in pages and pages[m][1] > place}


@pytest.mark.parametrize("file", PAGES, ids=lambda f: f.relative_to(PACKAGE).as_posix())
def test_no_page_imports_a_later_one(file):
    name, place = PAGES[file]
    pages = {f.stem: page for f, page in PAGES.items() if f.parent == file.parent}
    ahead = looks_ahead(file.read_text(encoding="utf-8"), place, file.parent.name, pages)
    assert ahead == LATER.get(name, set())


def test_a_page_that_looks_ahead_is_seen():
    pages = {"hinge": ("52_problem", (52, "")), "path_in_weights": ("52d_path", (52, "a"))}
    look = "from mcsvm_lit import pi_path"
    for source in ("from .path_in_weights import tour", look, f"def late():\n    {look}"):
        assert looks_ahead(source, (52, ""), "probability", pages) == {"52d_path"}
        assert not looks_ahead(source, (52, "a"), "probability", pages)
        assert not looks_ahead(source, (53, ""), "probability", pages)
    assert {name for name, _ in PAGES.values()} >= set(LATER)


# -- problems and strategies -----------------------------------------------------------------------
def classes(chapter, *methods):
    """The classes that the modules of a chapter define and that have all these methods."""
    for file in sorted((PACKAGE / chapter).glob("*.py")):
        if file.stem.startswith("_"):
            continue
        module = import_module(f"mcsvm_lit.{chapter}.{file.stem}")
        for cls in vars(module).values():
            own = inspect.isclass(cls) and cls.__module__ == module.__name__
            if own and all(callable(getattr(cls, m, None)) for m in methods):
                yield cls


def breaches(cls, protocol):
    """What a class lacks of a protocol: attributes, methods, and the parameters of methods."""
    for attribute in getattr(protocol, "__annotations__", {}):
        if not isinstance(getattr(cls, attribute, None), str):
            yield f"{cls.__name__} has no {attribute}"
    for name, method in inspect.getmembers(protocol, inspect.isfunction):
        if name.startswith("_"):
            continue
        if not inspect.isfunction(getattr(cls, name, None)):
            yield f"{cls.__name__} has no method {name}"
            continue
        promised = inspect.signature(method).parameters.values()
        given = list(inspect.signature(getattr(cls, name)).parameters.values())
        further = given[len(promised) :]
        if any(p.default is p.empty for p in further) or not all(
            p.name == q.name and (p.default is p.empty) == (q.default is q.empty)
            for p, q in zip(promised, given, strict=False)
        ):
            yield f"{cls.__name__}.{name}{inspect.signature(getattr(cls, name))}"
        elif len(given) < len(promised):
            yield f"{cls.__name__}.{name} takes too few arguments"


@pytest.mark.parametrize("chapter", sorted(CHAPTERS))
def test_every_problem_is_one_for_solve(chapter):
    found = list(classes(chapter, "certify", "refresh"))
    assert found, "a chapter declares its problem to core.solving"
    assert not [b for cls in found for b in breaches(cls, Problem)]


@pytest.mark.parametrize("chapter", sorted(CHAPTERS))
def test_every_strategy_is_one_for_solve(chapter):
    found = list(classes(chapter, "suits", "run"))
    assert found, "a chapter has a strategy for its problem"
    assert not [b for cls in found for b in breaches(cls, Strategy)]


def test_a_breach_of_a_protocol_is_seen():
    class Half:
        def start(self, before):
            pass

        def refresh(self, state, scores):
            pass

        def certify(self, state, n_iter=0):
            pass

    assert list(breaches(Half, Problem)) == [
        "Half.certify takes too few arguments",
        "Half.refresh(self, state, scores)",
        "Half.start(self, before)",
    ]
    assert "Half has no name" in list(breaches(Half, Strategy))
    assert "Half has no method run" in list(breaches(Half, Strategy))


MEANINGS = 62  # names of classes and functions that more than one module defines: fewer, please


def test_a_name_means_one_thing():
    homes = {}
    for file in MODULES:
        if file.relative_to(PACKAGE).parts[0] == "studies":
            continue
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                homes.setdefault(node.name, set()).add(file.stem)
    several = {name: sorted(found) for name, found in homes.items() if len(found) > 1}
    assert len(several) <= MEANINGS, several


# -- what a parameter is unless somebody says so --------------------------------------------------
def defaults(function):
    """Parameters of a function (a node) that have a default, and the default as a node."""
    arguments = function.args
    places = arguments.posonlyargs + arguments.args
    some = zip(reversed(places), reversed(arguments.defaults))
    return {a.arg: value for a, value in (*some, *zip(arguments.kwonlyargs, arguments.kw_defaults))}


def test_everything_is_quiet_by_default():
    found = 0
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            value = defaults(node).get("verbose") if isinstance(node, ast.FunctionDef) else None
            if value is not None:
                assert ast.literal_eval(value) == 0, (path.name, node.name)
                found += 1
    assert found > 20


def test_everything_public_gives_the_same_twice():
    asked = [inspect.signature(getattr(mcsvm_lit, name)).parameters for name in public_callables()]
    states = [p["random_state"].default for p in asked if "random_state" in p]
    assert states and set(states) == {0}


def public_callables():
    """The functions and classes at the top of the package."""
    return [name for name in mcsvm_lit.__all__ if callable(getattr(mcsvm_lit, name))]
