"""The real documents that lie beside a development checkout; never part of it."""

import os
from pathlib import Path

import pytest

from phiscan.cli.extract import source_file
from phiscan.config import Limits
from phiscan.extract import available_readers, extract
from phiscan.model import Document, SourceFile
from phiscan.sandbox.answers import Fault
from tests.handed_over import handed_over

FOLDER = Path(__file__).parents[2].parent / "shared" / "data" / "files"
# What these files are, so what their outcome must be.
NOT_READ = {
    "tika-8d7e1ec8": "encrypted",
    "tika-8b53ca56": "nested_too_deep",  # an archive that contains itself
}
WITHOUT_TEXT = {"tika-8d2e2872"}  # tags alone


def read(source: SourceFile) -> Document:
    return extract(source, Limits())


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER.is_dir(), reason="the development data is not there")
@pytest.mark.skipif(len(available_readers()) < 4, reason="the optional readers are not installed")
def test_every_file_that_can_be_read_gives_text() -> None:
    sources = [source_file(str(path)) for path in sorted(FOLDER.iterdir())]
    with handed_over(2, Limits(), sources) as sandbox:
        answers = list(sandbox.run(read, sources))
    assert len(answers) == len(sources)
    failed = {_key(source): answer.reason for source, answer in answers if isinstance(answer, Fault)}
    documents = [(source, answer) for source, answer in answers if isinstance(answer, Document)]
    empty = {_key(source) for source, document in documents if not document.text.strip()}
    assert failed == NOT_READ
    assert empty == WITHOUT_TEXT
    for _, document in documents:
        assert all(document.text[part.start : part.end].strip() for part in document.segments)
        document.text.encode()


def _key(source: SourceFile) -> str:
    return "-".join(os.fsdecode(source.path).split("-")[:2])
