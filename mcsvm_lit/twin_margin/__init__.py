"""Twin parametric-margin classifiers: one plane per class, exact paths, robust margins."""

from mcsvm_lit import offer

__all__, __getattr__, __dir__ = offer(__name__)
