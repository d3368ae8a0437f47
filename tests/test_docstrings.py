"The examples in docstrings run and print what they say."

import doctest
import pkgutil
from importlib import import_module

import mcsvm_lit


def test_examples():
    results = [
        doctest.testmod(import_module(f"mcsvm_lit.{m.name}"))
        for m in pkgutil.iter_modules(mcsvm_lit.__path__)
    ]
    assert sum(r.attempted for r in results) >= 3 and not sum(r.failed for r in results)
