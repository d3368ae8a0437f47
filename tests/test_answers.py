"""What a visitor asks first is answered within two clicks of the front page of the built site."""

import re
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(__file__).resolve().parent.parent / "docs/_build/html"
# Question -> the page that answers it, and words of the answer.
QUESTIONS = {
    "How do I install it?": ("pages/install.html", "pip install ."),
    "How do I get calibrated probabilities?": (
        "tutorials/probabilities.html",
        "SVMProbabilityClassifier(",
    ),
    "How do I cite it?": ("pages/cite.html", "@software{mcsvm_lit"),
    "What is the API of CrammerSingerSVC?": ("api/CrammerSingerSVC.html", "class_weight"),
    "Is it faster than SVC?": ("pages/benchmarks.html", "SVC, one-versus-one, fit"),
    "What if my data do not fit in memory?": (
        "scale/71_streamed.html",
        "from mcsvm_lit.scale import StreamedCrammerSingerSVC",
    ),
}

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").exists(), reason="the site is not built: make docs"
)


class Links(HTMLParser):
    """The links that a visitor sees: those of the text, and the first level of the sidebar."""

    def __init__(self, file):
        super().__init__()
        self.depth, self.seen, self.links = 0, False, []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if tag == "article":
            self.depth += 1
        if tag == "li":
            self.seen = "toctree-l1" in a.get("class", "")
        if tag == "a" and (self.depth or self.seen) and a.get("href"):
            self.links.append(a["href"])

    def handle_endtag(self, tag):
        if tag == "article":
            self.depth -= 1


@cache
def leads_to(page):
    """The pages of the site that one click from this one leads to."""
    targets = set()
    for link in Links(page).links:
        address = urlsplit(link)
        target = (page.parent / unquote(address.path)).resolve()
        if not address.scheme and address.path.endswith(".html") and target.exists():
            targets.add(target)
    return targets


def clicks(page):
    """How many clicks lead from the front page to this one; None if more than two."""
    front = SITE.resolve() / "index.html"
    if page in leads_to(front):
        return 1
    return 2 if any(page in leads_to(via) for via in leads_to(front)) else None


def words(page):
    """The text of a page, without its tags and without what all pages have."""
    article = re.search(r"<article.*</article>", page.read_text(encoding="utf-8"), re.S)[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", "", article)).split())


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_is_two_clicks_away(question):
    place, answer = QUESTIONS[question]
    page = SITE.resolve() / place
    assert clicks(page) in (1, 2), place
    assert answer in words(page)


def test_a_page_to_which_nothing_leads_is_no_answer():
    """Else the test above could not fail."""
    assert clicks(SITE.resolve() / "404.html") is None
