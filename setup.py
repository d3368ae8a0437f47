"""The library of compiled kernels, which pyproject.toml cannot describe; all else stands there.

The library is built if numba and a C compiler are there. Without it, numba compiles the kernels
when they are first called. MCSVM_LIT_LIBRARY=0 builds none; MCSVM_LIT_LIBRARY=1 insists on it.
"""

import os
import shutil
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
WHEEL = "tools/wheel"
WISH = os.environ.get("MCSVM_LIT_LIBRARY", "")
# What the modules import while the kernels are collected.
NEEDED = ["numba", "numpy", "scipy", "sklearn", "tqdm", "joblib", "threadpoolctl"]
# Python's stable interface; a free-threaded Python has none before 3.15.
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")


def obstacle():
    """Return why the library cannot be built here, or nothing."""
    if WISH == "0":
        return "MCSVM_LIT_LIBRARY is 0"
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        return f"{', '.join(missing)} is not installed in the environment that builds"
    if sys.platform == "win32":
        return ""  # setuptools looks for the compiler
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        return f"there is no C compiler ({compiler})"
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        return "Python's header files are not installed"
    return ""


class BuildLibrary(build_ext):
    """Let tools/wheel write the machine code of the library, then compile and link it."""

    def build_extension(self, ext):
        import numpy as np

        sys.path[:0] = [str(ROOT), str(ROOT / WHEEL)]
        from build_library import write

        ext.extra_objects = write(self.build_temp)
        ext.include_dirs += [np.get_include(), WHEEL, self.build_temp]
        if sys.platform == "linux":
            ext.extra_link_args.append("-Wl,-s")  # no names for a debugger
        super().build_extension(ext)


def library():
    """Return the extension module of the compiled kernels."""
    return Extension(
        "mcsvm_lit.engine._loops",
        sources=[f"{WHEEL}/loops.c", f"{WHEEL}/runtime.c"],
        define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
        py_limited_api=STABLE,
        optional=WISH != "1",
    )


why = obstacle()
if why and WISH == "1":
    sys.exit(f"The library of compiled kernels cannot be built: {why}.")
if why:
    print(f"No library of compiled kernels is built: {why}.", file=sys.stderr)
setup(
    ext_modules=[] if why else [library()],
    cmdclass={"build_ext": BuildLibrary},
    options={} if why or not STABLE else {"bdist_wheel": {"py_limited_api": "cp311"}},
)
