# Written by tools/stubs.py, for editors and type checkers.
from mcsvm_lit.core.boxqp import box_program as box_program
from mcsvm_lit.core.boxqp import solve_boxqp as solve_boxqp
from mcsvm_lit.core.certificates import KKT as KKT
from mcsvm_lit.core.certificates import Certificate as Certificate
from mcsvm_lit.core.certificates import distance_to_optimum as distance_to_optimum
from mcsvm_lit.core.certificates import gap_rounding as gap_rounding
from mcsvm_lit.core.certificates import relative_gap as relative_gap
from mcsvm_lit.core.certificates import score_rounding as score_rounding
from mcsvm_lit.core.displays import CertificateDisplay as CertificateDisplay
from mcsvm_lit.core.displays import DecisionRegionsDisplay as DecisionRegionsDisplay
from mcsvm_lit.core.estimators import KernelClassifier as KernelClassifier
from mcsvm_lit.core.kernel_rows import KernelRows as KernelRows
from mcsvm_lit.core.kernels import Kernel as Kernel
from mcsvm_lit.core.landmarks import LandmarkFit as LandmarkFit
from mcsvm_lit.core.landmarks import LandmarkSpan as LandmarkSpan
from mcsvm_lit.core.landmarks import choose_landmarks as choose_landmarks
from mcsvm_lit.core.landmarks import fit_landmarks as fit_landmarks
from mcsvm_lit.core.losses import Costs as Costs
from mcsvm_lit.core.losses import Hinge as Hinge
from mcsvm_lit.core.losses import Loss as Loss
from mcsvm_lit.core.losses import Softmax as Softmax
from mcsvm_lit.core.losses import loss_certificate as loss_certificate
from mcsvm_lit.core.losses import loss_values as loss_values
from mcsvm_lit.core.paths import ExactPath as ExactPath
from mcsvm_lit.core.paths import PathKKT as PathKKT
from mcsvm_lit.core.semidefinite import pivoted_cholesky as pivoted_cholesky
from mcsvm_lit.core.solving import Effort as Effort
from mcsvm_lit.core.solving import Goal as Goal
from mcsvm_lit.core.solving import Problem as Problem
from mcsvm_lit.core.solving import Solution as Solution
from mcsvm_lit.core.solving import Strategy as Strategy
from mcsvm_lit.core.solving import solve as solve
from mcsvm_lit.core.training import Training as Training
from mcsvm_lit.core.training import folds_of as folds_of
from mcsvm_lit.core.training import gather as gather

__all__ = [
    "Certificate",
    "KKT",
    "distance_to_optimum",
    "gap_rounding",
    "relative_gap",
    "score_rounding",
    "CertificateDisplay",
    "DecisionRegionsDisplay",
    "box_program",
    "solve_boxqp",
    "KernelClassifier",
    "KernelRows",
    "Kernel",
    "LandmarkFit",
    "LandmarkSpan",
    "choose_landmarks",
    "fit_landmarks",
    "Costs",
    "Hinge",
    "Loss",
    "Softmax",
    "loss_certificate",
    "loss_values",
    "ExactPath",
    "PathKKT",
    "pivoted_cholesky",
    "Effort",
    "Goal",
    "Problem",
    "Solution",
    "Strategy",
    "solve",
    "Training",
    "folds_of",
    "gather",
]
