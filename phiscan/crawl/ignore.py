"""The operator's ``.phiscanignore``: which paths of a share are skipped.

The file is read from the folder of phiscan.toml (or the working folder), never from the share: users who can
write to the share must not be able to hide files from the scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pathspec

from phiscan.config import Config
from phiscan.errors import ConfigError


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Lines in gitignore syntax, matched against paths relative to the scanned root."""

    spec: pathspec.GitIgnoreSpec
    source: str = ""
    refused: str = ""  # an ignore file that lies on the share and was therefore not used
    own: frozenset[bytes] = frozenset()  # phiscan's home and database, never crawled, even on the share

    def matches(self, path: bytes, absolute: bytes, *, is_folder: bool) -> bool:
        """Return whether a path (raw bytes, relative to its root) is skipped."""
        if absolute in self.own:
            return True
        if not self.spec.patterns:
            return False
        text = path.decode("utf-8", "surrogateescape")
        return bool(self.spec.match_file(text + "/" if is_folder else text))

    def ignored_folder(self, root: bytes, path: bytes) -> bytes:
        """Return the outermost skipped folder of a path of folders, relative to its root, or nothing."""
        parts = path.split(b"/") if path and self.spec.patterns else []
        outer = (b"/".join(parts[: number + 1]) for number in range(len(parts)))
        return next((one for one in outer if self.matches(one, root + b"/" + one, is_folder=True)), b"")


def _own_paths(config: Config) -> frozenset[bytes]:
    """Return the raw paths of the files and folders that phiscan itself writes."""
    places = {bytes(config.home.resolve())}
    kind, _, name = config.database_url.partition(":///")
    if kind.startswith("sqlite") and name:
        database = bytes(Path(name).resolve())
        places |= {database + ending for ending in (b"", b"-wal", b"-shm", b"-journal")}
    return frozenset(places)


def load_ignore(config: Config, roots: Sequence[bytes]) -> IgnoreRules:
    """Read the operator's ignore file, if there is one; one inside a scanned root is refused.

    Raises:
        ConfigError: the file cannot be read, or a line of it is not a pattern.
    """
    folder = Path(config.source).resolve().parent if Path(config.source).is_file() else Path.cwd()
    path = folder / config.ignore_file
    own = _own_paths(config)
    nothing = pathspec.GitIgnoreSpec.from_lines([])
    if not path.is_file():
        return IgnoreRules(nothing, own=own)
    resolved = bytes(path.resolve())
    if any(resolved.startswith(root.rstrip(b"/") + b"/") for root in roots):
        return IgnoreRules(nothing, refused=str(path), own=own)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        spec = pathspec.GitIgnoreSpec.from_lines(lines)
    except OSError as error:
        raise ConfigError(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(path, f"byte {error.start}: expected UTF-8") from None
    except (ValueError, TypeError) as error:
        raise ConfigError(path, f"expected gitignore patterns: {error}") from None
    return IgnoreRules(spec, source=str(path), own=own)
