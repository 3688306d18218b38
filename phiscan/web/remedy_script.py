"""A script for the administrator of a share that restricts or moves confirmed files; phiscan never runs it.

Without ``--apply`` (``-Apply``) it only says what it would do. Before each action it compares the SHA-256 of
the file with that of the content that was confirmed. Each file is one line, whatever its name: bytes that are
no printable character are escapes, and the script prints numbers, never names.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from blake3 import blake3

from phiscan.crawl import is_url

MAX_BYTES = 4 * 1024**3  # read for one script
_CHUNK = 1 << 20
_SH_PLAIN = frozenset(range(0x20, 0x7F)) - {ord("'")}
_SH_NAME = _SH_PLAIN.union(b"'")
_QUOTES = frozenset("\u2018\u2019\u201a\u201b")  # PowerShell reads each of them as an apostrophe
Kind = Literal["sh", "ps1"]
Action = Literal["restrict", "move"]


@dataclass(frozen=True, slots=True)
class Target:
    """A file of the script: its number, raw path, content as it was confirmed (BLAKE3), SHA-256."""

    number: int
    path: bytes
    content_hash: str
    sha256: str = ""


def hashed(targets: Iterable[tuple[Target, bytes]]) -> Iterator[tuple[Target, str]]:
    """Yield files with their SHA-256, or why one is left out; ``targets``: each with its share."""
    left = MAX_BYTES
    for one, share in targets:
        if is_url(share):
            yield one, "on a share that is not mounted here"
            continue
        try:
            descriptor = os.open(one.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except (OSError, ValueError):
            yield one, "cannot be read here"
            continue
        with os.fdopen(descriptor, "rb") as stream:
            info = os.fstat(descriptor)
            left -= info.st_size
            if not stat.S_ISREG(info.st_mode) or left < 0:
                yield one, "too much to read for one script" if left < 0 else "no file any more"
                continue
            known, sent = blake3(), hashlib.sha256()
            while chunk := stream.read(_CHUNK):
                known.update(chunk)
                sent.update(chunk)
        if known.hexdigest() != one.content_hash:
            yield one, "changed since it was confirmed"
        else:
            yield Target(one.number, one.path, one.content_hash, sent.hexdigest()), ""


def quoted_sh(name: bytes) -> str:
    r"""Return a file name as one word of a POSIX shell, on one line.

    >>> print(quoted_sh(b"a'$(b)`"), quoted_sh(b"-x"), quoted_sh(b"100%" + bytes([10])))
    'a'\''$(b)`' '-x' "$(printf %b '100%\0012.')"
    """
    if _SH_NAME.issuperset(name):
        return "'" + name.decode("ascii").replace("'", "'\\''") + "'"
    plain = _SH_PLAIN - set(b"\\")
    # The full stop keeps line feeds at the end; the script removes it.
    escaped = "".join(chr(byte) if byte in plain else f"\\0{byte:03o}" for byte in name)
    return f"\"$(printf %b '{escaped}.')\""


def quoted_ps(name: str) -> str:
    """Return a text as an expression of PowerShell, on one line.

    >>> print(quoted_ps("a'b$c"), quoted_ps("x" + chr(10)), quoted_ps(chr(0x2019)))
    'a''b$c' (-join [char[]](120,10)) (-join [char[]](8217))
    """
    if name.isprintable() and not _QUOTES & set(name):
        return "'" + name.replace("'", "''") + "'"
    units = name.encode("utf-16-le", "surrogatepass")
    codes = (str(units[at] + 256 * units[at + 1]) for at in range(0, len(units), 2))
    return f"(-join [char[]]({','.join(codes)}))"


def script(
    kind: Kind, action: Action, files: Iterable[tuple[Target, str]], *, to: str = "", head: Iterable[str] = ()
) -> bytes:
    """Return the script as UTF-8: of each file an action, or a comment that says why it is left out.

    Args:
        kind: POSIX shell or PowerShell.
        action: ``restrict``: only the owner (and administrators) may open the file; or ``move`` it.
        files: the files as ``hashed`` returns them.
        to: the folder that files are moved to, each under its number and name.
        head: lines that say who made it, when and why.
    """
    is_sh, moves, lines = kind == "sh", action == "move", []
    for one, problem in files:
        name = one.path.rpartition(b"/")[2] if moves else b""
        if problem:
            lines.append(f"# {one.number}: left out: {problem}")
        elif is_sh:
            path, base = ((int(not _SH_NAME.issuperset(word)), quoted_sh(word)) for word in (one.path, name))
            lines.append(f"act {one.number} {one.sha256} {path[0]} {path[1]} {base[0]} {base[1]}")
        else:
            path_ps, base_ps = (quoted_ps(os.fsdecode(word)) for word in (one.path, name))
            lines.append(f"Act {one.number} '{one.sha256}' {path_ps} {base_ps}")
    comments = [f"# {' '.join(line.split())}" for line in head]
    if is_sh:
        folder = [f"to={quoted_sh(os.fsencode(to))}"] if moves else []
        parts = ["#!/bin/sh", *comments, f"action={action}", *folder, _SH.strip(), *lines, _SH_END, ""]
        return "\n".join(parts).encode()
    to_line = f"$To = {quoted_ps(to if moves else '')}"
    parts = [
        *comments,
        "param([switch]$Apply)",
        f"$Action = '{action}'",
        to_line,
        _PS.strip(),
        *lines,
        _PS_END,
    ]
    return codecs.BOM_UTF8 + "".join(f"{line}\r\n" for line in "\n".join(parts).split("\n")).encode()


_SH = r"""
set -u
LC_ALL=C; export LC_ALL
apply=no; [ "${1-}" = --apply ] && apply=yes
done_=0; left=0
sum() {
  if command -v sha256sum >/dev/null; then sha256sum < "$1"; else shasum -a 256 < "$1"; fi | cut -c1-64
}
skip() { left=$((left + 1)); printf '%s: left: %s\n' "$1" "$2"; }
# number, SHA-256, 1 if the path ends in a full stop to be removed, path, the same of the name
act() {
  path=$4; [ "$3" = 1 ] && path=${path%.}
  base=$6; [ "$5" = 1 ] && base=${base%.}
  if [ -L "$path" ] || [ ! -f "$path" ]; then skip "$1" 'no such file'; return; fi
  if [ "$(sum "$path")" != "$2" ]; then skip "$1" 'its content has changed'; return; fi
  if [ "$action" = move ]; then
    target=$to/$1-$base
    if [ ! -d "$to" ] || [ -e "$target" ] || [ -L "$target" ]; then
      skip "$1" 'no folder to move to, or the name is taken'; return
    fi
  fi
  if [ "$apply" = yes ]; then
    if [ "$action" = move ]; then mv -- "$path" "$target"; else chmod go-rwx -- "$path"; fi ||
      { skip "$1" failed; return; }
  fi
  done_=$((done_ + 1)); printf '%s: %s\n' "$1" "$action"
}
"""
_SH_END = r"""if [ "$apply" = yes ]; then printf 'done: %s, left: %s\n' "$done_" "$left"
else printf 'dry run: %s would be done, %s left; --apply does it\n' "$done_" "$left"; fi
[ "$left" = 0 ]"""
_PS = r"""
$ErrorActionPreference = 'Stop'
$script:Done = 0; $script:Left = 0
function Skip($Number, $Why) { $script:Left++; Write-Output "${Number}: left: $Why" }
function Restrict($Path) {
  $acl = Get-Acl -LiteralPath $Path
  $acl.SetAccessRuleProtection($true, $false)
  foreach ($rule in @($acl.Access)) { [void]$acl.RemoveAccessRule($rule) }
  $who = @($acl.GetOwner([Security.Principal.SecurityIdentifier]))
  foreach ($sid in 'S-1-5-18', 'S-1-5-32-544') { $who += [Security.Principal.SecurityIdentifier]$sid }
  foreach ($sid in $who) {
    $acl.AddAccessRule((New-Object Security.AccessControl.FileSystemAccessRule($sid, 'FullControl', 'Allow')))
  }
  Set-Acl -LiteralPath $Path -AclObject $acl
}
function Act($Number, $Sha256, $Path, $Name) {
  try {
    $item = Get-Item -Force -LiteralPath $Path
    if ($item.PSIsContainer -or $item.LinkType) { Skip $Number 'no such file'; return }
    if ((Get-FileHash -Algorithm SHA256 -LiteralPath $Path).Hash -ne $Sha256) {
      Skip $Number 'its content has changed'; return
    }
    if ($Action -eq 'move') {
      $target = [IO.Path]::Combine($To, "$Number-" + $Name)
      if (-not (Test-Path -LiteralPath $To -PathType Container) -or (Test-Path -LiteralPath $target)) {
        Skip $Number 'no folder to move to, or the name is taken'; return
      }
    }
    if ($Apply) { if ($Action -eq 'move') { [IO.File]::Move($Path, $target) } else { Restrict $Path } }
    $script:Done++; Write-Output "${Number}: $Action"
  } catch { Skip $Number $_.Exception.GetType().Name }
}
"""
_PS_END = """if ($Apply) { Write-Output "done: $($script:Done), left: $($script:Left)" }
else { Write-Output "dry run: $($script:Done) would be done, $($script:Left) left; -Apply does it" }"""
