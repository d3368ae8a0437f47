"""Class probabilities from classifiers that only give labels."""

from mcsvm_lit import offer

__all__, __getattr__, __dir__ = offer(__name__)
