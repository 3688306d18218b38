"""Imported by the server that forks workers for many tests: it has examined a file, as they will.

What the classifier, the decision and the extraction load and compile when they first need it takes a worker a
second; forked from here, it has it already.
"""

import gc

from phiscan.config import Config
from phiscan.extract import extract_bytes
from phiscan.pipeline.engine import build_engine
from phiscan.pipeline.examine import examine
from tests.pipeline.harness import LETTER, MINUTES

_ENGINE = build_engine(Config(), b"k" * 32)
for _text in (LETTER, MINUTES):
    examine(extract_bytes(_text.encode(), "letter.txt", _ENGINE.limits), _ENGINE)
gc.freeze()
