"""HTTP to a receiver: JSON over TLS, signed or with a token; and trying again what may succeed later."""

from __future__ import annotations

import hmac
import json
import ssl
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from phiscan.monitoring.mail import LOOPBACK

TIMEOUT_S = 20
N_TRIES = 4
PAUSE_S = 2.0  # doubled after each attempt
_SERVER_ERROR = 500  # status from which a delivery is retried
_TRIED_AGAIN = {408, 429}  # time-out of the request, too many requests


@dataclass(frozen=True, slots=True)
class Webhook:
    """The receiver, and the secret of the signature or the token."""

    url: str
    secret: bytes = field(default=b"", repr=False)  # of the signature; empty = not signed
    ca_file: str | None = None  # instead of the system's certificate authorities
    authorization: str = field(default="", repr=False)  # header field; "" = none
    timeout_s: float = TIMEOUT_S


def is_protected(url: str) -> bool:
    """Return whether a URL is an https address, or one of this machine, without a user in it."""
    try:
        parts = urlsplit(url)
        is_named = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:  # brackets that do not close, a port that is none
        return False
    return is_named and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: the signed data is for this receiver."""

    def redirect_request(self, *_arguments: Any) -> None:
        """Follow nothing."""


def sign(secret: bytes, timestamp: str, body: bytes) -> str:
    """Return the signature of a delivery: HMAC-SHA256 over timestamp, a dot, and the body."""
    return "sha256=" + hmac.digest(secret, timestamp.encode() + b"." + body, "sha256").hex()


def post(
    webhook: Webhook,
    counts: Mapping[str, Any],
    *,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Deliver the counts with one delivery number for all attempts, so that a receiver can drop duplicates.

    Raises:
        OSError: the receiver cannot be reached or trusted, or refuses (urllib.error.HTTPError).
    """
    body, delivery = json.dumps(counts, allow_nan=False).encode(), str(uuid.uuid4())
    retried(lambda: post_once(webhook, body, delivery, clock=clock), sleep=sleep)


def post_once(
    webhook: Webhook, body: bytes, delivery: str, *, clock: Callable[[], float] = time.time
) -> None:
    """Deliver a body in one attempt; see ``post``."""
    timestamp = str(int(clock()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "phiscan",
        "X-Phiscan-Delivery": delivery,
        "X-Phiscan-Timestamp": timestamp,
    }
    if webhook.secret:
        headers["X-Phiscan-Signature"] = sign(webhook.secret, timestamp, body)
    if webhook.authorization:
        headers["Authorization"] = webhook.authorization
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler(),
        urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=webhook.ca_file)),
        _NoRedirect(),
    )
    # ``is_protected`` allows https, and http on this machine
    request = urllib.request.Request(webhook.url, data=body, method="POST", headers=headers)  # noqa: S310
    try:
        with opener.open(request, timeout=webhook.timeout_s):
            return
    except urllib.error.HTTPError as error:
        error.close()
        raise


def retried(
    send: Callable[[], None],
    *,
    n_tries: int = N_TRIES,
    pause_s: float = PAUSE_S,
    sleep: Callable[[float], None] = time.sleep,
    goes_on: Callable[[], bool] = lambda: True,
) -> None:
    """Call what sends until it succeeds, fails for good, has been called so often, or may not go on.

    Raises:
        OSError: the last failure.
    """
    for n_tried in range(1, n_tries + 1):
        try:
            return send()
        except OSError as error:
            if n_tried == n_tries or is_permanent(error) or not goes_on():
                raise
        sleep(pause_s * 2 ** (n_tried - 1))
    return None


def is_permanent(error: OSError) -> bool:
    """Return whether another attempt would fail, too: the receiver refuses, or is not the expected one."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code < _SERVER_ERROR and error.code not in _TRIED_AGAIN
    reason = getattr(error, "reason", None)
    return isinstance(error, ssl.SSLCertVerificationError) or isinstance(reason, ssl.SSLError)
