"""The administrator's script, run by shells on a tree of hostile names: it touches what was confirmed."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from blake3 import blake3

from phiscan.web.remedy_script import Action, Target, hashed, quoted_ps, script

NAMES = [
    *(b"plain.txt", b"-rf", b"--", b"a b  c", b" lead", b"trail ", b"$(touch pwned)", b"`touch pwned`"),
    *(b"${HOME}", b"quote'.txt", b'double".txt', b"back\\slash", b"new\nline", b"end\n", b"\n", b"tab\t"),
    *(b"semi;touch pwned;", b"# no comment", b"*", b"?[a]", b"100%s%n", b"dots...", b"end."),
    *(b"caf\xc3\xa9.txt", b"\xff\xfe", b"\x1b[31mred", b"~", b"!x"),
    *(b"\xe2\x80\xaertl.txt", b"\\0012", b"'\n$(touch pwned)'.", b"%b"),
]
SHELLS = [name for name in ("sh", "dash", "bash", "busybox") if shutil.which(name)]


def targets(folder: Path) -> list[tuple[Target, str]]:
    made = []
    for number, name in enumerate(NAMES, 1):
        path = os.fsencode(folder) + b"/" + name
        content = b"content of " + name
        Path(os.fsdecode(path)).write_bytes(content)
        Path(os.fsdecode(path)).chmod(0o644)
        made.append((Target(number, path, blake3(content).hexdigest()), b"/share"))
    return list(hashed(made))


def run(folder: Path, shell: str, content: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    place = folder / "remedy.sh"
    place.write_bytes(content)
    command = [shell, *(["sh"] if shell == "busybox" else []), str(place), *options]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)


def modes(files: list[tuple[Target, str]]) -> set[int]:
    return {os.lstat(one.path).st_mode & 0o777 for one, _why in files}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "share").mkdir()
    (tmp_path / "away").mkdir()
    return tmp_path


@pytest.mark.parametrize("shell", SHELLS)
def test_restricts_each_file_once_it_is_told_to(tree: Path, shell: str) -> None:
    files = targets(tree / "share")
    assert [why for _one, why in files] == [""] * len(NAMES)
    content = script("sh", "restrict", files, head=["two\nlines $(touch pwned)"])
    assert content.count(b"\nact ") == len(NAMES)  # each on one line
    dry = run(tree, shell, content)
    assert (dry.returncode, dry.stderr) == (0, b"")
    assert f"dry run: {len(NAMES)} would be done, 0 left".encode() in dry.stdout
    assert modes(files) == {0o644}
    done = run(tree, shell, content, "--apply")
    assert (done.returncode, done.stderr) == (0, b"")
    assert modes(files) == {0o600}
    assert not list(tree.rglob("pwned"))
    assert done.stdout.isascii()
    assert b"\x1b" not in content + done.stdout  # nothing that a terminal would obey


@pytest.mark.parametrize("shell", SHELLS)
def test_moves_what_is_still_as_it_was_confirmed(tree: Path, shell: str) -> None:
    files = targets(tree / "share")
    changed, gone, linked, other = (files[at][0] for at in range(4))
    Path(os.fsdecode(changed.path)).write_bytes(b"somebody wrote to it")
    for one in (gone, linked):
        Path(os.fsdecode(one.path)).unlink()
    Path(os.fsdecode(linked.path)).symlink_to("/etc/passwd")
    (tree / "away" / os.fsdecode(b"4-" + NAMES[3])).write_text("is there")
    done = run(tree, shell, script("sh", "move", files, to=str(tree / "away")), "--apply")
    assert done.returncode == 1
    assert done.stdout.count(b": left: ") == 4
    assert f"done: {len(NAMES) - 4}, left: 4".encode() in done.stdout
    assert os.path.lexists(other.path)
    for one, _why in files[4:]:
        assert not os.path.lexists(one.path)
        moved = os.fsencode(tree / "away") + b"/%d-" % one.number + one.path.rpartition(b"/")[2]
        assert Path(os.fsdecode(moved)).read_bytes() == b"content of " + NAMES[one.number - 1]
    assert not list(tree.rglob("pwned"))


def test_leaves_out_what_is_not_as_it_was_confirmed(tree: Path) -> None:
    share = tree / "share"
    (share / "a").write_bytes(b"now")
    (share / "link").symlink_to(share / "a")
    os.mkfifo(share / "pipe")
    known = blake3(b"then").hexdigest()
    given = [
        (Target(n, os.fsencode(share / name), known), b"/share")
        for n, name in enumerate(("a", "link", "pipe", "none"))
    ]
    given.append((Target(9, b"//server/x/a", known), b"smb://server/x"))
    found = list(hashed(given))
    assert [why for _one, why in found] == [
        "changed since it was confirmed",
        *["cannot be read here", "no file any more", "cannot be read here"],
        "on a share that is not mounted here",
    ]
    for kind in ("sh", "ps1"):
        text = script(kind, "restrict", found).decode("utf-8-sig")  # type: ignore[arg-type]
        assert text.count("left out: ") == len(given)
        assert "\nact " not in text
        assert "\nAct " not in text


@pytest.mark.parametrize("action", ["restrict", "move"])
def test_powershell_gets_literals_alone(tree: Path, action: Action) -> None:
    files = targets(tree / "share")
    text = script("ps1", action, files, to="\\\\server\\Quarant\u2019aine").decode("utf-8-sig")
    lines = [line for line in text.split("\r\n") if line.startswith("Act ")]
    assert len(lines) == len(NAMES)
    assert all(line.isprintable() and "\u2019" not in line for line in lines)
    assert "$To = (-join [char[]](" in text or action == "restrict"
    assert "-LiteralPath" in text
    assert quoted_ps("$'\u2018") == "(-join [char[]](36,39,8216))"
    # No PowerShell is here to run it: its quotes and brackets are at least closed in their order.
    code = re.sub(r"(?m)^#.*$|'(?:[^']|'')*'|\"[^\"\n]*\"", "", text)
    assert "'" not in code
    assert '"' not in code
    opened = []
    for sign in re.findall(r"[][(){}]", code):
        if sign in "[({":
            opened.append(sign)
        else:
            assert opened.pop() + sign in {"[]", "()", "{}"}
    assert not opened
