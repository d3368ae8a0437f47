"""Hostile data against every classifier: a short profile of `make fuzz`, and what failed once."""

import json
import random
from pathlib import Path

import fuzz
import labels
import pytest
from hostile import CHOICES, PATHS, SPECIAL, Case, judge
from hypothesis import given, settings
from hypothesis import strategies as st

from mcsvm_lit import CrammerSingerSVC, KernelLogisticRegression

KEPT = Path(__file__).parent / "recorded" / "hostile.jsonl"
CASES = st.builds(Case, **{name: st.sampled_from(values) for name, values in CHOICES.items()})
PROFILE = 30  # cases for each classifier
PROBLEMS = 40  # that are solved twice


def recorded():
    """What failed once: pairs of a classifier and a case."""
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
    for line in map(json.loads, lines):
        name, what = line.pop("classifier"), line.pop("kind")
        yield pytest.param(name, Case(**line), id=f"{name}-{what}"[:80])


@pytest.mark.parametrize("name", [*SPECIAL, *PATHS])
def test_hostile_data_break_nothing(name):
    @settings(max_examples=PROFILE)
    @given(CASES)
    def unharmed(case):
        complaints = judge(name, case)
        assert not complaints, (complaints, case.line())

    unharmed()


@pytest.mark.parametrize(("name", "case"), list(recorded()))
def test_what_failed_once_fails_no_more(name, case):
    assert not judge(name, case), case.line()


def test_a_campaign_counts_fits_and_writes_down_every_failure(tmp_path, monkeypatch):
    campaign = fuzz.Campaign(["CrammerSingerSVC"], tmp_path / "failures", keeps=False)
    # Of each case one fit, a better one to compare with, and those that its law asks for.
    for law, fits in (("none", 2), ("pickled", 4), ("again", 7), ("permuted", 10)):
        campaign.run("CrammerSingerSVC", Case(seed=8, law=law))
        assert campaign.least() == fits
    assert not (tmp_path / "failures").exists()
    monkeypatch.setattr(fuzz, "judge", lambda name, case: ["not finite: coef_"])
    for seed in (4, 5):
        campaign.run("CrammerSingerSVC", Case(seed=seed))
    lines = (tmp_path / "failures").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["case"]["seed"] for line in lines] == [4, 5]
    assert campaign.found["CrammerSingerSVC"] == {"not finite": 2}


@pytest.mark.parametrize("name", labels.SECOND)
def test_proved_labels_are_those_of_the_exact_model(name):
    chance, proved, good = random.Random(7), 0, 0
    for _ in range(PROBLEMS):
        case = labels.drawn(chance)
        found = labels.compared(name, case)
        assert not found.wrong, case.line()
        assert not found.beyond, case.line()
        proved, good = proved + found.proved, good + found.good
    assert good > 0.9 * PROBLEMS  # so many second solutions are as good as they should be
    assert proved > 4 * PROBLEMS


def test_labels_that_are_proved_too_easily_are_found_out(monkeypatch):
    for model in (CrammerSingerSVC, KernelLogisticRegression):
        ours = model.decision_bounds
        monkeypatch.setattr(model, "decision_bounds", lambda self, X, ours=ours: ours(self, X) / 10)
    for name in labels.SECOND:
        chance = random.Random(7)
        found = [labels.compared(name, labels.drawn(chance)) for _ in range(PROBLEMS)]
        assert any(f.beyond for f in found)
