# placeholder until the notebook exports it
from .cs_kernel import solve_kernel
from .kernels import Kernel
def solve_linear(X, y, c, K, tol=1e-3, max_iter=None, η0=None, bias=0., verbose=0):
    return solve_kernel(Kernel('linear', shift=bias).fit(X), X, y, c, K, tol, max_iter*len(y), 500, η0, verbose)
