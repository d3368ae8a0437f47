"""Kernel logistic regression by its dual, for two classes and for many."""

from mcsvm_lit import offer

__all__, __getattr__, __dir__ = offer(__name__)
