"""A long campaign of hostile fits, for `make fuzz HOURS=…`.

    python tools/fuzz.py --hours 8 [--of CrammerSingerSVC …] [--fits 100000] [--seed 0]
                         [--failures FILE]

Draws cases from the table in `tests/hostile.py` until every classifier, and the path `twin_path`,
has been fitted so often
(a case is one fit, or two where a law compares it with another), counts complaints by classifier
and kind, makes each first failure of a kind as simple as it can, and keeps it in
`tests/recorded/hostile.jsonl`, which the short profile in `make test` runs again. Every case that
fails is written to FILE, one line of JSON each. Interrupt it whenever you like.

    python tools/fuzz.py --labels 50000 [--of KernelLogisticRegression] [--seed 0]

solves so many small problems twice instead, loosely and by other code to a gap of 1e-12, and
compares every label that the loose fit proves (`tests/labels.py`).
"""

import argparse
import json
import os
import random
import re
import sys
import time
from collections import Counter, defaultdict
from dataclasses import asdict, replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests" / "recorded" / "hostile.jsonl"
sys.path.insert(0, str(ROOT / "tests"))

import hostile  # noqa: E402
import labels  # noqa: E402
from hostile import PATHS, SPECIAL, Case, drawn, judge  # noqa: E402

SIMPLE = asdict(Case())


def kind(complaint):
    """What a complaint is about."""
    head, _, rest = complaint.partition(":")
    if head in ("raw error", "NumPy warning"):
        return f"{head}: {re.sub('[0-9.]+', '#', rest.strip())[:70]}"
    if head == "certificate":
        return f"{head}: {rest.split()[0]}"
    return head


def still(name, case, wanted):
    """Does the case still fail in this way?"""
    return wanted in {kind(c) for c in judge(name, case)}


def simplified(name, case, wanted):
    """The case with as many fields as possible at their defaults, and with few rows."""
    changed = True
    while changed:
        changed = False
        for field, value in SIMPLE.items():
            new = replace(case, **{field: value})
            if field != "seed" and new != case and still(name, new, wanted):
                case, changed = new, True
        for n in range(3, case.n):
            if still(name, replace(case, n=n), wanted):
                case, changed = replace(case, n=n), True
                break
    return case


def keep(name, case, wanted):
    """Write a failure where the tests find it."""
    KEPT.parent.mkdir(exist_ok=True)
    with KEPT.open("a", encoding="utf-8") as file:
        file.write(json.dumps(dict(classifier=name, kind=wanted, **asdict(case))) + "\n")


class Counted(hostile.Training):
    """Training data that count how often something is fitted to them."""

    fits = 0

    def fit(self, model):
        Counted.fits += 1
        return super().fit(model)


def counted(name, case):  # -> complaints, fits
    """The complaints of `judge`, and how many fits it made."""
    before, Counted.fits, given = Counted.fits, 0, hostile.Training
    hostile.Training = Counted  # laws make training data, too
    try:
        return judge(name, case), Counted.fits
    finally:
        hostile.Training, Counted.fits = given, before


class Campaign:
    """What has been counted so far.

    Parameters
    ----------
    names : list of str
        The classifiers.
    failures : str or None
        A file to which every case that fails is added.
    keeps : bool
        Keep a simplified case of each new kind among the tests?
    """

    def __init__(self, names, failures=None, keeps=True):
        self.cases, self.fits, self.found = Counter(), Counter(), defaultdict(Counter)
        self.names, self.failures, self.keeps = names, failures, keeps

    def least(self):
        """How many fits the classifier with the fewest has had."""
        return min(self.fits[name] for name in self.names)

    def run(self, name, case):
        """Judge one case, and count, tell, write and keep what is wrong with it."""
        complaints, fits = counted(name, case)
        self.cases[name] += 1
        self.fits[name] += fits
        if complaints and self.failures:
            line = dict(classifier=name, complaints=complaints, case=asdict(case))
            with open(self.failures, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        for what in {kind(c) for c in complaints}:
            self.found[name][what] += 1
            if self.found[name][what] == 1:
                said = next(c for c in complaints if kind(c) == what)
                print(f"{name}: {said[:200]}\n  {case.line()}", flush=True)
                if self.keeps:
                    keep(name, simplified(name, case, what), what)

    def report(self):
        """A table of what was counted."""
        for name in self.names:
            wrong = sum(self.found[name].values())
            print(f"{name}: {self.cases[name]} cases, {self.fits[name]} fits, {wrong} complaints")
            for what, n in self.found[name].most_common():
                print(f"    {n:6d}  {what}", flush=True)


def compare_labels(names, problems, seed):  # -> the number of disagreements
    """Small problems solved twice; counts what is proved, and what is contradicted."""
    found = 0
    for name in names:
        chance, total, used = random.Random(seed), Counter(), 0.0
        for _ in range(problems):
            case = labels.drawn(chance)
            c = labels.compared(name, case)
            total.update(asdict(c))
            used = max(used, c.used) if c.good else used
            if c.wrong or c.beyond:
                print(f"{name}: {c}\n  {case.line()}", flush=True)
        print(
            f"{name}: {problems} problems ({total['good']} with a second solution within 1e-12), "
            f"{total['labels']} labels, {total['proved']} proved, {total['wrong']} of them wrong; "
            f"{total['beyond']} score differences beyond their bound, of which at most {used:.0%} "
            "was needed",
            flush=True,
        )
        found += total["wrong"] + total["beyond"]
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--hours", type=float, default=1.0)
    p.add_argument("--of", nargs="*", default=[*SPECIAL, *PATHS])
    p.add_argument("--fits", type=int, default=10**9, help="fits of each classifier")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--failures", metavar="FILE", help="add every case that fails to this file")
    p.add_argument("--count-only", action="store_true", help="keep nothing")
    p.add_argument("--labels", type=int, metavar="PROBLEMS", help="compare proved labels instead")
    a = p.parse_args()
    if a.labels:
        names = [name for name in labels.SECOND if name in a.of]
        sys.exit(bool(compare_labels(names, a.labels, a.seed)))
    campaign = Campaign(a.of, a.failures, keeps=not a.count_only)
    seed, told = a.seed * 10**9, time.time()
    end = told + 3600 * a.hours
    try:
        while time.time() < end and campaign.least() < a.fits:
            for name in a.of:
                if campaign.fits[name] < a.fits:
                    campaign.run(name, drawn(seed))
            seed += 1
            if time.time() > told + 300:
                told = time.time()
                campaign.report()
    except KeyboardInterrupt:
        pass
    campaign.report()
    sys.exit(any(campaign.found.values()))


if __name__ == "__main__":
    main()
