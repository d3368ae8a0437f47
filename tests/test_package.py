"""The package as people install it: light to import, documented, and complete in a wheel."""

import importlib
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from configparser import ConfigParser
from importlib.metadata import Distribution, version

import pytest
from notebooks import ROOT
from packaging.requirements import Requirement

import mcsvm_lit

FOUND = list(pkgutil.walk_packages(mcsvm_lit.__path__, "mcsvm_lit."))
PACKAGES = ["mcsvm_lit", *(m.name for m in FOUND if m.ispkg)]
MODULES = [m.name for m in FOUND if not m.ispkg and not m.name.rpartition(".")[2].startswith("_")]
CHAPTERS = [p for p in PACKAGES if hasattr(importlib.import_module(p), "__all__")]
RUN_TIME = {"numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "tqdm"}
SETTINGS = ConfigParser(delimiters=["="])
SETTINGS.read(ROOT / "settings.ini", encoding="utf-8")
VERSION = SETTINGS["DEFAULT"]["version"]


def python(code, *args, **env):
    """What a fresh interpreter prints, without the folder it is called from on its path."""
    env = {k: v for k, v in {**os.environ, **env}.items() if v is not None}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *map(str, args)], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def public(module):
    """Name and object of everything that a module exports."""
    m = importlib.import_module(module)
    return [(name, getattr(m, name)) for name in getattr(m, "__all__", ())]


# -- importing -------------------------------------------------------------------------------------
HEAVY = {"cvxpy", "ecos", "matplotlib", "numba", "llvmlite"}  # load on first use
TOOLS = {"nbdev", "execnb", "fastcore", "IPython", "pytest"}  # never needed
LOADED = """
import sys
from importlib import import_module

before = set(sys.argv[1].split(",")) & set(sys.modules)
for module in sys.argv[2:]:
    import_module(module)
    now = set(sys.argv[1].split(",")) & set(sys.modules)
    if now - before:
        print(module, "loads", *sorted(now - before))
    before = now
print("all imported")
"""


def loads(names, modules):
    """The lines of a fresh process that imports modules: which of them load packages of a name."""
    return python(LOADED, ",".join(sorted(names)), *modules).splitlines()


def test_imports_are_light():
    assert loads(HEAVY | TOOLS, PACKAGES + MODULES) == ["all imported"]


def test_an_import_that_is_heavy_is_named():
    said = loads(HEAVY | {"json"}, ["mcsvm_lit", "json", "matplotlib", "mcsvm_lit.core"])
    assert said == ["json loads json", "matplotlib loads matplotlib", "all imported"]


def test_there_are_modules():
    assert {"mcsvm_lit.core", "mcsvm_lit.studies.exhibits"} <= set(PACKAGES)
    assert {"mcsvm_lit.core.kernels", "mcsvm_lit.studies.exhibits.twin_ksvc"} <= set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_modules_say_what_they_offer(module):
    m = importlib.import_module(module)
    assert m.__doc__ and m.__doc__.strip(), "a notebook opens with a sentence marked by >"
    assert len(set(m.__all__)) == len(m.__all__) and all(hasattr(m, name) for name in m.__all__)


@pytest.mark.parametrize("module", MODULES)
def test_public_functions_and_classes_are_documented(module):
    """Functions and classes have a docstring of their own, which says something without TeX."""
    if ".exhibits." in module:
        return  # the pages of exhibits are scripts in pieces
    for name, o in public(module):
        o = getattr(o, "py_func", o)
        if not (inspect.isroutine(o) or inspect.isclass(o)):
            continue
        doc = o.__doc__
        assert doc and not doc.startswith(f"{name}("), f"{module}.{name} has no docstring"
        assert not re.search(r"\$|\\[a-z]{2,}", doc), f"TeX in the docstring of {module}.{name}"


# -- what the package and its chapters offer -------------------------------------------------------
@pytest.mark.parametrize("package", CHAPTERS)
def test_a_package_offers_classes_and_functions_of_its_modules(package):
    """`from package import X` gives what a module exports under that name, and `dir` shows it."""
    m = importlib.import_module(package)
    exported = {
        name: o for module in MODULES if module.startswith(package) for name, o in public(module)
    }
    assert len(set(m.__all__)) == len(m.__all__) and set(m.__all__) <= set(dir(m))
    for name in m.__all__:
        o = getattr(m, name)
        assert callable(o) and not inspect.ismodule(o), f"{package}.{name} is {o!r}"
        assert exported.get(name) is o, f"no module below {package} exports {name}"
    with pytest.raises(AttributeError, match="no_such_thing"):
        m.no_such_thing  # noqa: B018


@pytest.mark.parametrize("package", CHAPTERS)
def test_no_offered_name_is_that_of_a_module(package):
    """Importing a module would put it in the place of the name."""
    m = importlib.import_module(package)
    inside = {name for _, name, _ in pkgutil.iter_modules(m.__path__)}
    assert not inside & set(m.__all__)


def test_the_top_offers_what_users_begin_with():
    """Classifiers, exact paths, and what these return or raise; chapters offer all of it too."""
    further = "c_path twin_path nu_path epsilon_path robust_path pi_path twin_surface pi_regions "
    further += "laplace sparse_klr to_onnx Certificate InseparableError DecisionRegionsDisplay"
    further += " CertificateDisplay"
    offered = {name: getattr(mcsvm_lit, name) for name in mcsvm_lit.__all__}
    assert {name for name, o in offered.items() if not hasattr(o, "fit")} == set(further.split())
    chapters = [importlib.import_module(p) for p in CHAPTERS if p != "mcsvm_lit"]
    for name in mcsvm_lit.__all__:
        (chapter,) = [m for m in chapters if name in m.__all__]
        assert getattr(chapter, name) is getattr(mcsvm_lit, name)
    assert not hasattr(mcsvm_lit, "Goal") and importlib.import_module("mcsvm_lit.core").Goal


def is_classifier(o):
    """Whether this is a class that fits and predicts."""
    from sklearn.base import ClassifierMixin

    return inspect.isclass(o) and issubclass(o, ClassifierMixin) and hasattr(o, "fit")


def test_stubs_are_up_to_date():
    """They say to editors and type checkers where each offered name is defined."""
    done = subprocess.run([sys.executable, ROOT / "tools/stubs.py", "--check"], capture_output=True)
    assert done.returncode == 0, done.stdout.decode()
    assert (ROOT / "mcsvm_lit/py.typed").exists()


def completions(code):
    """The names that an editor with Jedi offers at the end of a text."""
    jedi = pytest.importorskip("jedi")
    project = jedi.Project(ROOT, added_sys_path=[str(ROOT)])
    return {c.name for c in jedi.Script(code, project=project).complete()}


def test_editors_see_what_is_behind_a_public_name():
    assert "CrammerSingerSVC" in completions("from mcsvm_lit import Cra")
    assert "Goal" in completions("from mcsvm_lit.core import G")
    begin = "from mcsvm_lit import CrammerSingerSVC\nmodel = CrammerSingerSVC()\nmodel."
    assert {"fit", "predict", "decision_bounds"} <= completions(begin)


def test_the_top_offers_every_classifier():
    """But the baselines of the studies, and those of blocks and clusters."""
    classifiers = {
        name
        for module in MODULES
        if not module.startswith(("mcsvm_lit.studies.", "mcsvm_lit.scale."))
        for name, o in public(module)
        if is_classifier(o)
    }
    assert "CrammerSingerSVC" in classifiers and classifiers <= set(mcsvm_lit.__all__)


def test_names_are_loaded_when_they_are_asked_for():
    loaded = python("import sys, mcsvm_lit; print(*sys.modules)").split()
    assert not [m for m in loaded if m.startswith("mcsvm_lit.")]
    everything = "import sys; from mcsvm_lit import *; print(twin_path.__name__)"
    assert python(everything).strip() == "twin_path"


def test_one_version():
    """Bump it in settings.ini, then `make export` and `pip install -e .`."""
    assert mcsvm_lit.__version__ == VERSION
    assert version("mcsvm_lit") == VERSION
    for file, line in (
        ("CHANGELOG.md", rf"## {re.escape(VERSION)}\b"),
        ("CITATION.cff", rf"version: {re.escape(VERSION)}$"),
    ):
        assert re.search("^" + line, (ROOT / file).read_text(encoding="utf-8"), re.M), file


# -- the wheel -------------------------------------------------------------------------------------
LEFT_OUT = (".*", "build", "dist", "_build", "__pycache__", "*.egg-info", "_loops.*")
BUILD = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir"]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """What a source distribution of the tree holds, unpacked."""
    folder = tmp_path_factory.mktemp("source")
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*LEFT_OUT))
    command = "from setuptools.build_meta import build_sdist; print(build_sdist('..'))"
    done = subprocess.run([sys.executable, "-c", command], cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(archive, folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def test_source_holds_what_builds_the_library(source):
    """And no more than that of the tools."""
    ours = {f.name for f in (ROOT / "tools/wheel").iterdir() if f.is_file()}
    assert {f.name for f in (source / "tools/wheel").iterdir()} == ours
    assert {"build_library.py", "loops.c", "loops.h", "runtime.c"} <= ours
    assert [f.name for f in (source / "tools").iterdir()] == ["wheel"]


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    """The wheel that `pip wheel` builds, without network, from the source distribution."""
    dist = tmp_path_factory.mktemp("dist")
    for compiled in (ROOT / "build").glob("temp.*"):  # used if nothing has changed since
        shutil.copytree(compiled, source / "build" / compiled.name)
    command = [sys.executable, "-m", "pip", "wheel", *BUILD, dist, source]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = dist.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    """A folder that holds what is in the wheel and nothing else."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as z:
        z.extractall(folder)
    return folder


def test_wheel_holds_the_package_and_its_data(unpacked):
    package, info = unpacked / "mcsvm_lit", unpacked / f"mcsvm_lit-{VERSION}.dist-info"
    assert {p.name for p in unpacked.iterdir()} == {package.name, info.name}
    tree = ROOT / "mcsvm_lit"
    sources = [*tree.rglob("*.py"), *tree.rglob("*.pyi"), tree / "py.typed"]
    expected = [*sources, *(tree / "studies/data").iterdir()]
    files = {f.relative_to(package).as_posix() for f in package.rglob("*") if f.is_file()}
    library = {f for f in files if re.fullmatch(r"engine/_loops\.(abi3\.so|pyd)", f)}
    assert files - library == {f.relative_to(tree).as_posix() for f in expected}
    assert any(f.startswith("studies/data/") for f in files)
    assert (info / "licenses/LICENSE").exists()


def test_wheel_asks_for_run_time_packages_only(unpacked):
    meta = Distribution.at(unpacked / f"mcsvm_lit-{VERSION}.dist-info")
    asked = {re.match(r"[\w.-]+", r)[0]: r for r in meta.requires}
    assert meta.version == VERSION and meta.metadata["License-Expression"] == "Apache-2.0"
    assert {name for name, r in asked.items() if "extra" not in r} == RUN_TIME
    development = {name for name, r in asked.items() if 'extra == "dev"' in r}
    assert {"nbdev", "jupyterlab", "pytest"} <= development


ALONE = """
import sys
from importlib import import_module
from pathlib import Path

site = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(site))
for m in sys.argv[2:]:
    assert Path(import_module(m).__file__).resolve().is_relative_to(site), m
from mcsvm_lit.studies.datasets import load, names

for name in names(local=True):
    b = load(name)
    assert len(b.data) == len(b.target) > 0
    print(name)
"""


def test_wheel_works_alone(unpacked):
    """Every module comes from the wheel, and so do the small data sets: nothing else is there."""
    printed = python(ALONE, unpacked, *PACKAGES, *MODULES, MCSVM_LIT_DATA=None).split()
    assert {"iris", "wine", "glass", "new_thyroid", "vowel_deterding"} <= set(printed)


def requirements(names):
    """The distributions that these ones need, with themselves, as they are installed here."""
    found, waiting = {}, list(names)
    while waiting:
        here = Distribution.from_name(waiting.pop())
        if here.name in found:
            continue
        found[here.name] = here
        asked = [Requirement(r) for r in here.requires or []]
        waiting += [r.name for r in asked if not r.marker or r.marker.evaluate({"extra": ""})]
    return found.values()


def link_into(site, distributions):
    """Links in a folder to everything that distributions have installed."""
    for distribution in distributions:
        for top in {f.parts[0] for f in distribution.files} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(distribution.locate_file(top))


def installed(wheel, folder, names):
    """The interpreter of an empty environment with the wheel and packages, made without network."""
    venv.create(folder, symlinks=True)
    python = folder / "bin/python"
    (site,) = folder.glob("lib/python*/site-packages")
    link_into(site, requirements(names))
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-index", wheel], check=True)
    subprocess.run([*pip, "check"], check=True)
    return python


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """The interpreter of an environment with the wheel and what it asks for."""
    return installed(wheel, tmp_path_factory.mktemp("environment"), RUN_TIME)


@pytest.fixture(scope="module")
def readers(wheel, tmp_path_factory):
    """The interpreter of an environment with the wheel, its extra `studies` and Jupyter's shell."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = map(Requirement, project["optional-dependencies"]["studies"])
    asked = {r.name for r in extra if not r.marker or r.marker.evaluate()}
    return installed(wheel, tmp_path_factory.mktemp("readers"), {*RUN_TIME, *asked, "ipython"})


def test_wheel_in_an_empty_environment(wheel, environment, tmp_path):
    """Every name is there and every classifier fits, with an empty home, from the library of
    kernels, without numba; what needs an extra says which."""
    if wheel.name.endswith("-none-any.whl"):
        pytest.skip("the wheel was built without a C compiler, and has no library")
    env = {"HOME": str(tmp_path), "PATH": os.defpath}
    command = [environment, "-P", ROOT / "tools/try_wheel.py"]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("pip install") == 2  # cvxpy and matplotlib are really absent
    assert not list(tmp_path.iterdir())  # nothing was left behind


def test_command_says_what_it_needs(wheel, environment, tmp_path):
    """`mcsvm-lit list` works in it, and `mcsvm-lit run` says at once what to install."""
    mine = {"env": {"HOME": str(tmp_path), "PATH": os.defpath}, "cwd": tmp_path}
    command = environment.with_name("mcsvm-lit")
    listed = subprocess.run([command, "list"], capture_output=True, text=True, **mine)
    assert listed.returncode == 0 and "KLR" in listed.stdout
    run = subprocess.run([command, "run"], capture_output=True, text=True, **mine)
    assert run.returncode == 2 and 'pip install "mcsvm_lit[studies]"' in run.stderr
    assert len(run.stderr.splitlines()) == 1


PAGES = (
    "tutorials/certificates",
    "core/01b_semidefinite",
    "core/09b_displays",
    "crammer_singer/10_problem",
    "twin_margin/32_robust",
)


@pytest.mark.parametrize("page", PAGES)
def test_a_downloaded_page_runs(readers, page, tmp_path):
    """Where its reader has the package with its extra, and neither pytest nor this tree."""
    for name in ("pytest", "nbdev"):
        absent = subprocess.run([readers, "-c", f"import {name}"], capture_output=True)
        assert absent.returncode, f"{name} is there"
    shutil.copy(ROOT / f"nbs/{page}.ipynb", tmp_path / "page.ipynb")
    mine = {"env": {"HOME": str(tmp_path), "PATH": os.defpath}, "cwd": tmp_path}
    command = [readers, "-P", ROOT / "tools/try_page.py", "page.ipynb"]
    done = subprocess.run(command, capture_output=True, text=True, **mine)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
