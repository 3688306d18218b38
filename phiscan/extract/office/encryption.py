"""Encrypted office documents, opened with the operator's passwords through msoffcrypto-tool."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink, mishap
from phiscan.model import FailReason

# Excel and PowerPoint encrypt a document that is only locked against changes with these, for everybody.
_KNOWN_TO_ALL = ("VelvetSweatshop", "/01Hannes Ruescher/01")


class EncryptedPackageExtractor:
    """Read an encrypted DOCX, XLSX or PPTX when one of the passwords fits."""

    media_types = frozenset({"application/x-encrypted-ooxml"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read the document within.

        Raises:
            ExtractError: encrypted, and no password fits; corrupt.
        """
        sink.read_member(replace(content, data=decrypted(content.data, sink.passwords)))


def decrypted(data: bytes, passwords: Sequence[str]) -> bytes:
    """Return the document without its encryption.

    Raises:
        ExtractError: encrypted, and no password fits; corrupt.
    """
    import msoffcrypto  # noqa: PLC0415 (heavy)
    from msoffcrypto import exceptions  # noqa: PLC0415 (heavy)

    for password in (*_KNOWN_TO_ALL, *passwords):
        try:
            document = msoffcrypto.OfficeFile(io.BytesIO(data))
            document.load_key(password=password)
            out = io.BytesIO()
            document.decrypt(out)
        except (exceptions.InvalidKeyError, exceptions.DecryptionError):
            continue
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 (it fails on damage in many ways)
            raise ExtractError(FailReason.ENCRYPTED, f"encrypted office document: {mishap(error)}") from None
        return out.getvalue()
    raise ExtractError(FailReason.ENCRYPTED, "encrypted office document")
