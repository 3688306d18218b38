"""Our name finder as a component of a spaCy pipeline: ``spacy.blank("en").add_pipe("phiscan_names")``.

spaCy imports this module through the entry point ``spacy_factories``; nothing in phiscan does, so that a scan
does not pay for spaCy. The component sets ``doc.ents`` (one label per token, what displaCy draws) and
``doc.spans["phiscan"]`` (every finding, even where two share a token). Entities that stand in the document
already are united with ours by the same rules that unite our own recognizers. What a span says beside that:

* ``span._.phiscan_score``: from 0 to 1;
* ``span._.phiscan_reasons``: tuple of ``(kind, detail)``, names of rules and words of ours, no document text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from spacy.language import Language
from spacy.tokens import Span
from spacy.util import filter_spans

from phiscan.config import Config
from phiscan.errors import ConfigError
from phiscan.model import Document, Finding
from phiscan.model import Span as Place
from phiscan.screen.ner.spacy_pipeline import findings_of
from phiscan.screen.pipeline import build_recognizers
from phiscan.screen.recognizer import Recognizer
from phiscan.screen.recognizers.person.recognizer import build_name_recognizers
from phiscan.screen.resolution import resolve

NAME = "phiscan_names"
SPANS_KEY = "phiscan"
ALIGNMENTS = ("strict", "contract", "expand")
_FOUND_BEFORE = "spacy.doc"  # the source of an entity that another component set


class NamesComponent:
    """Mark what phiscan finds in a ``Doc``."""

    def __init__(self, recognizers: Sequence[Recognizer], alignment: str) -> None:
        self._recognizers = tuple(recognizers)
        self._alignment = alignment

    def __call__(self, doc: Any) -> Any:
        """Set the entities and spans of a document and return it.

        Offsets of findings are code points of ``doc.text``. Where one begins or ends inside a token,
        ``alignment`` decides as in ``Doc.char_span``: ``expand`` takes the whole token, ``contract`` leaves
        it out, ``strict`` drops the finding.
        """
        document = Document(doc.text, (), "text/plain")
        found = [finding for one in self._recognizers for finding in one.recognize(document)]
        known = list(findings_of(doc.ents, _FOUND_BEFORE))
        taken = {finding.span for finding in known}
        others = [e for e in doc.ents if Place(e.start_char, e.end_char) not in taken]
        spans = list(self._spans(doc, resolve([*found, *known])))
        doc.spans[SPANS_KEY] = spans
        doc.set_ents(filter_spans([*spans, *others]))  # the longest first, ours before theirs
        return doc

    def _spans(self, doc: Any, findings: Sequence[Finding]) -> Iterator[Any]:
        for finding in findings:
            place = _stripped(doc.text, finding.span)
            label = finding.entity_type.value
            span = doc.char_span(place.start, place.end, label=label, alignment_mode=self._alignment)
            if span is None or not len(span):
                continue
            span._.phiscan_score = finding.score
            span._.phiscan_reasons = tuple((reason.kind, reason.detail) for reason in finding.reasons)
            yield span


def _stripped(text: str, span: Place) -> Place:
    """Return a span without white space at its ends: spaCy's entities have none."""
    start, end = span.start, span.end
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return replace(span, start=start, end=end)


def create(
    nlp: Any,  # noqa: ARG001 (spaCy calls a factory with both)
    name: str,  # noqa: ARG001
    *,
    identifiers: bool,
    extra_patterns: list[str],
    alignment: str,
) -> NamesComponent:
    """Build the component.

    ``identifiers`` adds everything that rules find (phones, health cards, dates); ``extra_patterns`` are a
    site's own rule files for that.

    Raises:
        ConfigError: ``alignment`` is none of ``strict``, ``contract``, ``expand``.
        RuleError, DictionaryError, ModelError: naming the file and what was expected in it.
    """
    if alignment not in ALIGNMENTS:
        raise ConfigError(NAME, f"alignment: expected one of {', '.join(ALIGNMENTS)}, got {alignment}")
    config = Config(extra_patterns=tuple(extra_patterns))
    recognizers = build_recognizers(config) if identifiers else build_name_recognizers(config)
    return NamesComponent(recognizers, alignment)


Language.factory(
    NAME,
    assigns=["doc.ents", "doc.spans"],
    default_config={"identifiers": False, "extra_patterns": [], "alignment": "expand"},
    func=create,
)
for _attribute in ("phiscan_score", "phiscan_reasons"):
    if not Span.has_extension(_attribute):
        Span.set_extension(_attribute, default=None)
