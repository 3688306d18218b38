"""What every worker needs whatever the configuration says, loaded once by the server that forks them.

A new worker, and one that takes the place of one that was stopped, shares this memory instead of reading the
dictionaries and compiling the rules again. Imported by that server alone, which cannot say anything: what is
wrong with an installation is said by the process that scans (``build_engine``), so it is passed over here.
"""

from __future__ import annotations

import gc
from contextlib import suppress

import datasketch  # noqa: F401 (the signatures of near-duplicates; the workers import it when they need it)

from phiscan.config import Config
from phiscan.errors import PhiscanError
from phiscan.health.term_lexicon import load_lexicon
from phiscan.pipeline import engine, process  # noqa: F401 (loaded for the workers that are forked from here)
from phiscan.pipeline.workers import worker  # noqa: F401 (the same)
from phiscan.screen import build_screener

with suppress(PhiscanError):
    load_lexicon()
    build_screener(Config())
gc.freeze()  # the collector of a worker need not look at what is shared, nor copy it by looking
