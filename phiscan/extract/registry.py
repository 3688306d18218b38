"""The explicit list of readers by media type, and the choice among them by content."""

from __future__ import annotations

from collections.abc import Callable

from phiscan.errors import ExtractError
from phiscan.extract.archives.compressed import read_compressed, read_tar
from phiscan.extract.archives.other_archives import (
    OTHER_ARCHIVE_TYPES,
    rar_after_program,
    read_disc_image,
    read_other_archive,
    read_seven_zip,
)
from phiscan.extract.archives.snappy_blocks import FRAMED, IWA, is_iwa, read_snappy_blocks
from phiscan.extract.archives.zip_files import read_zip
from phiscan.extract.core import magic_numbers as magic
from phiscan.extract.core.content import Content, Sink, TextFullError, mishap
from phiscan.extract.core.file_type import is_orc, register, sniff
from phiscan.extract.core.magic_numbers import EMPTY
from phiscan.extract.core.unsupported import UNSUPPORTED_TYPES, read_unsupported
from phiscan.extract.databases.access import ACCESS_TYPES, read_access
from phiscan.extract.databases.column_files import COLUMN_FILE_TYPES, read_column_file
from phiscan.extract.databases.dbase import is_dbase, is_edf, read_dbase, read_edf
from phiscan.extract.databases.sqlite import read_sqlite
from phiscan.extract.mail.contact_cards import read_cards
from phiscan.extract.mail.messages import read_mail, read_mailbox
from phiscan.extract.mail.outlook_message import read_outlook_message, read_outlook_store, read_tnef
from phiscan.extract.missing_text import add_missing
from phiscan.extract.ocr.images import IMAGE_TYPES, read_image, read_metafile
from phiscan.extract.office.compound_file import read_encrypted_package
from phiscan.extract.office.embedded_objects import read_ole_object
from phiscan.extract.office.legacy import BY_PROGRAM_TYPES, read_by_program, read_legacy_office
from phiscan.extract.office.onenote import read_onenote
from phiscan.extract.office.open_xml import read_book, read_opendocument, read_slides, read_word
from phiscan.extract.office.rich_text import read_rich_text
from phiscan.extract.pdf.reader import read_pdf
from phiscan.extract.spreadsheets.rows import read_delimited
from phiscan.extract.spreadsheets.workbook import read_workbook
from phiscan.extract.structured.dicom import read_dicom
from phiscan.extract.structured.html import read_web_page
from phiscan.extract.structured.json_records import read_json, read_json_lines
from phiscan.extract.structured.messages import read_hl7, read_plain_text, read_x12
from phiscan.extract.structured.xml_markup import read_markup
from phiscan.extract.text_codes.recovery import recover
from phiscan.extract.transport.signed import is_cms, is_openpgp, read_apple_file, read_cms, read_openpgp
from phiscan.model import FailReason

# Reads one format family: adds text to the sink in reading order and hands members to ``Sink.read_member``;
# what cannot be read is recorded with ``Sink.fail``. It raises ExtractError when nothing can be read. Any
# other exception of a library becomes ``corrupt``, without its message, which may quote the document.
Reader = Callable[[Content, Sink], None]
READERS: dict[str, Reader] = {
    "text/plain": read_plain_text,
    "application/pdf": read_pdf,
    magic.DOCX: read_word,
    magic.PPTX: read_slides,
    magic.ODF + "text": read_opendocument,
    magic.ODF + "presentation": read_opendocument,
    magic.ODF + "graphics": read_opendocument,
    "application/epub+zip": read_book,
    magic.XLSX: read_workbook,
    magic.XLSB: read_workbook,
    magic.ODF + "spreadsheet": read_workbook,
    "application/vnd.ms-excel": read_workbook,
    "text/csv": read_delimited,
    "message/rfc822": read_mail,
    "application/mbox": read_mailbox,
    "application/vnd.ms-outlook": read_outlook_message,
    "application/vnd.ms-outlook-pst": read_outlook_store,
    "application/ms-tnef": read_tnef,
    "application/pkcs7-mime": read_cms,
    "application/applefile": read_apple_file,
    "application/pgp-encrypted": read_openpgp,
    "text/html": read_web_page,
    "text/xml": read_markup,
    "application/json": read_json,
    "application/x-ndjson": read_json_lines,
    "application/hl7-v2": read_hl7,
    "application/edi-x12": read_x12,
    "application/rtf": read_rich_text,
    "application/msword": read_legacy_office,
    "application/vnd.ms-powerpoint": read_legacy_office,
    **dict.fromkeys(IMAGE_TYPES, read_image),
    "image/emf": read_metafile,
    "image/wmf": read_metafile,
    "application/zip": read_zip,
    "application/x-tar": read_tar,
    "application/gzip": read_compressed,
    "application/x-bzip2": read_compressed,
    "application/x-xz": read_compressed,
    "application/zstd": read_compressed,
    "application/x-lz4": read_compressed,
    IWA: read_snappy_blocks,
    FRAMED: read_snappy_blocks,
    "application/x-7z-compressed": read_seven_zip,
    **dict.fromkeys(OTHER_ARCHIVE_TYPES, read_other_archive),
    "application/x-iso9660-image": read_disc_image,
    "application/dicom": read_dicom,
    "text/vcard": read_cards,
    "text/calendar": read_cards,
    "application/x-encrypted-ooxml": read_encrypted_package,
    "application/x-ole-storage": read_ole_object,
    "application/vnd.sqlite3": read_sqlite,
    "application/x-dbf": read_dbase,
    "application/x-edf": read_edf,
    **dict.fromkeys(COLUMN_FILE_TYPES, read_column_file),
    **dict.fromkeys(BY_PROGRAM_TYPES, read_by_program),
    **dict.fromkeys(ACCESS_TYPES, read_access),
    "application/onenote": read_onenote,
    **dict.fromkeys(UNSUPPORTED_TYPES, read_unsupported),
}
register(
    first=(
        (is_cms, "application/pkcs7-mime"),
        (is_iwa, IWA),
        (is_edf, "application/x-edf"),
        (is_dbase, "application/x-dbf"),
        (lambda data: data[-18:-2] == b"TRUEVISION-XFILE", "image/x-tga"),
        (is_orc, "application/vnd.apache.orc"),
    ),
    last=((rar_after_program, "application/vnd.rar"), (is_openpgp, "application/pgp-encrypted")),
)


def dispatch(content: Content, sink: Sink) -> None:
    """Read a member of a container."""
    read(content, sniff(content.data, content.name), sink)


def read(content: Content, media_type: str, sink: Sink) -> None:
    """Read ``content`` with the reader of its media type; add what that left, and decode the codes in both.

    Raises:
        ExtractError: nothing of it can be read. The message of a library's exception never gets
            into it, only the type, because libraries quote what they fail on.
        TextFullError: the text budget is used up.
    """
    if media_type == EMPTY:
        return
    reader = READERS.get(media_type)
    if reader is None:
        raise ExtractError(FailReason.UNSUPPORTED, media_type)
    before = (sink.n_segments, len(sink.unread))
    try:
        reader(content, sink)
        add_missing(content, media_type, sink, before)
        recover(content, sink, before[0])
    except (ExtractError, TextFullError):
        raise
    except MemoryError:
        raise ExtractError(FailReason.OUT_OF_MEMORY) from None
    except RecursionError:
        raise ExtractError(FailReason.NESTED_TOO_DEEP, "RecursionError") from None
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 (the fault boundary; a panic in a Rust library is no Exception)
        raise ExtractError(FailReason.CORRUPT, mishap(error)) from None
