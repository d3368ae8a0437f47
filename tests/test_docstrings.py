"""The examples in docstrings run and print what they say."""

import doctest
from importlib import import_module
from pkgutil import walk_packages

import mcsvm_lit


def test_examples():
    modules = [import_module(m.name) for m in walk_packages(mcsvm_lit.__path__, "mcsvm_lit.")]
    results = [doctest.testmod(module) for module in modules]
    assert sum(r.attempted for r in results) >= 3
    assert not sum(r.failed for r in results)
