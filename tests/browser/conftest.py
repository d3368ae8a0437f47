"""A real Chromium for the tests of this folder.

They are collected only when asked for: `pytest -m browser tests/browser`.
"""

import os
import shutil

import pytest

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_ignore_collect(collection_path, config):
    return None if "browser" in config.option.markexpr else True


def executable(pw):
    """A Chromium of this computer, or the one Playwright has downloaded, or None."""
    found = [
        os.environ.get("CHROMIUM"),
        *map(shutil.which, ("chromium", "chromium-browser", "google-chrome")),
        pw.chromium.executable_path,
    ]
    return next((f for f in found if f and os.path.exists(f)), None)


@pytest.fixture(scope="session")
def chromium():
    api = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
    )
    with api.sync_playwright() as pw:
        exe = executable(pw)
        if exe is None:
            pytest.skip("no Chromium here: apt install chromium, or playwright install chromium")
        browser = pw.chromium.launch(executable_path=exe, args=FLAGS)
        yield browser
        browser.close()


class Watch:
    """What a page asks of other hosts, and what it complains about."""

    def __init__(self, page, own):
        self.outside, self.errors = [], []

        def foreign(url):
            return url.startswith(("http", "ws")) and not (
                own and url.partition("://")[2].startswith(own)
            )

        page.on("request", lambda r: self.outside.append(r.url) if foreign(r.url) else None)
        page.on("pageerror", lambda e: self.errors.append(str(e)))
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)

    def take(self):
        out = [f"asks another host: {u}" for u in self.outside] + [
            f"console: {e}" for e in self.errors
        ]
        self.outside.clear()
        self.errors.clear()
        return out


@pytest.fixture(scope="session")
def watch():
    return Watch
