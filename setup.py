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

WISH = os.environ.get("MCSVM_LIT_LIBRARY", "")
# What the notebooks import while the kernels are collected.
NEEDED = ["numba", "numpy", "scipy", "sklearn", "tqdm", "joblib", "threadpoolctl"]


def obstacle():
    """Why the library cannot be built here, or nothing."""
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
    """Let the package write the sources of the library, then compile and link them."""

    def build_extension(self, ext):
        import numpy as np

        sys.path.insert(0, str(Path(__file__).resolve().parent))
        from mcsvm_lit.engine.ahead import sources

        text, *objects = sources(self.build_temp)
        ext.sources, ext.extra_objects = [text], objects
        ext.include_dirs.append(np.get_include())
        if sys.platform == "linux":
            ext.extra_link_args.append("-Wl,-s")  # no names for a debugger
        super().build_extension(ext)


why = obstacle()
if why and WISH == "1":
    sys.exit(f"The library of compiled kernels cannot be built: {why}.")
if why:
    print(f"No library of compiled kernels is built: {why}.", file=sys.stderr)
library = Extension("mcsvm_lit.core._loops", sources=[], py_limited_api=True, optional=WISH != "1")
setup(
    ext_modules=[] if why else [library],
    cmdclass={"build_ext": BuildLibrary},
    options={} if why else {"bdist_wheel": {"py_limited_api": "cp311"}},
)
