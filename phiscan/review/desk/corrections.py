"""Corrections of spans and topics at the desk, and the gold that they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from phiscan.model import EntityType, Span
from phiscan.review.decisions import corrections
from phiscan.review.decisions.corrections import Correction, GoldFile, ItemCorrections, Mark, TopicGold
from phiscan.store.database import Database


class CorrectionDesk:
    """What reviewers say is right of spans and topics."""

    _database: Database

    def correct(
        self,
        file_id: int,
        mark: Mark,
        *,
        seen: int,
        reviewer: str,
        now: datetime,
        position: int | None = None,
        span: Span | None = None,
        entity_type: EntityType | None = None,
    ) -> Correction:
        """Say what is right of one span; what is not given is taken from the finding.

        Args:
            file_id: the file.
            mark: ``wrong_type`` needs the right ``entity_type``, ``wrong_extent`` the right ``span``,
                ``missed`` both and no ``position``; ``withdrawn`` takes back what was said of a position, or
                of the missed ``span``.
            seen: the examination whose findings were shown.
            reviewer: who says so.
            now: when.
            position: place of the finding in ``ItemDetail.findings``.
            span: code points of the extracted text.
            entity_type: type of the identifier.

        Raises:
            ConflictError: the file was examined anew since it was shown.
            InputError: no such finding, or the mark lacks something, or the span reaches beyond the text.
        """
        return self._database.write(
            lambda connection: corrections.correct(
                connection,
                file_id,
                mark,
                seen=seen,
                reviewer=reviewer,
                now=now,
                position=position,
                span=span,
                entity_type=entity_type,
            ),
            durable=True,
        )

    def complete_spans(
        self, file_id: int, *, seen: int, reviewer: str, now: datetime, complete: bool = True
    ) -> None:
        """Say that every span of a file was gone through (or not after all): it becomes gold.

        Raises:
            ConflictError: the file was examined anew since it was shown.
        """
        self._database.write(
            lambda connection: corrections.complete_spans(
                connection, file_id, seen=seen, reviewer=reviewer, now=now, complete=complete
            ),
            durable=True,
        )

    def correct_topics(
        self, file_id: int, labels: Sequence[str], *, seen: int, reviewer: str, now: datetime
    ) -> None:
        """Say which ICD chapters and blocks a file is about; none = about none.

        Raises:
            ConflictError: the file was examined anew since it was shown.
            InputError: a label is empty, too long, or there are too many.
        """
        self._database.write(
            lambda connection: corrections.correct_topics(
                connection, file_id, labels, seen=seen, reviewer=reviewer, now=now
            ),
            durable=True,
        )

    def corrections(self, file_id: int, *, viewer: str | None = None) -> ItemCorrections:
        """Return what stands about the spans and topics of a file's present content.

        Without a ``viewer`` all of it; with one, as far as that person may see it.
        """
        with self._database.read() as connection:
            return corrections.corrections(connection, file_id, viewer=viewer)

    def gold(self) -> Iterator[GoldFile]:
        """Yield the files whose spans were gone through, what is there and what the machine found."""
        with self._database.read() as connection:
            yield from corrections.gold(connection)

    def topic_gold(self) -> Iterator[TopicGold]:
        """Yield the files whose topics a reviewer gave, with the concepts that the machine found."""
        with self._database.read() as connection:
            yield from corrections.topic_gold(connection)
