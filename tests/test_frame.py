"""What guards the project, shown by breaking it on purpose: always in a copy, never in the tree."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys

import check
import graph
import lint
import notebooks
import outputs
import passed
import pytest
import sizes
from notebooks import ROOT
from test_outputs import shown

# -- a small project ------------------------------------------------------------------------------
INDEX = [
    "# Tiny\n\n> A project of two pages.",
    "| page | the question it answers | module |\n|---|---|---|\n"
    "| [Half](numbers/01_half.ipynb) | How much is it? | `mcsvm_lit.numbers.half` |",
]
HALF = [
    "# Half\n\n> Half of a number.",
    "#| default_exp numbers.half",
    "Halving is dividing by two.",
    '#| export\ndef half(x):  # a number\n    """Half of `x`."""\n    return x / 2',
    "assert half(4) == 2",
    "That was all.",
]
CHAPTER = '"""Numbers."""\n'
REFERENCE = """Reference
=========

.. autosummary::
   :toctree: .

   mcsvm_lit.numbers.half.half
"""


def cell(i, source):
    """A cell of a notebook; what starts like prose is prose."""
    if re.match(r"(# |\||!?\[|[A-Z][a-z]+ (?!=))", source):
        return dict(cell_type="markdown", id=f"c{i}", metadata={}, source=source.splitlines(True))
    return dict(
        cell_type="code",
        id=f"c{i}",
        metadata={},
        source=source.splitlines(True),
        execution_count=None,
        outputs=[],
    )


def save(file, nb):
    """Write a notebook as nbdev does."""
    stored = json.dumps(nb, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    file.write_text(stored, encoding="utf-8")
    return file


def write(file, sources):
    """A notebook of these cells."""
    meta = dict(kernelspec=dict(display_name="python3", language="python", name="python3"))
    cells = [cell(i, source) for i, source in enumerate(sources)]
    return save(file, dict(cells=cells, metadata=meta, nbformat=4, nbformat_minor=5))


def more(sources=HALF):
    """A second page, of another name."""
    return [c.replace("half", "more").replace("Half", "More") for c in sources]


COPIED = ("settings.ini", "pyproject.toml", "constraints.txt", "Makefile", ".ci/run")


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A project with our settings and tools, a front page, one chapter, one test; all is well."""
    root = tmp_path_factory.mktemp("sound") / "project"
    for folder in ("nbs/numbers", "mcsvm_lit/numbers", "tests", ".ci", "figures"):
        (root / folder).mkdir(parents=True)
    for f in (*COPIED, "mcsvm_lit/__init__.py"):
        shutil.copy(ROOT / f, root / f)
    for folder in ("tools", "docs"):
        kept = shutil.ignore_patterns("__pycache__", "_build", "pages")
        shutil.copytree(ROOT / folder, root / folder, ignore=kept)
    (root / "mcsvm_lit/numbers/__init__.py").write_text(CHAPTER)
    (root / "docs/pages").mkdir()
    (root / "docs/pages/reference.rst").write_text(REFERENCE)
    write(root / "nbs/index.ipynb", INDEX)
    write(root / "nbs/numbers/01_half.ipynb", HALF)
    (root / "tests/test_one.py").write_text("def test_one():\n    pass\n")
    assert not notebooks.export(root)
    subprocess.run([sys.executable, "tools/readme.py"], cwd=root, check=True)
    return root


@pytest.fixture
def tree(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "copy of the project")


def complaints(stage, root):
    return "\n".join(stage(root))


STATIC = [
    check.exported,
    check.formatted,
    check.linted,
    check.sized,
    check.clean,
    check.styled,
    check.front_page,
]


def test_a_sound_project_passes(sound):
    for stage in STATIC:
        assert complaints(stage, sound) == "", stage.__name__


# -- the package is what the notebooks export -----------------------------------------------------
@pytest.mark.parametrize("module", ["orphan.py", "numbers/orphan.py"])
def test_a_module_without_a_notebook_fails(tree, module):
    (tree / "mcsvm_lit" / module).write_text('"""No notebook exports me."""\n')
    said = complaints(check.exported, tree)
    assert said == f"mcsvm_lit/{module} has no notebook that exports it: delete it"


def test_a_deleted_notebook_leaves_an_orphan(tree):
    write(tree / "nbs/numbers/02_more.ipynb", more())
    assert not notebooks.export(tree) and not complaints(check.exported, tree)
    (tree / "nbs/numbers/02_more.ipynb").unlink()
    notebooks.export(tree)  # exporting again does not remove it
    said = complaints(check.exported, tree)
    assert said.startswith("mcsvm_lit/numbers/more.py has no notebook that exports it: delete it")


def test_an_export_that_was_forgotten_fails(tree):
    write(tree / "nbs/numbers/01_half.ipynb", [c.replace("x / 2", "0.5 * x") for c in HALF])
    said = complaints(check.exported, tree)
    assert said == (
        "mcsvm_lit/numbers/half.py differs from what its notebook exports: run make export"
    )
    write(tree / "nbs/numbers/02_more.ipynb", more())
    assert "mcsvm_lit/numbers/more.py is not exported" in complaints(check.exported, tree)


def test_a_module_edited_by_hand_fails(tree):
    with open(tree / "mcsvm_lit/numbers/half.py", "a") as f:
        f.write("\n")
    assert "mcsvm_lit/numbers/half.py differs" in complaints(check.exported, tree)


def test_a_folder_without_its_init_fails(tree):
    (tree / "mcsvm_lit/numbers/__init__.py").unlink()
    assert "mcsvm_lit/numbers/__init__.py is not exported" in complaints(check.exported, tree)


def test_a_version_that_was_not_exported_fails(tree):
    settings = tree / "settings.ini"
    settings.write_text(re.sub(r"(?m)^version = .*", "version = 99.0.0", settings.read_text()))
    assert "mcsvm_lit/__init__.py differs" in complaints(check.exported, tree)


def test_a_notebook_that_cannot_be_exported_fails(tree):
    write(tree / "nbs/numbers/01_half.ipynb", [*HALF, "#| export\ndef broken(:"])
    assert "SyntaxError" in complaints(check.exported, tree)


AREA = '#| export\ndef area(r):\n    """Area of a disc."""\n    return math.pi * r**2'


def test_an_import_that_is_not_exported_fails(tree):
    """The cells run, since the notebook has the import; the module has not: only ruff sees it."""
    cells = [*HALF[:3], "import math", AREA, "assert area(0) == 0", HALF[-1]]
    nb = write(tree / "nbs/numbers/01_half.ipynb", cells)
    assert notebooks.run_all([nb]) == []
    notebooks.export(tree)
    assert not complaints(check.exported, tree)
    said = complaints(check.linted, tree)
    assert re.search(r"mcsvm_lit/numbers/half\.py.*F821.*`math`", said)


# -- code is formatted, and short -----------------------------------------------------------------
GOLFED = '#| export\ndef half(x):  # a number\n    """Half of `x`."""\n    y=x/2; return y'


def test_a_module_is_exported_formatted(tree):
    write(tree / "nbs/numbers/01_half.ipynb", [*HALF[:3], GOLFED, *HALF[4:]])
    assert not notebooks.export(tree)
    assert "    y = x / 2\n    return y" in (tree / "mcsvm_lit/numbers/half.py").read_text()


def test_code_that_is_not_formatted_fails(tree):
    write(tree / "nbs/numbers/01_half.ipynb", [*HALF[:3], GOLFED, *HALF[4:]])
    assert "01_half.ipynb" in complaints(check.formatted, tree)
    notebooks.format_all(tree)
    assert not complaints(check.formatted, tree) and not complaints(check.clean, tree)
    (tree / "tests/test_one.py").write_text("def test_one(): pass\n")
    assert "test_one.py" in complaints(check.formatted, tree)


@pytest.mark.parametrize(
    "source, code",
    [
        ("half = lambda x: x / 2", "E731"),
        ("def f(a, b, c, d, e, f, g, h):\n    pass", "PLR0913"),
        ("import sys\nimport os\n\nprint(os, sys)", "I001"),
        ("def f():\n" + "    if f:\n        f()\n" * 12, "C901"),
    ],
)
def test_code_against_the_rules_fails(tree, source, code):
    write(tree / "nbs/numbers/01_half.ipynb", [*HALF[:-1], source, HALF[-1]])
    assert re.search(rf"01_half\.ipynb.*{code}", complaints(check.linted, tree))


def functions(*lengths):
    """A module of functions with so many lines."""
    return "\n\n\n".join(
        f"def f{i}(x):\n" + "    x += 1\n" * (n - 2) + "    return x" for i, n in enumerate(lengths)
    )


def test_functions_that_are_too_long_fail(tree):
    module = tree / "mcsvm_lit/numbers/half.py"
    module.write_text(functions(60, 15, 15))
    assert not complaints(check.sized, tree)
    module.write_text(functions(61, 15, 15))
    assert complaints(check.sized, tree).endswith("half.py:1 f0 has 61 lines (at most 60)")
    module.write_text(functions(15, 16, 16))
    assert "the median of functions is 16 lines" in complaints(check.sized, tree)
    assert [n for *_, n in sizes.functions(functions(7, 2))] == [7, 2]


# -- notebooks are clean, README is the front page ------------------------------------------------
def edited(file, change):
    nb = json.loads(file.read_text(encoding="utf-8"))
    change(nb)
    save(file, nb)


@pytest.mark.parametrize(
    "change",
    [
        lambda nb: nb["cells"][1].update(execution_count=7),
        lambda nb: nb["cells"][1]["metadata"].update(collapsed=True),
        lambda nb: nb["metadata"].update(language_info={"version": "3.11"}),
    ],
)
def test_an_unclean_notebook_fails(tree, change):
    edited(tree / "nbs/numbers/01_half.ipynb", change)
    said = complaints(check.clean, tree).replace("\\", "/")
    assert said == "nbs/numbers/01_half.ipynb is not clean: run make format"


def test_a_folded_cell_is_clean(tree):
    folded = {"source_hidden": True}
    edited(
        tree / "nbs/numbers/01_half.ipynb",
        lambda nb: nb["cells"][1]["metadata"].update(jupyter=folded),
    )
    assert not complaints(check.clean, tree)


def test_a_stale_readme_fails(tree):
    write(tree / "nbs/index.ipynb", [*INDEX, "Something new."])
    assert "README.md is not what nbs/index.ipynb says" in complaints(check.front_page, tree)
    subprocess.run([sys.executable, "tools/readme.py"], cwd=tree, check=True)
    assert not complaints(check.front_page, tree)
    (tree / "README.md").unlink()
    assert complaints(check.front_page, tree)


def test_the_front_page_takes_titles_and_modules_from_the_pages(tree):
    write(tree / "nbs/numbers/01_half.ipynb", more())
    said = complaints(check.styled, tree)
    assert said == "index.ipynb: numbers/01_half.ipynb is called 'More', not 'Half'"
    subprocess.run([sys.executable, "tools/readme.py"], cwd=tree, check=True)
    assert not complaints(check.styled, tree) and not complaints(check.clean, tree)
    row = "| [More](nbs/numbers/01_half.ipynb) | How much is it? | `mcsvm_lit.numbers.more` |"
    assert row in (tree / "README.md").read_text()


def test_a_page_that_the_front_page_does_not_list_fails(tree):
    write(tree / "nbs/numbers/02_more.ipynb", more())
    said = complaints(check.styled, tree)
    assert said == "index.ipynb: no row of a table opens with a link to numbers/02_more.ipynb"


# -- pages of checks ------------------------------------------------------------------------------
CHECKS = [
    "# Half: how the page is checked\n\n> Large numbers.",
    "What guards [the page](../01_half.ipynb) and teaches nothing.",
    "from mcsvm_lit.numbers.half import half",
    "assert half(1e300) == 5e299",
]
LINKED = [*HALF[:-1], "How it is checked stands on [a page of its own](checks/01_half.ipynb)."]


def checked(tree, checks=CHECKS, half=LINKED):
    """A page with a page of checks; returns the page of checks."""
    (tree / "nbs/numbers/checks").mkdir(exist_ok=True)
    write(tree / "nbs/numbers/01_half.ipynb", half)
    return write(tree / "nbs/numbers/checks/01_half.ipynb", checks)


def test_a_page_of_checks_needs_neither_prose_nor_a_row_of_the_front_page(tree):
    page = checked(tree)
    assert page in notebooks.all_notebooks(tree)
    for stage in STATIC:
        assert complaints(stage, tree) == "", stage.__name__


def test_a_page_of_checks_counts_as_tests_of_its_page(tree):
    untested = [c for c in LINKED if not c.startswith("assert")]
    checked(tree, half=untested)
    assert complaints(check.styled, tree) == ""
    checked(tree, CHECKS[:3], untested)
    assert "1 exported cells but 0 cells that test" in complaints(check.styled, tree)


@pytest.mark.parametrize(
    "checks, half, why",
    [
        (CHECKS, HALF, "01_half.ipynb: its last prose has no link to checks/01_half.ipynb"),
        ([CHECKS[0], *CHECKS[2:]], LINKED, "has no link to its page ../01_half.ipynb"),
        ([*CHECKS, "#| export\nx = 1"], LINKED, "a page of checks exports nothing"),
        (["# Half", *CHECKS[1:]], LINKED, "does not open with a title"),
    ],
)
def test_pages_of_checks_that_are_out_of_place(tree, checks, half, why):
    checked(tree, checks, half)
    assert why in complaints(check.styled, tree)


def test_a_page_of_checks_without_its_page_fails(tree):
    checked(tree).rename(tree / "nbs/numbers/checks/02_none.ipynb")
    assert "checks no page: there is no numbers/02_none.ipynb" in complaints(check.styled, tree)


def test_a_page_of_checks_is_on_the_site_behind_a_link(tree):
    checked(tree)
    page = built(tree)
    assert "5e299" in page("numbers/checks/01_half.html")
    assert 'href="checks/01_half.html"' in page("numbers/01_half.html")
    assert "checks/01_half.html" not in page("numbers/index.html")


# -- the site -------------------------------------------------------------------------------------
def built(tree):
    """A page of the site as HTML, by its path."""
    assert not complaints(check.site, tree)
    return lambda path: (tree / "docs/_build/html" / path).read_text(encoding="utf-8")


def test_pages_of_two_folders_may_have_one_name(tree):
    """Also cells with one id, and the sidebar has a chapter for each folder."""
    (tree / "nbs/signs").mkdir()
    (tree / "mcsvm_lit/signs").mkdir()
    (tree / "mcsvm_lit/signs/__init__.py").write_text('"""Signs."""\n')
    write(
        tree / "nbs/signs/01_half.ipynb",
        [*(c.replace("numbers", "signs") for c in more()), "Less is `half`."],
    )
    write(tree / "nbs/numbers/01_half.ipynb", [*HALF, "More is `more`."])
    assert not notebooks.export(tree)
    page = built(tree)
    assert 'href="../signs/01_half.html#signs-01-half-c3"' in page("numbers/01_half.html")
    assert 'href="../numbers/01_half.html#numbers-01-half-c3"' in page("api/half.html")
    assert 'href="../api/half.html#mcsvm_lit.numbers.half.half"' in page("signs/01_half.html")
    sidebar = page("index.html")
    assert 'href="numbers/index.html">Numbers<' in sidebar
    assert 'href="signs/index.html">Signs<' in sidebar


def test_a_warning_of_sphinx_fails(tree):
    write(tree / "nbs/numbers/01_half.ipynb", [*HALF, "See Theorem 9.9, which is nowhere."])
    assert "Theorem 9.9 is referred to but nowhere stated" in complaints(check.site, tree)


# -- outputs --------------------------------------------------------------------------------------
WALK = [
    "# Walk\n\n> A random walk.",
    "import numpy as np\nfrom mcsvm_lit.studies import figures\nrng = np.random.default_rng(SEED)",
    "walk = rng.normal(size=30).cumsum()\nprint(round(walk[-1], 3))",
    'fig, ax = figures.axes()\nax.plot(walk)\nfigures.save(fig, "tiny/walk", dict(walk=walk))\nfig',
]


def walk(tree, seed):
    """A page that shows a random walk."""
    return write(tree / "nbs/02_walk.ipynb", [c.replace("SEED", seed) for c in WALK])


def failure(notebook):
    """What a run of a notebook complains about."""
    [(_, said)] = notebooks.run_all([notebook])
    return said


def test_outputs_that_are_the_same_on_every_run_pass(tree):
    nb = walk(tree, "0")
    assert notebooks.run_all([nb], store=True) == []
    assert (tree / "figures/tiny/walk.svg").exists()
    before = nb.read_bytes()
    assert notebooks.run_all([nb]) == [] and nb.read_bytes() == before


def test_storing_outputs_computes_replications_again(tree):
    nb, kept = walk(tree, "0"), tree / "figures/_runs/CS/walk/quick/0.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    assert notebooks.run_all([nb], store=True) == [] and not kept.exists()
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    assert notebooks.run_all([nb]) == [] and kept.exists()


def test_outputs_and_figures_that_change_fail(tree):
    nb = walk(tree, "")
    assert notebooks.run_all([nb], store=True) == []
    said = failure(nb)
    assert "02_walk.ipynb, cell 2: stdout: stored" in said
    assert "02_walk.ipynb, cell 3: image/png" in said
    assert "figures/tiny/walk.svg has changed" in said
    assert "figures/tiny/walk.csv has changed" in said


def test_a_figure_that_is_not_in_the_tree_fails(tree):
    nb = walk(tree, "0")
    assert notebooks.run_all([nb], store=True) == []
    shutil.rmtree(tree / "figures/tiny")
    assert "figures/tiny/walk.svg is made by this notebook but not in the tree" in failure(nb)
    assert not (tree / "figures/tiny").exists()  # a check writes nothing into the tree


@pytest.fixture
def elsewhere(tree):
    """A page whose outputs were stored by a processor that rounds differently."""
    nb = walk(tree, "")
    assert notebooks.run_all([nb], store=True) == []
    assert json.loads(nb.read_text())["metadata"]["rounding"] == outputs.rounding()
    nb.write_text(nb.read_text().replace(outputs.rounding(), "elsewhere"))
    return nb


def test_where_the_processor_rounds_differently_changes_are_counted_only(elsewhere, capsys):
    assert notebooks.run_all([elsewhere]) == []
    said = "4 outputs and figures differ, as this processor rounds differently"
    assert said in capsys.readouterr().out


def test_an_error_is_one_on_every_processor(elsewhere):
    told = r"print(round(walk[-1], 3))"
    elsewhere.write_text(elsewhere.read_text().replace(told, "assert False"))
    assert "AssertionError" in failure(elsewhere)
    elsewhere.write_text(elsewhere.read_text().replace("assert False", "pass"))
    assert "cells [2] show other kinds of output" in failure(elsewhere)


def test_a_cell_that_fails_is_shown(tree):
    nb = write(tree / "nbs/02_bad.ipynb", ["# Bad\n\n> Bad.", "n = 1/0", 'print("never")'])
    [(name, out)] = notebooks.run_all([nb])
    assert out.startswith("cell 1:\nn = 1/0") and "ZeroDivisionError" in out and "never" not in out


def committed(tree):
    """The project as a repository of Git in which all is committed."""
    about = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*about, "commit", "-q", "-m", "All"]):
        subprocess.run(["git", "-C", tree, *words], check=True)
    return tree


needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is missing")


@needs_git
@pytest.mark.parametrize(
    "cell, file",
    [
        ('open("../mcsvm_lit/numbers/half.py", "a").write("#")', "mcsvm_lit/numbers/half.py"),
        ('open("left.txt", "w").write("#")', "nbs/left.txt"),
    ],
)
def test_a_page_that_writes_into_the_project_fails(tree, cell, file):
    nb = write(tree / "nbs/02_bad.ipynb", ["# Bad\n\n> Bad.", cell + ";"])
    committed(tree)
    [(name, said)] = notebooks.run_all([nb], watched=True)
    assert name == "02_bad.ipynb"
    assert f"while 02_bad.ipynb ran, files of the project changed: {file}" in said
    innocent = tree / "nbs/numbers/01_half.ipynb"
    assert notebooks.run_all([innocent], watched=True) == []  # what was there before is not held


# -- what has passed is skipped -------------------------------------------------------------------
USED = (
    "See [half](01_half.ipynb).",
    "from mcsvm_lit.numbers.half import half",
    "assert half(2) == 1",
)


def forget():
    """Read the files of a project again."""
    for remembered in (passed.files, passed.contents, passed.surroundings):
        remembered.cache_clear()
    for remembered in (graph.modules, graph.homes, graph.own_names, graph.arrows):
        remembered.cache_clear()


@pytest.fixture
def two_pages(tree):
    """Digests of a page that uses a module, and of one that does not, after something changed."""
    using = write(tree / "nbs/numbers/03_using.ipynb", ["# Using\n\n> Using.", *USED])
    alone = write(tree / "nbs/numbers/04_alone.ipynb", ["# Alone\n\n> Alone.", "assert 1 < 2"])
    for name, words in (("numbers/half", "x = 1"), ("numbers/third", "y = 1")):
        (tree / f"mcsvm_lit/{name}.py").write_text(words + "\n")
    (tree / "mcsvm_lit/numbers/half.py").write_text("from mcsvm_lit.numbers.third import y\n")
    committed(tree)

    def digests():
        forget()
        return passed.of_page(using, tree), passed.of_page(alone, tree)

    return digests


@needs_git
def test_a_page_runs_again_when_what_it_imports_changes(tree, two_pages):
    using, alone = two_pages()
    assert using != alone and two_pages() == (using, alone)
    (tree / "mcsvm_lit/numbers/third.py").write_text("y = 2\n")  # imported by what it imports
    assert two_pages()[0] != using and two_pages()[1] == alone


@needs_git
@pytest.mark.parametrize("file", ["constraints.txt", "tools/outputs.py", "pyproject.toml"])
def test_every_page_runs_again_when_packages_or_tools_change(tree, two_pages, file):
    before = two_pages()
    with open(tree / file, "a") as f:
        f.write("# changed\n")
    assert not set(before) & set(two_pages())


@needs_git
def test_a_page_runs_again_when_its_outputs_change(tree, two_pages):
    using, alone = two_pages()
    file = tree / "nbs/numbers/04_alone.ipynb"
    edited(file, lambda nb: nb["cells"][1]["outputs"].append(shown("1")["outputs"][0]))
    assert two_pages()[0] == using and two_pages()[1] != alone


@needs_git
def test_tests_run_again_when_what_they_look_at_changes(tree):
    """All files count for a test that looks beyond the modules which it imports."""
    imports = "from mcsvm_lit.numbers.half import half\n"
    texts = {"narrow": imports, "wide": f"from notebooks import ROOT\n{imports}"}
    for name, text in texts.items():
        (tree / f"tests/test_{name}.py").write_text(text)
    committed(tree)

    def digests():
        forget()
        return [passed.of_test(tree / f"tests/test_{name}.py", tree) for name in texts]

    narrow, wide = digests()
    assert narrow != wide
    (tree / "README.md").write_text("Something else.")
    assert digests()[0] == narrow and digests()[1] != wide
    (tree / "mcsvm_lit/numbers/half.py").write_text("half = 1\n")
    assert digests()[0] != narrow


def test_continuous_integration_skips_nothing(monkeypatch, tmp_path):
    for variable in ("CI", "FULL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(passed, "KEPT", tmp_path / "passed")
    passed.remember("a digest")
    assert passed.has_passed("a digest") == bool(passed.files())
    assert not passed.has_passed("another")
    for variable in ("CI", "FULL"):
        monkeypatch.setenv(variable, "1")
        assert not passed.has_passed("a digest")
        monkeypatch.delenv(variable)


# -- house style ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text, why",
    [
        (r"$$ \begin{aligned} a \label{e} \end{aligned} $$", "TeX that does not work everywhere"),
        (r"by \eqref{e}", "TeX that does not"),
        (r"$\bm x$", "TeX that does not"),
        (r"$\newcommand{\R}{R}$", "TeX that does not"),
        ("so it is[^1]", "footnote"),
        (":::{note}", "fenced div"),
        ("> [!NOTE]\n> so", "alert"),
        ("~~gone~~", "strikethrough"),
        (r"for \$5", "escaped dollar"),
        ("where $$ x $$ is", "display math not on lines of its own"),
        ("$$\nx\n$$ ends", "display math not on lines of its own"),
        ("> $$\n> x\n> $$", "display math over several lines in a quotation"),
        ("\\begin{align}\nx\n\\end{align}", "mathematics outside dollars"),
        (r"so \(x\)", "mathematics outside dollars"),
        ("| a | b |\n|---|---|\n| $|x|$ | y |", "a bar in mathematics in a table"),
    ],
)
def test_markdown_that_does_not_read_everywhere(text, why):
    assert why in "\n".join(lint.lint_markdown(text))


@pytest.mark.parametrize(
    "text",
    [
        "$$\nx=\\begin{cases}1\\\\2\\end{cases}\n\\tag{1.1}\n$$",
        "> $$ x $$",
        "- $$ x $$",
        r"| $\lvert x\rvert$ | `a|b` |",
        "`\\label` and `~~x~~` as code",
        "```\n\\begin{align}\n$$ x $$ y\n```",
        "costs 5 USD",
        r"$\operatorname*{arg\,max}_x$",
    ],
)
def test_markdown_that_does(text):
    assert not list(lint.lint_markdown(text))


@pytest.mark.parametrize(
    "link, why",
    [
        ("[a](02_none.ipynb)", "no file 02_none.ipynb"),
        ("[a](numbers/01_half.ipynb#Nowhere)", "no such heading"),
        ("[a](numbers/01_half.ipynb#half)", "no such heading"),
        ("[a](#Tinier)", "no such heading"),
        ("![a](../figures/none.svg)", "no file"),
    ],
)
def test_links_that_lead_nowhere(tree, link, why):
    sound = (
        "See [half](numbers/01_half.ipynb#Half), [here](#Tiny) and [far](https://example.org/x)."
    )
    write(tree / "nbs/index.ipynb", [*INDEX, link, sound])
    assert re.fullmatch(rf"index\.ipynb: {re.escape(why)}.*", complaints(check.styled, tree))


def code(*src):
    return [dict(cell_type="code", source=s) for s in src]


def page(*cells):
    return [
        dict(cell_type="markdown", source="# T\n\n> S."),
        *[dict(cell_type="markdown", source="Prose.") for _ in cells],
        *cells,
    ]


def export(lines):
    return "#| export\n" + "x = 1\n" * lines


@pytest.mark.parametrize(
    "cells, why",
    [
        (page(*code(*[export(1)] * 3, "assert x")), "3 exported cells but 1 cells that test"),
        (
            page(*code(*["assert x"] * 9, *["#| hide\nassert x"] * 2)),
            "more than one test in ten is hidden",
        ),
        (page() + code(*["x"] * 4), "less than 30 %"),
    ],
)
def test_pages_out_of_shape(cells, why):
    assert [b for b in lint.lint_shape(cells) if why in b] == list(lint.lint_shape(cells)) != []


@pytest.mark.parametrize(
    "source, why",
    [
        ("# T\n> S.", "does not open with a title"),
        ("# T\n\n> The $n$ th.", "the sentence marked by > holds a formula"),
    ],
)
def test_pages_that_open_badly(source, why):
    (said,) = lint.lint_opening([dict(cell_type="markdown", source=source)])
    assert why in said


def test_a_page_imports_what_its_readers_have():
    brought = "import os\n%time\nimport dask.array as da\nfrom mcsvm_lit import nu_path"
    assert graph.needed(dict(cells=code(brought))) == ({"dask"}, set())
    (said,) = lint.lint_imports(code(brought, "from pytest import raises"))
    assert said.startswith("imports pytest")


def test_pages_in_shape():
    assert not list(lint.lint_shape(page(*code(*[export(9)] * 3, *["assert x"] * 2))))


@pytest.mark.parametrize(
    "output, why",
    [
        (
            dict(output_type="stream", name="stderr", text="UserWarning: inaccurate"),
            "cell 0 stores a warning",
        ),
        ("<f at 0x7f3a5c00e0d0>", "an address: 0x7f3a5c00e0d0"),
        ({"text/plain": "'/home/ada/nbs/a.npz'"}, "a path or an address: /home/ada/nbs/a.npz"),
        ("in C:\\Users\\ada", "a path or an address: C:"),
    ],
)
def test_outputs_that_belong_to_one_computer(output, why):
    cell = shown(output) if "output_type" not in output else dict(outputs=[output])
    assert why in "\n".join(lint.lint_outputs([cell]))


def test_outputs_that_belong_to_nobody():
    link = {"text/html": '<a href="https://example.org/home/x">', "image/png": "/tmp/x"}
    assert not list(lint.lint_outputs([shown("figures/tmp/a.svg 1/2 0x1 C: 3", link)]))


# -- the gate -------------------------------------------------------------------------------------
def test_pytest_that_finds_no_test_fails(tree):
    assert check.tested(tree)[0] == 0
    (tree / "tests/test_one.py").unlink()
    assert check.tested(tree)[0] == 5


OUTER = ("MAKE", "MFLAGS", "PYTEST")  # what an outer run of make and pytest leaves behind


def through_the_gate(tree):
    """`.ci/run` in a project that is set up: `make` finds our interpreter in place of its own."""
    bin = tree / ".venv/bin"
    bin.mkdir(parents=True)
    python = bin / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    for f in (".made", ".ready"):
        (tree / ".venv" / f).touch()
    env = {k: v for k, v in os.environ.items() if not k.startswith(OUTER)}
    return subprocess.run([tree / ".ci/run"], capture_output=True, text=True, env=env)


needs_make = pytest.mark.skipif(
    not (shutil.which("make") and shutil.which("bash")), reason="make or bash is missing"
)


@needs_make
def test_the_gate_opens_for_a_sound_project(tree):
    r = through_the_gate(tree)
    said = r.stdout.rstrip().splitlines()
    assert r.returncode == 0 and said[-1].startswith("1 passed"), r.stdout + r.stderr
    stages = [x for x in said if re.match(r" *(ok|FAILED)  [A-Za-z]", x) and ".ipynb" not in x]
    assert [x.split()[0] for x in stages] == ["ok"] * len(check.STAGES + check.LONG_STAGES)


@needs_make
@pytest.mark.parametrize(
    "spoil, said",
    [
        (
            lambda t: (t / "mcsvm_lit/orphan.py").touch(),
            "FAILED  the package is what the notebooks export",
        ),
        (lambda t: (t / "tests/test_one.py").unlink(), "no tests ran"),
    ],
)
def test_the_gate_stays_shut(tree, spoil, said):
    spoil(tree)
    r = through_the_gate(tree)
    assert r.returncode and said in r.stdout, r.stdout + r.stderr
