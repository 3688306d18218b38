"""The pace of a scan, on a clock of the test's own."""

from pathlib import Path

import pytest

from phiscan.cli.scan.command import load_settings_of
from phiscan.config import Config, load_config
from phiscan.errors import ConfigError
from phiscan.model import SourceFile
from phiscan.pipeline.rate_limit import RateLimit, paced


class _Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def _sources(n_files: int, size: int = 0) -> list[SourceFile]:
    return [SourceFile(b"/share", b"%d" % number, size, 1, 1, number, 1) for number in range(n_files)]


@pytest.mark.parametrize(
    ("pace", "size", "seconds"),
    [
        (RateLimit(files_per_s=10), 0, 9.9),
        (RateLimit(bytes_per_s=1000), 500, 49.5),
        (RateLimit(files_per_s=10, bytes_per_s=1e9), 500, 9.9),
        (RateLimit(), 500, 0.0),
    ],
)
def test_hundred_files_take_their_time(pace: RateLimit, size: int, seconds: float) -> None:
    clock = _Clock()
    sources = _sources(100, size)
    assert list(paced(sources, pace, clock=clock, sleep=clock.sleep)) == sources
    assert clock.now - 100.0 == pytest.approx(seconds)


def test_pause_is_not_followed_by_a_burst() -> None:
    clock = _Clock()
    taken = paced(_sources(100), RateLimit(files_per_s=10), clock=clock, sleep=clock.sleep)
    next(taken)
    clock.now += 3600  # the workers were busy
    before = clock.now
    for _ in range(50):
        next(taken)
    assert clock.now - before == pytest.approx(3.9)  # 49 files, less the second that may be made up for


def test_command_wins_over_configuration(tmp_path: Path) -> None:
    path = tmp_path / "phiscan.toml"
    path.write_text('[pace]\nmax_files_per_s = 5\nmax_mb_per_s = 2\nnice = 3\nionice = "idle"\n')
    config = load_config(path, environ={})
    assert load_settings_of(config).pace == RateLimit(5, 2e6)
    load = load_settings_of(config, max_files_per_s=50, nice=0, ionice="best-effort")
    assert (load.pace.files_per_s, load.nice, load.ionice) == (50, 0, "best-effort")
    assert load_settings_of(Config()).pace == RateLimit()


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("nice = 40", "pace.nice"),
        ("ionice = 'fast'", "pace.ionice"),
        ("max_mb_per_s = -1", "pace.max_mb_per_s"),
    ],
)
def test_refuses_a_pace_that_is_none(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "phiscan.toml"
    path.write_text(f"[pace]\n{line}\n")
    with pytest.raises(ConfigError, match=complaint):
        load_settings_of(load_config(path, environ={}))
