# Written by tools/stubs.py, for editors and type checkers.
from mcsvm_lit.twin_ksvc.classifier import TwinKSVC as TwinKSVC
from mcsvm_lit.twin_ksvc.kernel_planes import KernelPlane as KernelPlane
from mcsvm_lit.twin_ksvc.kernel_planes import plane_certificate as plane_certificate
from mcsvm_lit.twin_ksvc.path_in_epsilon import EpsilonPath as EpsilonPath
from mcsvm_lit.twin_ksvc.path_in_epsilon import epsilon_path as epsilon_path
from mcsvm_lit.twin_ksvc.path_in_lambda import TwinPath as TwinPath
from mcsvm_lit.twin_ksvc.path_in_lambda import twin_path as twin_path
from mcsvm_lit.twin_ksvc.problem import TwinPlane as TwinPlane
from mcsvm_lit.twin_ksvc.problem import twin_certificate as twin_certificate
from mcsvm_lit.twin_ksvc.selection import TwinKSVCCV as TwinKSVCCV
from mcsvm_lit.twin_ksvc.surface import TwinSurface as TwinSurface
from mcsvm_lit.twin_ksvc.surface import twin_surface as twin_surface

__all__ = [
    "twin_path",
    "TwinPath",
    "twin_surface",
    "TwinSurface",
    "epsilon_path",
    "EpsilonPath",
    "TwinKSVC",
    "TwinKSVCCV",
    "TwinPlane",
    "twin_certificate",
    "KernelPlane",
    "plane_certificate",
]
