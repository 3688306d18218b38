"""DICOM headers behind their names, structured reports, encapsulated documents, burned-in text."""

import io
import os
from collections.abc import Callable

import numpy as np
import pydicom
import pytest
from PIL import Image, ImageDraw, ImageFont
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.uid import ExplicitVRLittleEndian, JPEGLosslessSV1, generate_uid

from phiscan.errors import ExtractError
from phiscan.extract.ocr import recognition as ocr
from phiscan.model import Document, FailReason

Read = Callable[..., Document]

CT, CAPTURE = "1.2.840.10008.5.1.4.1.1.2", "1.2.840.10008.5.1.4.1.1.7"
needs_tesseract = pytest.mark.skipif(
    not ocr.languages() and "CI" not in os.environ, reason="tesseract is not installed"
)


def dicom(kind: str = CT, **fields: object) -> Dataset:
    dataset = Dataset()
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset.file_meta.MediaStorageSOPClassUID = kind
    dataset.file_meta.MediaStorageSOPInstanceUID = generate_uid(entropy_srcs=["phiscan"])
    dataset.SOPClassUID = kind
    dataset.PatientName = "Okafor^Lena^M^Dr."
    dataset.PatientBirthDate = "19500102"
    dataset.PatientID = "77120033"
    dataset.PatientSex = "F"
    for name, value in fields.items():
        setattr(dataset, name, value)
    return dataset


def saved(dataset: Dataset) -> bytes:
    stream = io.BytesIO()
    pydicom.dcmwrite(stream, dataset, enforce_file_format=True)
    return stream.getvalue()


def with_picture(dataset: Dataset, text: str) -> Dataset:
    image = Image.new("L", (700, 160), 0)
    ImageDraw.Draw(image).text((30, 50), text, fill=255, font=ImageFont.load_default(size=44))
    dataset.Rows, dataset.Columns = 160, 700
    dataset.SamplesPerPixel, dataset.PhotometricInterpretation = 1, "MONOCHROME2"
    dataset.BitsAllocated = dataset.BitsStored = 8
    dataset.HighBit, dataset.PixelRepresentation = 7, 0
    dataset.PixelData = np.asarray(image).tobytes()
    return dataset


def test_the_header_stands_behind_the_names_of_its_fields(read: Read) -> None:
    nested = Dataset()
    nested.TextValue = "Seen by Dr. Roy for chest pain"
    data = saved(dicom(ContentSequence=[nested], ReferringPhysicianName="Roy^Ann", InstitutionName="General"))
    document = read(data, "a.dcm")
    for line in (
        "Patient's Name: Dr. Lena M Okafor",
        "Patient's Birth Date: 1950-01-02",
        "Patient ID: 77120033",
        "Patient's Sex: F",
        "Text Value: Seen by Dr. Roy for chest pain",
        "Referring Physician's Name: Ann Roy",
        "Institution Name: General",
    ):
        assert line in document.text.split("\n"), line
    assert document.locate(0) == "#header"
    assert "1.2.840" not in document.text


def test_an_object_whose_preamble_begins_a_tiff_file_is_read(read: Read) -> None:
    data = b"II*\0\x54\1\0\0".ljust(128, b"\0") + saved(dicom())[128:]

    assert "Okafor" in read(data, "MR_small").text


def test_an_encapsulated_document_is_a_member(read: Read) -> None:
    data = saved(dicom(EncapsulatedDocument=b"<html><p>letter about Bo Li</p></html>"))
    document = read(data, "a.dcm")
    assert document.locate(document.text.index("Bo Li")) == "document"


def test_pixels_of_a_scan_without_burned_in_text_are_not_looked_at(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr, "languages", lambda: "")
    assert not read(saved(with_picture(dicom(), "Lena")), "a.dcm").unread
    for dataset in (dicom(CAPTURE), dicom(BurnedInAnnotation="YES")):
        document = read(saved(with_picture(dataset, "Lena")), "a.dcm")
        assert [(part.locator, part.reason) for part in document.unread] == [
            ("#picture", FailReason.NEEDS_OCR)
        ]


def test_pixels_without_a_decoder_are_listed_by_their_compression(read: Read) -> None:
    dataset = with_picture(dicom(CAPTURE), "Lena Okafor")
    dataset.PixelData = encapsulate([b"\xff\xd8\xff\xd9"])
    dataset.file_meta.TransferSyntaxUID = JPEGLosslessSV1

    (part,) = read(saved(dataset), "a.dcm").unread
    assert (part.locator, part.reason) == ("#picture", FailReason.UNSUPPORTED)
    assert "JPEG Lossless" in part.detail


def test_an_object_without_a_field_of_a_person_is_no_damaged_one(read: Read) -> None:
    dataset = dicom(CAPTURE)
    for name in ("PatientName", "PatientBirthDate", "PatientID", "PatientSex"):
        delattr(dataset, name)

    assert read(saved(dataset), "a.dcm").unread == ()


@needs_tesseract
def test_text_burned_into_a_secondary_capture_is_read(read: Read) -> None:
    document = read(saved(with_picture(dicom(CAPTURE), "Lena Okafor")), "a.dcm")
    assert document.locate(document.text.index("Lena Okafor")) == "#picture"


def test_a_cut_object_gives_what_is_there_or_is_corrupt(read: Read) -> None:
    data = saved(dicom())
    document = read(data[:-3], "a.dcm")
    assert "Okafor" in document.text
    with pytest.raises(ExtractError) as caught:
        read(bytes(128) + b"DICM" + b"\xff" * 40, "a.dcm")
    assert caught.value.reason == FailReason.CORRUPT
