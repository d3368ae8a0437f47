"""Tables that are kept with the project: each exhibit has one, and each says which code made it.

Where the code has changed since, a sample of the table is made again.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="needs the extra 'studies'")

from mcsvm_lit.studies.runner import EARLIER, file_of_table, find, records, registry, repeats

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "figures"
# Tables that were made before their code was noted, by an earlier state of it. Renewing one is
# good: then lower the number. It never rises. What they would cost, in CPU minutes of one core:
# WZL/table_4 six hours.
FROM_EARLIER_CODE = 1
SECONDS = 60  # a sample that took longer is made again with `make test FULL=1` only


def noted():
    """What is noted of every stored table: (paper, name) -> dict."""
    papers = {e.paper for e in registry().values()}
    return {(p, name): made for p in papers for name, made in records(p, FIGURES).items()}


def test_every_exhibit_has_a_table_and_a_note():
    known = registry()
    without = [id for id in known if not file_of_table(id, "full", FIGURES).exists()]
    assert not without, f"no stored table: mcsvm-lit run {' '.join(without)} --full"
    tables = {
        f.relative_to(FIGURES).as_posix()[: -len("_full.csv")] for f in FIGURES.glob("*/*_full.csv")
    }
    assert tables == set(known) == {f"{paper}/{name}" for paper, name in noted()}


@pytest.mark.parametrize("id", sorted(registry()))
def test_a_stored_table_is_of_the_code_that_is_there(id):
    e = find(id)
    made = records(e.paper, FIGURES)[e.name]
    if made["code"] in (EARLIER, e.code):
        return
    if made["sample"]["seconds"] > SECONDS and not os.environ.get("FULL"):
        pytest.skip("its sample takes more than a minute")
    stands = repeats(id, FIGURES)
    if stands is None:
        pytest.skip("its data are missing")
    assert stands, f"not of today's code, renew it: mcsvm-lit run {id} --full"


def test_tables_of_earlier_code_become_fewer():
    earlier = [one for one, made in noted().items() if made["code"] == EARLIER]
    assert len(earlier) == FROM_EARLIER_CODE


def command(*words, cwd=ROOT, figures=None, more=""):
    """Run `mcsvm-lit` in a shell, piped into `more`."""
    call = "from mcsvm_lit.studies.command import main; raise SystemExit(main())"
    text = f'"{sys.executable}" -c "{call}" {" ".join(words)} {more}'
    env = {k: v for k, v in os.environ.items() if k != "MCSVM_LIT_FIGURES"}
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), env.get("PYTHONPATH", "")])
    return subprocess.run(
        text, shell=True, cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8"
    )


@pytest.mark.skipif(not shutil.which("git"), reason="needs Git")
def test_a_run_leaves_the_tree_clean(tmp_path):
    for name in ("settings.ini", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(FIGURES, tmp_path / "figures", ignore=shutil.ignore_patterns("_*", "report*"))

    def git(*words):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        said = subprocess.run(["git", *who, *words], cwd=tmp_path, capture_output=True, text=True)
        assert said.returncode == 0, said.stderr
        return said.stdout

    git("init", "-q"), git("add", "-A"), git("commit", "-qm", "all")
    done = command("run", "TPM/table_2", "TKP/figure_6", "CS/table_1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "figures/_quick/TKP/figure_6.svg").exists()
    assert (tmp_path / "figures/report.html").exists()
    assert git("status", "--porcelain") == ""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_reader_that_stops_early_is_no_error():
    done = command("list", more="| head -1")
    assert done.stdout.startswith("exhibit") and done.stderr == ""
