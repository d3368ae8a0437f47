"""Multiclass large-margin classification, derived, implemented, certified and measured in notebooks.

The estimators are at the top: `from mcsvm_lit import CrammerSingerSVC`. They are loaded when first asked for,
so that importing the package costs next to nothing.
"""
__version__ = "0.1.0"

_HOME = {'CrammerSingerSVC': 'crammer_singer', 'KernelLogisticRegression': 'kernel_logistic',
         'TwinMarginSVC': 'twin_margin', 'TwinMarginSVCCV': 'twin_margin', 'TwinKSVC': 'twin_ksvc', 'TwinKSVCCV': 'twin_ksvc',
         'TruncatedHingeSVC': 'truncated', 'SVMProbabilityClassifier': 'probability', 'Certificate': 'certificates', 'Kernel': 'kernels'}
__all__ = list(_HOME)

def __getattr__(name):
    if name not in _HOME: raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from importlib import import_module
    return getattr(import_module(f'{__name__}.{_HOME[name]}'), name)

def __dir__(): return sorted([*globals(), *__all__])
