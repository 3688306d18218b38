"""The JSON of the queue in the REST API; names as in ``phiscan queue list --json``."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from phiscan.model import EntityType, FailReason, Verdict
from phiscan.review.decisions.corrections import Correction, ItemCorrections, Mark
from phiscan.review.worklist.model import MAX_NOTE_CHARS, Decided, WorkDetail, WorkItem, WorkState
from phiscan.web.row_numbers import MAX_NUMBER


class Body(BaseModel):
    """A request body: an unknown field is an error, because a misspelt one would silently not apply."""

    model_config = ConfigDict(extra="forbid")


class Item(BaseModel):
    """One row of the queue; results of the machine are null or empty for a blind item."""

    file: int
    root: str
    path: str
    media_type: str
    size: int
    owner: str
    exposure: str
    risk: float | None = Field(description="null for a blind item: its place in the list was drawn")
    blind: bool
    pii: list[str]
    people: int | None
    people_interval: tuple[int, int] | None = Field(
        description="95 % interval of people; null where everything was counted"
    )
    findings: int | None
    health: float | None
    case: str | None
    state: WorkState
    reviewer: str | None
    decided: datetime | None
    assignee: str | None
    new: bool
    group: int | None
    suppressed: bool
    seen: int = Field(description="to be sent back with a verdict: what the reviewer saw")

    @classmethod
    def of(cls, item: WorkItem) -> Item:
        """Convert an item of the list."""
        return cls(
            file=item.file_id,
            root=item.root,
            path=item.path,
            media_type=item.media_type,
            size=item.size,
            owner=item.owner,
            exposure=item.exposure,
            risk=None if item.blind else item.risk,
            blind=item.blind,
            pii=list(item.vector.names),
            people=item.n_people,
            people_interval=item.people_interval,
            findings=item.n_findings,
            health=item.score,
            case=item.case or None,
            state=item.state,
            reviewer=item.reviewer or None,
            decided=item.decided,
            assignee=item.assignee or None,
            new=item.new,
            group=item.group_id,
            suppressed=item.suppressed,
            seen=item.examination_id,
        )


class Items(BaseModel):
    """A page of the queue; ``after``: the value of ``at`` for the next page; null = this was the last."""

    n: int
    items: list[Item]
    after: str | None


class FoundReason(BaseModel):
    """One step of a finding's score."""

    kind: str
    detail: str
    score: float


class Found(BaseModel):
    """One identifier: location and reasons, never its value; ``shape``: letters as X and x, digits as 9."""

    position: int
    type: EntityType
    shape: str
    locator: str
    start: int
    end: int
    score: float
    source: str
    reasons: list[FoundReason]
    identity: str


class Term(BaseModel):
    """A health concept found."""

    concept: str
    count: int
    locator: str


class Unread(BaseModel):
    """A part that could not be read."""

    locator: str
    reason: FailReason
    detail: str


class SpanMark(BaseModel):
    """The correction of one span; ``position`` null: a missed one."""

    position: int | None
    mark: Mark
    type: EntityType
    start: int
    end: int
    reviewer: str
    corrected: datetime

    @classmethod
    def of(cls, one: Correction) -> SpanMark:
        """Convert a correction."""
        return cls(
            position=one.position,
            mark=one.mark,
            type=one.entity_type,
            start=one.span.start,
            end=one.span.end,
            reviewer=one.reviewer,
            corrected=one.corrected,
        )


class Detail(BaseModel):
    """One item with its evidence."""

    item: Item
    mode: int
    uid: int
    readers: list[str]
    content_hash: str
    hamming: int | None
    missing: list[str]
    nearest_prototype: str | None
    prototype_distance: int | None
    health_prototype: str | None
    detectors: dict[str, bool]
    detector_probability: dict[str, float] = Field(description="P(PHI) by each detector alone")
    found: list[Found]
    terms: list[Term]
    unread: list[Unread]
    corrections: list[SpanMark]
    spans_complete: bool

    @classmethod
    def of(cls, detail: WorkDetail, marks: ItemCorrections) -> Detail:
        """Convert an item; a blind item's corrections are omitted, because they would reveal its findings."""
        explained, blind = detail.explained, detail.item.blind
        return cls(
            item=Item.of(detail.item),
            mode=detail.source.mode,
            uid=detail.source.uid,
            readers=list(detail.readers),
            content_hash=detail.item.content_hash,
            hamming=explained.hamming if explained else None,
            missing=[bit.value for bit in explained.missing] if explained else [],
            nearest_prototype=(explained.nearest_prototype or None) if explained else None,
            prototype_distance=explained.prototype_distance if explained else None,
            health_prototype=(explained.health_prototype or None) if explained else None,
            detectors=dict(explained.detectors) if explained else {},
            detector_probability=dict(explained.detector_probabilities) if explained else {},
            found=[
                Found(
                    position=position,
                    type=one.entity_type,
                    shape=one.preview,
                    locator=one.locator,
                    start=one.span.start,
                    end=one.span.end,
                    score=one.score,
                    source=one.source,
                    reasons=[FoundReason(kind=r.kind, detail=r.detail, score=r.score) for r in one.reasons],
                    identity=one.identity,
                )
                for position, one in enumerate(detail.findings)
            ],
            terms=[Term(concept=t.concept, count=t.count, locator=t.locator) for t in detail.terms],
            unread=[Unread(locator=p.locator, reason=p.reason, detail=p.detail) for p in detail.unread],
            corrections=[] if blind else [SpanMark.of(one) for one in marks.spans],
            spans_complete=marks.complete and not blind,
        )


class NewVerdict(Body):
    """A verdict; ``token``: random text, so that a repeated request is recorded once."""

    verdict: Verdict
    seen: int = Field(ge=1, le=MAX_NUMBER)
    token: str = Field(default="", max_length=100)
    reason: str = Field(default="", max_length=200)
    note: str = Field(default="", max_length=MAX_NOTE_CHARS)
    override: bool = False


class RecordedVerdict(BaseModel):
    """A verdict as it was recorded; ``repeated``: the same token was used before."""

    file: int
    verdict: Verdict
    reviewer: str
    decided: datetime
    repeated: bool

    @classmethod
    def of(cls, made: Decided) -> Self:
        """Convert the result of a verdict."""
        return cls(
            file=made.file_id,
            verdict=made.verdict,
            reviewer=made.reviewer,
            decided=made.decided,
            repeated=made.repeated,
        )


class NewMark(Body):
    """The correction of one span: see ``Mark`` for the required fields of each."""

    mark: Mark
    seen: int = Field(ge=1, le=MAX_NUMBER)
    position: int | None = Field(default=None, ge=0, le=MAX_NUMBER)
    type: EntityType | None = None
    start: int | None = Field(default=None, ge=0, le=MAX_NUMBER)
    end: int | None = Field(default=None, ge=1, le=MAX_NUMBER)


class Assignment(Body):
    """The assignee; "" = removes the assignment."""

    files: list[int] = Field(min_length=1, max_length=1000)
    assignee: str = Field(max_length=200)
