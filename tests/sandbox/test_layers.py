"""Each layer that cannot be had is named, and the others are on all the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from phiscan.cli.scan import command
from phiscan.config import Limits
from phiscan.errors import ConfigError
from phiscan.sandbox import fork_server, isolation
from phiscan.sandbox.isolation import LOST, Layer, library_paths, missing, probe, read_missing, write_missing
from phiscan.sandbox.pool import Sandbox

# Run in a process of its own: a layer is broken, then the process is isolated.
BROKEN = """
import errno, sys
from phiscan.sandbox import isolation
from phiscan.sandbox.layers import privileges
from phiscan.sandbox.layers import seccomp
from phiscan.sandbox.layers import namespaces
from phiscan.sandbox.layers import landlock
def refuse(*arguments, **options):
    raise OSError(errno.ENOSYS, "Function not implemented")
{broken}
isolation.show(sys.argv[1])
"""


def layers_without(folder: Path, broken: str) -> dict[str, bool]:
    done = subprocess.run(
        [sys.executable, "-c", BROKEN.format(broken=broken), str(folder)], capture_output=True, check=True
    )
    return {name: is_on for name, is_on, _ in json.loads(done.stdout)}


@pytest.mark.parametrize(
    ("broken", "lost"),
    [
        ("landlock.restrict = refuse", {"landlock"}),
        ("seccomp.install = refuse", {"seccomp"}),
        ("namespaces.enter = lambda: ()", {"namespaces", "read_only", "root_folder"}),
        ("namespaces.make_mounts_read_only = refuse", {"read_only", "root_folder"}),
        ("namespaces.enclose = refuse", {"root_folder"}),
        ("privileges.drop_capabilities = refuse", {"capabilities"}),
    ],
)
def test_a_missing_layer_is_named_and_the_others_are_on(tmp_path: Path, broken: str, lost: set[str]) -> None:
    found = layers_without(tmp_path, broken)
    assert set(found) == set(LOST)
    assert {name for name, is_on in found.items() if not is_on} - {"user"} == lost


def test_every_missing_layer_says_what_is_lost() -> None:
    lines = missing([Layer(name, is_on=False, detail="why") for name in LOST])
    assert [line.partition(":")[0] for line in lines] == list(LOST)
    assert all("why" in line for line in lines)


def test_the_probe_finds_what_this_kernel_has() -> None:
    found = {layer.name: layer for layer in probe()}
    assert set(found) == set(LOST)
    assert found["no_new_privs"].is_on


def test_a_checkout_with_its_key_is_not_among_what_workers_may_read() -> None:
    checkout = Path(isolation.__file__).parents[2]
    assert str(checkout) not in library_paths()
    assert str(checkout / "phiscan") in library_paths()


def test_what_a_scan_lacked_is_remembered_by_its_number(tmp_path: Path) -> None:
    assert read_missing(tmp_path, 1) is None
    write_missing(tmp_path, 1, ["landlock: why; what"])
    write_missing(tmp_path, 2, [])
    write_missing(tmp_path, 3, None)
    assert (read_missing(tmp_path, 1), read_missing(tmp_path, 2)) == (("landlock: why; what",), ())
    assert read_missing(tmp_path, 3) is None
    (tmp_path / "isolation.json").write_text("[broken")
    assert read_missing(tmp_path, 1) is None


def _root_with(monkeypatch: pytest.MonkeyPatch, **layers: bool) -> None:
    found = [Layer(name, is_on=is_on, detail="why") for name, is_on in layers.items()]
    monkeypatch.setattr(command, "probe", lambda: found)
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def test_root_is_refused_where_nothing_keeps_workers_in(monkeypatch: pytest.MonkeyPatch) -> None:
    _root_with(monkeypatch, landlock=False, user=False)
    with pytest.raises(ConfigError, match="--allow-root"):
        command.check_root(allowed=False)
    command.check_root(allowed=True)


@pytest.mark.parametrize(("landlock", "user"), [(True, False), (False, True), (True, True)])
def test_root_is_warned_in_one_line_otherwise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], landlock: bool, user: bool
) -> None:
    _root_with(monkeypatch, landlock=landlock, user=user)
    command.check_root(allowed=False)
    assert capsys.readouterr().err.count("\n") == 1
    command.check_root(allowed=True)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    command.check_root(allowed=False)
    assert capsys.readouterr().err == ""


def echo(item: int) -> int:
    return item


def test_the_workers_are_limited_together_where_a_cgroup_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    own = tmp_path / next((line[4:] for line in lines if line.startswith("0::/")), "")
    own.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(fork_server, "CGROUPS", tmp_path)
    with Sandbox(2, Limits(memory_bytes=2**30)) as sandbox:
        assert [answer for _, answer in sandbox.run(echo, [1])] == [1]
        assert fork_server.limit_memory(1) is None  # no controller there
        (own / "cgroup.subtree_control").write_text("cpu memory\n")
        group = fork_server.limit_memory(7)
        assert group is not None
        assert (group / "memory.max").read_text() == "7"
        assert (group / "cgroup.procs").read_text() == str(fork_server.running())
