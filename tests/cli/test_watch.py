"""``phiscan watch`` as a process: it answers on its socket until it is stopped, and says what it refuses."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from phiscan.crawl.journal import JournalReader, socket_path
from tests.cli.program import refused


def test_answers_until_it_is_stopped(tmp_path: Path) -> None:
    home, share = tmp_path / "home", tmp_path / "share"
    home.mkdir()
    (share / "a").mkdir(parents=True)
    (tmp_path / "phiscan.toml").write_text(f'home = "{home}"\n')
    command = [sys.executable, "-m", "phiscan", "watch", str(share)]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "watching 2 folders\n"
        assert socket_path(home).stat().st_mode & 0o777 == 0o600
        for n_known in (0, 2):
            journal = JournalReader(home, bytes(share), b"seed")
            for folder in (b"", b"a"):
                assert (journal.subfolders(folder) is not None) == bool(n_known)
                journal.unchanged(folder)
            journal.finish()
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
        assert process.stderr.read() == ""
    assert not socket_path(home).exists()


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("root", "message"), [("sftp://files/a", "expected a local folder"), (".", "expected a home folder")]
)
def test_says_in_one_line_what_it_cannot_watch(root: str, message: str) -> None:
    assert message in refused("watch", root)
