"""Reference pages: signature, parameters, attributes, example, the cell that defines it and the chapter that derives it.
Docstrings are Markdown, in the style of nbdev (a comment after each parameter) or of numpydoc (underlined sections)."""

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

# -- what a docstring says --------------------------------------------------------------------------
SECTION = re.compile(r"^([A-Z][\w ]*)\n-{3,}\n", re.M)
ITEM = re.compile(r"^(\S[^\n]*)(?:\n((?:[ \t]+[^\n]*\n?|\n)*))?", re.M)


def sections(doc):
    "A numpydoc docstring as `{heading: text}`; what comes first has the heading ''."
    parts = SECTION.split(doc)
    return {"": parts[0].strip(), **{h: s.strip("\n") for h, s in zip(parts[1::2], parts[2::2])}}


def items(s):
    "The entries `name : type` with their indented descriptions, as `(name, type, description)`."
    for m in ITEM.finditer(inspect.cleandoc(s)):
        name, _, kind = m[1].partition(" : ")
        yield name.strip(), kind.strip(), " ".join((m[2] or "").split())


def plain(o):
    return inspect.unwrap(
        getattr(o, "py_func", o)
    )  # a compiled kernel documents the function it was made from


def first_words(o):
    "The first paragraph of a docstring on one line, fit for a table."
    return (
        " ".join(sections(inspect.getdoc(plain(o)) or "")[""].split("\n\n")[0].split()).replace(
            "|", "\\|"
        )
        if callable(o)
        else ""
    )


# -- signatures and parameters ------------------------------------------------------------------------
def parses(s):
    try:
        ast.parse(f"def f{s}: pass")
        return True
    except SyntaxError:
        return False


class Dots:
    def __repr__(self):
        return "..."


def bare_signature(o):
    "What Python knows of it; of some classes, as exceptions, nothing."
    try:
        return inspect.signature(o)
    except (ValueError, TypeError):
        return inspect.Signature()


def signature(o):
    "Names and defaults; what a default looks like is shown only where it is Python."
    s = bare_signature(o)

    def tidy(p):
        p = p.replace(annotation=empty)
        return (
            p if p.default is empty or parses(f"(x={p.default!r})") else p.replace(default=Dots())
        )

    return str(
        s.replace(
            parameters=[tidy(p) for n, p in s.parameters.items() if n != "self"],
            return_annotation=empty,
        )
    )


def kind(a):
    "An annotation as text."
    if a is empty or a is None:
        return ""
    return (
        a
        if isinstance(a, str)
        else a.__name__
        if isinstance(a, type)
        else str(a).replace("typing.", "")
    )


def remarks(o):
    """What the comments of a signature say: `{names that share a line: comment}`, and what the one after its end says of the value.
    A comment `-> …` or `returns …` is about the value, and one `name: …` about that parameter, wherever they stand."""
    f = o if is_dataclass(o) or not inspect.isclass(o) else o.__init__
    try:
        src = dedent(inspect.getsource(f))
        node = ast.parse(src).body[0]
    except (OSError, TypeError, SyntaxError):
        return {}, ""  # made by Python, not by us
    if isinstance(node, ast.ClassDef):
        last, names = (
            10**6,
            [(n.lineno, n.target.id) for n in node.body if isinstance(n, ast.AnnAssign)],
        )
    elif isinstance(node, ast.FunctionDef):
        a, last = node.args, node.body[0].lineno  # a comment beside the body is about the code
        names = [
            (p.lineno, p.arg)
            for p in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg)
            if p
        ]
    else:
        return {}, ""
    lines, said, value = {}, {}, ""
    for line, n in names:
        lines.setdefault(line, []).append(n)
    for t in generate_tokens(StringIO(src).readline):
        if t.type != COMMENT or not node.lineno <= t.start[0] < last:
            continue
        words = t.string.lstrip("# ").strip()
        about = re.match(r"(?:->|[Rr]eturns:?) *", words)
        on = [n for n in lines.get(t.start[0], []) if n != "self"]
        one = [n for n in on if words.startswith(f"{n}: ")]
        if about or not on and t.line.lstrip().startswith(")"):
            value = words[about.end() :] if about else words
        elif one:
            said[one[0]] = words.partition(": ")[2]
        elif on:
            said[", ".join(on)] = words
    return said, value


def parameters(o, doc):
    "`(name, type, description)` of each parameter that the docstring or a comment describes."
    told = {n: (t, d) for n, t, d in items(doc.get("Parameters", ""))}
    given = bare_signature(o).parameters
    for n, words in remarks(o)[0].items():
        first = n.partition(",")[0]
        if first in given and n not in told:
            told[n] = kind(given[first].annotation), words
    place = {n: i for i, n in enumerate(given)}
    return [
        (n, *told[n])
        for n in sorted(told, key=lambda n: place.get(n.partition(",")[0], len(place)))
    ]


def returned(o, doc):
    if "Returns" in doc:
        return list(items(doc["Returns"]))
    words = remarks(o)[1]
    return [("", kind(bare_signature(o).return_annotation), words)] if words else []


# -- one entry --------------------------------------------------------------------------------------
def field(name, entries):
    "A field of an entry: a name, and a list of what stands under it."

    def line(n, t, d):
        if t and not d:
            t, d = "", t  # `name : what it is`, and no type
        head = " ".join(f"`{x}`{{.{what}}}" for x, what in ((n, "parameter"), (t, "type")) if x)
        return f"  - {head}{' – ' if head and d else ''}{d}"

    lines = [line(*e) for e in entries]
    return [f":{name}:", *lines, ""] if lines else []


def code(s):
    return (
        s if "```" in s else f"```{'pycon' if '>>>' in s else 'python'}\n{inspect.cleandoc(s)}\n```"
    )


def source(label):
    return [f"{{.source}}\n{{ref}}`source <{label}>`\n"] if label else []


def entry(what, name, o, module, where, inner="", fence="`````"):
    "The directive that documents `o`."
    f = plain(o)
    doc = sections(inspect.getdoc(f) or "")
    fields = [] if what == "property" else field("Parameters", parameters(f, doc))
    if what in ("function", "method"):
        fields += field("Returns", returned(f, doc))
    for h in ("Attributes", "Raises"):
        fields += field(h, items(doc.get(h, "")))
    listed = ("", "Parameters", "Returns", "Attributes", "Raises")
    rest = [
        f"**{h}**\n\n{code(s) if h == 'Examples' else s}\n"
        for h, s in doc.items()
        if h not in listed
    ]
    head = name if what in ("property", "data") else f"{name}{signature(o)}"
    return "\n".join(
        [
            f"{fence}{{py:{what}}} {head}",
            "",
            *source(where.get(f"{module}.{name}")),
            doc[""],
            "",
            *fields,
            *rest,
            inner,
            fence,
            "",
        ]
    )


def members(cls, package):
    "Public methods and properties, those of our base classes included, and special methods that say what they do."
    seen = {}
    for c in cls.__mro__:
        if not c.__module__.startswith(package):
            continue
        for n, v in vars(c).items():
            special = (
                n.startswith("__")
                and n != "__init__"
                and inspect.isfunction(v)
                and v.__doc__
                and v.__module__ == c.__module__
            )
            if n not in seen and (special or not n.startswith("_")):
                v = getattr(v, "__func__", v)
                if (
                    isinstance(v, property)
                    or inspect.isfunction(v)
                    or callable(getattr(v, "py_func", None))
                ):
                    seen[n] = v
    return seen


def describe(name, o, module, where):
    "The entry of one public name."
    if inspect.isclass(o):
        inner = [
            entry(
                "property" if isinstance(v, property) else "method",
                f"{name}.{n}",
                getattr(v, "fget", v),
                module,
                where,
                fence="````",
            )
            for n, v in members(o, module.partition(".")[0]).items()
        ]
        return entry("class", name, o, module, where, "\n".join(inner))
    if callable(o):
        return entry("function", name, o, module, where)
    return constant(name, o, where.get(f"{module}.{name}"))


def constant(name, o, label):
    value = (
        [f":value: {o!r}"] if isinstance(o, (int, float, str, tuple)) and len(repr(o)) < 60 else []
    )
    return "\n".join([f"`````{{py:data}} {name}", *value, "", *source(label), "`````", ""])


# -- pages ------------------------------------------------------------------------------------------
def page(chapter, where):
    m = import_module(chapter.module)
    short = chapter.module.partition(".")[2]
    out = [
        f"# {short}",
        "",
        f"> {chapter.sentence}" if chapter.sentence else "",
        "",
        f"Derived in [{chapter.title}](../{chapter.page}).",
        "",
        f"```{{py:module}} {chapter.module}\n```",
        "",
    ]
    return "\n".join(out + [describe(n, getattr(m, n), chapter.module, where) for n in m.__all__])


def overview(chapters):
    "All public names in one table a module."
    out = [
        "# Everything by name",
        "",
        "> Each public name with its first sentence, module by module.",
        "",
    ]
    for c in chapters:
        m, short = import_module(c.module), c.module.partition(".")[2]
        out += [
            f"## {short}",
            "",
            f"From [{c.title}](../{c.page}).",
            "",
            "| name | what it is |",
            "|---|---|",
        ]
        out += [
            f"| {{py:obj}}`~{c.module}.{n}` | {first_words(getattr(m, n))} |" for n in m.__all__
        ] + [""]
    return "\n".join(out)


def write(chapters, folder, where):
    "Write the reference of the modules of `chapters` into `folder`; returns the names of the pages, in order."
    for c in chapters:
        if not find_spec(c.module):
            raise SystemExit(
                f"nbs/{c.page} exports {c.module}, which is not there: run nbdev_export"
            )
    chapters = [c for c in chapters if getattr(import_module(c.module), "__all__", [])]
    if not chapters:
        return []
    folder.mkdir(parents=True)
    (folder / "index.md").write_text(overview(chapters), encoding="utf-8")
    for c in chapters:
        (folder / f"{c.module.partition('.')[2]}.md").write_text(page(c, where), encoding="utf-8")
    return ["index", *(c.module.partition(".")[2] for c in chapters)]
