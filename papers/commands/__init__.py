"""Commands of the program that only a checkout has: ``phiscan benchmark`` and parts of ``phiscan score``."""
