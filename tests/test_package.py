"The package as people install it: light to import, documented, and complete in a wheel."

import importlib
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import zipfile
from configparser import ConfigParser
from importlib.metadata import Distribution, version

import pytest
from notebooks import ROOT

import mcsvm_lit

MODULES = [
    "mcsvm_lit",
    *sorted(
        f"mcsvm_lit.{m.name}"
        for m in pkgutil.iter_modules(mcsvm_lit.__path__)
        if not m.name.startswith("_")
    ),
]
RUN_TIME = {
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "cvxpy",
    "ecos",
    "matplotlib",
    "joblib",
    "tqdm",
}
SETTINGS = ConfigParser(delimiters=["="])
SETTINGS.read(ROOT / "settings.ini", encoding="utf-8")
VERSION = SETTINGS["DEFAULT"]["version"]


def python(code, *args, **env):
    "What a fresh interpreter prints, without the folder it is called from on its path."
    env = {k: v for k, v in {**os.environ, **env}.items() if v is not None}
    r = subprocess.run(
        [sys.executable, "-I", "-c", code, *map(str, args)], env=env, capture_output=True, text=True
    )
    assert r.returncode == 0, r.stderr
    return r.stdout


def public(module):
    "Name and object of everything that a module exports."
    m = importlib.import_module(module)
    return [(name, getattr(m, name)) for name in getattr(m, "__all__", ())]


# -- importing ------------------------------------------------------------------------------------
HEAVY = {"cvxpy", "ecos", "matplotlib", "numba", "llvmlite"}  # load on first use
TOOLS = {"nbdev", "execnb", "fastcore", "IPython", "pytest"}  # never needed


@pytest.mark.parametrize("module", MODULES)
def test_import_is_light(module):
    loaded = set(
        python(f'import sys, {module}; print(*{{m.split(".")[0] for m in sys.modules}})').split()
    )
    assert "mcsvm_lit" in loaded
    assert not loaded & (HEAVY | TOOLS)


@pytest.mark.parametrize("module", MODULES[1:])
def test_modules_say_what_they_offer(module):
    m = importlib.import_module(module)
    assert m.__doc__ and m.__doc__.strip(), "a notebook opens with a sentence marked by >"
    assert len(set(m.__all__)) == len(m.__all__) and all(hasattr(m, name) for name in m.__all__)


@pytest.mark.parametrize("module", MODULES[1:])
def test_public_functions_and_classes_are_documented(module):
    "Functions and classes have a docstring of their own, which says something without TeX."
    if module.startswith("mcsvm_lit.exhibits_"):
        return  # the pages of exhibits are scripts in pieces
    for name, o in public(module):
        o = getattr(o, "py_func", o)
        if not (inspect.isroutine(o) or inspect.isclass(o)):
            continue
        doc = o.__doc__
        assert doc and not doc.startswith(f"{name}("), f"{module}.{name} has no docstring"
        assert not re.search(r"\$|\\[a-z]{2,}", doc), f"TeX in the docstring of {module}.{name}"


def test_top_level_offers_the_estimators():
    "`from mcsvm_lit import X` works for every classifier but the baselines, and `dir` shows it, though importing the package loads none."
    from sklearn.base import ClassifierMixin

    classifiers = {
        name: o
        for m in MODULES[1:]
        if m != "mcsvm_lit.studies.baselines"
        for name, o in public(m)
        if inspect.isclass(o) and issubclass(o, ClassifierMixin) and hasattr(o, "fit")
    }
    assert set(classifiers) <= set(mcsvm_lit.__all__) <= set(dir(mcsvm_lit))
    for name in mcsvm_lit.__all__:
        assert getattr(mcsvm_lit, name) is classifiers.get(name, getattr(mcsvm_lit, name))
    with pytest.raises(AttributeError, match="no_such_thing"):
        mcsvm_lit.no_such_thing
    assert not [
        m
        for m in python("import sys, mcsvm_lit; print(*sys.modules)").split()
        if m.startswith("mcsvm_lit.")
    ]


def test_one_version():
    "Bump it in settings.ini, export, and install again: `make export` and `pip install -e .`"
    assert mcsvm_lit.__version__ == VERSION
    assert version("mcsvm_lit") == VERSION
    for file, line in (
        ("CHANGELOG.md", rf"## {re.escape(VERSION)}\b"),
        ("CITATION.cff", rf"version: {re.escape(VERSION)}$"),
    ):
        assert re.search("^" + line, (ROOT / file).read_text(encoding="utf-8"), re.M), file


# -- the wheel ------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    "The wheel that `pip wheel .` builds, without network, from a copy of the tree."
    tree, dist = tmp_path_factory.mktemp("wheel") / "tree", tmp_path_factory.mktemp("dist")
    shutil.copytree(
        ROOT,
        tree,
        ignore=shutil.ignore_patterns(".*", "build", "dist", "_build", "__pycache__", "*.egg-info"),
    )
    cmd = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        "--wheel-dir",
        dist,
        tree,
    ]
    r = subprocess.run(cmd, capture_output=True, text=True)
    assert r.returncode == 0, r.stdout + r.stderr
    (whl,) = dist.glob("*.whl")
    return whl


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    "A folder that holds what is in the wheel and nothing else."
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as z:
        z.extractall(folder)
    return folder


def test_wheel_holds_the_package_and_its_data(unpacked):
    package, info = unpacked / "mcsvm_lit", unpacked / f"mcsvm_lit-{VERSION}.dist-info"
    assert {p.name for p in unpacked.iterdir()} == {package.name, info.name}
    files = {f.relative_to(package).as_posix() for f in package.rglob("*") if f.is_file()}
    tree = ROOT / "mcsvm_lit"
    assert files == {
        f.relative_to(tree).as_posix()
        for f in [*tree.glob("*.py"), *(tree / "data").iterdir()]
        if f.is_file()
    }
    assert any(f.startswith("data/") for f in files) and (info / "licenses/LICENSE").exists()


def test_wheel_asks_for_run_time_packages_only(unpacked):
    meta = Distribution.at(unpacked / f"mcsvm_lit-{VERSION}.dist-info")
    names = {re.match(r"[\w.-]+", r)[0]: r for r in meta.requires}
    assert meta.version == VERSION and meta.metadata["License-Expression"] == "Apache-2.0"
    assert {n for n, r in names.items() if "extra" not in r} == RUN_TIME
    assert {"nbdev", "jupyterlab", "pytest"} <= {
        n for n, r in names.items() if 'extra == "dev"' in r
    }


ALONE = """
import sys; from importlib import import_module; from pathlib import Path
site = Path(sys.argv[1]).resolve(); sys.path.insert(0, str(site))
import mcsvm_lit
for m in sys.argv[2:]: assert Path(import_module(m).__file__).resolve().is_relative_to(site), m
from mcsvm_lit.studies.datasets import load, names
for name in names(local=True):
    b = load(name); assert len(b.data) == len(b.target) > 0
    print(name)
"""


def test_wheel_works_alone(unpacked):
    "Every module comes from the wheel, and so do the small data sets: no other folder, no network."
    sets = python(ALONE, unpacked, *MODULES, MCSVM_LIT_DATA=None).split()
    assert {"iris", "wine", "glass", "new_thyroid", "vowel_deterding"} <= set(sets)
