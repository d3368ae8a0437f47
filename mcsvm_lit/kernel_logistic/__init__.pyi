# Written by tools/stubs.py, for editors and type checkers.
from mcsvm_lit.kernel_logistic.binary import BinaryLogistic as BinaryLogistic
from mcsvm_lit.kernel_logistic.classifier import (
    KernelLogisticRegression as KernelLogisticRegression,
)
from mcsvm_lit.kernel_logistic.gaussian_process import LaplaceProcess as LaplaceProcess
from mcsvm_lit.kernel_logistic.gaussian_process import laplace as laplace
from mcsvm_lit.kernel_logistic.multinomial import SoftmaxLogistic as SoftmaxLogistic
from mcsvm_lit.kernel_logistic.multinomial_solvers import solve_softmax as solve_softmax
from mcsvm_lit.kernel_logistic.problem import klr_certificate as klr_certificate
from mcsvm_lit.kernel_logistic.problem import klr_values as klr_values
from mcsvm_lit.kernel_logistic.solvers import solve_klr as solve_klr
from mcsvm_lit.kernel_logistic.sparse import SparseKLR as SparseKLR
from mcsvm_lit.kernel_logistic.sparse import sparse_klr as sparse_klr

__all__ = [
    "sparse_klr",
    "SparseKLR",
    "KernelLogisticRegression",
    "laplace",
    "LaplaceProcess",
    "klr_certificate",
    "klr_values",
    "BinaryLogistic",
    "solve_klr",
    "SoftmaxLogistic",
    "solve_softmax",
]
