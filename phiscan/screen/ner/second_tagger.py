"""Text to names by a second, independent tagger: a small spaCy network over the forms of words.

It uses no list of names, no rule and no output of the first tagger. Its inputs are each word's form, first
letter, last letters and shape, hashed into small tables, and a convolution over the neighbours. It decides no
referral and sets no characteristic: its verdicts are a capture list on a sample (docs/decisions/0027).

The weights are arrays and JSON, as the tagger's: no pickle, and nothing of spaCy's own serialization.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from phiscan.errors import DAMAGED_ARRAYS, ModelError
from phiscan.model import Document, EntityType, Finding
from phiscan.screen.ner.spacy_pipeline import findings_of
from phiscan.text.chunks import chunks

FOLDER: Final = Path(__file__).parents[1] / "data"
WEIGHTS, LABELS = "second_names.npz", "second_names.json"
SOURCE: Final = "second"
FORMAT: Final = 1
CHUNK_CHARS: Final = 4_000
MAX_CHUNKS: Final = 24  # of a long text, evenly spread, as for detector C
_ATTRIBUTES = ("NORM", "PREFIX", "SUFFIX", "SHAPE")
_WORD = re.compile(r"[^\W\d_]+")
_N_WORDS_OF_FULL_NAME = 2
_PEOPLE = frozenset({EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL})


def blank(shape: Mapping[str, Any]) -> Any:
    """Return an untrained pipeline: English tokens and one network that marks names.

    Args:
        shape: ``width`` of a word's vector, ``depth`` of the convolution (words seen on each side),
            ``rows`` of each hash table (form, first letter, last letters, shape), ``hidden`` units.
    """
    spacy = import_module("spacy")
    pipeline = spacy.blank("en")
    pipeline.add_pipe(
        "ner",
        config={
            "model": {
                "@architectures": "spacy.TransitionBasedParser.v2",
                "state_type": "ner",
                "extra_state_tokens": False,
                "hidden_width": shape["hidden"],
                "maxout_pieces": 2,
                "use_upper": True,
                "tok2vec": {
                    "@architectures": "spacy.Tok2Vec.v2",
                    "embed": {
                        "@architectures": "spacy.MultiHashEmbed.v2",
                        "width": shape["width"],
                        "attrs": list(_ATTRIBUTES),
                        "rows": list(shape["rows"]),
                        "include_static_vectors": False,
                    },
                    "encode": {
                        "@architectures": "spacy.MaxoutWindowEncoder.v2",
                        "width": shape["width"],
                        "depth": shape["depth"],
                        "window_size": 1,
                        "maxout_pieces": 3,
                    },
                },
            }
        },
    )
    return pipeline


@dataclass(frozen=True, slots=True)
class _Parts:
    """The configuration and weights of a network."""

    shape: Mapping[str, Any]
    actions: Mapping[str, Mapping[str, int]]
    arrays: Mapping[str, npt.NDArray[np.floating[Any]]] = field(repr=False)


def digest(arrays: Mapping[str, npt.NDArray[np.floating[Any]]]) -> str:
    """Return one hash of the names and bytes of all arrays."""
    whole = hashlib.sha256()
    for name in sorted(arrays):
        whole.update(name.encode() + b"\0" + np.ascontiguousarray(arrays[name]).tobytes())
    return whole.hexdigest()


def arrays_of(pipeline: Any) -> dict[str, npt.NDArray[np.float32]]:
    """Return every array of the network by the number of its layer, in the order of the walk, and name."""
    return {
        f"{number}.{name}": np.asarray(node.get_param(name))
        for number, node in enumerate(pipeline.get_pipe("ner").model.walk())
        for name in node.param_names
        if node.has_param(name)
    }


def with_arrays(
    shape: Mapping[str, Any],
    actions: Mapping[str, Mapping[str, int]],
    arrays: Mapping[str, npt.NDArray[np.floating[Any]]],
) -> Any:
    """Return a pipeline with the given weights; ``actions`` are the moves of the network, in its own order.

    Raises:
        ValueError: the arrays are not those of such a network.
    """
    example = import_module("spacy.training").Example
    pipeline = blank(shape)
    ner = pipeline.get_pipe("ner")
    sample = pipeline.make_doc("a b")
    ner.initialize(
        lambda: [example(sample, sample)],
        nlp=pipeline,
        labels={int(action): dict(labels) for action, labels in actions.items()},
    )
    expected = {name: array.shape for name, array in arrays_of(pipeline).items()}
    if {name: array.shape for name, array in arrays.items()} != expected:
        message = "expected the arrays of a network of this shape"
        raise ValueError(message)
    nodes = list(ner.model.walk())
    for key, array in arrays.items():
        number, _, name = key.partition(".")
        nodes[int(number)].set_param(name, array.astype(np.float32))
    return pipeline


class SecondNames:
    """The second tagger; its files are read when it is loaded, spaCy is imported at its first use."""

    def __init__(self, pipeline: Any = None, parts: _Parts | None = None) -> None:
        """Take a network, or the parts to make it of."""
        self._made = pipeline
        self._parts = parts

    @classmethod
    def load(cls, folder: Path = FOLDER) -> Self:
        """Read weights and labels.

        Raises:
            ModelError: they are missing or damaged.
        """
        try:
            card = json.loads((folder / LABELS).read_text(encoding="utf-8"))
            with np.load(folder / WEIGHTS, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            parts = _Parts(card["shape"], card["actions"], arrays)
            known = card["format"] == FORMAT and card["arrays"] == digest(arrays)
        except DAMAGED_ARRAYS as error:
            message = f"{folder / WEIGHTS}: expected the weights of the second names: {type(error).__name__}"
            raise ModelError(message) from None
        if not known:
            message = f"{folder / LABELS}: expected format {FORMAT} and the weights that it was written with"
            raise ModelError(message)
        return cls(parts=parts)

    @property
    def _pipeline(self) -> Any:
        if self._made is None and self._parts is not None:
            self._made = with_arrays(self._parts.shape, self._parts.actions, self._parts.arrays)
        return self._made

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield the network's names of people, organizations and places; spans in code points."""
        for base, chunk in chunks(document.text, CHUNK_CHARS):
            yield from findings_of(self._pipeline(chunk).ents, SOURCE, base)

    def finds_full_name(self, text: str) -> bool:
        """Is a person named in full: at least two words, each with a capital?

        A single word is weak evidence: without lists of names, a drug or a new term looks like a surname.
        Stops at the first full name, and reads a long text in part.
        """
        pieces = list(chunks(text, CHUNK_CHARS))
        step = max(1, -(-len(pieces) // MAX_CHUNKS))
        return any(
            finding.entity_type in _PEOPLE and is_full(finding.span.of(piece))
            for _, piece in pieces[::step]
            for finding in findings_of(self._pipeline(piece).ents, SOURCE)
        )


def is_full(name: str) -> bool:
    """Tell whether a name has two words that begin with a capital, initials aside.

    >>> is_full("Ann Roy"), is_full("ROY, ANN"), is_full("J. Roy"), is_full("metformin")
    (True, True, False, False)
    """
    words = [word for word in _WORD.findall(name) if word[0].isupper() and len(word) > 1]
    return len(words) >= _N_WORDS_OF_FULL_NAME
