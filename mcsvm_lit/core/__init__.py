"""What the chapters share: kernels, certificates, quadratic programs, estimators, solving."""

from mcsvm_lit import offer

__all__, __getattr__, __dir__ = offer(__name__)
