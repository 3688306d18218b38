"""Processor seconds of each stage on real files, by the cascade and with every recognizer on every file.

Run: ``.venv/bin/python -m pytest -m bench -s benchmarks/bench_cascade_cost.py``. Needs the development data
beside the checkout. The share is all files of ``background`` and ``files``, and held-out texts written as
Word files, PDFs, workbooks, pages, mails and plain text, so many of them with PHI that these are 1% of all.
OCR is off. Everything runs in one process and is counted in processor seconds, and only ratios are compared:
a bare loop over the same readers is the extraction alone. What is compared takes turns file by file, so that
a busy machine slows both alike. Rules are compiled and models loaded beforehand, as in the process that
workers are forked from. At the end each ratio is printed with its target.

``PHISCAN_BENCH_SPACY`` names the folder of a spaCy model (``en_core_web_md``): then Presidio reads the same
texts with it. ``PHISCAN_BENCH_STEP`` takes every n-th file only.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from email.message import EmailMessage
from html import escape
from pathlib import Path

import pytest

from benchmarks.bench_referral_share import DATA, held_out
from phiscan.config import Config
from phiscan.model import FileResult, Outcome, Referral, Search, SourceFile
from phiscan.pipeline import engine as engines
from phiscan.pipeline.examine import examine
from phiscan.pipeline.process import process
from phiscan.store.identity import create_key

STEP = int(os.environ.get("PHISCAN_BENCH_STEP", "1"))
MODEL = os.environ.get("PHISCAN_BENCH_SPACY", "")
PHI_SHARE = 0.01
N_WRITTEN = 600  # texts without PHI that are written into formats
EVERY = 5  # with every recognizer, each fifth file is read
SCREENING = ("screen_cheap", "screen_expensive", "health", "decide")
_FAMILIES = ("presidio_generated_large", "spamassassin_ham_dev", "medquad_dev", "wnut17_train")


def processor_seconds() -> float:
    """Return the processor seconds of this process and its children."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def as_docx(text: str) -> bytes:
    import docx  # noqa: PLC0415 (a development dependency)

    document = docx.Document()
    for line in text.splitlines():
        document.add_paragraph(_printable(line))
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def as_xlsx(text: str) -> bytes:
    import openpyxl  # noqa: PLC0415 (as above)

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for line in text.splitlines():
        sheet.append([_printable(cell)[:30_000] for cell in line.split("|")])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def as_pdf(text: str) -> bytes:
    from reportlab.lib.styles import getSampleStyleSheet  # noqa: PLC0415 (as above)
    from reportlab.platypus import Paragraph, SimpleDocTemplate  # noqa: PLC0415

    style = getSampleStyleSheet()["Normal"]
    stream = io.BytesIO()
    lines = [Paragraph(escape(_printable(line)) or "&nbsp;", style) for line in text.splitlines()]
    SimpleDocTemplate(stream).build(lines)
    return stream.getvalue()


def as_html(text: str) -> bytes:
    lines = "".join(f"<p>{escape(line)}</p>\n" for line in text.splitlines())
    return f"<!DOCTYPE html><html><body>{lines}</body></html>".encode()


def as_eml(text: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "as discussed"
    message.set_content(text)
    return bytes(message)


def as_txt(text: str) -> bytes:
    return text.encode()


FORMATS: dict[str, Callable[[str], bytes]] = {
    "docx": as_docx,
    "pdf": as_pdf,
    "xlsx": as_xlsx,
    "html": as_html,
    "eml": as_eml,
    "txt": as_txt,
}


def _printable(line: str) -> str:
    return "".join(char if char.isprintable() else " " for char in line)


def texts(*, phi: bool) -> Iterator[str]:
    for path in sorted(DATA.glob("*.jsonl")):
        if phi or path.stem in _FAMILIES:
            for line in path.read_text(encoding="utf-8").splitlines():
                document = json.loads(line)
                if held_out(document["id"]) and (document["doc_label"] == "PHI") is phi:
                    yield document["text"]


def write_texts(folder: Path, n_others: int) -> tuple[list[Path], list[Path]]:
    """Write held-out texts into formats; return those without PHI and those with, 1% of all."""
    chosen = []
    for phi in (False, True):
        found = list(texts(phi=phi))
        n_files = N_WRITTEN if not phi else round(PHI_SHARE * (n_others + N_WRITTEN) / (1 - PHI_SHARE))
        step = max(1, len(found) // n_files)
        written = []
        for number, text in enumerate(found[::step][:n_files]):
            suffix = list(FORMATS)[number % len(FORMATS)]
            path = folder / f"{'x' if phi else 'n'}{number:04}.{suffix}"
            path.write_bytes(FORMATS[suffix](text))
            written.append(path)
        chosen.append(written)
    return chosen[0], chosen[1]


@dataclass(slots=True)
class Run:
    """Processor seconds and characters of each stage of an engine, and the results."""

    engine: engines.Engine
    seconds: Counter[str] = field(default_factory=Counter)
    chars: Counter[str] = field(default_factory=Counter)
    results: dict[Path, FileResult] = field(default_factory=dict)

    def read(self, path: Path) -> None:
        """Process one file."""
        source = SourceFile.of(str(path.parent).encode(), path.name.encode(), path.lstat())
        done = process(source, self.engine)
        self.seconds.update(dict(done.seconds))
        self.chars.update(dict.fromkeys(dict(done.seconds), done.n_chars))
        self.results[path] = done

    @property
    def screening_s(self) -> float:
        """Return the seconds of screening and classification."""
        return sum(self.seconds[stage] for stage in SCREENING)


def report(title: str, run: Run) -> None:
    """Print the time of each stage."""
    n_chars = sum(result.n_chars for result in run.results.values())
    print(f"\n{title}: {len(run.results):,} files, {n_chars / 1e6:.2f} million characters")
    for stage, spent in run.seconds.most_common():
        speed = run.chars[stage] / 1e6 / max(spent, 1e-9)
        print(f"  {stage:<18}{spent:8.2f} s  {speed:7.2f} million characters/s")
    searched = Counter(str(result.search) for result in run.results.values() if result.search is not None)
    outcomes = Counter(str(result.outcome) for result in run.results.values())
    print(f"  {dict(outcomes)}; searched: {dict(searched)}")


def against_target(name: str, measured: float, target: str) -> None:
    """Print one figure with its target."""
    print(f"  {name:<60}{measured:8.2f}   target {target}")


@pytest.mark.bench
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development data in ../shared/data")
def test_print_what_the_cascade_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "perf_counter", processor_seconds)  # what the stages are timed by
    others = [path for name in ("background", "files") for path in sorted((DATA.parent / name).iterdir())]
    written, phi = write_texts(tmp_path, len(others))
    paths = [*others, *written, *phi][::STEP]
    config = Config(home=tmp_path / "home")
    config.home.mkdir()
    create_key(config.key_file)
    config = replace(config, limits=replace(config.limits, ocr_s=0.0))
    from phiscan.pipeline.workers import preload  # noqa: F401, PLC0415 (compiles rules, as the server of workers does)

    cascade = engines.build_engine(config)
    everything = engines.build_engine(replace(config, audit_share=1.0))
    cut, full, warm = Run(cascade), Run(everything), Run(everything)
    for path in [*others[:40], *written[:12], *phi[:6]]:  # compiles rules and loads models, once per process
        warm.read(path)
    for number, path in enumerate(paths):
        cut.read(path)
        if number % EVERY == 0:
            full.read(path)
    report("by the cascade", cut)
    report("with every recognizer on each fifth file", full)
    extraction = cut.seconds["extract"]
    n_searched = sum(result.n_chars for result in full.results.values())
    print("\nProcessor seconds against those of extraction, and names where they are searched:")
    against_target("screening and classification / extraction", cut.screening_s / extraction, "<= 1.0")
    every = cut.screening_s - cut.seconds["screen_expensive"]
    against_target("the same without the searches for names / extraction", every / extraction, "none")
    against_target(
        "all stages / bare loop over the readers", sum(cut.seconds.values()) / extraction, "<= 2.5"
    )
    against_target("every recognizer, MB/s", n_searched / 1e6 / full.screening_s, ">= 0.3")
    results = cut.results
    referred = [path for path in phi if path in results and results[path].referral is Referral.REFERRED]
    false = sum(result.referral is Referral.REFERRED for path, result in results.items() if path not in phi)
    print(f"  PHI files referred: {len(referred)} of {sum(path in results for path in phi)}; others: {false}")
    lost = [path for path in phi if path in results and results[path].search is Search.LEFT_OUT]
    print(f"  PHI files whose names were not searched: {len(lost)}")
    assert any(result.outcome is Outcome.SCREENED for result in results.values())


@pytest.mark.bench
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the development data in ../shared/data")
@pytest.mark.skipif(not MODEL, reason="PHISCAN_BENCH_SPACY names no folder of a spaCy model")
def test_print_the_cost_beside_presidio() -> None:
    from phiscan.decision import build_decider  # noqa: PLC0415
    from phiscan.model import Document, Segment  # noqa: PLC0415
    from phiscan.screen import build_screener  # noqa: PLC0415

    presidio = pytest.importorskip("presidio_analyzer", reason="needs the extra `compare`")
    nlp = pytest.importorskip("presidio_analyzer.nlp_engine")
    provider = nlp.NlpEngineProvider(
        nlp_configuration={"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": MODEL}]}
    )
    analyzer = presidio.AnalyzerEngine(nlp_engine=provider.create_engine(), supported_languages=["en"])
    from phiscan.health.classifier import build_classifier  # noqa: PLC0415

    config = Config()
    everything = engines.Engine(
        build_screener(config), build_classifier(config), build_decider(config), config.limits, key=b"k" * 32
    )
    cascade = replace(everything, audit_share=config.audit_share)
    documents = [
        Document(text, (Segment("", 0, len(text)),), "text/plain", content_hash=f"{number:064x}")
        for number, text in enumerate(list(texts(phi=False))[:: 10 * STEP])
    ]
    n_chars = sum(len(document.text) for document in documents)
    examine(documents[0], everything)
    analyzer.analyze(documents[0].text, "en")
    spent = dict.fromkeys(("Presidio", "every recognizer", "cascade"), 0.0)
    readers = (
        ("Presidio", lambda document: analyzer.analyze(document.text, "en")),
        ("every recognizer", lambda document: examine(document, everything)),
        ("cascade", lambda document: examine(document, cascade)),
    )
    for document in documents:  # they take turns
        for name, read in readers:
            started = processor_seconds()
            read(document)
            spent[name] += processor_seconds() - started
    for name, _ in readers:
        times = spent["Presidio"] / spent[name]
        print(
            f"{name:<20}{n_chars / 1e3 / spent[name]:9.1f} thousand characters/s, {times:6.1f} times Presidio"
        )
    against_target("the default / Presidio", spent["Presidio"] / spent["cascade"], ">= 30")
    against_target("every recognizer / Presidio", spent["Presidio"] / spent["every recognizer"], ">= 8")
    assert spent
