/* What the code that numba makes of a kernel calls at run time.

   These functions take the places of numba's own. The layouts and the arguments are numba's; none
   of them needs the interpreter, since kernels run without it. */
#include "loops.h"

/* -- memory ----------------------------------------------------------------------------------
   numba counts the references to the arrays that a kernel allocates. An owner is the memory of
   such an array, with its count. */
typedef void Release(void *data, size_t size, void *how);
typedef struct {
    size_t references; Release *release; void *how; void *data; size_t size; void *allocator;
} Owner;

void *RUNTIME(NRT_Allocate)(size_t size) { return malloc(size); }
void RUNTIME(NRT_Free)(void *memory) { free(memory); }

void *RUNTIME(NRT_MemInfo_alloc_aligned)(size_t size, uint32_t alignment)
{
    Owner *o = malloc(sizeof(Owner) + size + alignment);
    if (!o) return NULL;
    uintptr_t start = (uintptr_t)(o + 1);
    memset(o, 0, sizeof(Owner));
    o->references = 1;
    o->data = (void *)(start + (alignment - start % alignment) % alignment);
    o->size = size;
    return o;
}

void *RUNTIME(NRT_MemInfo_alloc)(size_t size)
{
    return RUNTIME(NRT_MemInfo_alloc_aligned)(size, 16);
}

void RUNTIME(NRT_MemInfo_call_dtor)(Owner *o)
{
    if (o->release) o->release(o->data, o->size, o->how);
    free(o);
}

/* Lists: the memory is apart from its owner, so that it can grow. */
static void release_list(void *data, size_t size, void *how)
{
    (void)size;
    if (how) ((void (*)(void *))how)(data);
    free(data);
}

void *RUNTIME(NRT_MemInfo_new_varsize_dtor)(size_t size, void *how)
{
    Owner *o = RUNTIME(NRT_MemInfo_alloc)(0);
    if (!o) return NULL;
    o->data = malloc(size);
    if (!o->data) { free(o); return NULL; }
    o->size = size;
    o->release = release_list;
    o->how = how;
    return o;
}

void *RUNTIME(NRT_MemInfo_varsize_realloc)(Owner *o, size_t size)
{
    void *data = realloc(o->data, size);
    if (!data) return NULL;
    o->size = size;
    return o->data = data;
}

void let_go(void *owner)
{
    Owner *o = owner;
    if (o && --o->references == 0) RUNTIME(NRT_MemInfo_call_dtor)(o);
}

/* -- what numba's code asks of Python --------------------------------------------------------
   The texts of errors are made by the caller of a kernel, so these have nothing to do. */
void *RUNTIME(PyExc_RuntimeError);
void RUNTIME(PyErr_SetString)(void *kind, const char *text) { (void)kind; (void)text; }
int64_t RUNTIME(PyObject_Hash)(void *o) { (void)o; return 1; }
void *RUNTIME(PyTuple_Pack)(int64_t n, ...) { (void)n; return NULL; }
void *RUNTIME(PyUnicode_FromKindAndData)(int kind, const void *text, int64_t n)
{
    (void)kind; (void)text; (void)n;
    return NULL;
}
void RUNTIME(Py_FatalError)(const char *text) { (void)text; abort(); }
void RUNTIME(numba_fatal_error)(void) { abort(); }
void RUNTIME(numba_gil_ensure)(void *state) { (void)state; }
void RUNTIME(numba_gil_release)(void *state) { (void)state; }

/* New strides for an array without gaps; an array with gaps cannot be reshaped in place. */
int RUNTIME(numba_attempt_nocopy_reshape)(
    int64_t rank, const int64_t *dims, const int64_t *strides, int64_t new_rank,
    const int64_t *new_dims, int64_t *new_strides, int64_t itemsize, int fortran)
{
    int64_t step = itemsize;
    if (fortran) return 0;
    for (int64_t k = rank; k-- > 0; step *= dims[k])
        if (dims[k] != 1 && strides[k] != step) return 0;
    step = itemsize;
    for (int64_t k = new_rank; k-- > 0; step *= new_dims[k]) new_strides[k] = step;
    return 1;
}

/* -- BLAS and LAPACK ------------------------------------------------------------------------- */
Algebra algebra;
static int one = 1;

int RUNTIME(numba_xxdot)(char kind, char conjugate, int64_t n, void *x, void *y, double *result)
{
    int length = (int)n;
    (void)kind; (void)conjugate;
    *result = algebra.dot(&length, x, &one, y, &one);
    return 0;
}

int RUNTIME(numba_xxgemv)(char kind, char trans, int64_t m, int64_t n, void *alpha, void *a,
                          int64_t lda, void *x, void *beta, void *y)
{
    int rows = (int)m, columns = (int)n, leading = (int)lda;
    (void)kind;
    algebra.gemv(&trans, &rows, &columns, alpha, a, &leading, x, &one, beta, y, &one);
    return 0;
}

int RUNTIME(numba_xxgemm)(char kind, char trans_a, char trans_b, int64_t m, int64_t n, int64_t k,
                          void *alpha, void *a, int64_t lda, void *b, int64_t ldb, void *beta,
                          void *c, int64_t ldc)
{
    int rows = (int)m, columns = (int)n, inner = (int)k;
    int leading_a = (int)lda, leading_b = (int)ldb, leading_c = (int)ldc;
    (void)kind;
    algebra.gemm(&trans_a, &trans_b, &rows, &columns, &inner, alpha, a, &leading_a, b, &leading_b, beta, c,
          &leading_c);
    return 0;
}

int RUNTIME(numba_xgesv)(char kind, int64_t n, int64_t nrhs, void *a, int64_t lda, int32_t *pivots,
                         void *b, int64_t ldb)
{
    int order = (int)n, columns = (int)nrhs, leading_a = (int)lda, leading_b = (int)ldb, info;
    (void)kind;
    algebra.gesv(&order, &columns, a, &leading_a, pivots, b, &leading_b, &info);
    return info;
}
