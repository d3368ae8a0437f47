"""Crammer and Singer's multiclass support vector machine: one prototype per class, trained jointly."""

from mcsvm_lit import offer

__all__, __getattr__, __dir__ = offer(__name__)
