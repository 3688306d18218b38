"""A time stamp of RFC 3161 over a line: signed by an authority, kept as a file that `openssl ts` reads."""

from __future__ import annotations

import importlib.util
import ssl
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

TIMEOUT_S: Final = 30
MOST_BYTES: Final = 1 << 20
_GRANTED: Final = (0, 1)  # granted; granted with modifications


@dataclass(frozen=True, slots=True)
class Authority:
    """A time-stamping authority, and where its answers are kept."""

    url: str
    folder: Path
    ca_file: str = ""  # certificates that its signature leads to; "" = it is kept and not verified

    def checked(self) -> Self:
        """Return it.

        Raises:
            ValueError: begins with the field of phiscan.toml, and says what was expected there.
        """
        if importlib.util.find_spec("rfc3161_client") is None:
            message = "timestamp_url: needs pip install 'phiscan[timestamps]'"
            raise ValueError(message)
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
            message = "timestamp_url: expected an http or https address, without a user in it"
            raise ValueError(message)
        if self.ca_file and not Path(self.ca_file).is_file():
            message = f"timestamp_ca_file: {self.ca_file}: no such file"
            raise ValueError(message)
        return self

    def stamp(self, name: str, line: str) -> None:
        """Have a line stamped; keep it as NAME.json and the answer as NAME.tsr.

        Plain http is enough: the answer is signed, and only a hash is sent.

        Raises:
            OSError, ValueError: no answer, none about this line, or not signed by a known authority.
        """
        from rfc3161_client import (  # noqa: PLC0415 (optional)
            HashAlgorithm,
            TimestampRequestBuilder,
            VerificationError,
            VerifierBuilder,
            decode_timestamp_response,
        )

        data = line.encode()
        request = TimestampRequestBuilder().data(data).hash_algorithm(HashAlgorithm.SHA256).build()
        answer = self._ask(request.as_bytes())
        response = decode_timestamp_response(answer)
        if response.status not in _GRANTED:
            message = "the authority refused"
            raise ValueError(message)
        about = response.tst_info
        if about.message_imprint.message != request.message_imprint.message or about.nonce != request.nonce:
            message = "the answer is about something else"
            raise ValueError(message)
        if self.ca_file:
            from cryptography.x509 import load_pem_x509_certificates  # noqa: PLC0415

            builder = VerifierBuilder.from_request(request)
            for certificate in load_pem_x509_certificates(Path(self.ca_file).read_bytes()):
                builder = builder.add_root_certificate(certificate)
            try:
                builder.build().verify_message(response, data)
            except VerificationError:
                message = "the answer's signature does not lead to the certificates of timestamp_ca_file"
                raise ValueError(message) from None
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.folder / f"{name}.json").write_bytes(data)
        (self.folder / f"{name}.tsr").write_bytes(answer)

    def _ask(self, request: bytes) -> bytes:
        posted = urllib.request.Request(  # noqa: S310 (http and https alone, see checked)
            self.url, request, {"Content-Type": "application/timestamp-query"}
        )
        context = ssl.create_default_context()
        with urllib.request.urlopen(posted, timeout=TIMEOUT_S, context=context) as answer:  # noqa: S310 (as above)
            found: bytes = answer.read(MOST_BYTES)
        return found
