"""Get an RFC 3161 time stamp of a line from an authority, and store it as a file for `openssl ts`."""

from __future__ import annotations

import importlib.util
import ssl
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

TIMEOUT_S: Final = 30
MAX_BYTES: Final = 1 << 20
_GRANTED: Final = (0, 1)  # granted; granted with modifications


@dataclass(frozen=True, slots=True)
class Authority:
    """A time-stamping authority, and the folder of its responses."""

    url: str
    folder: Path
    ca_file: str = ""  # root certificates of its signature; "" = not verified

    def checked(self) -> Self:
        """Return it if it is valid.

        Raises:
            ValueError: names the field of phiscan.toml, and what was expected.
        """
        if importlib.util.find_spec("rfc3161_client") is None:
            raise ValueError("timestamp_url: needs pip install 'phiscan[timestamps]'")
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
            raise ValueError("timestamp_url: expected an http or https address, without a user in it")
        if self.ca_file and not Path(self.ca_file).is_file():
            raise ValueError(f"timestamp_ca_file: {self.ca_file}: no such file")
        return self

    def stamp(self, name: str, line: str) -> None:
        """Request a time stamp of a line; store the line as NAME.json and the response as NAME.tsr.

        Plain http is enough: the response is signed, and only a hash is sent.

        Raises:
            OSError, ValueError: no response, not of this line, or not signed by a known authority.
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
        encoded = self._request(request.as_bytes())
        response = decode_timestamp_response(encoded)
        if response.status not in _GRANTED:
            raise ValueError("the authority refused")
        about = response.tst_info
        if about.message_imprint.message != request.message_imprint.message or about.nonce != request.nonce:
            raise ValueError("the response is for other data")
        if self.ca_file:
            from cryptography.x509 import load_pem_x509_certificates  # noqa: PLC0415

            builder = VerifierBuilder.from_request(request)
            for certificate in load_pem_x509_certificates(Path(self.ca_file).read_bytes()):
                builder = builder.add_root_certificate(certificate)
            try:
                builder.build().verify_message(response, data)
            except VerificationError:
                message = "the response's signature does not chain to the certificates of timestamp_ca_file"
                raise ValueError(message) from None
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.folder / f"{name}.json").write_bytes(data)
        (self.folder / f"{name}.tsr").write_bytes(encoded)

    def _request(self, request: bytes) -> bytes:
        posted = urllib.request.Request(  # noqa: S310 (http and https alone, see checked)
            self.url, request, {"Content-Type": "application/timestamp-query"}
        )
        context = ssl.create_default_context()
        with urllib.request.urlopen(posted, timeout=TIMEOUT_S, context=context) as response:  # noqa: S310 (as above)
            found: bytes = response.read(MAX_BYTES)
        return found
