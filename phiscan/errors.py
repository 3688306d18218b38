"""All exception classes of phiscan.

Their messages never contain document text, because they are logged: they name the file, the line or field,
and what was expected.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Final
from zipfile import BadZipFile

# Exceptions of numpy for damaged files of arrays.
DAMAGED_ARRAYS: Final = (
    OSError, ValueError, TypeError, KeyError, IndexError, EOFError, BadZipFile, zlib.error,
)  # fmt: skip


class PhiscanError(Exception):
    """The base class of every error that phiscan raises on purpose.

    >>> str(PhiscanError(Path("phiscan.toml"), "workers: expected a number from 1"))
    'phiscan.toml: workers: expected a number from 1'
    """

    def __init__(self, *parts: object) -> None:
        super().__init__(": ".join(map(str, parts)))  # where, and what was expected there


class InputError(PhiscanError):
    """A file, an argument or a number given by the user is not what was expected."""


class ConflictError(InputError):
    """The request conflicts with a change by another user in the meantime; reload, then decide."""


class ConfigError(PhiscanError):
    """The configuration (phiscan.toml, ``PHISCAN_*``) is unusable; fatal at the start."""


class RuleError(PhiscanError):
    """A pattern file is unusable; names the file and the rule id; fatal at the start."""


class DictionaryError(PhiscanError):
    """A dictionary file is unusable; names the file and the line; fatal at the start."""


class ModelError(PhiscanError):
    """A model file is missing, damaged or of another version; fatal at the start."""


class ExtractError(PhiscanError):
    """One file, or one part of it, could not be read.

    ``reason`` is a value of :class:`phiscan.model.FailReason`; ``detail`` is a short technical text
    without any of the document's content. ``members``: the locators of what a container holds.
    """

    def __init__(self, reason: str, detail: str = "", members: tuple[str, ...] = ()) -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail
        self.members = members


class ClusterError(PhiscanError):
    """The cluster is unreachable, or one of its machines must not be used; stops the run, resumable."""


class StoreError(PhiscanError):
    """The review store cannot be opened, read or written; stops the run."""


def kind_of(error: BaseException) -> str:
    """Return the name of an error's class, or of the first of its bases that is Python's or phiscan's own.

    Libraries name theirs as they like; a name of a worker's choice could be a word of a document.

    >>> kind_of(zlib.error("x")), kind_of(BadZipFile()), kind_of(UnicodeDecodeError("utf-8", b"", 0, 1, ""))
    ('Exception', 'Exception', 'UnicodeDecodeError')
    """
    ours = {"builtins", __name__}
    return next(one.__name__ for one in type(error).__mro__ if one.__module__ in ours)


def origin(error: BaseException, kind: str = "") -> str:
    """Return the type of an unexpected error, or its kind, and the innermost line of phiscan's code.

    Never its message: libraries quote their input, so their messages may contain document text.
    """
    at, trace = "", error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path.is_relative_to(Path(__file__).parent):
            at = f" at {path.name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{kind or type(error).__name__}{at}"
