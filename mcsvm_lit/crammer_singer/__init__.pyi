# Written by tools/stubs.py, for editors and type checkers.
from mcsvm_lit.crammer_singer.classifier import CrammerSingerSVC as CrammerSingerSVC
from mcsvm_lit.crammer_singer.costs import cost_table as cost_table
from mcsvm_lit.crammer_singer.costs import costs_cvxpy as costs_cvxpy
from mcsvm_lit.crammer_singer.hard_margin import InseparableError as InseparableError
from mcsvm_lit.crammer_singer.kernel_solver import solve_kernel as solve_kernel
from mcsvm_lit.crammer_singer.linear_problem import LinearCrammerSinger as LinearCrammerSinger
from mcsvm_lit.crammer_singer.multiclass import MulticlassSVC as MulticlassSVC
from mcsvm_lit.crammer_singer.path_in_c import CPath as CPath
from mcsvm_lit.crammer_singer.path_in_c import c_path as c_path
from mcsvm_lit.crammer_singer.problem import CrammerSinger as CrammerSinger
from mcsvm_lit.crammer_singer.problem import score_radius as score_radius
from mcsvm_lit.crammer_singer.proximal_newton import solve_linear as solve_linear
from mcsvm_lit.crammer_singer.ranking import LabelRankingSVC as LabelRankingSVC
from mcsvm_lit.crammer_singer.selection import CrammerSingerSVCCV as CrammerSingerSVCCV

__all__ = [
    "InseparableError",
    "CrammerSingerSVC",
    "LabelRankingSVC",
    "MulticlassSVC",
    "c_path",
    "CPath",
    "CrammerSingerSVCCV",
    "CrammerSinger",
    "score_radius",
    "solve_kernel",
    "LinearCrammerSinger",
    "solve_linear",
    "cost_table",
    "costs_cvxpy",
]
