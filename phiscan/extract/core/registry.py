"""The explicit list of extractors, and the choice among them by content."""

from __future__ import annotations

from phiscan.errors import ExtractError
from phiscan.extract.archives.compressed import CompressedExtractor
from phiscan.extract.archives.disc_images import DiskImageExtractor
from phiscan.extract.archives.file_systems import FileSystemExtractor
from phiscan.extract.archives.other_archives import OtherArchiveExtractor
from phiscan.extract.archives.seven_zip import SevenZipExtractor
from phiscan.extract.archives.tar_files import TarExtractor
from phiscan.extract.archives.zip_files import ZipExtractor
from phiscan.extract.core.content import Content, Sink, TextFullError, mishap
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.magic_numbers import EMPTY
from phiscan.extract.core.protocol import Extractor
from phiscan.extract.core.unsupported import UnsupportedExtractor
from phiscan.extract.databases.access import AccessExtractor
from phiscan.extract.databases.by_program import ByProgramExtractor
from phiscan.extract.databases.column_files import ColumnFileExtractor
from phiscan.extract.databases.dbase import DbaseExtractor
from phiscan.extract.databases.edf import EdfExtractor
from phiscan.extract.databases.lotus import LotusExtractor
from phiscan.extract.databases.memo_files import MemoFileExtractor
from phiscan.extract.databases.named import NamedExtractor
from phiscan.extract.databases.postgresql_dump import PostgresDumpExtractor
from phiscan.extract.databases.sqlite import SqliteExtractor
from phiscan.extract.databases.sqlite_pages import SqliteLogExtractor
from phiscan.extract.databases.statistics_files import StatisticsExtractor
from phiscan.extract.mail.contact_cards import CardExtractor
from phiscan.extract.mail.messages import MailboxExtractor, MailExtractor
from phiscan.extract.mail.outlook_express import OutlookExpressExtractor
from phiscan.extract.mail.outlook_message import OutlookExtractor
from phiscan.extract.mail.outlook_store import OutlookStoreExtractor
from phiscan.extract.ocr.images import ImageExtractor
from phiscan.extract.ocr.metafiles import MetafileExtractor
from phiscan.extract.office.embedded_objects import ActiveMimeExtractor, OleObjectExtractor
from phiscan.extract.office.encryption import EncryptedPackageExtractor
from phiscan.extract.office.legacy import LegacyOfficeExtractor
from phiscan.extract.office.onenote import OneNoteExtractor
from phiscan.extract.office.opendocument import OpenDocumentExtractor
from phiscan.extract.office.rich_text import RichTextExtractor
from phiscan.extract.office.slides import SlidesExtractor
from phiscan.extract.office.word import WordExtractor
from phiscan.extract.pdf.reader import PdfExtractor
from phiscan.extract.spreadsheets.delimited import DelimitedExtractor
from phiscan.extract.spreadsheets.workbook import SheetExtractor
from phiscan.extract.structured.dicom import DicomExtractor
from phiscan.extract.structured.epub import EpubExtractor
from phiscan.extract.structured.html import WebPageExtractor
from phiscan.extract.structured.json_records import JsonExtractor, JsonLinesExtractor
from phiscan.extract.structured.messages import Hl7Extractor, X12Extractor
from phiscan.extract.structured.plain_text import TextExtractor
from phiscan.extract.structured.xml_markup import MarkupExtractor
from phiscan.extract.text_codes.recovery import recover
from phiscan.extract.transport.apple_files import AppleFileExtractor
from phiscan.extract.transport.cms import CmsExtractor
from phiscan.extract.transport.openpgp import OpenPgpExtractor
from phiscan.extract.transport.tnef import TnefExtractor
from phiscan.model import FailReason

EXTRACTORS: tuple[Extractor, ...] = (
    TextExtractor(),
    PdfExtractor(),
    WordExtractor(),
    SlidesExtractor(),
    OpenDocumentExtractor(),
    EpubExtractor(),
    SheetExtractor(),
    DelimitedExtractor(),
    MailExtractor(),
    MailboxExtractor(),
    OutlookExtractor(),
    OutlookStoreExtractor(),
    TnefExtractor(),
    CmsExtractor(),
    AppleFileExtractor(),
    OpenPgpExtractor(),
    WebPageExtractor(),
    MarkupExtractor(),
    JsonExtractor(),
    JsonLinesExtractor(),
    Hl7Extractor(),
    X12Extractor(),
    RichTextExtractor(),
    LegacyOfficeExtractor(),
    ImageExtractor(),
    MetafileExtractor(),
    ZipExtractor(),
    TarExtractor(),
    CompressedExtractor(),
    SevenZipExtractor(),
    OtherArchiveExtractor(),
    DiskImageExtractor(),
    FileSystemExtractor(),
    DicomExtractor(),
    CardExtractor(),
    EncryptedPackageExtractor(),
    OleObjectExtractor(),
    ActiveMimeExtractor(),
    SqliteExtractor(),
    PostgresDumpExtractor(),
    SqliteLogExtractor(),
    DbaseExtractor(),
    MemoFileExtractor(),
    EdfExtractor(),
    StatisticsExtractor(),
    ColumnFileExtractor(),
    LotusExtractor(),
    ByProgramExtractor(),
    AccessExtractor(),
    OutlookExpressExtractor(),
    OneNoteExtractor(),
    NamedExtractor(),
    UnsupportedExtractor(),
)
_BY_TYPE = {media_type: extractor for extractor in EXTRACTORS for media_type in extractor.media_types}


def dispatch(content: Content, sink: Sink) -> None:
    """Read a member of a container."""
    read(content, sniff(content.data, content.name), sink)


def read(content: Content, media_type: str, sink: Sink) -> None:
    """Read ``content`` with the extractor of its media type.

    Raises:
        ExtractError: nothing of it can be read. The message of a library's exception never gets
            into it, only the type, because libraries quote what they fail on.
        TextFullError: the text budget is used up.
    """
    if media_type == EMPTY:
        return
    extractor = _BY_TYPE.get(media_type)
    if extractor is None:
        raise ExtractError(FailReason.UNSUPPORTED, media_type)
    n_segments = sink.n_segments
    try:
        extractor.extract(content, sink)
        recover(content, sink, n_segments)
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
