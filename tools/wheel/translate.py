"""From Python to the intermediate language of LLVM, by numba.

numba compiles a kernel in three steps: it infers types, translates the typed program to LLVM's
intermediate language, and lets LLVM optimise that and turn it into machine code. Only the first two
are wanted here, and only once for each kernel. A *library* is what numba calls the piece of program
that it keeps for a function.

Three things that numba emits over and over are emitted in a shorter form, which changes no result.
Counting the references to an array or a record goes straight to the owners of the memory, without
first unpacking every shape and stride; the unpacking was a quarter of the program. Assigning an
array of the wrong shape to a slice raises an error whose message contains no numbers, so that no
kernel has to include numba's code for strings. And a number written in the source has the type of
any other number, so that no kernel is translated once for `f(x, 0)` and once for `f(x, i)`.
"""

from dataclasses import dataclass

import llvmlite.binding as llvm
import numba
from describe import argument_slots
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target
from numba.core.runtime.context import NRTContext
from numba.extending import overload
from numba.np import arrayobj

from mcsvm_lit.engine.compiled import (
    Compiled,
    argument_types,
    link_to_dispatchers,
    name_of,
    one_for_all_literals,
)


class Translated(JITCodeLibrary):
    """A library that is translated, and neither optimised nor linked."""

    def _optimize_functions(self, module):
        pass

    def finalize(self):
        self._raise_if_finalized()
        self._final_module.verify()
        self._finalized = True

    def get_pointer_to_function(self, name):
        return 0


def translate_only():
    """From here on, let numba translate in this process and compile nothing."""
    codegen = cpu_target.target_context.codegen()
    codegen._library_class = Translated
    codegen.set_env = lambda name, environment: None
    NRTContext.get_meminfos = owners_in
    arrayobj.raise_with_shape_context = shapes_differ


def owners_in(context, builder, t, value):
    """Return the owners of memory in a value, as pairs of numba's type and the owner."""
    models = context._context.data_model_manager
    model = models[t]
    found = [(t, model.get_nrt_meminfo(builder, value))] if model.has_nrt_meminfo() else []
    for kind, field in model.traverse(builder):
        if models[kind].contains_nrt_meminfo():
            found += owners_in(context, builder, kind, field(value))
    return found


def shapes_differ(source, slice):
    """Stand for what numba calls when an array does not fit the slice it is assigned to."""


@overload(shapes_differ)
def _shapes_differ(source, slice):
    def raise_error(source, slice):
        raise ValueError("cannot assign an array to a slice of another shape")

    return raise_error


def dispatcher_of(k):
    """Return the dispatcher of a kernel, without the wrappers that Python would call it through."""
    if k.dispatcher is None:
        for inner in k.calls().values():
            if inner is not k:
                dispatcher_of(inner)
        k.dispatcher = numba.njit(
            link_to_dispatchers(k),
            nogil=True,
            error_model="numpy",
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
        )
        one_for_all_literals(k.dispatcher)
    return k.dispatcher


@dataclass
class Loop:
    """A kernel for one list of argument types."""

    kernel: Compiled
    types: tuple  # of the arguments
    result: types.Type
    symbol: str  # numba's name of the translated function
    library: Translated

    @property
    def name(self):
        return name_of(self.kernel)

    @property
    def slots(self):
        return "".join(map(argument_slots, self.types))


def translated(kernels, tell):
    """Translate kernels for the types that their decorators name; `tell(name, work done)`."""
    loops = []
    for k in kernels:
        dispatcher = dispatcher_of(k)
        for signature in k.signatures:
            given = argument_types(k, signature)
            dispatcher.compile(given)
            made = dispatcher.overloads[given]
            symbol = made.fndesc.mangled_name
            loops.append(Loop(k, given, made.signature.return_type, symbol, made.library))
        tell(k.__qualname__, work_of(k))
    return loops


def work_of(k):
    """Return what a kernel is worth on the progress bar: the length of its bytecode."""
    return len(k.py_func.__code__.co_code) if k.signatures else 0


# -- one program -----------------------------------------------------------------------------------
def one_program(loops):
    """Link all pieces that the loops need; nothing is left of the single pieces."""
    found = pieces_of(loops)
    # For every piece that comes in, LLVM looks at all that is there: first make bigger pieces.
    size = max(round(len(found) ** 0.5), 1)
    bigger = [linked(found[i : i + size]) for i in range(0, len(found), size)]
    return linked([declared_reads(), *bigger])


def pieces_of(loops):
    """Return the pieces of program that the loops need, each of them once."""
    waiting = [loop.library for loop in loops]
    needed = {}
    while waiting:
        library = waiting.pop()
        if library not in needed:
            needed[library] = library._final_module
            waiting.extend(library._linking_libraries)
    for piece in needed.values():
        for f in piece.functions:
            if not f.is_declaration and f.linkage == llvm.Linkage.external:
                f.linkage = "weak_odr"
    return list(needed.values())


def linked(pieces):
    """Put all pieces into the first one."""
    first, *rest = pieces
    for piece in rest:
        first.link_in(piece)
    return first


READS = """
declare i32 @numba_xxdot(i8, i8, i64, IN, IN, OUT)
declare i32 @numba_xxgemv(i8, i8, i64, i64, IN, IN, i64, IN, IN, OUT)
declare i32 @numba_xxgemm(i8, i8, i8, i64, i64, i64, IN, IN, i64, IN, i64, IN, OUT, i64)
"""


def declared_reads():
    """Return a program that says only that BLAS writes to the last of its arrays alone."""
    kept = "captures(none)" if llvm.llvm_version_info >= (20,) else "nocapture"
    text = READS.replace("IN", f"ptr readonly {kept}").replace("OUT", f"ptr {kept}")
    return llvm.parse_assembly(text)
