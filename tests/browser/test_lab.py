"""Every notebook in a real JupyterLab.

All cells run, every slider moves, mathematics is set, and no other host is asked for anything. The
server works on a copy of the repository, so a run changes nothing in it.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(
    f.relative_to(ROOT).as_posix()
    for f in (ROOT / "nbs").rglob("*.ipynb")
    if ".ipynb_checkpoints" not in f.parts
)
MINUTES = float(os.environ.get("MCSVM_LIT_LAB_MINUTES", 15))  # the longest a notebook may take

SETTINGS = {
    "apputils-extension/notification": dict(
        fetchNews="false", checkForUpdates=False, doNotDisturbMode=True
    ),
    "notebook-extension/tracker": dict(
        windowingMode="none", autoStartDefaultKernel=True
    ),  # every cell is on the page
    "docmanager-extension/plugin": dict(autosave=False),
}


def copied(folder):
    """What notebooks read and write, in a folder of its own."""
    for d in ("nbs", "figures", "mcsvm_lit"):
        if (ROOT / d).exists():
            shutil.copytree(
                ROOT / d,
                folder / d,
                ignore=shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__"),
            )
    for f in ROOT.glob("*.*"):
        shutil.copy(f, folder) if f.is_file() else None
    return folder


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def environment(tmp, root):
    """Settings, data and history of this server's own; `python` is this one."""
    for name, settings in SETTINGS.items():
        f = tmp / f"settings/@jupyterlab/{name}.jupyterlab-settings"
        f.parent.mkdir(parents=True, exist_ok=True)
        f.write_text(json.dumps(settings))
    own = {
        k: str(tmp / k.lower())
        for k in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    if "MCSVM_LIT_DATA" in os.environ:
        own["MCSVM_LIT_DATA"] = os.path.abspath(os.environ["MCSVM_LIT_DATA"])
    path = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    return {
        **os.environ,
        **own,
        "PATH": path,
        "MCSVM_LIT_FIGURES": str(root / "figures"),
        "PYTHONHASHSEED": "0",
    }


@pytest.fixture(scope="session")
def lab(chromium, tmp_path_factory):  # no browser, no server
    """The address of a JupyterLab on a free port of this computer."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    tmp = tmp_path_factory.mktemp("lab")
    root = copied(tmp_path_factory.mktemp("repository"))
    port = free_port()
    log = (tmp / "log").open("w")
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "jupyterlab",
            "--no-browser",
            "--allow-root",
            "--ip=127.0.0.1",
            f"--port={port}",
            "--port-retries=0",
            "--IdentityProvider.token=",
            f"--ServerApp.root_dir={root}",
            f"--LabApp.user_settings_dir={tmp}/settings",
            f"--LabApp.workspaces_dir={tmp}/workspaces",
            "--LabApp.expose_app_in_browser=True",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        ],
        env=environment(tmp, root),
        stdout=log,
        stderr=log,
    )
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status", timeout=1)
                break
            except OSError:
                time.sleep(0.2)
            if server.poll() is not None:
                break
        else:
            server.kill()
        if server.poll() is not None:
            pytest.fail("JupyterLab did not start:\n" + (tmp / "log").read_text()[-2000:])
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()


OPEN = """() => {
  const panel = window.jupyterapp?.shell?.currentWidget;
  return panel?.sessionContext && panel.context.isReady;
}"""
# Before the kernel has said who it is, "run all" would wait for ever.
RUN = """async () => {
  const {commands, shell} = window.jupyterapp;
  const panel = shell.currentWidget, session = panel.sessionContext;
  await panel.revealed;
  await session.ready;
  await session.session.kernel.info;
  await commands.execute('notebook:run-all-cells');
  const bad = [];
  [...panel.content.model.cells].forEach((c, i) => {
    if (c.type !== 'code' || !c.sharedModel.source.trim()) return;
    if (c.executionCount === null) bad.push(`cell ${i} did not run`);
    for (let k = 0; k < c.outputs.length; k++) {
      const o = c.outputs.get(k).toJSON();
      if (o.output_type === 'error') bad.push(`cell ${i}: ${o.ename}: ${o.evalue}`);
    }
  });
  return bad;
}"""
SHUT = """async () => {
  await window.jupyterapp.shell.currentWidget.sessionContext.shutdown();
}"""
# TeX in red, or dollars that are still there once everything is set.
BAD_TEX = """() => {
  const errors = 'mjx-merror, [data-mjx-error], mjx-mtext[style*="red"]';
  const red = [...document.querySelectorAll(errors)]
    .map(e => e.getAttribute('data-mjx-error') || e.textContent);
  const texts = '.jp-MarkdownCell .jp-RenderedMarkdown :is(p, li, td, th, h1, h2, h3, h4)';
  const raw = [...document.querySelectorAll(texts)].filter(e => {
    const c = e.cloneNode(true);
    c.querySelectorAll('code, pre, mjx-container').forEach(x => x.remove());
    return /\\$|\\\\begin\\{/.test(c.textContent);
  });
  return red.concat(raw.map(e => e.textContent.slice(0, 80))) }"""


def moved(page):
    """Move each slider two steps to the right; what is wrong with those that stay."""
    bad = []
    for i in range(page.locator(".widget-slider").count()):
        slider = page.locator(".widget-slider").nth(i)
        shown = slider.locator(".widget-readout")
        slider.scroll_into_view_if_needed()
        before = shown.inner_text()
        slider.locator(".noUi-handle").first.focus()
        key = "ArrowRight"
        for _ in range(2):
            page.keyboard.press(key)
        page.wait_for_timeout(500)
        if shown.inner_text() == before:
            page.keyboard.press("ArrowLeft")
            page.wait_for_timeout(500)  # it stood at its end
        if shown.inner_text() == before:
            bad.append(f"slider {i} does not move")
    return bad


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_notebook(notebook, lab, chromium, watch):
    context = chromium.new_context(viewport=dict(width=1300, height=1500))
    page = context.new_page()
    page.set_default_timeout(60_000 * MINUTES)
    seen = watch(page, lab)
    try:
        page.goto(f"http://{lab}/lab/tree/{notebook}?reset")
        page.wait_for_function(OPEN)
        bad = page.evaluate(RUN)
        page.wait_for_timeout(1000)
        bad += moved(page)
        bad += [f"TeX not taken: {x}" for x in page.evaluate(BAD_TEX)]
        bad += [f"asks another host: {u}" for u in seen.outside]
        page.evaluate(SHUT)
    finally:
        context.close()
    assert not bad, "\n".join(bad)
