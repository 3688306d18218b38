"""The patient index: time and size of a build, matches on a synthetic share, chance matches of strangers.

    .venv/bin/python -m benchmarks.bench_patients 100000 400 20000 2000

Arguments: patients of the list, people of the share, strangers in rows, people of the strangers' share; then,
if one is there already, the folder of an index. With people = 0 no file is examined: chance alone.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from phiscan.config import Config
from phiscan.metrics.intervals import clopper_pearson
from phiscan.model import Document, EntityType, Finding, Referral, Span
from phiscan.patients.lifecycle import build
from phiscan.patients.matching import Matcher, load_matcher
from phiscan.patients.settings import PatientSettings
from phiscan.patients.sources import read_records
from phiscan.pipeline.engine import Engine, build_engine
from phiscan.pipeline.examine import examine
from phiscan.store.identity import create_key
from tests.patients.population import Person, population, write_list
from tests.patients.share import documents

STRANGERS_SEED, FIRST_STRANGER = 99, 50_000_000  # other numbers than the patients
N_COMPARED = 500  # files that are examined without the index as well


@pytest.mark.bench
def bench_patients() -> None:
    measure(20_000, 80, 2_000, 80)


def measure(
    n_patients: int, n_people: int, n_strangers: int, n_others: int, folder: Path | None = None
) -> None:
    """Print a table; ``folder``: where an index lies already."""
    with tempfile.TemporaryDirectory() as temporary:
        home = folder or Path(temporary)
        settings = PatientSettings(home / "idx", home / "key")
        if folder is None:
            listed = write_list(home / "list.csv", population(n_patients))
            started, before = time.perf_counter(), _processor_seconds()
            build(settings, read_records(str(listed), mapped={}, day_first=True), n_workers=2)
            print(
                f"build of {n_patients:,} patients: {time.perf_counter() - started:.0f} s, "
                f"{_processor_seconds() - before:.0f} s of processor time, "
                f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB in the main process",
                flush=True,
            )
        matcher = load_matcher(settings)
        assert matcher is not None
        size = sum(array.nbytes for array in matcher.index.arrays.values())
        print(f"{matcher.index.manifest.n_keys:,} match keys, {size / 1e6:,.0f} MB")
        _lookups(matcher)
        _strangers(matcher, n_strangers)
        if not n_people:
            return
        create_key(Path(temporary) / "home" / "key")
        engine = build_engine(Config(home=Path(temporary) / "home"))
        people = []
        for number, one in enumerate(population(n_patients)):
            if number % max(1, n_patients // n_people) == 0:
                people.append(one)
        _share("own patients", people, engine, matcher)
        _share(
            "strangers",
            list(population(n_others, seed=STRANGERS_SEED, first_number=FIRST_STRANGER)),
            engine,
            matcher,
        )


def _processor_seconds() -> float:
    """Return what this process and its ended children have used."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def _lookups(matcher: Matcher, n: int = 2_000_000) -> None:
    """Look up keys in bulk, half of which are in the index, in an order of chance."""
    random = np.random.default_rng(7)
    held = random.choice(matcher.index.arrays["hashes"], n)
    others = random.integers(0, 2**64, n, np.uint64)
    for name, keys in (("held", held), ("not held", others)):
        started = time.process_time()
        matcher.index.holders(keys)
        print(f"lookup in bulk, key {name}: {(time.process_time() - started) / n * 1e6:.2f} us")


def _strangers(matcher: Matcher, n: int) -> None:
    """Compare documents with a name, a birth date and a card of people who are no patients."""
    n_found, expected = 0, 0.0
    started = time.perf_counter()
    for one in population(n, seed=STRANGERS_SEED, first_number=FIRST_STRANGER):
        text = f"{one.given} {one.family} | {one.born} | {one.card} | {one.postal}"
        kinds = (EntityType.PERSON, EntityType.DATE_OF_BIRTH, EntityType.HEALTH_CARD, EntityType.POSTAL_CODE)
        findings, at = [], 0
        for kind, value in zip(kinds, text.split(" | "), strict=True):
            findings.append(Finding(Span(at, at + len(value)), kind, "bench", 0.9, frozenset()))
            at += len(value) + 3
        check = matcher.check(Document(text, (), "text/plain"), findings)
        n_found += check.n_patients
        expected += check.expected_by_chance
    low, high = clopper_pearson(n_found, n)
    micros = (time.perf_counter() - started) / n * 1e6
    print(
        f"strangers: {n_found} of {n:,} matched by chance, {n_found / n * 1e4:.2f} in 10,000 "
        f"({low * 1e4:.2f} to {high * 1e4:.2f}); expected {expected / n * 1e4:.2f}; {micros:.0f} us each"
    )


def _share(name: str, people: list[Person], engine: Engine, matcher: Matcher) -> None:
    """Examine a share without and with the index; count files matched and referred, and time."""
    matched: Counter[str] = Counter()
    files: Counter[str] = Counter()
    referred: Counter[bool] = Counter()
    seconds = dict.fromkeys((False, True), 0.0)
    with_index = replace(engine, patients=matcher)
    for number, (kind, text, _) in enumerate(documents(people)):
        document = Document(text, (), "text/csv" if kind == "table" else "text/plain")
        for used in (False, True) if number < N_COMPARED else (True,):
            started = time.process_time()
            found = examine(document, with_index if used else engine)
            if number < N_COMPARED:
                referred[used] += found.referral is Referral.REFERRED
                seconds[used] += time.process_time() - started
        files[kind] += 1
        matched[kind] += bool(found.patients and found.patients.n_patients)
    for kind, n in [*files.items(), ("all", files.total())]:
        k = matched.total() if kind == "all" else matched[kind]
        low, high = clopper_pearson(k, n)
        print(
            f"{name}: {kind:<7} {k} of {n} files matched: {k / n:.4f} ({low:.5f} to {high:.5f})", flush=True
        )
    print(
        f"{name}, first {N_COMPARED}: {referred[False]} referred without, {referred[True]} with the index; "
        f"{seconds[False]:.1f} s without, {seconds[True]:.1f} s with it"
    )


if __name__ == "__main__":
    patients, people, strangers, others = map(int, sys.argv[1:5])
    measure(patients, people, strangers, others, Path(sys.argv[5]) if len(sys.argv) > 5 else None)
