"""Benchmarks multiply matrices in one thread, as a scan does."""

from phiscan.threads import use_one_thread

use_one_thread()  # before a benchmark loads numpy
