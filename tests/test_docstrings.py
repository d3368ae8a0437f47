"""Examples in docstrings run and print what they say; defaults are those that are stated."""

import doctest
import inspect
import re
from importlib import import_module
from math import inf
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


def stated_defaults(thing, names_in_sight=None):
    """The defaults in a docstring: `name : type, default=value`, or `optional`."""
    parameters = inspect.getdoc(thing).split("Attributes\n---")[0]
    stated = {}
    for names, kind in re.findall(r"(?m)^(\w+(?:, \w+)*) : (.+)$", parameters):
        default = re.search(r"\bdefault=(.+)$", kind)
        if default or kind.endswith("optional"):
            value = eval(default[1], {"inf": inf} | (names_in_sight or {})) if default else None
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


def documented():
    """Every public class and function whose parameters are documented, with its module."""
    for m in walk_packages(mcsvm_lit.__path__, "mcsvm_lit."):
        module = import_module(m.name)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if getattr(thing, "__module__", "") == m.name and callable(thing):
                inner = vars(thing).values() if inspect.isclass(thing) else ()
                for each in (thing, *filter(inspect.isfunction, inner)):
                    if "Parameters\n---" in (inspect.getdoc(each) or ""):
                        yield each, module


def test_stated_defaults():
    wrong, compared = [], 0
    for thing, module in documented():
        stated = stated_defaults(thing, {"inf": inf, **vars(module)})
        for name, p in inspect.signature(thing).parameters.items():
            if name in stated and repr(p.default) != "<factory>":
                compared += 1
                if stated[name] != p.default:
                    wrong.append((thing.__qualname__, name, stated[name], p.default))
    assert not wrong
    assert compared > 300
