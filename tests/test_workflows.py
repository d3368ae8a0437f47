"""Nothing that builds a release can be exchanged behind a name: actions and packages are pinned."""

import re

import pytest
from cells import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
BUILD = ROOT / ".github/build-requirements.txt"
PINNED = r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+"


def used(text):
    """The actions that a workflow uses, with their comments."""
    return re.findall(r"^\s*(?:- )?uses: (.+)$", text, re.M)


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda f: f.name)
def test_actions_are_pinned_by_commit(file):
    found = used(file.read_text(encoding="utf-8"))
    assert found and [u for u in found if not re.fullmatch(PINNED, u)] == []


def test_an_action_that_is_a_branch_is_seen():
    text = "      - uses: pypa/gh-action-pypi-publish@release/v1\n        uses: a/b@v6\n"
    assert used(text) == ["pypa/gh-action-pypi-publish@release/v1", "a/b@v6"]
    assert not any(re.fullmatch(PINNED, u) for u in used(text))


def test_one_action_has_one_version():
    texts = (f.read_text(encoding="utf-8") for f in WORKFLOWS)
    versions = {u for text in texts for u in used(text)}
    assert len({u.partition("@")[0] for u in versions}) == len(versions)


def test_build_requirements_are_those_of_the_project_by_digest():
    pinned = set((ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines())
    lines = [s for s in BUILD.read_text(encoding="utf-8").splitlines() if not s.startswith("#")]
    for line in lines:
        requirement, digest = line.split(" --hash=sha256:")
        assert requirement in pinned and re.fullmatch(r"[0-9a-f]{64}", digest)
    release = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert f"--require-hashes -r {BUILD.relative_to(ROOT).as_posix()}" in release


def test_only_what_publishes_may_identify_itself():
    """The tokens for publishing and attesting are those of one job, which runs no code of ours."""
    release = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    jobs = re.split(r"^  (?=[\w-]+:$)", release.split("\njobs:\n")[1], flags=re.M)
    (publishing,) = [job for job in jobs if "id-token: write" in job]
    assert "attestations: write" in publishing and "attest-build-provenance" in publishing
    assert "run:" not in publishing and "checkout" not in publishing
