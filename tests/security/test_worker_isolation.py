"""What an attacker tried in a worker of the program, tried again in a real one: each attempt must fail."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from phiscan.sandbox.layers import kernel, namespaces
from tests.security.attacks import ATTACKS
from tests.security.isolated_worker import CONTROLS

CHECKOUT = Path(__file__).parents[2]
UNPRIVILEGED_UID = 65534


@pytest.fixture(params=["as_started", "nobody"], scope="module")
def found(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """What came of every attack, for a scan by this user (root, in CI) and for one by nobody."""
    as_nobody = request.param == "nobody"
    if as_nobody and os.geteuid() != 0:
        pytest.skip("only root can start a program as another user")
    folder = Path(tempfile.mkdtemp(prefix="attacked-", dir="/tmp"))
    folder.chmod(0o711)  # a worker that root starts becomes nobody, and passes through it
    python = Path(sys.executable)
    path = [str(CHECKOUT), *(entry for entry in sys.path if entry.endswith("site-packages"))]
    environment = {"PYTHONPATH": os.pathsep.join(path), "TMPDIR": str(folder)}
    if as_nobody:
        environment["LD_LIBRARY_PATH"] = str(folder / "python" / "lib")
        os.chown(folder, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
        (folder / "python").mkdir()
        python = folder / "python" / "bin" / "python3"
    try:
        done = subprocess.run(
            [python, "-m", "tests.security.isolated_worker", str(folder)],
            capture_output=True,
            cwd=CHECKOUT,
            env=os.environ | environment,
            check=False,
            timeout=240,
            preexec_fn=partial(become_unprivileged, str(folder / "python")) if as_nobody else None,
        )
        assert done.returncode == 0, done.stderr.decode()
        answer: dict[str, Any] = json.loads(done.stdout)
        yield answer
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        for left in Path("/var/tmp").glob("attack-*"):  # noqa: S108 (as in attacks)
            left.unlink()


def become_unprivileged(python: str) -> None:
    """Become nobody for good, with this Python where nobody can read it: it may lie in root's home."""
    kernel.unshare(kernel.CLONE_NEWNS)
    namespaces.bind(sys.base_prefix, python)
    os.setgroups([])
    os.setresgid(UNPRIVILEGED_UID, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
    os.setresuid(UNPRIVILEGED_UID, UNPRIVILEGED_UID, UNPRIVILEGED_UID)


def has_readable_python() -> bool:
    """Tell whether everybody may read this Python: every folder on the way is open to others."""
    place = Path(sys.base_prefix)
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in (place, *place.parents))


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_in_a_worker_fails(found: dict[str, Any], name: str) -> None:
    assert found["worker"][name] in {"PermissionError", "OperationalError", "BlockingIOError", "OSError"}


@pytest.mark.parametrize("name", CONTROLS)
def test_the_same_attack_succeeds_outside_a_worker(found: dict[str, Any], name: str) -> None:
    assert found["aside"][name] == "done"


def test_the_key_is_not_in_the_memory_of_a_worker(found: dict[str, Any]) -> None:
    assert found["holds_key"] in {False, None}
    if os.geteuid() == 0 and found["was_searched"] is not None:
        assert found["was_searched"]


def test_all_layers_are_on(found: dict[str, Any]) -> None:
    lost = [line for line in found["missing"] if has_readable_python() or not line.startswith("user: ")]
    assert lost == []
