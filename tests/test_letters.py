"""One letter, one meaning: the tables of symbols of the pages, compared with the notation page.

The notation page has the letters of the house, and those with another meaning in a chapter. A
letter counts as the same where it stands for the same kind of thing: a number, a vector, a matrix.
"""

import re
from collections import defaultdict

import pytest
from cells import ROOT, all_notebooks, prose_of, read
from lint import rows_of_tables

NOTATION = ROOT / "nbs/00_notation.ipynb"


def tables(texts):
    """The tables in these texts: a heading row, and rows."""
    for source in texts:
        for block in re.findall(r"(?:^\|.*\n?)+", source, re.M):
            head, _, *rows = rows_of_tables(block)
            yield head, rows


def kinds(shape):
    """What a shape says: 0 a number, 1 a vector, 2 a matrix; several, or none if it says nothing.

    Sizes may have any name, since a class has m rows where a data set has n.
    """
    found = {
        len([size for size in s.split(",") if size]) for s in re.findall(r"\(([^()]*)\)", shape)
    }
    return found | ({0} if "number" in shape else set())


def kinds_of(names, shape):
    """The kinds of each of these names, whose shapes stand side by side, or are one for all."""
    shape = re.sub(r"[`$\s]", "", shape)
    parts = re.split(r",(?![^()]*\))", shape)
    if len(parts) == len(names):
        return [kinds(part) for part in parts]
    return [kinds(shape) if len(parts) == 1 else set()] * len(names)


def letters(texts):
    """`(letter, kinds)` of the rows of tables of symbols; an identifier of one letter is one."""
    for head, rows in tables(texts):
        if head[1:3] != ["identifier", "shape"]:
            continue
        for row in rows:
            names = re.findall(r"`([^`]+)`", row[1])
            for name, found in zip(names, kinds_of(names, row[2]), strict=True):
                if len(name) == 1:
                    yield name, found


def chapter_of(notebook):
    return notebook.relative_to(ROOT / "nbs").parts[0]


def used():
    """The kinds of each letter in the tables of the chapters: `{(chapter, letter): [kinds]}`."""
    found = defaultdict(list)
    for notebook in all_notebooks():
        if notebook.parent != ROOT / "nbs":
            for letter, kinds in letters(prose_of(read(notebook))):
                found[chapter_of(notebook), letter].append(kinds)
    return found


def taken():
    """The letters that chapters take for themselves, by the table of the notation page."""
    found = set()
    for head, rows in tables(prose_of(read(NOTATION))):
        if head[:2] == ["letter", "chapter"]:
            found |= {(row[1].strip("`"), row[0].strip("`")) for row in rows}
    return found


HOUSE = dict(letters(prose_of(read(NOTATION))))
USED, TAKEN = used(), taken()


def misused(letter, uses, house):
    """Does a letter stand for another kind of thing than in the house, or for several?"""
    said = [kinds for kinds in (*uses, house.get(letter, set())) if kinds]
    return bool(said) and not set.intersection(*said)


def test_there_are_letters():
    assert {"n", "d", "K", "X", "y", "F", "C"} <= set(HOUSE)
    assert len(USED) > 100 and len(TAKEN) > 5


@pytest.mark.parametrize("chapter", sorted({chapter for chapter, _ in USED}))
def test_a_letter_means_one_thing(chapter):
    """But for those that the notation page names."""
    found = {k for (c, k), uses in USED.items() if c == chapter and misused(k, uses, HOUSE)}
    assert found <= {k for c, k in TAKEN if c == chapter}


def test_the_notation_page_names_no_letter_in_vain():
    assert set(USED) >= TAKEN


def test_another_meaning_is_seen():
    house = {"X": {2}, "K": set()}
    assert not misused("X", [{2}, set()], house) and not misused("K", [set()], house)
    assert misused("X", [{1}], house) and misused("z", [{1}, {2}], house)
    assert not misused("z", [{1}, {0, 1}], house)
    assert kinds_of(["X", "y"], "`(n, d)`, `(n,)`") == [{2}, {1}]
    assert kinds_of(["s", "t"], "number or `(n,)`") == [{0, 1}] * 2
