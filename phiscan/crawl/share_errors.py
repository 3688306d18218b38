"""Errors of shares: permanent refusals, and missing responses that may be retried."""

from __future__ import annotations

from phiscan.errors import PhiscanError, origin
from phiscan.model import FailReason


class RefusedError(PhiscanError):
    """The share refuses permanently; ``reason`` as in ``FailReason``."""

    def __init__(self, reason: FailReason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason
        self.detail = detail


class UnansweredError(PhiscanError):
    """The share did not respond, or with a temporary error; another attempt may succeed.

    ``is_gone``: it could not be reached at all, so that other files cannot be read now either. ``pause_s``:
    seconds for which the server wants no request.
    """

    reason = FailReason.IO_ERROR

    def __init__(self, detail: str, *, is_gone: bool, pause_s: float = 0.0) -> None:
        super().__init__(detail)
        self.detail = detail
        self.is_gone = is_gone
        self.pause_s = pause_s


def known_error(error: Exception) -> RefusedError | UnansweredError:
    """Return an error of a share; of a damaged answer, a refusal; another one of phiscan's is raised."""
    if isinstance(error, RefusedError | UnansweredError):
        return error
    if isinstance(error, PhiscanError):
        raise error
    return RefusedError(FailReason.IO_ERROR, origin(error))
