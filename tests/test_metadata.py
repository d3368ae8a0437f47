"""What stands in more than one file about the package says the same in each of them."""

import re
import tomllib
from configparser import ConfigParser
from importlib import import_module
from importlib.metadata import distributions
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import mcsvm_lit
import mcsvm_lit.scale

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CITED = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PAPER = (ROOT / "paper/paper.md").read_text(encoding="utf-8")
BIBLIOGRAPHY = (ROOT / "paper/paper.bib").read_text(encoding="utf-8")
CITE = (ROOT / "docs/pages/cite.md").read_text(encoding="utf-8")


SETTINGS = ConfigParser()
SETTINGS.read(ROOT / "settings.ini", encoding="utf-8")
SETTINGS = SETTINGS["DEFAULT"]


def version():
    """The version in settings.ini, which all others follow."""
    return SETTINGS["version"]


def bounds(requirements):
    """Names with their bounds, `{"numpy": ">=2.0"}`, without markers."""
    return {r.name: str(r.specifier) for r in map(Requirement, requirements)}


# -- nbdev 2 and nbdev 3 ---------------------------------------------------------------------------
# What nbdev 3 takes from the table of the project, or has no more.
ELSEWHERE = {
    *("lib_name", "version", "description", "keywords", "author", "author_email", "min_python"),
    *("repo", "copyright", "license", "status", "language", "audience", "black_formatting"),
    *("user", "git_url", "doc_host", "doc_baseurl"),
}


def as_line(value):
    """A value of the table of nbdev 3, as settings.ini has it."""
    return " ".join(value) if isinstance(value, list) else str(value)


def test_both_versions_of_nbdev_read_the_same():
    table = {key: as_line(value) for key, value in PROJECT["tool"]["nbdev"].items()}
    assert table == {key: value for key, value in SETTINGS.items() if key not in ELSEWHERE}


def test_the_table_of_the_project_says_what_settings_say():
    project = PROJECT["project"]
    assert project["name"] == SETTINGS["lib_name"]
    assert project["description"] == SETTINGS["description"]
    assert project["requires-python"] == f">={SETTINGS['min_python']}"
    assert [a["name"] for a in project["authors"]] == [SETTINGS["author"]]


# -- the pinned packages --------------------------------------------------------------------------
def test_pinned_packages_install_on_the_oldest_python_that_is_promised():
    (promised,) = SpecifierSet(PROJECT["project"]["requires-python"])
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = bounds(line for line in lines if line and not line.startswith("#"))
    pinned = {canonicalize_name(name): version for name, version in pinned.items()}
    asked = {
        d.name: SpecifierSet(d.metadata.get("Requires-Python") or "")
        for d in distributions()
        if pinned.get(canonicalize_name(d.name)) == f"=={d.version}"
    }
    assert len(asked) > 100
    assert [name for name, python in asked.items() if f"{promised.version}.0" not in python] == []


# -- numba, which builds the library -------------------------------------------------------------
def building(**machine):
    """The bounds of numba in the requirements of the build on a machine, or nothing."""
    usual = {"platform_machine": "x86_64", "implementation_name": "cpython"}
    asked = map(Requirement, PROJECT["build-system"]["requires"])
    return [
        r.specifier
        for r in asked
        if r.name == "numba" and r.marker.evaluate(usual | {"python_version": "3.14"} | machine)
    ]


def test_numba_builds_the_library_where_it_can_be_had():
    """Elsewhere asking for it would end the whole installation."""
    for version_ in ("3.11", "3.15"):
        assert building(python_version=version_) == building(platform_machine="arm64")
    assert not building(python_version="3.16")
    assert not building(platform_machine="riscv64")
    assert not building(implementation_name="pypy")


def test_numba_is_tried_at_both_ends():
    """The workflow of the tests names the oldest and the newest numba that may build a library."""
    (allowed,) = building()
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))
    ends = [row["numba"] for row in workflow["jobs"]["numba"]["strategy"]["matrix"]["include"]]
    assert all(f"{end}.0" in allowed for end in ends)
    first, last = (tuple(map(int, end.split("."))) for end in ends)
    below, above = f"{first[0]}.{first[1] - 1}.9", f"{last[0]}.{last[1] + 1}.0"
    assert below not in allowed and above not in allowed
    extras = map(Requirement, PROJECT["project"]["optional-dependencies"]["numba"])
    assert all(below not in r.specifier and f"{ends[0]}.0" in r.specifier for r in extras)


# -- what to cite ---------------------------------------------------------------------------------
def bare(title):
    """A title without braces, as words in small letters."""
    return re.sub(r"[{}]", "", " ".join(title.split())).lower()


def entries(bib):
    """Keys and titles of a bibliography in BibTeX."""
    found = re.findall(r"@\w+\{([\w-]+),\s*title\s*=\s*\{(.+?)\},?\n\s*author", bib, re.S)
    return {key: bare(title) for key, title in found}


def test_every_file_cites_the_same_five_papers():
    papers = {bare(r["title"]) for r in CITED["references"]}
    assert len(papers) == 5
    assert papers <= set(entries(CITE).values())
    assert papers <= set(entries(BIBLIOGRAPHY).values())
    assert CITED["version"] == version()
    assert CITED["license"] == PROJECT["project"]["license"]
    assert bare(CITED["title"]) in entries(CITE).values()


# -- the write-up ---------------------------------------------------------------------------------
SECTIONS = ["Summary", "Statement of need", "State of the field", "Software design", "References"]


def test_the_paper_has_the_form_of_the_journal():
    """Header, sections and length as the Journal of Open Source Software asks for them."""
    _, header, body = PAPER.split("---\n", 2)
    header = yaml.safe_load(header)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(header)
    assert (ROOT / "paper" / header["bibliography"]).is_file()
    places = {a["index"] for a in header["affiliations"]}
    assert {a["affiliation"] for a in header["authors"]} == places
    found = re.findall(r"^# (.+)$", body, re.M)
    assert [s for s in found if s in SECTIONS] == SECTIONS
    assert 750 <= len(body.split()) <= 1750


def test_the_paper_cites_what_its_bibliography_holds():
    cited = set(re.findall(r"@([a-z]+\d{4}[a-z]?)", PAPER.split("---\n", 2)[2]))
    assert cited == set(entries(BIBLIOGRAPHY))


# -- the reference ---------------------------------------------------------------------------------
def test_the_reference_lists_every_public_name():
    text = (ROOT / "docs/pages/reference.rst").read_text(encoding="utf-8")
    listed = re.findall(r"^   (mcsvm_lit[\w.]*)\.(\w+)$", text, re.M)
    assert all(name in import_module(package).__all__ for package, name in listed)
    offered = {name for package in (mcsvm_lit, mcsvm_lit.scale) for name in package.__all__}
    assert offered <= {name for _, name in listed}
