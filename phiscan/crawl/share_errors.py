"""What a share answers when it does not give what was asked for."""

from __future__ import annotations

from phiscan.errors import PhiscanError
from phiscan.model import FailReason


class RefusedError(PhiscanError):
    """The share says no, and would say so again; ``reason`` as in ``FailReason``."""

    def __init__(self, reason: FailReason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason
        self.detail = detail


class UnansweredError(PhiscanError):
    """The share gave no answer, or a faulty one, and may give a better one to the next try.

    ``is_gone``: it was not reached at all, so that other files cannot be read now either.
    """

    def __init__(self, detail: str, *, is_gone: bool) -> None:
        super().__init__(detail)
        self.detail = detail
        self.is_gone = is_gone
