"""Post a scan's counts to a webhook: signed JSON over TLS, with retries."""

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
_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Webhook:
    """The receiver, and the secret of the signature."""

    url: str
    secret: bytes = field(repr=False)
    ca_file: str | None = None  # instead of the system's certificate authorities


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
    body = json.dumps(counts, allow_nan=False).encode()
    delivery = str(uuid.uuid4())
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler(),
        urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=webhook.ca_file)),
        _NoRedirect(),
    )
    for n_tried in range(1, N_TRIES + 1):
        timestamp = str(int(clock()))
        request = urllib.request.Request(  # noqa: S310 (``is_protected`` allows https, and http on this machine)
            webhook.url,
            data=body,
            method="POST",
            headers={
                "Content-Type": "application/json",
                "User-Agent": "phiscan",
                "X-Phiscan-Delivery": delivery,
                "X-Phiscan-Timestamp": timestamp,
                "X-Phiscan-Signature": sign(webhook.secret, timestamp, body),
            },
        )
        try:
            with opener.open(request, timeout=TIMEOUT_S):
                return
        except urllib.error.HTTPError as error:
            error.close()
            if n_tried == N_TRIES or (error.code < _SERVER_ERROR and error.code != _TOO_MANY):
                raise
        except ssl.SSLCertVerificationError:
            raise  # not the expected receiver: retrying is useless
        except OSError as error:
            if n_tried == N_TRIES or isinstance(getattr(error, "reason", None), ssl.SSLError):
                raise
        sleep(PAUSE_S * 2 ** (n_tried - 1))
