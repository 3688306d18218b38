"""The committed sample corpus says what its truth says, and can be made again."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from stdnum import luhn
from stdnum.ca import bc_phn, sin
from stdnum.us import ssn

from phiscan.config import Config
from phiscan.extract import extract
from phiscan.model import EntityType, SourceFile
from tests.corpus.books import VERBATIM, load_entries
from tests.corpus.formats import gold
from tests.corpus.make_sample_corpus import HERE, SAMPLE, check_span, make_corpus
from tests.corpus.make_sample_corpus import TRUTH as TRUTH_FILE
from tests.corpus.pdf import PASSWORD

TRUTH = [json.loads(line) for line in TRUTH_FILE.read_text(encoding="utf-8").splitlines()]
ENTRIES = load_entries(HERE / "texts")
NEEDS_OCR = {p for p, e in ENTRIES.items() if e.suffix == "png" or e.options.get("kind") == "scan"}


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def read(folder: Path, path: str) -> str:
    """Return all text that phiscan reads of a file: by other libraries than those that wrote it."""
    source = SourceFile.of(bytes(folder), path.encode(), (folder / path).lstat())
    return extract(source, Config().limits, (PASSWORD,)).text


def _encoding(payload: bytes) -> str:
    if payload.startswith(b"\xff\xfe"):
        return "utf-16"
    try:
        payload.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def test_truth_names_every_file_of_the_share_once() -> None:
    found = {p.relative_to(SAMPLE).as_posix() for p in SAMPLE.rglob("*") if p.is_file()}
    assert sorted(line["path"] for line in TRUTH) == sorted(found)


def test_share_has_every_label_in_useful_numbers() -> None:
    labels = Counter(line["label"] for line in TRUTH)
    assert set(labels) == {"phi", "pii_only", "health_only", "neither"}
    assert min(labels.values()) >= 25
    assert 140 <= sum(labels.values()) <= 170


def test_corpus_stays_small_enough_to_commit() -> None:
    assert sum(p.stat().st_size for p in SAMPLE.rglob("*") if p.is_file()) < 4_000_000


def test_phi_files_name_a_person_or_an_identifier() -> None:
    for line in TRUTH:
        if line["label"] in {"phi", "pii_only"}:
            assert line["spans"], line["path"]
        else:
            types = {span["type"] for span in line["spans"]}
            assert not types & {"PERSON", "HEALTH_PROFESSIONAL", "SIN", "SSN", "HEALTH_CARD", "MRN"}, line[
                "path"
            ]


@pytest.mark.parametrize(
    "line", [line for line in TRUTH if line["path"] not in NEEDS_OCR], ids=lambda line: line["path"]
)
def test_gold_spans_occur_in_what_is_read(line: dict[str, object]) -> None:
    text = _squeeze(read(SAMPLE, str(line["path"])))
    missing = [span["type"] for span in line["spans"] if _squeeze(span["text"]) not in text]  # type: ignore[attr-defined]
    assert not missing


def test_offsets_in_plain_files_are_code_points_of_the_decoded_file() -> None:
    checked = 0
    for line in TRUTH:
        if line["path"].rpartition(".")[2].lower() in VERBATIM:
            payload = (SAMPLE / line["path"]).read_bytes()
            text = payload.decode(_encoding(payload))
            for span in line["spans"]:
                assert text[span["start"] : span["end"]] == span["text"], line["path"]
                assert span["locator"] == ""
                checked += 1
    assert checked > 300


def test_offsets_in_other_files_point_into_the_part_as_it_was_written() -> None:
    for entry in ENTRIES.values():
        for part in entry.parts:
            for span in part.spans:
                assert part.text[span.start : span.end] == span.text, (entry.path, part.name)


def test_span_types_are_those_of_the_contract() -> None:
    types = {span["type"] for line in TRUTH for span in line["spans"]}
    assert types <= {item.value for item in EntityType}
    assert len(types) >= 24


def test_span_texts_can_be_searched_for_in_outputs() -> None:
    paths = " ".join(line["path"] for line in TRUTH).lower()
    for line in TRUTH:
        for span in line["spans"]:
            check_span(line["path"], span["text"])
            assert span["text"].lower() not in paths, span["text"]
            # A keyed hash in hexadecimal would meet a short one by chance.
            assert not re.fullmatch(r"[0-9a-fA-F]{1,7}", span["text"]), span["text"]


@pytest.mark.parametrize("weak", ["Ann", "12/34", "2026-01-01", "A1-B2", "......."])
def test_weak_span_is_refused(weak: str) -> None:
    with pytest.raises(ValueError, match="too weak"):
        check_span("x.txt", weak)


def test_identifiers_pass_their_checks() -> None:
    checks = {
        "SIN": lambda text: sin.is_valid(text) and text.startswith("9"),
        "SSN": ssn.is_valid,
        "CREDIT_CARD": lambda text: luhn.is_valid(text.replace(" ", "")),
        "HEALTH_CARD": _valid_health_card,
    }
    seen = Counter()
    for line in TRUTH:
        for span in line["spans"]:
            if span["type"] in checks:
                assert checks[span["type"]](span["text"]), (line["path"], span["type"])
                seen[span["type"]] += 1
    assert set(seen) == set(checks)


def _valid_health_card(text: str) -> bool:
    if re.fullmatch(r"\d{4}-\d{3}-\d{3}-[A-Z]{2}", text):
        return luhn.is_valid(re.sub(r"\D", "", text))
    if re.fullmatch(r"[A-Z]{4} \d{4} \d{4}", text):  # Quebec: month + 50 for women
        month, day = int(text[7:9]), int(text[10:12])
        return (1 <= month <= 12 or 51 <= month <= 62) and 1 <= day <= 31
    return bc_phn.is_valid(text.replace(" ", ""))


def test_telephones_and_mail_addresses_are_reserved_ones() -> None:
    for line in TRUTH:
        for span in line["spans"]:
            if span["type"] in {"PHONE", "FAX"}:
                assert re.search(r"555.01\d\d$", span["text"]), line["path"]
            if span["type"] == "EMAIL":
                assert re.search(r"[@.]example\.(ca|org|com|net)$", span["text"]), line["path"]


def test_most_surrogate_names_are_out_of_vocabulary() -> None:
    """Compare with every dictionary of names that ships with phiscan, if there is one yet."""
    folder = SAMPLE.parent / "dictionaries"
    known = {
        line.split("\t")[0].lower()
        for path in folder.glob("*name*")
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    }
    names = {s["text"].split()[-1].lower() for li in TRUTH for s in li["spans"] if s["type"] == "PERSON"}
    assert len(names) > 100
    assert len(names & known) <= len(names) * 0.45


@pytest.mark.slow
def test_making_it_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_corpus(tmp_path / name / "share", tmp_path / name / "truth.jsonl")
    files = [p.relative_to(tmp_path / "one") for p in sorted((tmp_path / "one").rglob("*")) if p.is_file()]
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


def test_committed_corpus_is_what_the_generator_makes(tmp_path: Path) -> None:
    """Compare texts, not bytes, where a library's version may change how they are packed."""
    make_corpus(tmp_path, tmp_path.with_suffix(".jsonl"))
    assert tmp_path.with_suffix(".jsonl").read_bytes() == TRUTH_FILE.read_bytes()
    for line in TRUTH:
        committed, made = (SAMPLE / line["path"]).read_bytes(), (tmp_path / line["path"]).read_bytes()
        if committed != made and line["path"] not in NEEDS_OCR:
            texts = [_squeeze(read(folder, line["path"])) for folder in (SAMPLE, tmp_path)]
            assert texts[0] == texts[1], line["path"]


def test_containers_name_the_way_to_the_inner_file() -> None:
    line = next(line for line in TRUTH if line["path"] == "Mail/Inbox export/FW second opinion.eml")
    locators = {span["locator"] for span in line["spans"]}
    assert "second opinion.eml!/consult letter.pdf" in locators
    assert "#headers" in locators
    archive = ENTRIES["Medical records/Discharge/archive_2019.zip"]
    assert any(span.locator == "older.zip!/op_note.rtf" for span in gold(archive, ENTRIES))


def test_readme_gives_the_numbers_of_the_truth() -> None:
    readme = TRUTH_FILE.with_name("README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", readme, flags=re.MULTILINE))
    labels = Counter(line["label"] for line in TRUTH)
    assert {label: str(number) for label, number in labels.items()} == rows
    assert f"{len(TRUTH)} files in {len({line['path'].rpartition('.')[2] for line in TRUTH})} kinds" in readme
    assert PASSWORD in readme
