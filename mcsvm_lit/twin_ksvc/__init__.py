"""Twin support vector classifiers for many classes and their exact solution paths."""

from mcsvm_lit import offer

__all__, __getattr__, __dir__ = offer(__name__)
