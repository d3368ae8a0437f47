"""When stored outputs count as the same: text, numbers, pictures, files."""

import base64
import io

import numpy as np
import outputs
import pytest
import reading
from PIL import Image


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
    assert outputs.same_text(a, b) == same


def picture(line=40, size=(120, 80), noise=0, seed=0, dot=()):
    """A PNG, in base64: a thin dark line on white."""
    A = np.full((size[1], size[0], 3), 255)
    A[line : line + 2, 8:-8] = 40
    for r in dot:
        A[r : r + 5, 60:65] = (200, 60, 60)
    A = np.clip(A + np.random.default_rng(seed).integers(-noise, noise + 1, A.shape), 0, 255)
    out = io.BytesIO()
    Image.fromarray(A.astype(np.uint8)).save(out, "png")
    return base64.b64encode(out.getvalue()).decode()


def test_pictures_are_compared_by_what_they_show():
    assert outputs.same_png(picture(), picture(noise=8)) and picture() != picture(noise=8)
    assert not outputs.same_png(picture(), picture(line=41))  # a thin line, one pixel lower
    assert not outputs.same_png(picture(), picture(dot=[60]))  # one more point
    assert not outputs.same_png(picture(), picture(size=(121, 80)))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda p: f'<svg><image x="1.5" href="data:image/png;base64,{p}"/></svg>',
        lambda p: f'<img src="data:image/png;base64,\n{p}\n">',
    ],
)
def test_pictures_within_svg_and_html_are_compared_as_pictures(wrap):
    assert outputs.same(wrap(picture()), wrap(picture(noise=8)))
    assert not outputs.same(wrap(picture()), wrap(picture(line=41)))
    assert not outputs.same(wrap(picture()), wrap(picture()).replace("<", "< ", 1))
    assert not outputs.same(wrap(picture()), wrap(picture()) * 2)


def test_figures_are_compared_with_those_of_the_tree(tmp_path):
    old, new = tmp_path / "figures", tmp_path / "written"
    for d in (old, new):
        d.mkdir()

    def put(name, a, b):
        (old / name).write_bytes(a)
        (new / name).write_bytes(b)

    def svg(x, png):
        line, image = (
            f'<path d="M {x} 20 L 40 60"/>',
            f'<image href="data:image/png;base64,{png}"/>',
        )
        return f"<svg>{line}{image}</svg>".encode()

    put("same.svg", svg(10, picture()), svg(10.01, picture(noise=8)))
    put("moved.svg", svg(10, picture()), svg(12, picture()))
    put("raster.svg", svg(10, picture()), svg(10, picture(dot=[60])))
    put("same.png", *map(base64.b64decode, (picture(), picture(noise=8))))
    put("other.png", *map(base64.b64decode, (picture(), picture(line=41))))
    put("values.csv", b"x,y\n1,2\n", b"x,y\n1,3\n")
    (new / "new.csv").write_text("x\n1\n")
    assert list(outputs.changed_figures(new, old)) == [
        "figures/moved.svg has changed",
        "figures/new.csv is made by this notebook but not in the tree",
        "figures/other.png has changed",
        "figures/raster.svg has changed",
        "figures/values.csv has changed",
    ]


def shown(*values):
    """A cell with these outputs: texts are printed, dictionaries displayed."""
    cell = dict(outputs=[])
    for value in values:
        if isinstance(value, dict):
            cell["outputs"].append(dict(output_type="display_data", data=value))
        else:
            cell["outputs"].append(dict(output_type="stream", name="stdout", text=value))
    return cell


def test_outputs_are_compared_one_by_one():
    png, like_it = {"image/png": picture()}, {"image/png": picture(noise=8)}
    joined = outputs.changed(shown("a ", "1.0", png), shown(["a 1", ".0"], like_it))
    assert joined is None  # streams are joined
    assert outputs.changed(shown("a"), shown("b")) == "stdout: stored 'a', now 'b'"
    assert outputs.changed(shown(png), shown({"image/png": picture(line=41)})) == "image/png"
    kinds = outputs.changed(shown("a"), shown("a", png))
    assert kinds == "stored ['stdout'], now ['stdout', 'image/png']"
    assert outputs.changed(shown({"text/html": "<b>1</b>"}), shown({"text/html": "<b>2</b>"}))


# -- how pages read --------------------------------------------------------------------------------
def test_a_page_is_counted():
    """Cells that show, prose by characters, and the headings before the first picture."""
    prose = "# T\n\n> S.\n\n## One\n\n## Two"
    cells = [
        dict(cell_type="markdown", source=prose),
        dict(cell_type="code", source="import a\nfrom b import (\n    c,\n)", outputs=[]),
        dict(cell_type="code", source="#| export\nx = 1", outputs=[]),
        dict(cell_type="code", source="assert f.py_func(1)", outputs=[]),
        dict(cell_type="code", source="x", **shown("1")),
        dict(cell_type="markdown", source="## Three"),
        dict(cell_type="code", source="fig", **shown({"image/png": picture()})),
    ]
    page = reading.counted(cells)
    assert (page.cells, page.shows, page.silent, page.white_box) == (7, 2, 1, 1)
    assert page.words == 10 and page.headings == 3
    written = sum(len(c["source"]) for c in cells)
    assert page.prose == pytest.approx((len(prose) + len("## Three")) / written)
    assert reading.counted(cells[:-1]).headings is None
    silent = reading.summary([page, reading.counted(cells[:-1])])
    assert silent.startswith("2 pages: 60% of 5 cells show something")
