"""A copy of an encrypted PDF without encryption, in memory, so that strings of its objects can be read."""

from __future__ import annotations

import io


def plain_copy(data: bytes, password: str) -> bytes:
    """Return the file decrypted with a password that opens it; empty when pdfium cannot write it."""
    import pypdfium2  # noqa: PLC0415 (heavy)

    out = io.BytesIO()
    try:
        pdf = pypdfium2.PdfDocument(data, password=password or None)
    except pypdfium2.PdfiumError:
        return b""
    try:
        pdf.save(out, flags=pypdfium2.raw.FPDF_REMOVE_SECURITY)
    except pypdfium2.PdfiumError:
        return b""
    finally:
        pdf.close()
    return out.getvalue()
