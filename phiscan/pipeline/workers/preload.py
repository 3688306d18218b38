"""What every worker needs whatever the configuration says, loaded once by the server that forks them.

A new worker, and one that takes the place of one that was stopped, shares this memory instead of reading the
dictionaries and models and compiling the rules again. Imported by that server alone, which cannot say
anything: what is wrong with an installation is said by the process that scans (``build_engine``), so it is
passed over here.
"""

from __future__ import annotations

import gc
from contextlib import suppress

from phiscan.config import Config
from phiscan.decision.encoder import load_encoder
from phiscan.errors import PhiscanError
from phiscan.health.term_lexicon import load_lexicon
from phiscan.model import Document, Segment
from phiscan.pipeline import engine, process  # noqa: F401 (loaded for the workers that are forked from here)
from phiscan.pipeline.file_names import path_words
from phiscan.pipeline.workers import worker  # noqa: F401 (the same)
from phiscan.screen import build_screener, screen
from phiscan.screen.rules.recognizer import PatternRecognizer
from phiscan.text.languages import load_identifier

# What is in it makes each recognizer load its models and lists, which it does when it first needs them.
_TEXT = """Lakeside Community Clinic
Patient: Okafor, Amara    Date of birth: 12 March 1961    MRN: 4471902
Dear Dr. Velthuis,
Mrs. Okafor of 12 Harbour Road, Kingston, was seen on 4 May 2021 with asthma. Her son Daniel came with her.
"""


def _preload() -> None:
    load_lexicon()
    load_encoder()
    load_identifier()
    path_words()
    screener = build_screener(Config())
    for one in screener.recognizers:
        if isinstance(one, PatternRecognizer):
            one.compile()
            _ = one.strong
    screen(Document(_TEXT, (Segment("", 0, len(_TEXT)),), "text/plain"), screener)


with suppress(PhiscanError):
    _preload()
gc.freeze()  # the collector of a worker need not look at what is shared, nor copy it by looking
