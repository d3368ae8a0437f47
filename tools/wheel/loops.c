/* The module of compiled kernels: it takes arguments apart, calls a kernel, and packs its result.

   It uses Python's stable interface (where that exists: not in free-threaded builds) and NumPy's
   documented one; both promise that a library built today works with later versions. What the
   texts `arguments` and `result` of a kernel mean is written in describe.py. */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>

#include "loops.h"

/* A slot is one plain argument. Array is what numba makes of an array, Reason of an error. */
typedef union { void *p; int64_t q; uint64_t Q; double d; int32_t i; uint8_t B; } Slot;
typedef struct {
    void *owner, *parent; int64_t count, itemsize; char *data; int64_t sizes[];
} Array;
typedef struct { const char *bytes; int32_t length; } Reason;

/* Kernels, with their machine code for each level of processor: `loops`, `ABOUT` and the sizes. */
typedef int32_t Code(void *result, void **reason, const Slot *slots);
#include "table.h"

/* -- arguments -------------------------------------------------------------------------------
   `take` reads one argument as its text says; it returns 0 if the argument is of another kind,
   and the call is then left to numba. */
static int number_of(char type)
{
    switch (type) {
    case 'd': return NPY_DOUBLE;
    case 'f': return NPY_FLOAT;
    case 'q': return NPY_INT64;
    case 'Q': return NPY_UINT64;
    case 'i': return NPY_INT32;
    case 'B': return NPY_UINT8;
    default: return NPY_BOOL;
    }
}

static long read_number(const char **text) /* and the sign after it */
{
    long value = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++) value = 10 * value + (**text - '0');
    (*text)++;
    return value;
}

static int take_array(const char **text, PyObject *o, Slot **s, PyObject *kinds)
{
    int rank = (*text)[0] - '0';
    char type = (*text)[1], layout = (*text)[2], access = (*text)[3];
    PyArrayObject *a = (PyArrayObject *)o;
    *text += 4;
    if (!PyArray_Check(o) || PyArray_NDIM(a) != rank || !PyArray_ISALIGNED(a)) return 0;
    if (type == 'V') {
        PyObject *kind = PyTuple_GetItem(kinds, read_number(text));
        if (!kind || !PyArray_EquivTypes(PyArray_DESCR(a), (PyArray_Descr *)kind)) return 0;
    } else if (!PyArray_EquivTypenums(PyArray_TYPE(a), number_of(type)) || !PyArray_ISNOTSWAPPED(a))
        return 0;
    if (layout == 'C' && !PyArray_IS_C_CONTIGUOUS(a)) return 0;
    if (layout == 'F' && !PyArray_IS_F_CONTIGUOUS(a)) return 0;
    if (access == 'w' && !PyArray_ISWRITEABLE(a)) return 0;
    (*s)++->p = NULL;
    (*s)++->p = o;
    (*s)++->q = PyArray_SIZE(a);
    (*s)++->q = PyArray_ITEMSIZE(a);
    (*s)++->p = PyArray_DATA(a);
    for (int k = 0; k < rank; k++) (*s)++->q = PyArray_DIM(a, k);
    for (int k = 0; k < rank; k++) (*s)++->q = PyArray_STRIDE(a, k);
    return 1;
}

static int take_float(PyObject *o, Slot *s)
{
    if (PyArray_Check(o) || !PyNumber_Check(o)) return 0;
    s->d = PyFloat_AsDouble(o);
    return !(s->d == -1 && PyErr_Occurred());
}

static int take_integer(char type, PyObject *o, Slot *s)
{
    PyObject *integer = PyArray_Check(o) || !PyIndex_Check(o) ? NULL : PyNumber_Index(o);
    if (!integer) return 0;
    int64_t value = type == 'Q' ? (int64_t)PyLong_AsUnsignedLongLong(integer)
                                : PyLong_AsLongLong(integer);
    Py_DecRef(integer);
    if (value == -1 && PyErr_Occurred()) return 0;
    s->q = value;
    if (type == 'i') { s->i = (int32_t)value; return s->i == value; }
    if (type == 'B') { s->B = (uint8_t)value; return s->B == value; }
    return 1;
}

static int take_flag(PyObject *o, Slot *s)
{
    if (!PyBool_Check(o) && !PyArray_IsScalar(o, Bool)) return 0;
    s->B = PyObject_IsTrue(o) == 1;
    return 1;
}

static int take(const char **text, PyObject *o, Slot **s, PyObject *kinds)
{
    char type = *(*text)++;
    if (type == 'A') return take_array(text, o, s, kinds);
    if (type == 'd') return take_float(o, (*s)++);
    if (type == '?') return take_flag(o, (*s)++);
    if (type != '(') return take_integer(type, o, (*s)++);
    if (!PyTuple_Check(o)) return 0;
    Py_ssize_t n = PyTuple_Size(o), k = 0;
    for (; **text != ')'; k++)
        if (k >= n || !take(text, PyTuple_GetItem(o, k), s, kinds)) return 0;
    (*text)++;
    return k == n;
}

/* -- results ---------------------------------------------------------------------------------
   `give` makes a Python object of a result or of a part of it. An array that the kernel was given
   is returned as the same object. A new array is not copied: its memory is freed with it. */
typedef struct {
    const Loop *first; int count; PyObject *otherwise, *failed, *kinds;
} Bound;

static void array_is_gone(PyObject *capsule) { let_go(PyCapsule_GetPointer(capsule, NULL)); }

static int is_parent(const Array *a, int rank)
{
    PyArrayObject *p = a->parent;
    if (!p || PyArray_NDIM(p) != rank || PyArray_DATA(p) != a->data) return 0;
    return PyArray_CompareLists(PyArray_DIMS(p), (npy_intp *)a->sizes, rank)
        && PyArray_CompareLists(PyArray_STRIDES(p), (npy_intp *)a->sizes + rank, rank);
}

static PyObject *give_array(int rank, char type, Array *a)
{
    npy_intp dims[NPY_MAXDIMS], strides[NPY_MAXDIMS];
    PyObject *base = NULL, *array;
    if (is_parent(a, rank)) {
        let_go(a->owner);
        Py_IncRef(a->parent);
        return a->parent;
    }
    for (int k = 0; k < rank; k++) { dims[k] = a->sizes[k]; strides[k] = a->sizes[rank + k]; }
    array = PyArray_New(&PyArray_Type, rank, dims, number_of(type), strides, a->data, 0,
                        NPY_ARRAY_WRITEABLE, NULL);
    if (a->owner) base = PyCapsule_New(a->owner, NULL, array_is_gone);
    else if (a->parent) Py_IncRef(base = a->parent);
    if (array && base && PyArray_SetBaseObject((PyArrayObject *)array, base) == 0) return array;
    Py_DecRef(array);
    return NULL;
}

static PyObject *give(const char **text, char *result, Bound *bound);

static PyObject *give_tuple(const char **text, char *result, Bound *bound, PyObject *record)
{
    long n = read_number(text);
    PyObject *tuple = PyTuple_New(n), *made;
    for (long k = 0; k < n; k++) {
        PyObject *part = give(text, result, bound);
        if (!part || !tuple || PyTuple_SetItem(tuple, k, part) < 0) {
            Py_DecRef(tuple);
            return NULL;
        }
    }
    (*text)++;
    if (!record) return tuple;
    made = PyObject_Call(record, tuple, NULL);
    Py_DecRef(tuple);
    return made;
}

static PyObject *give(const char **text, char *result, Bound *bound)
{
    char type = *(*text)++;
    if (type == 'n') return Py_NewRef(Py_None);
    if (type == '(') return give_tuple(text, result, bound, NULL);
    if (type == '<') {
        PyObject *record = PyTuple_GetItem(bound->kinds, read_number(text));
        return record ? give_tuple(text, result, bound, record) : NULL;
    }
    if (type == 'A') {
        int rank = (*text)[0] - '0';
        char items = (*text)[1];
        *text += 2;
        return give_array(rank, items, (Array *)(result + read_number(text)));
    }
    char *at = result + read_number(text);
    switch (type) {
    case 'd': return PyFloat_FromDouble(*(double *)at);
    case 'q': return PyLong_FromLongLong(*(int64_t *)at);
    case 'Q': return PyLong_FromUnsignedLongLong(*(uint64_t *)at);
    case 'i': return PyLong_FromLong(*(int32_t *)at);
    case 'B': return PyLong_FromLong(*(uint8_t *)at);
    default: return PyBool_FromLong(*(uint8_t *)at & 1);
    }
}

/* -- the call --------------------------------------------------------------------------------
   The first entry whose types fit is called, without the interpreter. If none fits, the call goes
   to `otherwise`. If the kernel stops with an error, `failed` gets the bytes by which numba
   describes the error. */
static int chosen = 0; /* which level of processor */

static const Loop *fitting(Bound *bound, PyObject *const *args, Py_ssize_t n, Slot *slots)
{
    for (const Loop *loop = bound->first; loop < bound->first + bound->count; loop++) {
        const char *text = loop->arguments;
        Slot *s = slots;
        Py_ssize_t k = 0;
        while (k < n && *text && take(&text, args[k], &s, bound->kinds)) k++;
        if (k == n && !*text) return loop;
        PyErr_Clear();
    }
    return NULL;
}

static PyObject *call_otherwise(Bound *bound, PyObject *const *args, Py_ssize_t n)
{
    PyObject *tuple = PyTuple_New(n), *result;
    if (!tuple) return NULL;
    for (Py_ssize_t k = 0; k < n; k++) PyTuple_SetItem(tuple, k, Py_NewRef(args[k]));
    result = PyObject_Call(bound->otherwise, tuple, NULL);
    Py_DecRef(tuple);
    return result;
}

static PyObject *call(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    Bound *bound = PyCapsule_GetPointer(self, NULL);
    Slot slots[SLOTS];
    union { double aligned; char bytes[RESULT]; } result;
    void *reason = NULL;
    const Loop *loop = fitting(bound, args, n, slots);
    if (!loop) return call_otherwise(bound, args, n);
    PyThreadState *thread = PyEval_SaveThread();
    int32_t status = loop->code[chosen](&result, &reason, slots);
    PyEval_RestoreThread(thread);
    if (status) {
        Reason *why = reason;
        PyObject *none = PyObject_CallFunction(bound->failed, "y#", why ? why->bytes : "",
                                               (Py_ssize_t)(why ? why->length : 0));
        if (none) PyErr_SetString(PyExc_RuntimeError, "a compiled kernel failed");
        Py_DecRef(none);
        return NULL;
    }
    const char *text = loop->result;
    return give(&text, result.bytes, bound);
}

/* -- the processor: which level of x86-64 it is of, or 0 ------------------------------------- */
#if defined(__x86_64__) || defined(_M_X64)
#ifdef _MSC_VER
#include <intrin.h>
static void ask(int leaf, unsigned r[4]) { __cpuidex((int *)r, leaf, 0); }
static uint64_t saved_registers(void) { return _xgetbv(0); }
#else
#include <cpuid.h>
static void ask(int leaf, unsigned r[4]) { __cpuid_count(leaf, 0, r[0], r[1], r[2], r[3]); }
static uint64_t saved_registers(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return ((uint64_t)high << 32) | low;
}
#endif
#define BIT(k) (1u << (k))
static int processor_level(void)
{
    unsigned r[4], basic, extended, v2 = BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) | BIT(23);
    unsigned v3 = BIT(12) | BIT(22) | BIT(27) | BIT(28) | BIT(29);
    unsigned v3_leaf7 = BIT(3) | BIT(5) | BIT(8);
    ask(1, r);
    basic = r[2];
    ask((int)0x80000001u, r);
    extended = r[2];
    if ((basic & v2) != v2 || !(extended & BIT(0))) return 1;
    ask(0, r);
    if (r[0] < 7 || (basic & v3) != v3 || !(extended & BIT(5))) return 2;
    ask(7, r);
    return (r[1] & v3_leaf7) == v3_leaf7 && (saved_registers() & 6) == 6 ? 3 : 2;
}
#else
static int processor_level(void) { return 0; }
#endif

/* -- the module ------------------------------------------------------------------------------ */
static PyObject *about(PyObject *self, PyObject *none)
{
    (void)self; (void)none;
    return PyBytes_FromStringAndSize(ABOUT, sizeof ABOUT);
}

static PyObject *processor(PyObject *self, PyObject *none)
{
    (void)self; (void)none;
    return PyLong_FromLong(processor_level());
}

static void *pointer(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
}

static PyObject *connect(PyObject *self, PyObject *args)
{
    PyObject *c[4];
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOO", &c[0], &c[1], &c[2], &c[3])) return NULL;
    algebra.dot = (Dot *)pointer(c[0]);
    algebra.gemv = (Gemv *)pointer(c[1]);
    algebra.gemm = (Gemm *)pointer(c[2]);
    algebra.gesv = (Gesv *)pointer(c[3]);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *choose(PyObject *self, PyObject *args)
{
    int level;
    (void)self;
    if (!PyArg_ParseTuple(args, "i", &level)) return NULL;
    if (level < 0 || level >= LEVELS) {
        PyErr_SetString(PyExc_IndexError, "there is no such level");
        return NULL;
    }
    chosen = level;
    return Py_NewRef(Py_None);
}

static PyMethodDef call_method = {"kernel", (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL};

static PyObject *bind(PyObject *self, PyObject *args)
{
    int first, count;
    PyObject *capsule, *function;
    Bound *b = calloc(1, sizeof(Bound));
    (void)self;
    if (!b) return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "iiOOO", &first, &count, &b->otherwise, &b->failed, &b->kinds)) {
        free(b);
        return NULL;
    }
    b->first = loops + first;
    b->count = count;
    Py_IncRef(b->otherwise);
    Py_IncRef(b->failed);
    Py_IncRef(b->kinds);
    capsule = PyCapsule_New(b, NULL, NULL); /* stays for the life of the process */
    function = capsule ? PyCFunction_NewEx(&call_method, capsule, NULL) : NULL;
    Py_DecRef(capsule);
    return function;
}

static PyMethodDef methods[] = {
    {"about", about, METH_NOARGS, NULL},
    {"processor", processor, METH_NOARGS, NULL},
    {"connect", connect, METH_VARARGS, NULL},
    {"choose", choose, METH_VARARGS, NULL},
    {"bind", bind, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_loops", NULL, -1, methods,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__loops(void)
{
    import_array();
    PyObject *made = PyModule_Create(&module);
#ifdef Py_GIL_DISABLED
    if (made) PyUnstable_Module_SetGIL(made, Py_MOD_GIL_NOT_USED);
#endif
    return made;
}
