"""What the library is told of the arguments and the result of a kernel.

A kernel compiled by numba is a function of C whose arguments are all plain: numbers stay numbers,
an array becomes its address, its dimensions and its strides, and a record becomes its fields. A
short text says what loops.c has to take apart and to put together:

| text         | argument                               | text            | result, at byte 8      |
|--------------|----------------------------------------|-----------------|------------------------|
| `d`          | a number                               | `d8;`           | a number               |
| `q`          | an integer                             | `q8;`           | an integer             |
| `A2dCr`      | a C-contiguous matrix, only read       | `A2d8;`         | a matrix               |
| `A1qCw`      | a vector of integers, written to       | `n`             | `None`                 |
| `(dA1dCr)`   | a tuple or record of two               | `(2:d0;d8;)`    | a tuple of two         |
| `A1VCw0;`    | a structured array of the first kind   | `<1,2:d0;d8;)`  | a record of the second |
"""

from numba.core import types
from numba.np.numpy_support import as_dtype

SCALARS = {  # numba's name: letter, bytes
    "float64": ("d", 8),
    "int64": ("q", 8),
    "uint64": ("Q", 8),
    "int32": ("i", 4),
    "uint8": ("B", 1),
    "bool": ("?", 1),
}
ITEMS = {**SCALARS, "float32": ("f", 4)}  # of arrays
C_TYPES = {
    "p": "void *",
    "q": "int64_t",
    "Q": "uint64_t",
    "d": "double",
    "i": "int32_t",
    "B": "uint8_t",
    "?": "uint8_t",
}


def letter(t, known=SCALARS):
    """Return the letter of a type of numbers."""
    if str(t) not in known:
        raise TypeError(f"Kernels of the library take and return no values of type {t}.")
    return known[str(t)][0]


def argument_text(t, only_read, kinds):
    """Describe an argument of numba's type `t`.

    The iterator `only_read` says of each array whether the kernel only reads it; the list `kinds`
    collects the types of structured arrays.
    """
    if isinstance(t, types.Array):
        access = f"{t.layout}{'r' if next(only_read) else 'w'}"
        if isinstance(t.dtype, types.Record):
            kinds.append(as_dtype(t.dtype))
            return f"A{t.ndim}V{access}{len(kinds) - 1};"
        return f"A{t.ndim}{letter(t.dtype, ITEMS)}{access}"
    if isinstance(t, types.BaseTuple):
        return f"({''.join(argument_text(field, only_read, kinds) for field in t.types)})"
    return letter(t)


def argument_slots(t):
    """Return the letters of the plain arguments that numba makes of one; `p` is an address."""
    if isinstance(t, types.Array):
        return "ppqqp" + 2 * t.ndim * "q"
    if isinstance(t, types.BaseTuple):
        return "".join(argument_slots(field) for field in t.types)
    return letter(t)


def extent(t):
    """Return the size and the alignment of a result in memory, in bytes, as C lays it out."""
    if isinstance(t, types.Array):
        return 40 + 16 * t.ndim, 8
    if isinstance(t, types.BaseTuple):
        end, widest = 0, 1
        for field in t.types:
            size, alignment = extent(field)
            end = -(-end // alignment) * alignment + size
            widest = max(widest, alignment)
        return -(-end // widest) * widest, widest
    if isinstance(t, types.NoneType):
        return 8, 8
    letter(t)
    return (SCALARS[str(t)][1],) * 2


def result_text(t, start, kinds):
    """Describe a result that begins at byte `start`; `kinds` collects the classes of records."""
    if isinstance(t, types.NoneType):
        return "n"
    if isinstance(t, types.Array):
        return f"A{t.ndim}{letter(t.dtype, ITEMS)}{start};"
    if not isinstance(t, types.BaseTuple):
        return f"{letter(t)}{start};"
    head = "("
    if isinstance(t, types.BaseNamedTuple):
        kinds.append(t.instance_class)
        head = f"<{len(kinds) - 1},"
    fields = []
    for field in t.types:
        size, alignment = extent(field)
        start = -(-start // alignment) * alignment
        fields.append(result_text(field, start, kinds))
        start += size
    return f"{head}{len(fields)}:{''.join(fields)})"


def described(loop, reads, kinds):
    """Return the texts of a loop's arguments and of its result."""
    arrays = iter(reads)
    arguments = "".join(argument_text(t, arrays, kinds) for t in loop.types)
    return arguments, result_text(loop.result, 0, kinds)


def kind_as_json(kind):
    """Return a class of records, or the type of a structured array, as JSON can write it."""
    if isinstance(kind, type):
        return [kind.__module__, kind.__qualname__]
    return kind.descr
