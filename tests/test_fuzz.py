"""Hostile data against every classifier: a short profile of `make fuzz`, and what failed once."""

import json
from pathlib import Path

import pytest
from hostile import CHOICES, SPECIAL, Case, judge
from hypothesis import given, settings
from hypothesis import strategies as st

KEPT = Path(__file__).parent / "recorded" / "hostile.jsonl"
CASES = st.builds(Case, **{name: st.sampled_from(values) for name, values in CHOICES.items()})
PROFILE = 30  # cases for each classifier


def recorded():
    """What failed once: pairs of a classifier and a case."""
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
    for line in map(json.loads, lines):
        name, what = line.pop("classifier"), line.pop("kind")
        yield pytest.param(name, Case(**line), id=f"{name}-{what}"[:80])


@pytest.mark.parametrize("name", SPECIAL)
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
