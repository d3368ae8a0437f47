"""What outgrows the memory of one computer, or one computer."""

from mcsvm_lit import offer

__all__, __getattr__, __dir__ = offer(__name__)
