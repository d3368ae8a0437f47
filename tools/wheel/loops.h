/* What the two C files of the library share. */
#ifndef MCSVM_LIT_LOOPS_H
#define MCSVM_LIT_LOOPS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The names that the kernels know numba's run-time functions by; emit.py gives them. */
#define RUNTIME(name) mcsvm_lit_##name

/* Where SciPy keeps a routine of BLAS or LAPACK. */
typedef double Dot(int *, double *, int *, double *, int *);
typedef void Gemv(char *, int *, int *, double *, double *, int *, double *, int *, double *,
                  double *, int *);
typedef void Gemm(char *, char *, int *, int *, int *, double *, double *, int *, double *, int *,
                  double *, double *, int *);
typedef void Gesv(int *, int *, double *, int *, int *, double *, int *, int *);
typedef struct { Dot *dot; Gemv *gemv; Gemm *gemm; Gesv *gesv; } Algebra;

extern Algebra algebra; /* filled in when the library is loaded */
void let_go(void *owner); /* give up one reference to the memory of an array */

#endif
