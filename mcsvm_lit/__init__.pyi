# Written by tools/stubs.py, for editors and type checkers.
from mcsvm_lit.core.certificates import Certificate as Certificate
from mcsvm_lit.core.displays import CertificateDisplay as CertificateDisplay
from mcsvm_lit.core.displays import DecisionRegionsDisplay as DecisionRegionsDisplay
from mcsvm_lit.crammer_singer.classifier import CrammerSingerSVC as CrammerSingerSVC
from mcsvm_lit.crammer_singer.hard_margin import InseparableError as InseparableError
from mcsvm_lit.crammer_singer.multiclass import MulticlassSVC as MulticlassSVC
from mcsvm_lit.crammer_singer.path_in_c import c_path as c_path
from mcsvm_lit.crammer_singer.ranking import LabelRankingSVC as LabelRankingSVC
from mcsvm_lit.crammer_singer.selection import CrammerSingerSVCCV as CrammerSingerSVCCV
from mcsvm_lit.kernel_logistic.classifier import (
    KernelLogisticRegression as KernelLogisticRegression,
)
from mcsvm_lit.kernel_logistic.gaussian_process import laplace as laplace
from mcsvm_lit.kernel_logistic.sparse import sparse_klr as sparse_klr
from mcsvm_lit.probability.any_classifier import WeightedVoteClassifier as WeightedVoteClassifier
from mcsvm_lit.probability.classifier import SVMProbabilityClassifier as SVMProbabilityClassifier
from mcsvm_lit.probability.path_in_weights import pi_path as pi_path
from mcsvm_lit.probability.regions import pi_regions as pi_regions
from mcsvm_lit.probability.truncated_classifier import TruncatedHingeSVC as TruncatedHingeSVC
from mcsvm_lit.scale.export import to_onnx as to_onnx
from mcsvm_lit.twin_ksvc.classifier import TwinKSVC as TwinKSVC
from mcsvm_lit.twin_ksvc.path_in_epsilon import epsilon_path as epsilon_path
from mcsvm_lit.twin_ksvc.path_in_lambda import twin_path as twin_path
from mcsvm_lit.twin_ksvc.selection import TwinKSVCCV as TwinKSVCCV
from mcsvm_lit.twin_ksvc.surface import twin_surface as twin_surface
from mcsvm_lit.twin_margin.classifier import TwinMarginSVC as TwinMarginSVC
from mcsvm_lit.twin_margin.path_in_nu import nu_path as nu_path
from mcsvm_lit.twin_margin.path_in_radius import robust_path as robust_path
from mcsvm_lit.twin_margin.selection import TwinMarginSVCCV as TwinMarginSVCCV

__version__: str
__all__ = [
    "Certificate",
    "CertificateDisplay",
    "DecisionRegionsDisplay",
    "InseparableError",
    "CrammerSingerSVC",
    "LabelRankingSVC",
    "MulticlassSVC",
    "c_path",
    "CrammerSingerSVCCV",
    "sparse_klr",
    "KernelLogisticRegression",
    "laplace",
    "nu_path",
    "robust_path",
    "TwinMarginSVC",
    "TwinMarginSVCCV",
    "twin_path",
    "twin_surface",
    "epsilon_path",
    "TwinKSVC",
    "TwinKSVCCV",
    "pi_path",
    "pi_regions",
    "TruncatedHingeSVC",
    "SVMProbabilityClassifier",
    "WeightedVoteClassifier",
    "to_onnx",
]
