"""``phiscan schedule`` with what an operator may get wrong: one clear line, and phiscan.toml as it was."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.program import refused, run

NIGHTLY = ("schedule", "add", "nightly", "share", "--cron", "0 1 * * *")


@pytest.fixture
def toml(home: Path, tmp_path: Path) -> Path:
    path = tmp_path / "phiscan.toml"
    path.write_text(f"home = '{home}'\n")
    return path


@contextmanager
def full_disk() -> Iterator[None]:
    """Let this process write no byte to any file, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--nope", "--options: No such option"),
        ("--max-files-per-s -3", "--options: Invalid value for '--max-files-per-s'"),
        ("--nice many", "--options: Invalid value for '--nice'"),
        ("'unclosed", "--options: no closing quotation"),
    ],
)
def test_options_are_tried_when_a_scan_is_named_and_not_at_night(
    toml: Path, options: str, complaint: str
) -> None:
    before = toml.read_text()
    assert complaint in refused(*NIGHTLY, "--options", options)
    assert toml.read_text() == before


@pytest.mark.usefixtures("toml")
def test_a_unit_is_made_for_a_user_and_the_home_in_use(home: Path) -> None:
    run(*NIGHTLY)
    for user in ("bad user", "phiscan\nExecStart=/bin/sh", "%u", "-x"):
        said = refused("schedule", "systemd", "nightly", "--user", user)
        assert "user: expected a user's name or number" in said
    made = run("schedule", "systemd", "nightly", "--user", "svc-phiscan$")
    assert "User=svc-phiscan$\n" in made
    assert f'Environment="PHISCAN_HOME={home}"\nUMask' in made
    assert f"ReadWritePaths={home}\n" in made


def test_a_full_disk_is_named_and_leaves_nothing(toml: Path, tmp_path: Path) -> None:
    before = toml.read_text()
    with full_disk():
        assert "phiscan.toml: cannot be written: " in run(*NIGHTLY, status=2)
    assert toml.read_text() == before
    run(*NIGHTLY)
    (tmp_path / "units").mkdir()
    with full_disk():
        said = run("schedule", "systemd", "nightly", "--out", "units", status=2)
        assert "units/phiscan-nightly.timer: cannot be written: " in said
    assert "cannot be written: No such file" in run(
        "schedule", "systemd", "nightly", "--out", "nowhere", status=2
    )
    for path in (tmp_path / "home/schedule").iterdir():
        path.unlink()
    with full_disk():
        said = run("schedule", "list", status=2)
        assert "nightly.json: the state of the schedule cannot be written: " in said
    assert not list((tmp_path / "home/schedule").iterdir())
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.usefixtures("toml")
@pytest.mark.parametrize("speed", ["nan", "inf"])
def test_a_pace_is_a_number(tmp_path: Path, speed: str) -> None:
    (tmp_path / "share").mkdir()
    assert f"--max-mb-per-s: expected a number above 0, got {speed}" in run(
        "scan", "share", "--max-mb-per-s", speed, status=2
    )
