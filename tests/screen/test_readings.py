"""A document is read as it is written, and what one reading finds is weighed against another."""

from collections.abc import Iterator

from phiscan.model import Document, EntityType, Finding, Reason, Span
from phiscan.screen.case_variants import findings_of_variants
from phiscan.screen.ner.tagger import SOURCE
from phiscan.screen.recognizers.person.recognizer import RuleNameRecognizer
from tests.screen.whole import plain

TEXT = "the lady in bed two who came in at noon has gone home"


class _Names(RuleNameRecognizer):
    """Finds one doubtful name in a text as it stands, and in the second reading two that overlap."""

    def __init__(self) -> None:
        self._n_asked = 0

    def recognize(self, document: Document) -> Iterator[Finding]:
        del document
        self._n_asked += 1
        if self._n_asked == 1:
            yield _person(19, 23, SOURCE).set_aside("doubt", "a word")
        else:
            yield _person(4, 23, "names.form")
            yield _person(9, 11, "names.form")


def _person(start: int, end: int, source: str) -> Finding:
    reason = Reason("model", source, 0.8)
    return Finding(Span(start, end), EntityType.PERSON, source, 0.8, frozenset(), (reason,))


def test_a_guess_within_a_name_stands_although_another_name_lies_between() -> None:
    document = plain(TEXT)
    assert (19, 23) in [(f.span.start, f.span.end) for f in findings_of_variants(document, [_Names()])]
