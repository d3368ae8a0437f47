"""Would a page notice a mistake in its own code? `make mutants PAGE=nbs/core/04_certificates.ipynb`

    python tools/mutants.py NB [--most 20] [--seed 0] [--of FUNCTION …] [--afresh]

One at a time, small mistakes are made in the exported cells of a notebook: an operator is
exchanged, a number changed, a condition turned around, a statement left out. The page is then run
from the changed cell on. An exception of any kind catches the mistake; a mistake that reaches the
last cell *survives*, and is listed. Then follow the cells of its page of checks, `checks/NN_name`
beside it: there the page stands in the place of the module that it exports, and modules that import
this module are imported again. A survivor means that the change makes no difference, that it
changes nothing but speed, or that the page has a hole: then it needs an assertion.

The page runs once as it is. Before each cell with a mistake the process forks, so that a mistake
costs only the cells that follow; long cells on which no other one depends come last, because most
mistakes do not get so far. With `--afresh` every mistake runs the page from its first cell: for
pages that make and remove files. Inner loops that are written as in the package are not compiled
again, and those that a mistake has changed run as plain Python where that decides. Messages,
drawings, documentation and decorators stay as they are, as do very small numbers (tolerances) and
large ones (limits). `--most 0` makes every mistake there is.
"""

import argparse
import ast
import copy
import dis
import importlib
import json
import linecache
import math
import os
import random
import re
import resource
import select
import signal
import sys
import tempfile
import time
import types
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MPLBACKEND="agg")
os.environ.setdefault("MCSVM_LIT_FIGURES", tempfile.mkdtemp())

import graph  # noqa: E402
from borrow import borrow_from  # noqa: E402
from cells import ROOT, checks_of  # noqa: E402
from numba.core import event  # noqa: E402 (after the number of threads)

from mcsvm_lit.engine.compiled import Compiled  # noqa: E402

PATIENCE = 4  # a cell of a page with a mistake may take so many times as long
LEAST_SECONDS = 10
FOR_COMPILING = 90  # seconds more while an inner loop that has changed is compiled
LONG = 0.3  # seconds after which a cell may come last
MEMORY = 8 << 30
CHECKS = 10_000  # the number of the cell at which the page of checks begins
SKIPPED = re.compile(r"#\|\s*eval:\s*false|^\s*$")

# -- mistakes -------------------------------------------------------------------------------------
PARTNERS = [
    *((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or), (ast.BitAnd, ast.BitOr)),
    *((ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.Lt, ast.GtE)),
    *((ast.Gt, ast.LtE), (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)),
]
NAMES = [
    *(("min", "max"), ("argmin", "argmax"), ("minimum", "maximum"), ("any", "all")),
    *(("zeros", "ones"), ("floor", "ceil")),
]
LEFT_ALONE = (ast.Raise, ast.Assert, ast.JoinedStr)
FIELDS_LEFT_ALONE = {"decorator_list", "annotation", "returns", "ctx", "op", "ops"}
SPEAKING = re.compile(r"_*(draw|plot|repr|rows|\w+_row)|__repr__|_repr_html_")


def partners(table, of):
    """What may stand in the place of something, by a table of pairs."""
    return [b for pair in table for a, b in (pair, pair[::-1]) if a == of]


def with_field(node, field, value):
    """A copy of a node with another field."""
    new = copy.copy(node)
    setattr(new, field, value)
    return new


def mistakes_in_numbers(node):
    value = node.value
    if isinstance(value, bool):
        yield with_field(node, "value", not value)
    elif isinstance(value, int | float) and (value == 0 or 0.01 <= abs(value) < 10):
        new = 1.1 * value if isinstance(value, float) and value else value + 1
        yield with_field(node, "value", new)


def mistakes_in_operators(node):
    for new in partners(PARTNERS, type(node.op)):
        yield with_field(node, "op", new())
    if isinstance(node, ast.AugAssign):
        yield ast.Pass()
    elif isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Pow):
            yield with_field(node, "op", ast.Mult())
        if isinstance(node.op, ast.Add | ast.Sub):
            yield node.left
        if isinstance(node.op, ast.Add):
            yield node.right


def mistakes_in_comparisons(node):
    for i, op in enumerate(node.ops):
        for new in partners(PARTNERS, type(op)):
            yield with_field(node, "ops", [*node.ops[:i], new(), *node.ops[i + 1 :]])


def mistakes_in_names(node):
    field = "id" if isinstance(node, ast.Name) else "attr"
    for new in partners(NAMES, getattr(node, field)):
        yield with_field(node, field, new)


def mistakes_in_conditions(node):
    if not isinstance(node.test, ast.Compare | ast.Constant | ast.UnaryOp):  # these change anyway
        yield with_field(node, "test", ast.UnaryOp(ast.Not(), node.test))


def mistakes(node):
    """Everything that may stand in the place of a node."""
    match node:
        case ast.Constant():
            yield from mistakes_in_numbers(node)
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign():
            yield from mistakes_in_operators(node)
        case ast.Compare():
            yield from mistakes_in_comparisons(node)
        case ast.If() | ast.IfExp() | ast.While():
            yield from mistakes_in_conditions(node)
        case ast.UnaryOp(operand=inner):
            yield inner
        case ast.Expr(value=value) if not isinstance(value, ast.Constant):
            yield ast.Pass()
        case ast.Call(func=ast.Name(id="abs") | ast.Attribute(attr="abs"), args=[inner]):
            yield inner
        case ast.Name() | ast.Attribute():
            yield from mistakes_in_names(node)


# -- where they are made --------------------------------------------------------------------------
@dataclass
class Mutant:
    """A mistake: in a cell, at one place of its tree, one node becomes another."""

    cell: int
    function: str
    in_kernel: bool
    parent: ast.AST
    field: str
    index: int | None
    old: ast.AST
    new: ast.AST

    def put(self, node):
        """Let a node stand at the place."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node

    def __str__(self):
        old, new = (" ".join(ast.unparse(_head(n)).split()) for n in (self.old, self.new))
        return f"[{self.cell}] {self.function}:{self.old.lineno}  {old[:80]}  →  {new[:80]}"


def _head(node):
    """What to show of a statement."""
    return node.test if isinstance(node, ast.If | ast.While) else node


def draws(function):
    """Does a function show something rather than compute it?"""
    used = {getattr(n, "id", getattr(n, "arg", "")) for n in ast.walk(function)}
    return bool(SPEAKING.fullmatch(function.name) or used & {"plt", "ax", "axes"})


def mutants(cell, node, function="", in_kernel=False):
    """All mistakes that can be made below a node."""
    for field, value in ast.iter_fields(node):
        if field in FIELDS_LEFT_ALONE:
            continue
        children = value if isinstance(value, list) else [value]
        for i, child in enumerate(children):
            if not isinstance(child, ast.AST) or isinstance(child, LEFT_ALONE):
                continue
            name, loop = function, in_kernel
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                name = f"{function}.{child.name}".lstrip(".")
                loop |= any("kernel(" in ast.unparse(d) for d in child.decorator_list)
            if isinstance(child, ast.FunctionDef) and draws(child):
                continue
            place = i if isinstance(value, list) else None
            for new in mistakes(child):
                yield Mutant(cell, name, loop, node, field, place, child, new)
            yield from mutants(cell, child, name, loop)


def spread(found, most, seed):
    """One of each function first, then a second one, until there are enough."""
    turn = Counter()
    ranked = []
    for m in random.Random(seed).sample(found, len(found)):
        turn[m.cell, m.function] += 1
        ranked.append((turn[m.cell, m.function], len(ranked), m))
    chosen = [m for *_, m in sorted(ranked, key=lambda r: r[:2])][: most or None]
    return sorted(chosen, key=lambda m: (m.cell, m.old.lineno))


# -- running a page -------------------------------------------------------------------------------
class Cell(NamedTuple):
    """The code of a cell, and the names that it sees: those of its page."""

    code: types.CodeType
    space: dict


def called(i):
    """What messages call a cell."""
    return f"cell {i}" if i < CHECKS else f"cell {i - CHECKS - 1} of the checks"


def cell_of(tree, name, space):
    """A cell whose code tracebacks and `inspect` can read."""
    text = ast.unparse(tree)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return Cell(compile(text, name, "exec"), space)


def stand_in(module, users, page, checks):
    """Let a page stand in the place of its module, for the page of checks and what that imports.

    The modules that use it are forgotten, so that they are imported again and use the page.
    """
    page.__all__ = sys.modules[module].__all__
    for name in users:
        sys.modules.pop(name, None)
        package, _, last = name.rpartition(".")
        vars(sys.modules.get(package, checks)).pop(last, None)
    package, _, last = module.rpartition(".")
    sys.modules[module] = page
    setattr(importlib.import_module(package), last, page)
    sys.modules["__main__"] = checks


def cells_of_checks(notebook, module, page):
    """The cells of the page of checks, numbered from `CHECKS` on; the first lets it begin."""
    file = checks_of(notebook)
    if not file.exists():
        return {}
    checks = types.ModuleType("__main__")
    begin = ast.parse("begin()")
    users = graph.users(module, ROOT)
    space = {"begin": partial(stand_in, module, users, page, checks)}
    cells = {CHECKS: cell_of(begin, "<the checks begin>", space)}
    for i, tree in trees_of(file)[0].items():
        cells[CHECKS + 1 + i] = cell_of(tree, f"<cell {i} of the checks>", vars(checks))
    return cells


def needs_and_makes(code):
    """The names that a cell expects to find, and those that it leaves behind."""
    needs, makes = set(), set()
    for step in dis.get_instructions(code):
        if step.opname == "STORE_NAME":
            makes.add(step.argval)
        elif step.opname == "LOAD_NAME":
            needs |= {step.argval} - makes
    for inner in (c for c in code.co_consts if isinstance(c, types.CodeType)):
        needs |= set(inner.co_names) | needs_and_makes(inner)[0]
    return needs, makes


def can_wait(cells, exported, seconds):
    """The cells that are long and, as far as names tell, nobody's business."""
    names = {i: needs_and_makes(cell.code) for i, cell in cells.items()}

    def stands_alone(i):
        needs, makes = names[i]
        later = [names[j] for j in cells if j > i and cells[j].space is cells[i].space]
        return not any(makes & n or needs & m for n, m in later)

    fixed = {*exported, CHECKS}
    return [i for i in cells if i not in fixed and seconds[i] > LONG and stands_alone(i)]


def long_ones_last(cells, exported, seconds):
    """The cells in an order in which the page passes, and the seconds that it takes.

    Names do not tell everything: a later cell may empty a list of another module. So a cell that
    fails at the end goes back to its place, and all of them do where another one fails.
    """
    late = can_wait(cells, exported, seconds)
    while True:
        ordered = {i: cells[i] for i in [*(i for i in cells if i not in late), *late]}
        end, used = attempt(ordered, seconds)
        if end == "survived" or not late:
            break
        back = {i for i in late if end.startswith(f"caught by {called(i)}:")}
        late = [i for i in late if back and i not in back]
    if end != "survived":
        sys.exit(f"the page as it is: {end}")
    return ordered, used


class Patience(event.Listener):
    """How much processor time this process may still take; compiling is not counted."""

    def __init__(self):
        self.end = math.inf
        self.begun = []  # the times at which compilations began that have not ended
        event.register("numba:compile", self)

    def set(self, end):
        """The process is to be stopped when it has taken so many seconds."""
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(end), resource.RLIM_INFINITY))

    def allow(self, seconds):
        """So many seconds from now on."""
        self.end = time.process_time() + seconds
        self.set(self.end)

    def on_start(self, ev):
        self.begun.append(time.process_time())
        self.set(self.end + FOR_COMPILING)

    def on_end(self, ev):
        begun = self.begun.pop()
        if not self.begun:
            self.end += time.process_time() - begun
            self.set(self.end)


def _in_child(cells, seconds, writer, plain):
    """Run cells, and say how it ended."""
    os.setpgid(0, 0)
    Compiled.plain = plain  # nobody else uses this process
    patience = Patience()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (the process ends with it)
    end = "survived"
    try:
        for i, cell in cells.items():
            patience.allow(LEAST_SECONDS + PATIENCE * seconds[i])
            exec(cell.code, cell.space)
    except BaseException as error:
        end = f"caught by {called(i)}: {type(error).__name__}"
    os.write(writer, end.encode())
    os._exit(0)


def attempt(cells, seconds, plain=False):
    """Run cells in a fork of this process; returns how it ended and the processor time."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        _in_child(cells, seconds, writer, plain)
    os.close(writer)
    sleeping = 10 * (LEAST_SECONDS + FOR_COMPILING + PATIENCE * sum(seconds.values()))
    heard = select.select([reader], [], [], sleeping)[0]
    end = os.read(reader, 999).decode() if heard else "time-out"
    os.close(reader)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    if not end:
        end = "time-out" if os.WTERMSIG(status) == signal.SIGXCPU else "crashed"
    return end, used.ru_utime + used.ru_stime


def trees_of(notebook):
    """The code cells of a notebook as trees, and as texts."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    text = {i: "".join(c["source"]) for i, c in enumerate(cells) if c["cell_type"] == "code"}
    return {i: ast.parse(t) for i, t in text.items() if not SKIPPED.search(t)}, text


def read(notebook):
    """The code cells of a page as trees, which of them are exported, and to which module."""
    trees, text = trees_of(notebook)
    module = next(re.search(r"default_exp\s+(\S+)", t) for t in text.values() if "default_exp" in t)
    return trees, [i for i in trees if "#| export" in text[i]], f"mcsvm_lit.{module[1]}"


def seconds_of(cells):
    """How long each cell takes, on the page as it is; the process ends where the page fails."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        for i, cell in cells.items():
            begun = time.process_time()
            _quietly(cell)
            os.write(writer, f"{i} {time.process_time() - begun}\n".encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        said = {int(i): float(t) for i, t in map(str.split, lines)}
    if os.waitpid(child, 0)[1]:
        sys.exit(f"the page as it is fails at {called(min(set(cells) - set(said)))}")
    return said


def _quietly(cell):
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        exec(cell.code, cell.space)


def outcome(m, cells, seconds):
    """What becomes of a mistake: `attempt`, for a loop first as plain Python."""
    if m.in_kernel:
        end, used = attempt(cells, seconds, plain=True)
        if end == "survived" or end.endswith("AssertionError"):
            return end, used
    return attempt(cells, seconds)


def campaign(trees, cells, chosen, seconds, afresh=False):
    """Make the mistakes one after another; yields each with its end. `cells`: in their order."""
    for i in trees:
        for m in (m for m in chosen if m.cell == i):
            m.put(m.new)
            tree = ast.fix_missing_locations(trees[i])
            changed = cell_of(tree, f"<mutant of cell {i}>", cells[i].space)
            m.put(m.old)
            rest = {j: changed if j == i else cells[j] for j in cells if afresh or j >= i}
            yield m, *outcome(m, rest, seconds)
        if not afresh:
            _quietly(cells[i])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("notebook", type=Path)
    p.add_argument("--most", type=int, default=20)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--of", nargs="*", metavar="FUNCTION")
    p.add_argument("--afresh", action="store_true")
    a = p.parse_args()
    trees, exported, module = read(a.notebook)
    found = [m for i in exported for m in mutants(i, trees[i])]
    chosen = spread([m for m in found if not a.of or m.function in a.of], a.most, a.seed)
    os.chdir(a.notebook.resolve().parent)
    sys.modules["__main__"] = page = types.ModuleType("__main__")
    borrow_from(importlib.import_module(module))
    cells = {i: cell_of(tree, f"<cell {i}>", vars(page)) for i, tree in trees.items()}
    cells |= cells_of_checks(Path(a.notebook.name), module, page)
    seconds = seconds_of(cells)
    cells, used = long_ones_last(cells, exported, seconds)
    print(f"{len(chosen)} of {len(found)} mistakes; the page takes {used:.0f} s", flush=True)
    ends = []
    for m, end, used in campaign(trees, cells, chosen, seconds, a.afresh):
        ends.append((m, end))
        print(f"  {end:32} {used:5.1f} s  {m}", flush=True)
    alive = [m for m, end in ends if end == "survived"]
    print(f"{len(alive)} of {len(ends)} survived")
    for m in alive:
        print(f"  {m}")
    sys.exit(bool(alive))


if __name__ == "__main__":
    main()
