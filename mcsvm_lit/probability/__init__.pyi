# Written by tools/stubs.py, for editors and type checkers.
from mcsvm_lit.probability.any_classifier import WeightedVoteClassifier as WeightedVoteClassifier
from mcsvm_lit.probability.ascent import solve_hinge as solve_hinge
from mcsvm_lit.probability.classifier import SVMProbabilityClassifier as SVMProbabilityClassifier
from mcsvm_lit.probability.path_in_weights import PiPath as PiPath
from mcsvm_lit.probability.path_in_weights import pi_path as pi_path
from mcsvm_lit.probability.problem import WeightedHinge as WeightedHinge
from mcsvm_lit.probability.problem import hinge_certificate as hinge_certificate
from mcsvm_lit.probability.regions import WeightRegions as WeightRegions
from mcsvm_lit.probability.regions import pi_regions as pi_regions
from mcsvm_lit.probability.thresholds import positive_share as positive_share
from mcsvm_lit.probability.thresholds import solve_thresholds as solve_thresholds
from mcsvm_lit.probability.truncated_classifier import TruncatedHingeSVC as TruncatedHingeSVC

__all__ = [
    "pi_path",
    "PiPath",
    "pi_regions",
    "WeightRegions",
    "TruncatedHingeSVC",
    "SVMProbabilityClassifier",
    "WeightedVoteClassifier",
    "WeightedHinge",
    "hinge_certificate",
    "solve_hinge",
    "positive_share",
    "solve_thresholds",
]
