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
from tests.security.attacks import ATTACKS, TOLD
from tests.security.isolated_worker import CONTROLS

CHECKOUT = Path(__file__).parents[2]
UNPRIVILEGED_UID = 65534


# What an attack gets where a layer is missing, as the table of claims says; every other one fails there, too.
GOT: dict[str, set[str]] = {
    "as_started": set(),
    "nobody": set(),
    "without_landlock": set(),
    "without_namespaces": {"look_at_the_key", "hold_memory_in_files"},
}


@pytest.fixture(params=list(GOT), scope="module")
def found(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """What came of every attack, for a scan by this user (root, in CI), by nobody, and with fewer layers."""
    as_nobody = request.param == "nobody"
    fewer = [f"tests.security.{request.param}"] if request.param.startswith("without") else []
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
            [python, "-m", "tests.security.isolated_worker", str(folder), *fewer],
            capture_output=True,
            cwd=CHECKOUT,
            env=os.environ | environment,
            check=False,
            timeout=240,
            preexec_fn=partial(become_unprivileged, str(folder / "python")) if as_nobody else None,
        )
        assert done.returncode == 0, done.stderr.decode()
        answer: dict[str, Any] = json.loads(done.stdout)
        yield answer | {"case": request.param}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        for left in Path("/var/tmp").glob("attack-*"):  # noqa: S108 (as in attacks)
            left.unlink()


def become_unprivileged(python: str) -> None:
    """Become nobody for good, with this Python where nobody can read it: it may lie in root's home."""
    kernel.unshare(kernel.CLONE_NEWNS)
    namespaces._mount(b"none", b"/", None, namespaces._MS_REC | namespaces._MS_PRIVATE, None)
    whole = namespaces._MS_BIND | namespaces._MS_REC
    namespaces._mount(os.fsencode(sys.base_prefix), os.fsencode(python), None, whole, None)
    os.setgroups([])
    os.setresgid(UNPRIVILEGED_UID, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
    os.setresuid(UNPRIVILEGED_UID, UNPRIVILEGED_UID, UNPRIVILEGED_UID)


def has_readable_python() -> bool:
    """Tell whether everybody may read this Python: every folder on the way is open to others."""
    place = Path(sys.base_prefix)
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in (place, *place.parents))


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_in_a_worker_fails(found: dict[str, Any], name: str) -> None:
    came = found["worker"][name]
    refused = {"PermissionError", "OperationalError", "BlockingIOError", "OSError", "ValueError"}
    if name in GOT[found["case"]]:
        assert came == "done"
    else:
        assert came in refused | {"FileNotFoundError"} or came.startswith("system call")


def test_a_call_that_no_reader_makes_ends_the_worker_and_is_named(found: dict[str, Any]) -> None:
    assert found["worker"]["trace_parent"] == "system call 101 that readers do not make"


def test_no_text_of_a_worker_gets_into_what_is_recorded(found: dict[str, Any]) -> None:
    assert set(found["told"]) == set(TOLD)
    assert {name: said for name, said in found["told"].items() if "Okafor" in said} == {}


def test_a_worker_has_the_descriptors_of_the_allow_list_and_no_others(found: dict[str, Any]) -> None:
    """A counter of bytes; /dev/null thrice; sockets for tasks, answers, refusals, files, hashes, programs."""
    assert sorted(found["descriptors"]) == ["file", *["null"] * 3, *["socket"] * 6]


@pytest.mark.parametrize("name", CONTROLS)
def test_the_same_attack_succeeds_outside_a_worker(found: dict[str, Any], name: str) -> None:
    assert found["aside"][name] == "done"


def test_a_worker_that_lost_its_connection_makes_room_for_another(found: dict[str, Any]) -> None:
    assert found["after_a_loss"] == "done"


def test_the_key_is_not_in_the_memory_of_a_worker(found: dict[str, Any]) -> None:
    assert found["holds_key"] in {False, None}
    if os.geteuid() == 0 and found["was_searched"] is not None:
        assert found["was_searched"]


def test_all_layers_are_on(found: dict[str, Any]) -> None:
    if found["case"].startswith("without"):
        taken = {
            "without_landlock": {"landlock"},
            "without_namespaces": {"namespaces", "read_only", "root_folder"},
        }
        assert {line.partition(":")[0] for line in found["missing"]} - {"user"} == taken[found["case"]]
        return
    lost = [line for line in found["missing"] if has_readable_python() or not line.startswith("user: ")]
    assert lost == []
