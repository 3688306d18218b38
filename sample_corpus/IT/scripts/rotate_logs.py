"""Rotate the print server's logs: keep seven, compress the rest."""
import gzip
import pathlib
import shutil

KEEP = 7


def rotate(folder: pathlib.Path) -> int:
    logs = sorted(folder.glob("*.log"), key=lambda p: p.stat().st_mtime, reverse=True)
    for old in logs[KEEP:]:
        with old.open("rb") as source, gzip.open(f"{old}.gz", "wb") as target:
            shutil.copyfileobj(source, target)
        old.unlink()
    return max(0, len(logs) - KEEP)
