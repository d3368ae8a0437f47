"""From the intermediate language of LLVM to machine code.

LLVM optimises the program in rounds of its passes, each followed by numba's removal of reference
counts that cancel. Every function that is not a kernel becomes internal, so that unused functions
are removed. A first round, without vectorisation, is the same for all processors and reduces the
program to a sixth; the best level then gets a full round of its own, since few processors run any
other. No product is fused with a sum and nothing is reordered, so all levels give the same bits.

The symbols that are still undefined come from two places: mathematical functions from the C
library, and numba's run-time functions from runtime.c, under names of their own.
"""

import os
import re
from pathlib import Path

import llvmlite.binding as llvm

# The levels of processor by machine, best first, each with what it requires of `processor_level`
# in loops.c. x86-64-v2 runs on every x86 processor since 2009, x86-64-v3 has vectors of four.
LEVELS = {
    "x86_64": {"x86-64-v3": 3, "x86-64-v2": 2},
    "arm64": {"apple-m1": 0},  # as LLVM says on a Mac, and nowhere else
    "aarch64": {"generic": 0},
}
PREFIX = "mcsvm_lit_"  # as in loops.h
RUNTIME = set(
    re.findall(
        r"\bRUNTIME\((\w+)\)", Path(__file__).with_name("runtime.c").read_text(encoding="utf-8")
    )
)
MATHEMATICS = {
    *("acos", "asin", "atan", "atan2", "cbrt", "ceil", "cos", "cosh", "erf", "exp", "exp2"),
    *("expm1", "fabs", "floor", "fmax", "fmin", "fmod", "hypot", "ldexp", "lgamma", "log"),
    *("log10", "log1p", "log2", "memcpy", "memmove", "memset", "pow", "rint", "round", "sin"),
    *("sinh", "sqrt", "tan", "tanh", "tgamma", "trunc"),
    "_hypot",  # what numba calls on Windows
    "memset_pattern16",  # what LLVM calls on macOS to fill arrays
}


def target():
    """Return LLVM's name of the machine that the library is for, `aarch64-linux-gnu` or so.

    MCSVM_LIT_TARGET names another one than this: kernels are translated here, and nothing of the
    target runs or is imported.
    """
    return os.environ.get("MCSVM_LIT_TARGET") or llvm.get_process_triple()


def levels():
    """Return the levels of processor that the library is built for."""
    machine = target().partition("-")[0]
    if machine not in LEVELS:
        raise RuntimeError(f"The library cannot be built for processors of type {machine}.")
    return LEVELS[machine]


def optimise(program, machine, level, vectors=True):
    """Run one round of LLVM's passes, and then remove the reference counts that cancel."""
    tuning = llvm.create_pipeline_tuning_options(speed_level=level)
    tuning.loop_vectorization = vectors
    tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, tuning)
    passes = builder.getModulePassManager()
    passes.add_refprune_pass()
    passes.run(program, builder)


def remove_unused(program, machine):
    """Remove internal functions that nobody calls."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    tuning = llvm.create_pipeline_tuning_options(speed_level=0)
    passes.run(program, llvm.create_pass_builder(machine, tuning))


def name_symbols(program, symbols):
    """Name the kernels as the table calls them; all else becomes internal, or comes from C."""
    for item in [*program.functions, *program.global_variables]:
        if item.name in symbols:
            item.linkage = "external"
            item.name = symbols[item.name]
        elif not item.is_declaration:
            item.linkage = "internal"
        elif item.name in RUNTIME:
            item.name = PREFIX + item.name


def missing(program):
    """Return what neither the program nor runtime.c nor the C library defines."""
    undefined = {
        item.name for item in [*program.functions, *program.global_variables] if item.is_declaration
    }
    known = MATHEMATICS | {PREFIX + name for name in RUNTIME}
    return {name for name in undefined - known if not name.startswith("llvm.")}


def machine_for(cpu):
    """Return LLVM's idea of a processor."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(target()).create_target_machine(
        cpu=cpu, opt=2, reloc="pic", codemodel="default"
    )


def simplified(program, symbols):
    """Return the bitcode after what is the same for all levels, done for the humblest of them."""
    machine = machine_for(list(levels())[-1])
    program.triple, program.data_layout = target(), str(machine.target_data)
    name_symbols(program, symbols)
    remove_unused(program, machine)
    optimise(program, machine, level=1, vectors=False)
    remove_unused(program, machine)
    program.verify()
    if unknown := missing(program):
        raise RuntimeError(
            f"A kernel uses {', '.join(sorted(unknown))}, which the library does not have yet: "
            "add it to tools/wheel/runtime.c."
        )
    return program.as_bitcode()


def machine_code(bitcode, cpu, symbols, best=True):
    """Compile a simplified program for one level; return the object file and the program."""
    machine = machine_for(cpu)
    program = llvm.parse_bitcode(bitcode)
    name_symbols(program, symbols)
    if best:
        optimise(program, machine, level=3)
    return machine.emit_object(program), program


def only_read(program, symbol, slots):
    """Return, for each array in order, whether LLVM sees that the kernel only reads from it.

    Such an array may be read-only, as the memory-mapped arrays of joblib are; any other must be
    writable, and a call with a read-only array there is left to numba. LLVM 20, which numba 0.62 to
    0.64 bring, sees none of them.
    """
    arguments = list(program.get_function(symbol).arguments)[2:]  # after result and reason
    starts = [i for i in range(len(slots)) if slots.startswith("pp", i)]
    return [bool({b"readonly", b"readnone"} & set(arguments[i + 4].attributes)) for i in starts]
