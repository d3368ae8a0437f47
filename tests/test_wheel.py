"""The build tooling of the library of kernels, on small kernels of its own.

That the library computes what the package's kernels specify is tested in test_ahead.py.
"""

import hashlib
import importlib
import linecache
import pickle
import re
import runpy
import subprocess
import sys
import sysconfig
from copy import deepcopy
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from unittest.mock import Mock, patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("numba")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools/wheel"))

import build_library  # noqa: E402
import describe  # noqa: E402
import emit  # noqa: E402
import llvmlite.binding as llvm  # noqa: E402
import numba  # noqa: E402
import translate  # noqa: E402
from numba import types  # noqa: E402
from numba.core.registry import cpu_target  # noqa: E402
from setuptools import Distribution, Extension  # noqa: E402
from setuptools.command.build_ext import build_ext  # noqa: E402

from mcsvm_lit.core import linear_algebra  # noqa: E402
from mcsvm_lit.engine import compiled  # noqa: E402
from mcsvm_lit.engine.compiled import Library  # noqa: E402


class Step(NamedTuple):
    """A record of three numbers."""

    length: float
    event: int
    ended: bool


STEP = types.NamedTuple((types.float64, types.int64, types.bool), Step)
VECTOR, MATRIX = types.Array(types.float64, 1, "C"), types.Array(types.int64, 2, "C")
STATE = np.dtype([("level", "f8"), ("members", "i8")])


# -- processors and files --------------------------------------------------------------------------
@pytest.mark.parametrize(
    "machine, cpus, files",
    [
        ("x86_64-pc-windows-msvc", ["x86-64-v3", "x86-64-v2"], ["loops_0.obj", "loops_1.obj"]),
        ("x86_64-alpine-linux-musl", ["x86-64-v3", "x86-64-v2"], ["loops_0.o", "loops_1.o"]),
        ("arm64-apple-darwin24.1.0", ["apple-m1"], ["loops_0.o"]),
        ("aarch64-unknown-linux-gnu", ["generic"], ["loops_0.o"]),
    ],
)
def test_every_machine_has_its_levels(machine, cpus, files, monkeypatch):
    monkeypatch.delenv("MCSVM_LIT_TARGET", raising=False)
    monkeypatch.setattr(llvm, "get_process_triple", lambda: machine)
    assert list(emit.levels()) == cpus
    assert build_library.object_files() == files
    assert len(build_library.level_shares()) == len(files)


@pytest.mark.parametrize("machine", ["riscv64-linux-gnu", "i686-pc-windows-msvc"])
def test_other_machines_are_refused(machine, monkeypatch):
    monkeypatch.setenv("MCSVM_LIT_TARGET", machine)
    with pytest.raises(RuntimeError, match="cannot be built for processors of type"):
        emit.levels()


# -- texts -----------------------------------------------------------------------------------------
def test_arguments_and_results_are_described():
    both = types.Tuple((VECTOR, STEP))
    assert describe.argument_text(both, iter([True]), []) == "(A1dCr(dq?))"
    assert describe.argument_slots(both) == "ppqqpqq" + "dq?"
    kinds = []
    text = describe.result_text(types.Tuple((STEP, MATRIX)), 0, kinds)
    assert text == "(2:<0,3:d0;q8;?16;)A2q24;)" and kinds == [Step]
    assert describe.result_text(types.none, 0, []) == "n"
    kinds = []
    assert describe.argument_text(numba.from_dtype(STATE)[::1], iter([False]), kinds) == "A1VCw0;"
    assert kinds == [STATE]
    assert describe.kind_as_json(Step) == [Step.__module__, "Step"]
    assert describe.kind_as_json(STATE) == [("level", "<f8"), ("members", "<i8")]


def test_sizes_are_those_of_numba():
    assert describe.extent(STEP) == (24, 8)
    assert describe.extent(types.Tuple((types.bool, VECTOR))) == (64, 8)
    context = cpu_target.target_context
    for t in (STEP, VECTOR, MATRIX, types.Tuple((types.bool, VECTOR)), types.UniTuple(types.b1, 3)):
        assert describe.extent(t)[0] == context.get_abi_sizeof(context.get_value_type(t)), t


def test_what_cannot_be_passed_is_left_to_numba(capsys):
    fits = SimpleNamespace(types=(VECTOR, types.int64), result=STEP, name="fits")
    complex_ = SimpleNamespace(types=(types.complex128,), result=types.none, name="complex")
    assert build_library.fit_for_library([fits, complex_]) == [fits]
    said = "complex is left to numba: Kernels of the library take and return no values of type"
    assert capsys.readouterr().err.startswith(said)
    assert describe.described(fits, [True], kinds := []) == ("A1dCrq", "<0,3:d0;q8;?16;)")
    assert kinds == [Step]


def test_the_table_names_slots_by_their_types():
    entry = build_library.Entry("pd?", "A0dCrd?", "d0;", ["loop"])
    assert build_library.entry_text(entry).splitlines() == [
        "extern int32_t loop(void *, void **, void *, double, uint8_t);",
        "static int32_t call_loop(void *r, void **why, const Slot *s)"
        " { return loop(r, why, s[0].p, s[1].d, s[2].B); }",
    ]
    text = build_library.table_text([entry], b"{}", 16)
    for line in ("LEVELS 1\n", "SLOTS 4\n", "RESULT 16\n", "ABOUT[] = {123, 125};\n"):
        assert line in text
    assert "RESULT 8\n" in build_library.table_text([entry], b"{}", 1)


# -- programs --------------------------------------------------------------------------------------
ARRAY = "ptr, ptr, i64, i64, ptr {}, i64, i64"
PROGRAM = f"""
define i32 @looked_for(ptr, ptr, {ARRAY.format("readonly")}, {ARRAY.format("")}) {{
  call void @helper()
  call void @NRT_Free(ptr null)
  ret i32 0
}}
define void @helper() noinline {{
  call double @exp(double 1.0)
  ret void
}}
define void @nobodys() {{
  ret void
}}
declare void @NRT_Free(ptr)
declare double @exp(double)
"""


def test_a_program_keeps_its_kernel_and_what_that_calls():
    program = llvm.parse_assembly(PROGRAM)
    assert emit.only_read(program, "looked_for", 2 * "ppqqpqq") == [True, False]
    emit.name_symbols(program, {"looked_for": "ours"})
    emit.remove_unused(program, emit.machine_for(list(emit.levels())[-1]))
    assert {f.name: f.linkage.name for f in program.functions} == {
        "ours": "external",
        "helper": "internal",
        "mcsvm_lit_NRT_Free": "external",
        "exp": "external",
    }
    assert emit.missing(program) == set()


def test_what_runtime_c_lacks_is_an_error_of_the_build():
    text = "declare void @numba_xxnrm2()\ndeclare double @exp(double)\n"
    text += "declare double @_hypot(double, double)"
    assert emit.missing(llvm.parse_assembly(text)) == {"numba_xxnrm2"}
    calls = text + "\ndefine void @f() {\n call void @numba_xxnrm2()\n ret void\n}"
    with pytest.raises(RuntimeError, match="uses numba_xxnrm2, .* add it to tools/wheel/runtime.c"):
        emit.simplified(llvm.parse_assembly(calls), {"f": "f"})


def test_the_run_time_functions_are_those_of_runtime_c():
    assert {"NRT_Allocate", "NRT_MemInfo_call_dtor", "numba_xgesv"} <= emit.RUNTIME
    header = (ROOT / "tools/wheel/loops.h").read_text(encoding="utf-8")
    assert f"#define RUNTIME(name) {emit.PREFIX}##name\n" in header


def test_errors_are_read_from_a_program():
    assert build_library.bytes_of(r"a\0Ab\\") == b"a\nb\\"
    assert build_library.bytes_of("ä") == "ä".encode("latin-1")
    errors = [pickle.dumps((kind, ("no such row\nof 3",), None)) for kind in (IndexError, None)]
    constants = ["@other = constant i8 1"]
    for k, data in enumerate(errors):
        code = "".join(rf"\{b:02X}" for b in data)
        constants.append(f'@.const.pickledata.{k} = constant [{len(data)} x i8] c"{code}"')
    assert build_library.errors_in(llvm.parse_assembly("\n".join(constants))) == {
        hashlib.sha1(errors[0]).hexdigest(): ["builtins", "IndexError", "no such row"]
    }


def test_kernels_are_found_and_weighed():
    assert translate.work_of(SimpleNamespace(signatures=(), py_func=np.sum)) == 0
    kernels = build_library.kernels_of([linear_algebra.__name__])
    assert kernels and {k.__module__ for k in kernels} == {linear_algebra.__name__}
    for k in kernels:
        assert translate.work_of(k) == len(k.py_func.__code__.co_code) * bool(k.signatures)


# -- a small library, from the source to a call ----------------------------------------------------
SMALL = """
from typing import NamedTuple

import numpy as np

from mcsvm_lit.engine.compiled import Count, Flag, Number, Vector, kernel

SCALE = 2.0


class Walk(NamedTuple):
    position: Vector
    length: Number


class Trail(NamedTuple):
    walk: Walk
    steps: Count
    ended: Flag


@kernel("f8[::1], f8", "i8[::1], i8")
def total(x, s):
    t = 0 * s
    for v in x:
        t += v + s
    return t


@kernel("Trail, f8")
def advance(trail, t):
    position = trail.walk.position
    for j in range(len(position)):
        position[j] += t
    new = np.ones(3) * SCALE
    return Trail(Walk(position, total(new, 1.0)), trail.steps + 1, True), new


@kernel("f8[:,::1], f8[::1]")
def algebra(A, b):
    return np.linalg.solve(A, b), np.dot(A, b), np.dot(A, A), np.dot(b, b)


@kernel("f8[:,::1], b1")
def shapes(A, flag):
    if flag:
        A[0, 0] = 5
    return A.ravel(), A[1:], np.argsort(A[0]), flag


@kernel("f8[::1]")
def to_exponential(x):
    x[0] = np.exp(x[0])


@kernel("f8[::1], f8[::1]")
def put_behind_first(x, y):
    x[1:] = y


@kernel("i8")
def counting(n):
    numbers = [0]
    for k in range(1, n):
        numbers.append(k)
    return np.array(numbers)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a small module; it can be imported, here and by the process that builds."""
    place = tmp_path_factory.mktemp("small")
    (place / "small.py").write_text(SMALL)
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(place)
        # sources of one length and one second would pass for each other
        patched.setattr(sys, "dont_write_bytecode", True)
        yield place


@pytest.fixture(scope="module")
def small(folder):
    """The small module."""
    return importlib.import_module("small")


@pytest.fixture(scope="module")
def shelf(folder):
    """The library of its kernels, built as setup.py builds the package's."""
    objects = build_library.write(folder / "sources", "small")
    extension = Extension(
        "_loops",
        [str(ROOT / "tools/wheel" / name) for name in ("loops.c", "runtime.c")],
        [np.get_include(), str(ROOT / "tools/wheel"), str(folder / "sources")],
        define_macros=[("Py_LIMITED_API", "0x030B0000")],
        extra_objects=objects,
        py_limited_api=True,
    )
    command = build_ext(Distribution({"ext_modules": [extension]}))
    command.build_lib, command.build_temp = str(folder), str(folder / "temporary")
    command.ensure_finalized()
    command.run()
    place = spec_from_file_location("_loops", command.get_ext_fullpath("_loops"))
    module = module_from_spec(place)
    place.loader.exec_module(module)
    return Library(module)


# How object files begin: ELF with the number of the machine, Mach-O with its type, COFF.
BEGINNINGS = {
    "x86_64-alpine-linux-musl": (b"\x7fELF\x02\x01", 18, 0x3E),
    "aarch64-linux-gnu": (b"\x7fELF\x02\x01", 18, 0xB7),
    "arm64-apple-darwin20.0.0": (b"\xcf\xfa\xed\xfe\x0c\0\0\x01", 4, 0x0C),
    "aarch64-pc-windows-msvc": (b"\x64\xaa", 0, 0xAA64),
}


@pytest.mark.parametrize("machine", BEGINNINGS)
def test_a_library_can_be_written_for_another_machine(folder, machine, monkeypatch):
    """The machine code is the target's; what the sources say of it is what they say here."""
    monkeypatch.setenv("MCSVM_LIT_TARGET", machine)
    begins, place, number = BEGINNINGS[machine]
    for file in build_library.write(folder / machine, "small"):
        code = Path(file).read_bytes()
        assert code.startswith(begins)
        assert int.from_bytes(code[place : place + 2], "little") == number
    assert "small.advance" in bytes_of_about(folder / machine / "table.h")


def bytes_of_about(table):
    """What the library will say of itself, as the table has it."""
    (numbers,) = re.findall(r"ABOUT\[\] = \{(.*)\};", table.read_text(encoding="utf-8"))
    return bytes(map(int, numbers.split(", "))).decode()


def test_sources_are_written_once(folder, shelf):
    """Those of other modules are others; when they cannot be written, the build stops."""
    with patch.object(subprocess, "run") as run:
        objects = build_library.write(folder / "sources", "small")
        assert not run.called and len(objects) == len(emit.levels())
        run.return_value.returncode = 1
        with pytest.raises(RuntimeError, match="could not be compiled ahead of time"):
            build_library.write(folder / "others", "small")
        run.return_value.returncode = 0
        build_library.write(folder / "others", "small")
        assert run.call_count == 2
        build_library.write(folder / "others")
        assert run.call_count == 3


def test_every_kernel_with_types_is_in_it(shelf):
    names = [
        "total",
        "advance",
        "algebra",
        "shapes",
        "to_exponential",
        "put_behind_first",
        "counting",
    ]
    assert set(shelf.kernels) == {f"small.{name}" for name in names}


def flat(x):
    """All numbers of nested tuples, as a list of arrays."""
    if isinstance(x, tuple):
        return [a for part in x for a in flat(part)]
    return [] if x is None else [np.asarray(x)]


def outcomes(shelf, kernel, arguments):
    """What a kernel returns and leaves in its arguments: the library, numba, and Python."""
    for run in (shelf.function(kernel), kernel.compiled(), kernel.py_func):
        given = deepcopy(arguments)
        yield flat((run(*given), given))


CALLS = {
    "total": (np.arange(3.0), 2.0),
    "total of integers": (np.arange(3), 2),
    "advance": (0.5,),
    "algebra": (np.array([[2.0, 1.0], [1.0, 3.0]]), np.arange(2.0)),
    "shapes": (np.array([[2.0, 1.0], [1.0, 3.0]]), True),
    "to_exponential": (np.arange(3.0),),
    "put_behind_first": (np.arange(3.0), np.arange(2.0)),
    "counting": (100,),
}


@pytest.mark.parametrize("level", emit.levels())
@pytest.mark.parametrize("name", CALLS)
def test_each_kernel_gives_the_bits_of_numba(shelf, small, name, level):
    """On each level that this processor has; Python can differ in the rounding of exp alone."""
    if shelf.module.processor() < emit.levels()[level]:
        pytest.skip("this processor is of a lower level")
    kernel, arguments = getattr(small, name.split()[0]), CALLS[name]
    if name == "advance":
        trail = small.Trail(small.Walk(np.arange(3.0), 1.5), 3, False)
        arguments = (trail, *arguments)
    shelf.module.choose(list(emit.levels()).index(level))
    ahead, by_numba, by_python = outcomes(shelf, kernel, arguments)
    shelf.module.choose(0)
    assert ahead
    for a, b, c in zip(ahead, by_numba, by_python, strict=True):
        assert a.dtype == b.dtype
        assert_array_equal(a, b)
        assert_allclose(a, c, rtol=1e-15)


def test_records_and_arrays_come_back_as_what_they_are(shelf, small):
    x = np.arange(3.0)
    (result, new) = shelf.function(small.advance)(small.Trail(small.Walk(x, 1.5), 3, False), 0.5)
    assert type(result) is small.Trail and type(result.walk) is small.Walk
    assert result.walk.position is x and result.ended is True
    A = np.array([[2.0, 1.0], [1.0, 3.0]])
    rows, below, _, _ = shelf.function(small.shapes)(A, False)
    assert rows.base is A and below.base is A


def test_an_error_is_the_one_that_numba_raises(shelf, small):
    singular = r"^small\.algebra: Matrix is singular to machine precision\.$"
    with pytest.raises(np.linalg.LinAlgError, match=singular):
        shelf.function(small.algebra)(np.ones((2, 2)), np.ones(2))
    with pytest.raises(ValueError, match="cannot assign an array to a slice of another shape"):
        shelf.function(small.put_behind_first)(np.ones(3), np.ones(3))


def test_other_arguments_go_to_numba(shelf, small):
    """So does a read-only array that a kernel writes to; one that it reads may be read-only."""

    def goes_to_numba(kernel, *arguments):
        with patch.object(kernel, "dispatcher", lambda *a: "numba"):
            return shelf.function(kernel)(*arguments) == "numba"

    x = np.arange(3.0)
    fixed = x.copy()
    fixed.flags.writeable = False
    assert goes_to_numba(small.total, x.astype("f4"), 1.0)
    assert goes_to_numba(small.total, x[::2], 1.0)
    assert goes_to_numba(small.total, x)
    assert goes_to_numba(small.total, x, "1")
    assert goes_to_numba(small.to_exponential, fixed)
    if llvm.llvm_version_info >= (22,):  # an older one sees no array that is only read
        assert not goes_to_numba(small.total, fixed, 1)
    assert not goes_to_numba(small.total, x, np.int64(1))


def test_nothing_is_kept_of_arguments_and_results(shelf, small):
    x = np.arange(3.0)
    trail = small.Trail(small.Walk(x, 1.5), 3, False)
    advance, before = shelf.function(small.advance), sys.getrefcount(x)
    for _ in range(1000):
        advance(trail, 0.0)
    assert sys.getrefcount(x) == before


@pytest.mark.parametrize(
    "old, new, served",
    [
        ("SCALE = 2.0", "SCALE = 2.0  # metres", True),
        ("SCALE = 2.0", "SCALE = 3.0", False),
        ("steps + 1", "steps + 2", False),
        ("t += v + s", "t += v - s", False),
        ("", "", True),
    ],
)
def test_a_changed_kernel_is_refused(folder, shelf, small, old, new, served):
    """A changed constant has the same effect; a changed comment elsewhere does no harm."""
    try:
        (folder / "small.py").write_text(SMALL.replace(old, new))
        compiled._digest_of.cache_clear()
        linecache.clearcache()
        importlib.reload(small)
        why = shelf.refuses(small.advance)
    finally:
        (folder / "small.py").write_text(SMALL)
        compiled._digest_of.cache_clear()
        linecache.clearcache()
        importlib.reload(small)
    assert (why == "") == served and (served or "is not the one" in why)


# -- setup.py --------------------------------------------------------------------------------------
def asked_of_setuptools(monkeypatch, **variables):
    """What setup.py hands to setuptools under these variables of the interpreter."""
    ours = sysconfig.get_config_var
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: variables.get(name, ours(name)))
    monkeypatch.setattr("setuptools.setup", given := Mock())
    monkeypatch.setenv("MCSVM_LIT_LIBRARY", "")
    runpy.run_path(str(ROOT / "setup.py"))
    return given.call_args.kwargs


def test_the_stable_interface_is_used_where_there_is_one(monkeypatch):
    asked = asked_of_setuptools(monkeypatch, CC=sys.executable, Py_GIL_DISABLED=0)
    (library,) = asked["ext_modules"]
    assert library.py_limited_api and library.define_macros == [("Py_LIMITED_API", "0x030B0000")]
    assert asked["options"] == {"bdist_wheel": {"py_limited_api": "cp311"}}


def test_a_free_threaded_python_has_none(monkeypatch):
    """setuptools refuses `py_limited_api` there, and the whole installation would fail."""
    asked = asked_of_setuptools(monkeypatch, CC=sys.executable, Py_GIL_DISABLED=1)
    (library,) = asked["ext_modules"]
    assert not library.py_limited_api and not library.define_macros and not asked["options"]


def test_without_a_compiler_there_is_no_library(monkeypatch, capsys):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    asked = asked_of_setuptools(monkeypatch, CC="no-such-compiler")
    assert asked["ext_modules"] == [] and asked["options"] == {}
    assert "there is no C compiler (no-such-compiler)" in capsys.readouterr().err
