"""phiscan: find personal health information on file shares, and say how much was missed."""

__version__ = "0.1.0"
