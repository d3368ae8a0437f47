"""What the reference needs beside autosummary and numpydoc.

Docstrings are Markdown, as the pages are; the source of a public name is the cell that defines it.
"""

import inspect
import json
import re
from importlib import import_module
from pathlib import Path

from docutils.nodes import make_id

PLACE = "api/index.rst"
CELLS = {}  # where names are defined: {full name: (page, anchor of the cell)}
KEPT = re.compile(r"(^\S.* : .+$|^-+$)", re.M)
NAMES = re.compile(r"^   ([a-z_.]+\.\w+)$", re.M)
MARKUP = re.compile(r"``.+?``|`(?P<code>[^`]+)`|\$(?P<math>[^$]+)\$", re.S)


def restructured(words):
    """A paragraph of Markdown in reStructuredText: code, mathematics, and the letters `|*_`."""

    def plain(text):
        return re.sub(r"([|*]|_(?!\w))", r"\\\1", text)

    parts, end = [], 0
    for m in MARKUP.finditer(words):
        parts.append(plain(words[end : m.start()]))
        shown = f":math:`{m['math']}`" if m["math"] else f"``{m['code']}``" if m["code"] else m[0]
        parts.append(shown)
        end = m.end()
    return "".join([*parts, plain(words[end:])])


def in_markdown(app, what, name, thing, options, lines):
    """Make reStructuredText of a docstring, before numpydoc reads its sections."""
    prose, examples, code = "\n".join(lines).partition("Examples\n---")
    parts = KEPT.split(prose)  # what stands between lines that only numpydoc reads, and these
    parts[::2] = map(restructured, parts[::2])
    for i, line in enumerate(parts[1::2]):
        named, colon, kind = line.partition(" : ")
        parts[2 * i + 1] = named + colon + re.sub(r"(?<=\w)_(?!\w)", r"\_", kind)
    lines[:] = ("".join(parts) + examples + code).split("\n")


def left_out(app, what, name, thing, skip, options):
    """Leave out what is no method or property of ours; `Attributes` tells of the rest."""
    if what != "class":
        return None
    if isinstance(thing, property):
        return name.startswith("_")
    function = inspect.isfunction(thing) or inspect.ismethod(thing)
    return name.startswith("_") or not (function and thing.__module__.startswith("mcsvm_lit"))


def cell_of(domain, info):
    """The cell that defines a public name, as an address below the folder of the reference."""
    thing = import_module(info["module"])
    for part in info["fullname"].split("."):
        thing = getattr(thing, part)
    thing = inspect.unwrap(getattr(thing, "fget", thing))
    full = f"{thing.__module__}.{thing.__qualname__.split('.')[0]}"
    if full not in CELLS:
        return None
    page, anchor = CELLS[full]
    return f"../{page}.html#{anchor}"


def prepare(app):
    """Read which cell defines which name, where the site is staged."""
    cells = json.loads((Path(app.srcdir) / "cells.json").read_text(encoding="utf-8"))
    CELLS.update({name: (page, make_id(label)) for name, (page, label) in cells.items()})


def configure(app, config):
    """Name the pages of the reference after what they describe."""
    file = Path(app.srcdir) / PLACE
    listed = NAMES.findall(file.read_text(encoding="utf-8")) if file.exists() else []
    config.autosummary_filename_map = {name: name.rpartition(".")[2] for name in listed}
    config.autosummary_generate = [PLACE] if listed else False


def setup(app):
    app.connect("config-inited", configure, priority=100)
    app.connect("builder-inited", prepare, priority=100)
    app.connect("autodoc-process-docstring", in_markdown, priority=100)
    app.connect("autodoc-skip-member", left_out)
    return dict(parallel_read_safe=True, parallel_write_safe=True)
