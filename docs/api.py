"""Reference pages: what each public name is, takes and returns, and the cell that defines it.

Docstrings are Markdown, in the style of numpydoc (underlined sections) or of nbdev (a comment after
each parameter).
"""

import ast
import inspect
import re
from collections import namedtuple
from dataclasses import is_dataclass
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from textwrap import dedent
from tokenize import COMMENT, generate_tokens

empty = inspect.Parameter.empty

Chapter = namedtuple("Chapter", "module page title sentence")

# -- what a docstring says ------------------------------------------------------------------------
SECTION = re.compile(r"^([A-Z][\w ]*)\n-{3,}\n", re.M)
ITEM = re.compile(r"^(\S[^\n]*)(?:\n((?:[ \t]+[^\n]*\n?|\n)*))?", re.M)


def sections(doc):
    """A numpydoc docstring as `{heading: text}`; what comes first has the heading ""."""
    first, *rest = SECTION.split(doc)
    found = {"": first.strip()}
    for heading, text in zip(rest[::2], rest[1::2]):
        found[heading] = text.strip("\n")
    return found


def items(s):
    """The entries `name : type` of a section, as `(name, type, description)`."""
    for m in ITEM.finditer(inspect.cleandoc(s)):
        name, _, kind = m[1].partition(" : ")
        yield name.strip(), kind.strip(), " ".join((m[2] or "").split())


def plain(o):
    """The function behind a method or property; for a compiled loop the one it was made from."""
    return inspect.unwrap(getattr(o, "py_func", o))


def first_words(o):
    """The first paragraph of a docstring on one line, fit for a table."""
    if not callable(o):
        return ""
    paragraph = sections(inspect.getdoc(plain(o)) or "")[""].split("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")


# -- signatures and parameters --------------------------------------------------------------------
def parses(s):
    """Is this text the end of a function's head in Python?"""
    try:
        ast.parse(f"def f{s}: pass")
    except SyntaxError:
        return False
    return True


class Dots:
    """What stands for a default whose text is not Python."""

    def __repr__(self):
        return "..."


def bare_signature(o):
    """What Python knows of a signature; of some classes, as exceptions, nothing."""
    try:
        return inspect.signature(o)
    except (ValueError, TypeError):
        return inspect.Signature()


def tidy(parameter):
    """A parameter without its annotation, and with its default only where that is Python."""
    parameter = parameter.replace(annotation=empty)
    if parameter.default is empty or parses(f"(x={parameter.default!r})"):
        return parameter
    return parameter.replace(default=Dots())


def signature(o):
    """Names and defaults of the parameters of a function, method or class."""
    known = bare_signature(o)
    shown = [tidy(p) for name, p in known.parameters.items() if name != "self"]
    return str(known.replace(parameters=shown, return_annotation=empty))


def kind(annotation):
    """An annotation as text."""
    if annotation is empty or annotation is None:
        return ""
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, type):
        return annotation.__name__
    return str(annotation).replace("typing.", "")


# -- comments in signatures -----------------------------------------------------------------------
# fastcore's `docments` reads such comments too, but ties each to the last name on its line, and
# drops what is said of a value that has no annotation: half of our functions would lose a remark.
def head_of(source):
    """`(first line, line after the head, {line: names of the parameters on it})` of a definition.

    The fields of a dataclass stand for its parameters. None if there is nothing to read.
    """
    node = ast.parse(source).body[0]
    if isinstance(node, ast.ClassDef):
        last = node.end_lineno + 1
        names = [(n.lineno, n.target.id) for n in node.body if isinstance(n, ast.AnnAssign)]
    elif isinstance(node, ast.FunctionDef):
        last = node.body[0].lineno  # a comment beside the body is about the code
        a = node.args
        given = (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg)
        names = [(p.lineno, p.arg) for p in given if p and p.arg != "self"]
    else:
        return None
    lines = {}
    for line, name in names:
        lines.setdefault(line, []).append(name)
    return node.lineno, last, lines


def comments(source, first, last):
    """`(line, is it after the closing bracket?, words)` of the comments from `first` to `last`."""
    for token in generate_tokens(StringIO(source).readline):
        if token.type == COMMENT and first <= token.start[0] < last:
            closing = token.line.lstrip().startswith(")")
            yield token.start[0], closing, token.string.lstrip("# ").strip()


def remarks(o):
    """What the comments of a signature say: `({names on one line: comment}, comment on the value)`.

    A comment `-> …` or `returns …` is about the value, and one `name: …` about that parameter,
    wherever they stand.
    """
    documented = o if is_dataclass(o) or not inspect.isclass(o) else o.__init__
    try:
        source = dedent(inspect.getsource(documented))
        head = head_of(source)
    except (OSError, TypeError, SyntaxError):
        head = None  # made by Python, not by us
    if head is None:
        return {}, ""
    first, last, lines = head
    said, value = {}, ""
    for line, closing, words in comments(source, first, last):
        about_value = re.match(r"(?:->|[Rr]eturns:?) *", words)
        names = lines.get(line, [])
        one = next((n for n in names if words.startswith(f"{n}: ")), None)
        if about_value or (not names and closing):
            value = words[about_value.end() :] if about_value else words
        elif one:
            said[one] = words.partition(": ")[2]
        elif names:
            said[", ".join(names)] = words
    return said, value


# -- parameters and values ------------------------------------------------------------------------
def parameters(o, doc):
    """`(name, type, description)` of the parameters that the docstring or a comment describes."""
    told = {name: (type_, words) for name, type_, words in items(doc.get("Parameters", ""))}
    given = bare_signature(o).parameters
    for names, words in remarks(o)[0].items():
        first = names.partition(",")[0]
        if first in given and names not in told:
            told[names] = kind(given[first].annotation), words
    place = {name: i for i, name in enumerate(given)}

    def order(names):
        return place.get(names.partition(",")[0], len(place))

    return [(names, *told[names]) for names in sorted(told, key=order)]


def returned(o, doc):
    """`(name, type, description)` of what a function returns, as far as something says so."""
    if "Returns" in doc:
        return list(items(doc["Returns"]))
    words = remarks(o)[1]
    return [("", kind(bare_signature(o).return_annotation), words)] if words else []


# -- one entry ------------------------------------------------------------------------------------
# What people call, before what is new here.
FIRST = ("fit", "predict", "predict_proba", "decision_function", "score")
LISTED = ("", "Parameters", "Returns", "Attributes", "Raises")


def field_line(name, type_, words):
    """One entry below a field, as Markdown."""
    if type_ and not words:
        type_, words = "", type_  # `name : what it is`, and no type
    named = ((name, "parameter"), (type_, "type"))
    head = " ".join(f"`{x}`{{.{what}}}" for x, what in named if x)
    return f"  - {' – '.join(x for x in (head, words) if x)}"


def field(name, entries):
    """A field of an entry: a name, and a list of what stands under it."""
    lines = [field_line(*e) for e in entries]
    return [f":{name}:", *lines, ""] if lines else []


def code(s):
    """An example as a block of code."""
    if "```" in s:
        return s
    language = "pycon" if ">>>" in s else "python"
    return f"```{language}\n{inspect.cleandoc(s)}\n```"


def source(label):
    """A link to the cell that has this label."""
    return [f"{{.source}}\n{{ref}}`source <{label}>`\n"] if label else []


def fields(what, f, doc):
    """What the docstring `doc` lists about `f`, in the order of reading."""
    lines = [] if what == "property" else field("Parameters", parameters(f, doc))
    if what in ("function", "method"):
        lines += field("Returns", returned(f, doc))
    for heading in ("Attributes", "Raises"):
        lines += field(heading, items(doc.get(heading, "")))
    for heading, text in doc.items():
        if heading not in LISTED:
            shown = code(text) if heading == "Examples" else text
            lines.append(f"**{heading}**\n\n{shown}\n")
    return lines


def entry(what, name, o, label, inner="", fence="`````"):
    """The directive that documents `o`; `label` is that of the cell that defines it."""
    f = plain(o)
    doc = sections(inspect.getdoc(f) or "")
    head = name if what == "property" else f"{name}{signature(o)}"
    lines = [f"{fence}{{py:{what}}} {head}", "", *source(label), doc[""], ""]
    return "\n".join([*lines, *fields(what, f, doc), inner, fence, ""])


def shown(name, value):
    """Does the reference show the attribute `name`? Public methods and properties it does."""
    if name.startswith("_"):
        return False
    value = getattr(value, "__func__", value)
    compiled = callable(getattr(value, "py_func", None))
    return isinstance(value, property) or inspect.isfunction(value) or compiled


def members(cls, package):
    """What the reference shows of a class, that of our own base classes included."""
    seen = {}
    for c in cls.__mro__:
        if c.__module__.startswith(package):
            for name, value in vars(c).items():
                if name not in seen and shown(name, value):
                    seen[name] = getattr(value, "__func__", value)
    first = [name for name in FIRST if name in seen]
    return {name: seen[name] for name in dict.fromkeys([*first, *seen])}


def member(name, value, label):
    """The entry of a method or property `name`, which includes the name of its class."""
    what = "property" if isinstance(value, property) else "method"
    return entry(what, name, getattr(value, "fget", value), label, fence="````")


def describe(name, o, module, cells):
    """The entry of one public name; `cells` holds the labels of cells by full name."""
    label = cells.get(f"{module}.{name}")
    if inspect.isclass(o):
        inner = [
            member(f"{name}.{n}", value, cells.get(f"{module}.{name}.{n}"))
            for n, value in members(o, module.partition(".")[0]).items()
        ]
        return entry("class", name, o, label, "\n".join(inner))
    if callable(o):
        return entry("function", name, o, label)
    return constant(name, o, label)


def constant(name, o, label):
    """The entry of a name that is neither a class nor a function."""
    short = isinstance(o, int | float | str | tuple) and len(repr(o)) < 60
    value = [f":value: {o!r}"] if short else []
    return "\n".join([f"`````{{py:data}} {name}", *value, "", *source(label), "`````", ""])


# -- pages ----------------------------------------------------------------------------------------
def short(module):
    """The name of a module within the package."""
    return module.partition(".")[2]


def is_classifier(o):
    """Is this public name a classifier of scikit-learn's kind? They have pages of their own."""
    return inspect.isclass(o) and hasattr(o, "predict") and hasattr(o, "get_params")


def classifiers(package, chapters):
    """`(name, class, chapter)` of the classifiers that the package or a chapter offers."""
    for c in chapters:
        module = import_module(c.module)
        chapter = getattr(import_module(home(c)), "__all__", ())
        offered = {*import_module(package).__all__, *chapter}
        for n in module.__all__:
            o = getattr(module, n)
            if n in offered and is_classifier(o) and hasattr(o, "fit"):
                yield n, o, c


def home(chapter):
    """The package that a module belongs to."""
    return chapter.module.rpartition(".")[0]


def page(chapter, cells, apart=()):
    """The reference of one module; the names `apart` are described elsewhere."""
    module = import_module(chapter.module)
    head = [
        f"# {short(chapter.module)}",
        f"> {chapter.sentence}" if chapter.sentence else "",
        f"Derived in [{chapter.title}](../{chapter.page}).",
        f"```{{py:module}} {chapter.module}\n```\n",
        *(f"{{doc}}`{n} <{n}>` has a page of its own.\n" for n in module.__all__ if n in apart),
    ]
    names = [n for n in module.__all__ if n not in apart]
    # classes and what makes them come before helpers
    names.sort(key=lambda n: not inspect.isclass(getattr(module, n)))
    entries = [describe(n, getattr(module, n), chapter.module, cells) for n in names]
    return "\n\n".join(head) + "\n" + "\n".join(entries)


def classifier_page(name, o, chapter, cells):
    """The page of one classifier."""
    top = chapter.module.partition(".")[0]
    offers = top if name in import_module(top).__all__ else home(chapter)
    example = sections(inspect.getdoc(o) or "").get("Examples", "")
    described = describe(name, o, chapter.module, cells)
    if example:  # it opens the page
        described = described.replace(f"**Examples**\n\n{code(example)}\n", "")
    head = [
        f"# {name}",
        f"> {first_words(o)}",
        code(f">>> from {offers} import {name}\n{inspect.cleandoc(example)}".rstrip()),
        f"How it works: [{chapter.title}](../{chapter.page}). "
        "Which one to take: [Which classifier for which job](../tutorials/which_machine.ipynb).",
        f"```{{py:currentmodule}} {chapter.module}\n```\n",
    ]
    return "\n\n".join(head) + "\n" + described


def parted(name):
    """A long name that may break between its words, where the sidebar is narrow."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "\u200b", name) if len(name) > 22 else name


def classifiers_page(found):
    """The list of all classifiers."""
    rows = ["| classifier | what it is | theory |", "|---|---|---|"]
    for n, o, c in found:
        rows.append(f"| {{doc}}`{n} <{n}>` | {first_words(o)} | [{c.title}](../{c.page}) |")
    entries = (f"{parted(n)} <{n}>" for n, _, _ in found)
    pages = "\n".join(["```{toctree}", ":hidden:", "", *entries, "```"])
    sentence = "> Everything that has `fit` and `predict`: parameters, attributes, methods."
    return "\n\n".join(["# Classifiers", sentence, "\n".join(rows), pages]) + "\n"


def table(chapter, names):
    """These names of one module with their first sentences."""
    module = import_module(chapter.module)
    lines = ["| name | what it is |", "|---|---|"]
    for n in names:
        lines.append(f"| {{py:obj}}`~{chapter.module}.{n}` | {first_words(getattr(module, n))} |")
    return "\n".join(lines)


def front(package, chapters, found):
    """All public names of the package: the classifiers first, then chapter by chapter."""
    parts = ["# Reference", f"> Every name that `from {package} import …` gives, and every module."]
    rows = ["| classifier | what it is |", "|---|---|"]
    rows += [f"| {{doc}}`{n} <{n}>` | {first_words(o)} |" for n, o, _ in found]
    if found:
        parts += ["## Classifiers", "\n".join(rows)]
    apart, offered = {n for n, _, _ in found}, set(import_module(package).__all__)
    for c in chapters:
        names = [n for n in import_module(c.module).__all__ if n in offered and n not in apart]
        if names:
            parts += [f"## {short(c.module)}", table(c, names)]
    return "\n\n".join(parts)


def overview(package, chapters):
    """All public names of one package, module by module, with the pages of its modules below it."""
    says = inspect.getdoc(import_module(package)) or ""
    parts = [f"# {short(package) or package}", f"> {says.split(chr(10))[0]}" if says else ""]
    for c in chapters:
        names = import_module(c.module).__all__
        parts += [f"## {short(c.module)}", f"From [{c.title}](../{c.page}).", table(c, names)]
    pages = [short(c.module) for c in chapters]
    parts.append("\n".join(["```{toctree}", ":hidden:", "", *pages, "```"]))
    return "\n\n".join(parts) + "\n"


def write(chapters, folder, cells):
    """Write the reference of the modules of `chapters` into `folder`."""
    for c in chapters:
        if not find_spec(c.module):
            raise SystemExit(
                f"nbs/{c.page} exports {c.module}, which is not there: run make export"
            )
    chapters = [c for c in chapters if getattr(import_module(c.module), "__all__", [])]
    top = chapters[0].module.partition(".")[0]
    found, packages = list(classifiers(top, chapters)), {}
    apart = {n for n, _, _ in found}
    folder.mkdir(parents=True)

    def put(name, text):
        (folder / f"{name}.md").write_text(text, encoding="utf-8")

    for name, o, c in found:
        put(name, classifier_page(name, o, c, cells))
    if found:
        put("classifiers", classifiers_page(found))
    for c in chapters:
        packages.setdefault(home(c), []).append(c)
        put(short(c.module), page(c, cells, apart))
    for package, modules in packages.items():
        put(short(package) or package, overview(package, modules))
    pages = [short(package) or package for package in packages]
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *pages, "```"])
    put("index", front(top, chapters, found) + "\n\n" + toctree + "\n")
