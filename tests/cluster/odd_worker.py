"""A worker that something is wrong with, as PHISCAN_TEST_FAULT says; the rest is the program itself.

Dask starts its worker processes by running this file again, so that the fault is in each of them.
"""

import os
from dataclasses import replace

from phiscan.cli import main
from phiscan.cluster import reading
from phiscan.model import SourceFile

FAULT = os.environ.get("PHISCAN_TEST_FAULT", "")
_as_seen_here = reading._as_seen_here
_versions = reading.versions


def _die_of_poison(source: SourceFile, there: dict[bytes, int], here: dict[bytes, int]) -> SourceFile:
    if b"file0123" in source.path:
        os._exit(9)  # the whole Dask worker, not only its sandbox: as if its machine went down
    return _as_seen_here(source, there, here)


def _on_another_machine(source: SourceFile, there: dict[bytes, int], here: dict[bytes, int]) -> SourceFile:
    """Act as if the scan's machine had crawled the share under another device number."""
    crawled = replace(source, device=source.device + 1000)
    return _as_seen_here(crawled, {root: n + 1000 for root, n in there.items()}, here)


if FAULT == "poison":
    reading._as_seen_here = _die_of_poison
elif FAULT == "other_machine":
    reading._as_seen_here = _on_another_machine
elif FAULT == "blind":
    reading._sees = lambda _root: False
elif FAULT == "other_rules":
    reading.versions = lambda config: {**_versions(config), "rules": "0000", "phiscan": "0.0.9"}

if __name__ == "__main__":
    main()
