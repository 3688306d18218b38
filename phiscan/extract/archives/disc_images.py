"""Images of optical discs (ISO 9660, Joliet, Rock Ridge, UDF) through pycdlib."""

from __future__ import annotations

from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink, mishap
from phiscan.model import FailReason

_MAX_FOLDERS = 10_000


class DiskImageExtractor:
    """Read the files of a disc image."""

    media_types = frozenset({"application/x-iso9660-image"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read every file, under the longest names that the image has.

        Raises:
            ExtractError: corrupt or too_large.
        """
        import pycdlib  # noqa: PLC0415 (heavy)

        image = pycdlib.PyCdlib()
        try:
            image.open_fp(content.open())
        except Exception as error:  # noqa: BLE001 (pycdlib fails on damage in many ways)
            raise ExtractError(FailReason.CORRUPT, mishap(error)) from None
        try:
            _read_files(image, content, sink)
        finally:
            image.close()


def _read_files(image: Any, content: Content, sink: Sink) -> None:
    names = (
        (image.has_udf(), "udf_path"),
        (image.has_joliet(), "joliet_path"),
        (image.has_rock_ridge(), "rr_path"),
        (True, "iso_path"),
    )
    kind = next(kind for present, kind in names if present)
    for n_folders, (folder, _, files) in enumerate(image.walk(**{kind: "/"}), 1):
        if n_folders > _MAX_FOLDERS:
            raise ExtractError(FailReason.TOO_LARGE, f"more than {_MAX_FOLDERS} folders")
        for file in files:
            sink.take_member()
            path = f"{folder.rstrip('/')}/{file}"
            shown = path.strip("/").partition(";")[0] if kind == "iso_path" else path.strip("/")
            member = content.member(shown, b"")
            try:
                with image.open_file_from_iso(**{kind: path}) as stream:
                    data = sink.unpack(stream, content.n_bytes)
            except ExtractError as error:
                sink.fail(member.locator, FailReason(error.reason), error.detail)
            except Exception as error:  # noqa: BLE001 (see extract; links and devices are no files either)
                sink.fail(member.locator, FailReason.CORRUPT, mishap(error))
            else:
                sink.read_member(content.member(member.name, data))
