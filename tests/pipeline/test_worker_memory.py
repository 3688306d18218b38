"""A worker gives back the memory of a large document, and keeps no more than its models and automata."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from phiscan.config import Config, Limits
from phiscan.crawl import load_ignore
from phiscan.pipeline.scan import scan
from phiscan.review.store import Store
from phiscan.store.identity import create_key
from tests.large.made_files import write_xlsx

KEPT_MB = 40  # the automata grow by 12; where nothing is given back, 60 stay
_MEASURE = """
import sys
from pathlib import Path
from phiscan.config import Config
from phiscan.model import SourceFile
from phiscan.pipeline.engine import build_engine
from phiscan.pipeline.workers import worker

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS"))

def read(name):
    path = Path(name)
    return worker.work(SourceFile.of(bytes(path.parent), path.name.encode(), path.lstat()))

worker._Worker.engine = build_engine(Config(), b"k" * 32)
small, large = sys.argv[1:]
read(small)
before = resident()
result = read(large)
print(result.outcome, result.n_chars, resident() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of a process in /proc")
def test_a_worker_gives_back_the_memory_of_a_large_document(tmp_path: Path) -> None:
    small, large = tmp_path / "small.xlsx", tmp_path / "large.xlsx"
    write_xlsx(small, 400)
    write_xlsx(large, 100_000)
    command = [sys.executable, "-c", _MEASURE, str(small), str(large)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    outcome, n_chars, grown_mb = done.stdout.split()
    assert outcome == "screened"
    assert int(n_chars) > 4_000_000
    assert int(grown_mb) < KEPT_MB


@pytest.mark.slow
def test_file_that_needs_too_much_memory_fails_with_the_limit_and_the_others_are_read(tmp_path: Path) -> None:
    share, home = tmp_path / "share", tmp_path / "home"
    share.mkdir()
    for number in range(8):
        (share / f"{number}.txt").write_text(f"Minutes of the parking committee, number {number}.\n")
    Image.new("L", (13_000, 13_000), 255).save(share / "large.png")  # 169 MB of pixels
    config = Config(home=home, workers=1, limits=Limits(memory_bytes=160 * 1024**2))
    create_key(config.key_file)
    with Store.open(config.database_url, create=True) as store:
        scan(config, [bytes(share)], store, ignore=load_ignore(config, []))
    with sqlite3.connect(home / "phiscan.db") as connection:
        query = "SELECT file.display, outcome, detail FROM examination JOIN file ON file.id = file_id"
        found = {name: (outcome, detail) for name, outcome, detail in connection.execute(query)}
    assert found.pop("large.png") == ("failed", "needs more memory than 160 MB")
    assert {outcome for outcome, _ in found.values()} == {"screened"}
    assert len(found) == 8
