"""Class probabilities from classifiers that only give labels."""

from .. import offer

__all__, __getattr__, __dir__ = offer(__name__)
