"""The order of the stages, the fault boundary around each file, and the scan of a whole share."""

from phiscan.pipeline.engine import Engine, Processed, build_engine, examine, process
from phiscan.pipeline.ledger import Progress
from phiscan.pipeline.pace import Pace
from phiscan.pipeline.plan import ScanOptions
from phiscan.pipeline.scan import ScanRun, count_share, scan
from phiscan.pipeline.versions import learned_version, versions, versions_key
from phiscan.pipeline.workers import Workers, local_workers

__all__ = [
    "Engine",
    "Pace",
    "Processed",
    "Progress",
    "ScanOptions",
    "ScanRun",
    "Workers",
    "build_engine",
    "count_share",
    "examine",
    "learned_version",
    "local_workers",
    "process",
    "scan",
    "versions",
    "versions_key",
]
