"""The built site in a browser, page by page, opened as files.

Mathematics, pictures, widths, colours, search, paper.
"""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs/_build/html"


@pytest.fixture(scope="session")
def site():
    if not (SITE / "index.html").exists():
        subprocess.run([sys.executable, ROOT / "docs/build.py"], check=True)
    return SITE


@pytest.fixture(scope="session")
def pages(site):
    return sorted(site.rglob("*.html"))


@pytest.fixture
def page(chromium):
    page = chromium.new_page(viewport=dict(width=1300, height=900))
    yield page
    page.close()


def visit(page, file, query=""):
    """Open a page and wait until its mathematics is set."""
    page.goto(file.as_uri() + query)
    page.evaluate(
        """async () => {
          if (window.MathJax) await MathJax.startup.promise;
          await document.fonts.ready;
        }"""
    )


# What MathJax did not take: left as text, or set in red.
BAD_TEX = """() => {
  const left = [...document.querySelectorAll('.math')]
    .filter(e => !e.querySelector('mjx-container')).map(e => e.textContent);
  const red = [...document.querySelectorAll('[data-mjx-error], [fill="red"], [mathcolor="red"]')]
    .map(e => e.getAttribute('data-mjx-error') || e.textContent);
  return left.concat(red);
}"""
# Pictures that wait until they are scrolled to are asked for now.
BAD_PICTURES = """async () => {
  const images = [...document.images];
  images.forEach(i => i.loading = 'eager');
  await Promise.all(images.map(i => i.decode().catch(() => null)));
  return images.filter(i => !i.complete || !i.naturalWidth || !i.alt).map(i => i.src) }"""
# What sticks out of the column of text, unless a box around it scrolls.
TOO_WIDE = """() => {
  const scrolls = e => { for (; e && e.tagName !== 'ARTICLE'; e = e.parentElement)
    if (/auto|scroll|hidden/.test(getComputedStyle(e).overflowX)) return true;
    return false };
  const out = [...document.querySelectorAll('article *')]
    .filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
    .filter(e => getComputedStyle(e).position !== 'absolute' && !scrolls(e))
    .map(e => e.tagName + ' ' + e.textContent.slice(0, 60));
  return document.body.scrollWidth > innerWidth ? ['the page itself', ...out] : out }"""
# Contrast of the letters against what is behind them, as WCAG counts it.
FAINT = """() => {
  const rgb = c => c.match(/[\\d.]+/g).map(Number);
  const linear = v => v <= .04045 ? v/12.92 : ((v + .055)/1.055)**2.4;
  const lum = c => [.2126, .7152, .0722].reduce((s, w, i) => s + w*linear(c[i]/255), 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > .5) return c;
    }
    return [255, 255, 255] };
  const seen = {};
  const texts = 'p, li, td, th, h1, h2, h3, summary, a, code, pre span, dt, figcaption';
  for (const e of document.querySelectorAll(`article :is(${texts})`)) {
    if (!e.textContent.trim() || !e.checkVisibility()) continue;
    const a = lum(rgb(getComputedStyle(e).color)), b = lum(behind(e));
    const c = (Math.max(a, b) + .05)/(Math.min(a, b) + .05);
    const where = e.tagName + '.' + e.className + ' ' + c.toFixed(1);
    if (c < 4.4) seen[where] = e.textContent.slice(0, 40);
  }
  return Object.entries(seen).map(x => x.join(': ')) }"""


def test_every_page(pages, page, watch):
    """Mathematics, pictures, console, hosts, and nothing sticks out on a desk or on a phone."""
    seen, bad = watch(page, ""), []
    for f in pages:
        visit(page, f)
        name = f.relative_to(SITE).as_posix()
        bad += [f"{name}: TeX not taken: {x}" for x in page.evaluate(BAD_TEX)] + [
            f"{name}: picture {x}" for x in page.evaluate(BAD_PICTURES)
        ]
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        for width in (1300, 420):
            page.set_viewport_size(dict(width=width, height=900))
            page.wait_for_timeout(50)
            bad += [f"{name}, {width} px: sticks out: {x}" for x in page.evaluate(TOO_WIDE)]
        bad += [f"{name}: {x}" for x in seen.take()]
        page.set_viewport_size(dict(width=1300, height=900))
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_can_be_read(pages, page, scheme):
    """In the light and in the dark; and the two differ."""
    page.emulate_media(color_scheme=scheme)
    bad = []
    for f in pages:
        visit(page, f)
        bad += [f"{f.relative_to(SITE)}, {scheme}: {x}" for x in page.evaluate(FAINT)]
        paper = page.evaluate(
            """() => {
              const paper = getComputedStyle(document.body).backgroundColor;
              return Math.max(...paper.match(/\\d+/g).slice(0, 3).map(Number));
            }"""
        )
        assert paper > 200 if scheme == "light" else paper < 60
    assert not bad, "\n".join(bad)


def first_result(page, site, query):
    visit(page, site / "search.html", "?q=" + query)
    page.wait_for_selector("ul.search li a")
    return page.locator("ul.search li a").first


def test_search_finds_a_statement_by_its_number(pages, page, site):
    for f in pages:
        visit(page, f)
        if box := page.query_selector(".statement"):
            break
    else:
        pytest.skip("no chapter states anything yet")
    id = box.get_attribute("id")
    kind, *number = id.split("-")
    first_result(page, site, f"{kind}+{'.'.join(number)}").click()
    page.wait_for_url(f"**/{f.name}#{id}")
    assert page.locator(f"#{id}").is_visible()


def test_search_finds_a_name(page, site):
    assert "Certificate" in first_result(page, site, "Certificate").inner_text()


@pytest.mark.parametrize(
    "query, place",
    [
        ("CrammerSingerSVC", "api/CrammerSingerSVC.html"),
        ("twinmarginsvc", "api/TwinMarginSVC.html"),
        ("bibtex", "pages/cite.html"),
        ("license", "pages/cite.html"),
        ("install", "pages/install.html"),
    ],
)
def test_search_finds_what_people_ask_for(page, site, query, place):
    assert place in first_result(page, site, query).get_attribute("href")


def test_the_answers_are_two_clicks_away(page, site):
    """Probabilities, citing, the reference of a classifier, speed, large data."""
    for places in (
        ["tutorials/coming_from_sklearn.html"],
        ["pages/cite.html"],
        ["api/index.html", "CrammerSingerSVC.html"],
        ["pages/benchmarks.html"],
        ["scale/71_streamed.html"],
    ):
        visit(page, site / "index.html")
        for place in places:
            links = page.locator(f':is(article, .sidebar-tree) a[href$="{place}"]')
            links.filter(visible=True).first.click()
            page.wait_for_load_state()
            assert place in page.url


def test_search_says_nothing_on_the_console(page, site, watch):
    seen = watch(page, "")
    first_result(page, site, "gap")
    page.wait_for_timeout(300)
    assert not seen.take()


def test_on_paper(pages, page):
    """No sidebars, and every proof unfolded."""
    for f in pages:
        visit(page, f)
        if page.query_selector(".statement + details"):
            break
    else:
        pytest.skip("no chapter proves anything yet")
    assert not page.locator(".statement + details").first.evaluate("d => d.open")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("[...document.querySelectorAll('article details')].every(d => d.open)")
    assert not page.locator(".sidebar-drawer, .toc-drawer, footer").filter(visible=True).count()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not page.locator(".statement + details").first.evaluate("d => d.open")


def test_a_walk_without_a_dead_end(page, site):
    """From the front page to a proof, its code, the cell with the code, an experiment and back."""
    visit(page, site / "index.html")
    page.locator('article a[href="crammer_singer/10_problem.html"]').first.click()
    page.wait_for_url("**/crammer_singer/10_problem.html")
    proof = page.locator(".statement + details").first
    proof.locator("summary").click()
    assert proof.locator("p").first.is_visible()
    visit(page, site / "crammer_singer/14_classifier.html")
    page.locator('article a[href^="../api/CrammerSingerSVC.html#"]').first.click()
    page.wait_for_url("**/api/CrammerSingerSVC.html#*")
    page.locator("article a", has_text="source").first.click()
    page.wait_for_url("**/crammer_singer/14_classifier.html#*")
    visit(page, site / "crammer_singer/10_problem.html")
    page.locator('article a[href="19_experiments.html"]').first.click()
    page.wait_for_url("**/crammer_singer/19_experiments.html")
    assert page.locator("article table").count() and page.locator("article img").count()
    page.locator('article a[href="10_problem.html"]').first.click()
    page.wait_for_url("**/crammer_singer/10_problem.html")
    page.locator(".sidebar-brand").click()
    page.wait_for_url("**/index.html")


def test_on_a_phone(page, site):
    """The menu opens, and leads on."""
    page.set_viewport_size(dict(width=400, height=800))
    visit(page, site / "index.html")
    entry = page.locator('.sidebar-tree a[href$="api/index.html"]')
    assert not entry.is_visible() or entry.bounding_box()["x"] < 0
    page.locator(".mobile-header .nav-overlay-icon").click()
    page.wait_for_timeout(500)
    entry.click()
    page.wait_for_url("**/api/index.html")
    page.locator("article a", has_text="CrammerSingerSVC").first.click()
    page.wait_for_url("**/api/CrammerSingerSVC.html")


def test_a_lost_page(page, site):
    """What stands where nothing stands leads back."""
    visit(page, site / "404.html")
    page.locator("article a").first.click()
    page.wait_for_url("**/index.html")


def test_a_slider_chooses_the_picture(page, site):
    visit(page, site / "tutorials/interactive.html")
    box = page.locator(".frames").first
    slider, seen = box.locator("input"), set()
    slider.focus()
    page.keyboard.press("Home")
    for _ in range(box.locator("img").count()):
        assert box.locator("img:visible").count() == 1
        picture = box.locator("img:visible")
        assert picture.get_attribute("data-value") == box.locator("output").inner_text()
        seen.add(picture.get_attribute("src"))
        page.keyboard.press("ArrowRight")
    assert len(seen) == box.locator("img").count() > 3
