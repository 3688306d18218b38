"""phiscan: find personal health information on file shares, and estimate how much was missed."""

__version__ = "0.1.0"
