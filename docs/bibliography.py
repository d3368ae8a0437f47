"""Citations of the write-up, from its bibliography in BibTeX, as authors and years."""

import re

ENTRY = re.compile(r"@(\w+)\{([\w-]+),\n(.*?)\n\}", re.S)
FIELD = re.compile(r"(\w+)\s*=\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
CITATION = re.compile(r"\[((?:@[\w-]+(?:; )?)+)\]")
ACCENTS = {r"{\"e}": "ë", r"{\'e}": "é", r"{\"o}": "ö", r"{\"u}": "ü"}


def plain(words):
    """TeX without its accents, braces and dashes."""
    for tex, letter in ACCENTS.items():
        words = words.replace(tex, letter)
    return re.sub(r"[{}]", "", words).replace("---", "—").replace("--", "–")


def read(file):
    """The entries of a bibliography, `{key: {field: words}}`."""
    found = ENTRY.findall(file.read_text(encoding="utf-8"))
    return {key: {k: plain(v) for k, v in FIELD.findall(body)} for _, key, body in found}


def short(entry):
    """Authors and year as they stand in a sentence: Crammer and Singer 2001."""
    families = [name.split(",")[0] for name in entry["author"].split(" and ")]
    who = " and ".join(families) if len(families) < 3 else f"{families[0]} and others"
    return f"{who} {entry['year']}"


def full(entry):
    """An entry as a line of the list of references."""
    where = entry.get("journal") or entry.get("booktitle", "")
    number = f"({entry['number']})" if "number" in entry else ""
    parts = [f"*{where}*", entry.get("volume", "") + number, entry.get("pages", "")]
    names = [" ".join(reversed(name.split(", "))) for name in entry["author"].split(" and ")]
    who = ", ".join(names).replace(", others", " and others")
    return f"{who} ({entry['year']}). {entry['title']}. {', '.join(p for p in parts if p)}."


def cited(text, entries):
    """The text with authors and years for its keys, and its list of references at the end."""

    def named(found):
        keys = re.findall(r"@([\w-]+)", found[1])
        return f"({'; '.join(short(entries[key]) for key in keys)})"

    by_name = sorted(entries.values(), key=lambda entry: entry["author"].lower())
    listed = "\n".join(f"* {full(entry)}" for entry in by_name)
    return f"{CITATION.sub(named, text).rstrip()}\n\n{listed}\n"
