"""What runs beside a page in WebAssembly: its cells, statement by statement."""

import ast
import json
import linecache
import mmap
import os
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

# Not in this runtime, or not for it.
MISSING = "cvxpy", "ecos", "clarabel", "osqp", "numba", "dask", "distributed", "ipywidgets", "onnx"
WANTED = *MISSING, "IPython"  # the last is not there anyway, and packages look whether it is
names = vars(sys.modules["__main__"])  # where pickle looks for the classes of a page
unknown = set()  # what statements that were passed over would have defined


def copied(file, length, access=mmap.ACCESS_WRITE, offset=0, **_):
    """The bytes of a file, as a browser maps them: read, and not written back."""
    if access == mmap.ACCESS_WRITE:
        raise OSError("nothing can be written to a map here")
    found = os.pread(file, length or os.fstat(file).st_size, offset)
    return bytearray(found) if access == mmap.ACCESS_COPY else found


def begin(folder):
    """Forget the page before."""
    sys.modules.update(dict.fromkeys(MISSING))
    mmap.mmap = copied
    names.clear()
    unknown.clear()
    names["__name__"] = "__main__"
    sys.path.insert(0, f"/nbs/{folder}")
    print("{}")


def fills(node):
    """Is it `x[…] = …`, or a method of x that adds to it?"""
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.Attribute) and node.attr in ("append", "extend", "update")


def defined(tree):
    """The names that a statement defines, or fills."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif fills(node):
            yield getattr(node.value, "id", "")


def wanting(error):
    """Did it fail because something is not to be had here?"""
    if isinstance(error, ModuleNotFoundError):
        return (error.name or "").partition(".")[0] in WANTED
    return isinstance(error, NameError) and error.name in unknown


def cell(source):
    """Run a cell, and print what became of its statements as a line of JSON."""
    said, error, ran, passed = StringIO(), "", 0, 0
    linecache.cache["cell"] = len(source), None, source.splitlines(True), "cell"
    for statement in ast.parse(source).body:
        code = compile(ast.Module([statement], []), "cell", "exec")
        try:
            with redirect_stdout(said), redirect_stderr(said):
                exec(code, names)
            ran += 1
        except Exception as e:  # noqa: BLE001 (a page may raise anything)
            if not wanting(e):
                error = "".join(traceback.format_exception(e)[-6:])
                break
            passed += 1
            for name in defined(statement):  # nothing may go on with what it was before
                names.pop(name, None)
                unknown.add(name)
    print(json.dumps({"ran": ran, "passed": passed, "error": error}))
