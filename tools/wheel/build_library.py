"""Write the sources of the library of kernels: object files, and the table that loops.c includes.

numba needs minutes to compile the kernels of the package, and half a second to start even when
everything is cached. Whoever installs a wheel should pay neither, so the kernels are compiled when
the wheel is built: numba translates each of them to the intermediate language of LLVM
(translate.py), LLVM optimises all of them as one program for a few levels of processor (emit.py),
and a C compiler links the result with loops.c and runtime.c into one small extension module.

What was decided, and why:

* The Python source stays the only source. The notebooks carry it; a second implementation in C or
  Cython would have to be kept equal.
* The library is an extension module for Python's stable interface: one file serves every Python
  from 3.11 on. Arguments are read where they lie, so that a call costs about a microsecond.
* BLAS and LAPACK come from SciPy, which hands out the pointers that numba uses: the same bits.
* When it is loaded, the library has to prove that it still fits the Python source next to it. So it
  holds, for each kernel, a digest of the source, the constants that numba froze into the code, and
  the modules that all of this comes from, each with a digest of its file.

setup.py calls `write`; by hand: `python tools/wheel/build_library.py FOLDER [MODULE …]`.

For another machine than this one, MCSVM_LIT_TARGET names it as LLVM does, CC a compiler for it, and
_PYTHON_HOST_PLATFORM the platform of the wheel, as other packages understand it, too:

    MCSVM_LIT_TARGET=aarch64-linux-gnu CC="zig cc -target aarch64-linux-gnu" \
        _PYTHON_HOST_PLATFORM=linux-aarch64 pip wheel --no-deps .
"""

import gc
import hashlib
import importlib
import itertools
import json
import os
import pickle
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numba
from describe import C_TYPES, described, extent, kind_as_json
from emit import PREFIX, levels, machine_code, only_read, simplified, target
from tqdm import tqdm
from translate import one_program, translate_only, translated, work_of

from mcsvm_lit.engine.compiled import (
    constants_of,
    file_digest,
    modules_of,
    package_kernels,
    registry,
)

HERE = Path(__file__).resolve().parent
# What the steps after the translation cost, as fractions of what the translation costs (measured).
COMMON_SHARE = 0.4  # linking and simplifying
BEST_SHARE = 0.65  # the best level
OTHER_SHARE = 0.13  # any other


# -- the table -------------------------------------------------------------------------------------
@dataclass
class Entry:
    """A kernel in the table of the library."""

    slots: str
    arguments: str
    result: str
    symbols: list  # one for each level


def entry_text(entry):
    """Write the functions that C calls, one for each level; they name the slots by their types."""
    types = "".join(f", {C_TYPES[s]}" for s in entry.slots)
    fields = [s.replace("?", "B") for s in entry.slots]
    values = "".join(f", s[{k}].{field}" for k, field in enumerate(fields))
    return "\n".join(
        f"extern int32_t {symbol}(void *, void **{types});\n"
        f"static int32_t call_{symbol}(void *r, void **why, const Slot *s)"
        f" {{ return {symbol}(r, why{values}); }}"
        for symbol in entry.symbols
    )


def table_text(entries, about, room):
    """Write table.h; `about` is JSON, `room` the bytes of the largest result."""
    rows = [
        f'    {{"{e.arguments}", "{e.result}", {{{", ".join("call_" + s for s in e.symbols)}}}}},'
        for e in entries
    ]
    lines = [
        f"#define LEVELS {len(entries[0].symbols)}",
        f"#define SLOTS {max(len(e.slots) for e in entries) + 1}",
        f"#define RESULT {max(room, 8)}",
        "typedef struct { const char *arguments, *result; Code *code[LEVELS]; } Loop;",
        *map(entry_text, entries),
        "static const Loop loops[] = {",
        *rows,
        "};",
        f"static const char ABOUT[] = {{{', '.join(map(str, about))}}};",
    ]
    return "\n".join([*lines, ""])


def table_of(loops, reads, kinds):
    """Return the entries of the library in order; `reads` is what `only_read` says of each loop."""
    entries = []
    for i, (loop, only) in enumerate(zip(loops, reads, strict=True)):
        arguments, result = described(loop, only, kinds[loop.name])
        symbols = [f"{PREFIX}loop_{i}_level_{k}" for k in range(len(levels()))]
        entries.append(Entry(loop.slots, arguments, result, symbols))
    return entries


# -- what the library knows of itself --------------------------------------------------------------
def errors_in(program):
    """Return the errors that kernels may stop with: `{digest: [module, class, message]}`.

    numba keeps such an error as bytes that only numba can read; the digest is theirs.
    """
    found = {}
    for constant in program.global_variables:
        if not re.fullmatch(r"\.const\.pickledata\.\w+", constant.name):
            continue
        code = str(constant).split('c"', 1)[1].rsplit('"', 1)[0]
        data = bytes_of(code)
        kind, arguments, *_ = pickle.loads(data)
        if kind is not None:
            message = " ".join(map(str, arguments or ())).partition("\n")[0]
            found[hashlib.sha1(data).hexdigest()] = [kind.__module__, kind.__qualname__, message]
    return found


def bytes_of(text):
    r"""Return the bytes of a constant as LLVM writes it: `\\` is a backslash, `\0A` the byte 10."""
    plain = re.sub(
        r"\\(\\|[0-9A-F]{2})",
        lambda m: "\\" if m[1] == "\\" else chr(int(m[1], 16)),
        text,
    )
    return plain.encode("latin-1")


def kernel_facts(loops):
    """Return what the library knows of each kernel, by name."""
    facts = {}
    for k, loop in enumerate(loops):
        if loop.name in facts:
            facts[loop.name]["count"] += 1
            continue
        facts[loop.name] = {
            "first": k,
            "count": 1,
            "digest": loop.kernel.digest(),
            "constants": constants_of(loop.kernel),
            "modules": sorted(modules_of(loop.kernel)),
        }
    return facts


def about_library(loops, errors, kinds):
    """Return what the library says of itself, as JSON can write it."""
    kernels = kernel_facts(loops)
    for name, found in kinds.items():
        kernels[name]["kinds"] = [kind_as_json(kind) for kind in found]
    modules = {m for fact in kernels.values() for m in fact["modules"]}
    return {
        "numba": numba.__version__,
        "levels": levels(),
        "kernels": kernels,
        "modules": {m: file_digest(m) for m in sorted(modules)},
        "errors": errors,
    }


# -- building --------------------------------------------------------------------------------------
def fit_for_library(loops):
    """Leave out the loops that cannot be passed through the library, and say so."""
    kept = []
    for loop in loops:
        try:
            described(loop, itertools.repeat(False), [])
            kept.append(loop)
        except TypeError as e:
            print(f"{loop.name} is left to numba: {e}", file=sys.stderr)
    return kept


def object_files():
    """Return the names of the object files, one for each level."""
    suffix = "obj" if "windows" in target() else "o"
    return [f"loops_{k}.{suffix}" for k in range(len(levels()))]


def level_shares():
    """Return the share of each level in the work, best first."""
    return [BEST_SHARE] + [OTHER_SHARE] * (len(levels()) - 1)


def write_objects(loops, program, folder, tell):
    """Write machine code for each level; return what `only_read` says of each loop."""
    work = sum(work_of(loop.kernel) for loop in loops)
    names = [f"{PREFIX}loop_{i}" for i in range(len(loops))]
    symbols = {loop.symbol: name for loop, name in zip(loops, names, strict=True)}
    simple = simplified(program, symbols)
    tell("simplified", COMMON_SHARE * work)
    reads = []
    for k, (cpu, file) in enumerate(zip(levels(), object_files(), strict=True)):
        own = {name: f"{name}_level_{k}" for name in names}
        code, program = machine_code(simple, cpu, own, best=k == 0)
        (folder / file).write_bytes(code)
        if k == 0:
            reads = [only_read(program, own[n], loop.slots) for n, loop in zip(names, loops)]
        tell(f"for {cpu}", level_shares()[k] * work)
    return reads


def write_sources(kernels, folder, tell=lambda name, work: None):
    """Write the object files and the table of a library of these kernels."""
    translate_only()
    loops = fit_for_library(translated(kernels, tell))
    program = one_program(loops)
    errors = errors_in(program)
    reads = write_objects(loops, program, folder, tell)
    kinds = {loop.name: [] for loop in loops}
    entries = table_of(loops, reads, kinds)
    about = json.dumps(about_library(loops, errors, kinds)).encode()
    room = max(extent(loop.result)[0] for loop in loops)
    (folder / "table.h").write_text(table_text(entries, about, room), encoding="utf-8")


def kernels_of(modules):
    """Return the kernels that these modules define, or those of the whole package."""
    everything = package_kernels()
    if not modules:
        return everything
    for name in modules:
        importlib.import_module(name)
    return [k for k in registry if k.__module__ in modules]


def main(folder, *modules):
    """Write the sources of the library into a folder, with a progress bar."""
    gc.disable()  # numba makes millions of objects; looking at them takes long and frees little
    kernels = kernels_of(modules)
    total = sum(map(work_of, kernels)) * (1 + COMMON_SHARE + sum(level_shares()))
    form = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining} {postfix}"
    with tqdm(total=total, desc="Compiling kernels", bar_format=form, disable=None) as bar:

        def tell(name, work):
            bar.set_postfix_str(f"{name:30.30}", refresh=False)
            bar.update(work)

        write_sources(kernels, Path(folder), tell)


def fingerprint():
    """Return what changes whenever the package, this folder, numba, LLVM or the target do."""
    import mcsvm_lit

    package = Path(mcsvm_lit.__file__).parent
    tools = [version("numba"), version("llvmlite"), target(), levels()]
    digest = hashlib.sha1(repr(tools).encode())
    for file in [*sorted(package.rglob("*.py")), *sorted(HERE.glob("*.*"))]:
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


def write(folder, *modules):
    """Write the sources in a process of its own, unless they are there; return the object files.

    In that process numba has not compiled anything before.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    objects = [str(folder / name) for name in object_files()]
    mark, now = folder / "fingerprint", f"{modules} {fingerprint()}"
    if mark.exists() and mark.read_text() == now:
        return objects
    mark.unlink(missing_ok=True)
    settings = {
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_DISABLE_INTEL_SVML": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    command = [sys.executable, "-W", "ignore", __file__, str(folder), *modules]
    if subprocess.run(command, env=os.environ | settings).returncode:
        raise RuntimeError("The kernels could not be compiled ahead of time; see above.")
    mark.write_text(now)
    return objects


if __name__ == "__main__":
    main(*sys.argv[1:])
