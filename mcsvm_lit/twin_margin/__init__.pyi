# Written by tools/stubs.py, for editors and type checkers.
from mcsvm_lit.twin_margin.classifier import TwinMarginSVC as TwinMarginSVC
from mcsvm_lit.twin_margin.path_in_nu import NuPath as NuPath
from mcsvm_lit.twin_margin.path_in_nu import nu_path as nu_path
from mcsvm_lit.twin_margin.path_in_nu import nu_path_points as nu_path_points
from mcsvm_lit.twin_margin.path_in_radius import RobustPath as RobustPath
from mcsvm_lit.twin_margin.path_in_radius import robust_path as robust_path
from mcsvm_lit.twin_margin.problem import MarginPlane as MarginPlane
from mcsvm_lit.twin_margin.problem import MarginProblem as MarginProblem
from mcsvm_lit.twin_margin.problem import solve_margin as solve_margin
from mcsvm_lit.twin_margin.robust import RobustProblem as RobustProblem
from mcsvm_lit.twin_margin.robust import solve_robust as solve_robust
from mcsvm_lit.twin_margin.robust_kernels import kernel_radius as kernel_radius
from mcsvm_lit.twin_margin.robust_kernels import solve_ball as solve_ball
from mcsvm_lit.twin_margin.selection import TwinMarginSVCCV as TwinMarginSVCCV

__all__ = [
    "nu_path",
    "NuPath",
    "nu_path_points",
    "robust_path",
    "RobustPath",
    "TwinMarginSVC",
    "TwinMarginSVCCV",
    "MarginPlane",
    "MarginProblem",
    "solve_margin",
    "RobustProblem",
    "solve_robust",
    "kernel_radius",
    "solve_ball",
]
