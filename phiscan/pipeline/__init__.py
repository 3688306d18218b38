"""The order of the stages, the fault boundary around each file, and the scan of a whole share."""

from phiscan.pipeline.engine import Engine, build_engine, examine, process
from phiscan.pipeline.ledger import Progress
from phiscan.pipeline.plan import ScanOptions
from phiscan.pipeline.scan import ScanRun, count_share, scan

__all__ = [
    "Engine",
    "Progress",
    "ScanOptions",
    "ScanRun",
    "build_engine",
    "count_share",
    "examine",
    "process",
    "scan",
]
