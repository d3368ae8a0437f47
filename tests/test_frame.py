"What guards the project, shown by breaking it on purpose: always in a copy, never in the tree."

import base64
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from types import SimpleNamespace as Cell

import check
import lint
import notebooks
import numpy as np
import pytest
from notebooks import ROOT
from PIL import Image

# -- a small project --------------------------------------------------------------------------------
INDEX = ["# Tiny\n\n> A project of two pages.", "[The other](01_half.ipynb) says more."]
HALF = [
    "# Half\n\n> Half of a number.",
    "#| default_exp half",
    "Halving is dividing by two.",
    '#| export\ndef half(x): # a number\n    "Half of `x`."\n    return x/2',
    "assert half(4) == 2",
    "That was all.",
]


def write(fn, cells):
    "A notebook of these cells; those that are prose start like prose."
    prose = [bool(re.match(r"(# |!?\[|[A-Z][a-z]+ (?!=))", c)) for c in cells]
    cells = [
        dict(
            cell_type="markdown" if p else "code",
            id=f"c{i}",
            metadata={},
            source=c.splitlines(True),
        )
        | ({} if p else dict(execution_count=None, outputs=[]))
        for i, (p, c) in enumerate(zip(prose, cells))
    ]
    meta = dict(kernelspec=dict(display_name="python3", language="python", name="python3"))
    fn.write_text(
        json.dumps(
            dict(cells=cells, metadata=meta, nbformat=4, nbformat_minor=5),
            indent=1,
            sort_keys=True,
            ensure_ascii=False,
        )
        + "\n",
        encoding="utf-8",
    )
    return fn


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    "A project with our settings and tools, a front page, one chapter and one test, in which all is well."
    root = tmp_path_factory.mktemp("sound") / "project"
    for d in ("nbs", "mcsvm_lit", "tests", ".ci", "figures"):
        (root / d).mkdir(parents=True)
    for f in (
        "settings.ini",
        "pyproject.toml",
        "constraints.txt",
        "Makefile",
        ".ci/run",
        "mcsvm_lit/__init__.py",
    ):
        shutil.copy(ROOT / f, root / f)
    for d in ("tools", "docs"):
        shutil.copytree(ROOT / d, root / d, ignore=shutil.ignore_patterns("__pycache__", "_build"))
    write(root / "nbs/index.ipynb", INDEX)
    write(root / "nbs/01_half.ipynb", HALF)
    (root / "tests/test_one.py").write_text("def test_one(): pass\n")
    assert not notebooks.export(root)
    subprocess.run([sys.executable, "tools/readme.py"], cwd=root, check=True)
    return root


@pytest.fixture
def tree(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "copy of the project")


def complaints(stage, root):
    return "\n".join(stage(root))


STATIC = [check.exported, check.linted, check.clean, check.styled, check.front_page]


def test_a_sound_project_passes(sound):
    for stage in STATIC:
        assert complaints(stage, sound) == "", stage.__name__


# -- the package is what the notebooks export -------------------------------------------------------
def test_a_module_without_a_notebook_fails(tree):
    (tree / "mcsvm_lit/orphan.py").write_text('"Nobody exports me."\n')
    assert (
        complaints(check.exported, tree)
        == "mcsvm_lit/orphan.py has no notebook that exports it: delete it"
    )


def test_a_deleted_notebook_leaves_an_orphan(tree):
    write(tree / "nbs/02_more.ipynb", [c.replace("half", "more") for c in HALF])
    assert not notebooks.export(tree) and not complaints(check.exported, tree)
    (tree / "nbs/02_more.ipynb").unlink()
    notebooks.export(tree)  # exporting again does not remove it
    assert complaints(check.exported, tree).startswith(
        "mcsvm_lit/more.py has no notebook that exports it: delete it"
    )


def test_an_export_that_was_forgotten_fails(tree):
    write(tree / "nbs/01_half.ipynb", [c.replace("x/2", ".5*x") for c in HALF])
    assert (
        complaints(check.exported, tree)
        == "mcsvm_lit/half.py differs from what its notebook exports: run make export"
    )
    write(tree / "nbs/02_more.ipynb", [c.replace("half", "more") for c in HALF])
    assert "mcsvm_lit/more.py is not exported" in complaints(check.exported, tree)


def test_a_module_edited_by_hand_fails(tree):
    with open(tree / "mcsvm_lit/half.py", "a") as f:
        f.write("\n")
    assert "mcsvm_lit/half.py differs" in complaints(check.exported, tree)


def test_a_version_that_was_not_exported_fails(tree):
    settings = tree / "settings.ini"
    settings.write_text(re.sub(r"(?m)^version = .*", "version = 99.0.0", settings.read_text()))
    assert "mcsvm_lit/__init__.py differs" in complaints(check.exported, tree)


def test_a_notebook_that_cannot_be_exported_fails(tree):
    write(tree / "nbs/01_half.ipynb", [*HALF, "#| export\ndef broken(:"])
    assert "SyntaxError" in complaints(check.exported, tree)


def test_an_import_that_is_not_exported_fails(tree):
    "The cells run, since the notebook has the import; the module has not, and only the linter sees it."
    nb = write(
        tree / "nbs/01_half.ipynb",
        [
            *HALF[:3],
            "import math",
            '#| export\ndef area(r):\n    "Area of a disc."\n    return math.pi*r**2',
            "assert area(0) == 0",
            HALF[-1],
        ],
    )
    assert notebooks.start(nb, store=False)[1] == 0
    notebooks.export(tree)
    assert not complaints(check.exported, tree)
    assert re.search(r"mcsvm_lit/half\.py.*F821.*`math`", complaints(check.linted, tree))


# -- notebooks are clean, README is the front page --------------------------------------------------
def edited(fn, change):
    nb = json.loads(fn.read_text(encoding="utf-8"))
    change(nb)
    fn.write_text(
        json.dumps(nb, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8"
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda nb: nb["cells"][1].update(execution_count=7),
        lambda nb: nb["cells"][1]["metadata"].update(collapsed=True),
        lambda nb: nb["metadata"].update(language_info={"version": "3.11"}),
    ],
)
def test_an_unclean_notebook_fails(tree, change):
    edited(tree / "nbs/01_half.ipynb", change)
    assert (
        complaints(check.clean, tree).replace("\\", "/")
        == "nbs/01_half.ipynb is not clean: run nbdev_clean"
    )


def test_a_folded_cell_is_clean(tree):
    edited(
        tree / "nbs/01_half.ipynb",
        lambda nb: nb["cells"][1]["metadata"].update(jupyter={"source_hidden": True}),
    )
    assert not complaints(check.clean, tree)


def test_a_stale_readme_fails(tree):
    write(tree / "nbs/index.ipynb", [*INDEX, "Something new."])
    assert "README.md is not what nbs/index.ipynb says" in complaints(check.front_page, tree)
    subprocess.run([sys.executable, "tools/readme.py"], cwd=tree, check=True)
    assert not complaints(check.front_page, tree)
    (tree / "README.md").unlink()
    assert complaints(check.front_page, tree)


# -- outputs ----------------------------------------------------------------------------------------
WALK = [
    "# Walk\n\n> A random walk.",
    "import numpy as np\nfrom mcsvm_lit.studies import figures\nrng = np.random.default_rng(SEED)",
    "walk = rng.normal(size=30).cumsum();  print(round(walk[-1], 3))",
    'fig, ax = figures.axes();  ax.plot(walk);  figures.save(fig, "tiny/walk", dict(walk=walk));  fig',
]


def test_outputs_that_are_the_same_on_every_run_pass(tree):
    nb = write(tree / "nbs/02_walk.ipynb", [c.replace("SEED", "0") for c in WALK])
    assert notebooks.run_all([nb], store=True) == [] and (tree / "figures/tiny/walk.svg").exists()
    before, stale = nb.read_bytes(), tree / "figures/_runs/CS/walk/quick/0.json"
    stale.parent.mkdir(parents=True)
    stale.write_text("{}")
    assert notebooks.run_all([nb]) == [] and nb.read_bytes() == before and stale.exists()
    assert (
        notebooks.run_all([nb], store=True) == []
        and nb.read_bytes() == before
        and not stale.exists()
    )  # what is stored is computed anew


def test_outputs_and_figures_that_change_fail(tree):
    nb = write(tree / "nbs/02_walk.ipynb", [c.replace("SEED", "") for c in WALK])
    assert notebooks.run_all([nb], store=True) == []
    [(name, out)] = notebooks.run_all([nb])
    assert (
        name == "02_walk.ipynb"
        and "02_walk.ipynb, cell 2: stdout: stored" in out
        and "02_walk.ipynb, cell 3: image/png" in out
    )
    assert "figures/tiny/walk.svg has changed" in out and "figures/tiny/walk.csv has changed" in out
    shutil.rmtree(tree / "figures/tiny")
    assert (
        "figures/tiny/walk.svg is made by this notebook but not in the tree"
        in notebooks.run_all([nb])[0][1]
    )
    assert not (tree / "figures/tiny").exists()  # a check writes nothing into the tree


def test_where_the_processor_rounds_differently_changes_are_counted_only(tree, capsys):
    nb = write(tree / "nbs/02_walk.ipynb", [c.replace("SEED", "") for c in WALK])
    assert (
        notebooks.run_all([nb], store=True) == []
        and json.loads(nb.read_text())["metadata"]["rounding"] == notebooks.rounding()
    )
    nb.write_text(nb.read_text().replace(notebooks.rounding(), "elsewhere"))
    assert (
        notebooks.run_all([nb]) == []
        and "4 of its outputs and figures differ, as this processor rounds differently"
        in capsys.readouterr().out
    )
    nb.write_text(nb.read_text().replace("print(round(walk[-1], 3))", "assert False"))
    assert "AssertionError" in notebooks.run_all([nb])[0][1]  # an error is one everywhere
    nb.write_text(nb.read_text().replace("assert False", "pass"))
    assert "cells [2] show other kinds of output" in notebooks.run_all([nb])[0][1]


def test_a_cell_that_fails_is_shown(tree):
    nb = write(tree / "nbs/02_bad.ipynb", ["# Bad\n\n> Bad.", "n = 1/0", 'print("never")'])
    [(name, out)] = notebooks.run_all([nb])
    assert out.startswith("cell 1:\nn = 1/0") and "ZeroDivisionError" in out and "never" not in out


@pytest.mark.parametrize(
    "a, b, same",
    [
        ("accuracy 0.9153", "accuracy 0.9153", True),
        ("gap 1.00000e-05", "gap 1.00009e-05", True),
        ("gap 1.0e-05", "gap 1.1e-05", False),
        ("0.0", "1e-12", True),
        ("accuracy 0.91", "accuracy 0.92", False),
        ("12 steps", "13 steps", False),
        ("12 steps", "12 stops", False),
        ("1 2", "1 2 3", False),
        ("-1", "1", False),
    ],
)
def test_numbers_may_differ_in_their_last_digits_only(a, b, same):
    assert notebooks.same_text(a, b) == same


def picture(line=40, size=(120, 80), noise=0, seed=0, dot=()):
    "A PNG, in base64: a thin dark line on white."
    A = np.full((size[1], size[0], 3), 255)
    A[line : line + 2, 8:-8] = 40
    for r in dot:
        A[r : r + 5, 60:65] = (200, 60, 60)
    A = np.clip(A + np.random.default_rng(seed).integers(-noise, noise + 1, A.shape), 0, 255)
    out = io.BytesIO()
    Image.fromarray(A.astype(np.uint8)).save(out, "png")
    return base64.b64encode(out.getvalue()).decode()


def test_pictures_are_compared_by_what_they_show():
    assert notebooks.same_png(picture(), picture(noise=8)) and picture() != picture(noise=8)
    assert not notebooks.same_png(picture(), picture(line=41))  # a thin line, one pixel lower
    assert not notebooks.same_png(picture(), picture(dot=[60]))  # one more point
    assert not notebooks.same_png(picture(), picture(size=(121, 80)))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda p: f'<svg><image x="1.5" href="data:image/png;base64,{p}"/></svg>',
        lambda p: f'<img src="data:image/png;base64,\n{p}\n">',
    ],
)
def test_pictures_within_svg_and_html_are_compared_as_pictures(wrap):
    assert notebooks.same(wrap(picture()), wrap(picture(noise=8)))
    assert not notebooks.same(wrap(picture()), wrap(picture(line=41)))
    assert not notebooks.same(wrap(picture()), wrap(picture()).replace("<", "< ", 1))
    assert not notebooks.same(wrap(picture()), wrap(picture()) * 2)


def test_figures_are_compared_with_those_of_the_tree(tmp_path):
    old, new = tmp_path / "figures", tmp_path / "written"
    for d in (old, new):
        d.mkdir()

    def put(name, a, b):
        (old / name).write_bytes(a)
        (new / name).write_bytes(b)

    svg = '<svg><path d="M {} 20 L 40 60"/><image href="data:image/png;base64,{}"/></svg>'
    put(
        "same.svg", svg.format(10, picture()).encode(), svg.format(10.01, picture(noise=8)).encode()
    )
    put("moved.svg", svg.format(10, picture()).encode(), svg.format(12, picture()).encode())
    put(
        "raster.svg", svg.format(10, picture()).encode(), svg.format(10, picture(dot=[60])).encode()
    )
    put("same.png", *map(base64.b64decode, (picture(), picture(noise=8))))
    put("other.png", *map(base64.b64decode, (picture(), picture(line=41))))
    put("values.csv", b"x,y\n1,2\n", b"x,y\n1,3\n")
    (new / "new.csv").write_text("x\n1\n")
    assert list(notebooks.changed_figures(new, old)) == [
        "figures/moved.svg has changed",
        "figures/new.csv is made by this notebook but not in the tree",
        "figures/other.png has changed",
        "figures/raster.svg has changed",
        "figures/values.csv has changed",
    ]


def shown(*outputs):
    return dict(
        outputs=[
            dict(output_type="display_data", data=o)
            if isinstance(o, dict)
            else dict(output_type="stream", name="stdout", text=o)
            for o in outputs
        ]
    )


def test_outputs_are_compared_one_by_one():
    png = {"image/png": picture()}
    assert (
        notebooks.changed(
            shown("a ", "1.0", png), shown(["a 1", ".0"], {"image/png": picture(noise=8)})
        )
        is None
    )  # streams are joined
    assert notebooks.changed(shown("a"), shown("b")) == "stdout: stored 'a', now 'b'"
    assert notebooks.changed(shown(png), shown({"image/png": picture(line=41)})) == "image/png"
    assert (
        notebooks.changed(shown("a"), shown("a", png))
        == "stored ['stdout'], now ['stdout', 'image/png']"
    )
    assert notebooks.changed(shown({"text/html": "<b>1</b>"}), shown({"text/html": "<b>2</b>"}))


# -- house style ------------------------------------------------------------------------------------
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
        ("[a](01_half.ipynb#Nowhere)", "no such heading"),
        ("[a](01_half.ipynb#half)", "no such heading"),
        ("[a](#Tinier)", "no such heading"),
        ("![a](../figures/none.svg)", "no file"),
    ],
)
def test_links_that_lead_nowhere(tree, link, why):
    write(
        tree / "nbs/index.ipynb",
        [
            *INDEX,
            link,
            "See [half](01_half.ipynb#Half), [here](#Tiny) and [far](https://example.org/x).",
        ],
    )
    assert re.fullmatch(rf"index\.ipynb: {re.escape(why)}.*", complaints(check.styled, tree))


def code(*src):
    return [Cell(cell_type="code", source=s) for s in src]


def page(*cells):
    return [
        Cell(cell_type="markdown", source="# T\n\n> S."),
        *[Cell(cell_type="markdown", source="Prose.") for _ in cells],
        *cells,
    ]


def export(lines):
    return "#| export\n" + "x = 1\n" * lines


@pytest.mark.parametrize(
    "cells, why",
    [
        (page(*code(export(41), *[export(1)] * 3, *["assert x"] * 2)), "exported cell of 41 lines"),
        (page(*code(export(13), "assert x")), "the median is above 12"),
        (page(*code(*[export(1)] * 3, "assert x")), "3 exported cells but 1 cells that test"),
        (
            page(*code(*["assert x"] * 9, "#| hide\nassert x", "#| hide\nassert x")),
            "more than one test in ten is hidden",
        ),
        (page() + code(*["x"] * 4), "less than 30 %"),
        ([Cell(cell_type="markdown", source="# T\n> S.")], "does not open with a title"),
    ],
)
def test_pages_out_of_shape(cells, why):
    assert [b for b in lint.lint_shape(cells) if why in b] == list(lint.lint_shape(cells)) != []


def test_pages_in_shape():
    assert not list(lint.lint_shape(page(*code(export(40), *[export(12)] * 2, *["assert x"] * 2))))


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
def test_outputs_that_belong_to_one_machine(output, why):
    cell = shown(output) if "output_type" not in output else dict(outputs=[output])
    assert why in "\n".join(lint.lint_outputs([cell]))


def test_outputs_that_belong_to_nobody():
    assert not list(
        lint.lint_outputs(
            [
                shown(
                    "figures/tmp/a.svg 1/2 0x1 C: 3",
                    {"text/html": '<a href="https://example.org/home/x">', "image/png": "/tmp/x"},
                )
            ]
        )
    )


# -- the gate ---------------------------------------------------------------------------------------
def test_pytest_that_finds_no_test_fails(tree):
    assert check.tested(tree) == 0
    (tree / "tests/test_one.py").unlink()
    assert check.tested(tree) == 5


def through_the_gate(tree):
    "`.ci/run` in a project whose set-up is done: `make` finds our interpreter where it expects the project's."
    bin = tree / ".venv/bin"
    bin.mkdir(parents=True)
    py = bin / "python"
    py.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    py.chmod(py.stat().st_mode | stat.S_IXUSR)
    for f in (".made", ".ready"):
        (tree / ".venv" / f).touch()
    return subprocess.run(
        [tree / ".ci/run"],
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "PYTEST"))},
    )


needs_make = pytest.mark.skipif(
    not (shutil.which("make") and shutil.which("bash")), reason="make or bash is missing"
)


@needs_make
def test_the_gate_opens_for_a_sound_project(tree):
    r = through_the_gate(tree)
    assert r.returncode == 0 and r.stdout.rstrip().splitlines()[-1].startswith("1 passed"), (
        r.stdout + r.stderr
    )
    assert [
        line.split()[0]
        for line in r.stdout.splitlines()
        if re.match(r" *(ok|FAILED)  [A-Za-z]", line) and ".ipynb" not in line
    ] == ["ok"] * len(check.STAGES)


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
