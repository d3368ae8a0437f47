"""Examples in docstrings run and print what they say; defaults are those that are stated."""

import ast
import doctest
import inspect
import re
from importlib import import_module
from pkgutil import walk_packages

import pytest
from sklearn.base import BaseEstimator

import mcsvm_lit
import mcsvm_lit.scale

ESTIMATORS = [
    cls
    for package in (mcsvm_lit, mcsvm_lit.scale)
    for name in package.__all__
    if inspect.isclass(cls := getattr(package, name)) and issubclass(cls, BaseEstimator)
]


def test_examples():
    modules = [import_module(m.name) for m in walk_packages(mcsvm_lit.__path__, "mcsvm_lit.")]
    results = [doctest.testmod(module) for module in modules]
    assert sum(r.attempted for r in results) >= 3
    assert not sum(r.failed for r in results)


def stated_defaults(cls):
    """The defaults in the docstring of a class: `name : type, default=value`, or `optional`."""
    parameters = inspect.getdoc(cls).split("Attributes\n---")[0]
    stated = {}
    for names, kind in re.findall(r"(?m)^(\w+(?:, \w+)*) : (.+)$", parameters):
        default = re.search(r"\bdefault=(.+)$", kind)
        if default or kind.endswith("optional"):
            value = ast.literal_eval(default[1]) if default else None
            stated |= dict.fromkeys(names.split(", "), value)
    return stated


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_defaults(cls):
    given = {
        name: p.default
        for name, p in inspect.signature(cls).parameters.items()
        if p.default is not p.empty
    }
    stated = stated_defaults(cls)
    assert {name: stated.get(name, "not stated") for name in given} == given
