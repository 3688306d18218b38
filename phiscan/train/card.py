"""The model card: what the tagger was trained on, with hashes, and its figures on text that it never saw."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from evaluate import HEADER
from foreign import ATTRIBUTION, FAMILIES

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CARD = ROOT / "docs" / "reference" / "model-card-names.md"
DICTIONARIES = ("first_names", "last_names", "ordinary_words", "name_cues", "places")
_CARD = """# Model card: the name tagger

Finds names of people, organizations, places and street addresses in running text, where no label or
title gives them away. A linear-chain conditional random field, trained by CRFsuite, run by numpy alone.
Written by `scripts/train_names/train.py`; do not edit.

    .venv/bin/pip install -e '.[train]'
    .venv/bin/python scripts/train_names/train.py --data FOLDER --folds FOLDER

## What it does on foreign text

Every row comes from a model that was trained **without the whole family of that set** (cross-validation
over families of data sets); the shipped model was trained on all of them. Tokens are runs without white
space. Recall is given under the right label and under any label of the tagger. Precision is missing
where the source does not mark every name. False spans of persons are given per 1,000 words; in sets
that do not mark every name some of them are right.

{table}

The tagger stands beside the rules (labels, titles, credentials, gazetteer forms); the figures of both
together are in [the explanation of screening](../explanation/screening.md).

## Trained on

{n_documents} documents, {n_tokens} tokens, seed {seed}. The generator (`scripts/train_names/`) fills
sentences, forms, letters, tables, dialogue, HL7, JSON, XML and French notes with names of Faker's
locales, of the gazetteers, and of syllables put together; a tenth is in capitals, a part in lower case
or misread as by a scanner. In each document {hidden:.0%} of the name lists are hidden, so that unknown
names are learned. The openly licensed sets had every marked name of a person replaced by a surrogate,
and lines that may hold an unmarked name left out; no text of theirs is stored in the weights beyond
single words that occur in {min_documents} documents and more.

| set | source and licence | SHA-256 |
| --- | --- | --- |
{sources}

Dictionaries and templates:

| file | SHA-256 |
| --- | --- |
{files}

Parameters: `{parameters}`. {n_features} features; weights {megabytes:.2f} MB in half precision, which
give CRFsuite's labels (`tests/screen/test_tagger.py`).

## Limits

* Organizations are found far less surely than people; only those with a probability of 0.7 are reported.
* On social media (wnut17, held out) every third finding of a person is right: hashtags, brands and lower
  case. On speeches and health prose one to two spans in 1,000 words are false.
* A name that stands alone and is also a word ("Hope called", "Will") is often missed without context.
* Trained on English and French in Latin letters. Names in other scripts are found by labels only.
* A coined company name may be taken for a person; the queue shows the score.
"""


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, 16 digits of it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def write_card(
    data: Path, rows: Sequence[str], facts: Mapping[str, object], parameters: Mapping[str, object]
) -> None:
    """Write docs/reference/model-card-names.md."""
    names = [name for family in FAMILIES.values() for name in family]
    sources = [f"| {n} | {ATTRIBUTION[n]} | {digest(data / f'{n}.jsonl')} |" for n in names]
    files = [ROOT / "dictionaries" / f"{name}.txt" for name in DICTIONARIES]
    files += sorted(HERE.glob("*.txt"))
    listed = [f"| {path.relative_to(ROOT).as_posix()} | {digest(path)} |" for path in files]
    text = _CARD.format(
        table="\n".join([HEADER, *rows]),
        sources="\n".join(sources),
        files="\n".join(listed),
        parameters=json.dumps(parameters),
        **facts,
    )
    CARD.write_text(text, encoding="utf-8")
