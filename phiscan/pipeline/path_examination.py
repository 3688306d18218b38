"""The names of a file, its folders and its members to a referral by these, alone or with its content.

A path refers a file that names a person and tells of an illness, a procedure or care, if P(PHI) of its words
reaches the threshold. Where the path tells of these and the content names people ("Fit notes/March.csv"), the
content is judged with the path as its first line. Nearly all files are done after one look for health terms:
only a path with one is read by the expensive recognizers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from phiscan import screen
from phiscan.decision.decided_examples import INPUT
from phiscan.health.classifier import classify, read_terms
from phiscan.health.file_evidence import NAMES, identifies
from phiscan.lexicon.capitalized_words import has_civil_title
from phiscan.model import TITLED, Document, Examination, Finding, Referral, SourceFile, Span, TermHit
from phiscan.pipeline.engine import Engine
from phiscan.pipeline.examine import examine_named
from phiscan.pipeline.file_names import (
    Named,
    all_names,
    has_word_of_care,
    is_of_others,
    judged_paths,
    may_name,
    path_of,
    place_in,
    title_line,
    title_of,
    titled_parts,
    with_names,
)
from phiscan.pipeline.windows.examination import is_long
from phiscan.pipeline.windows.text_windows import TextWindow, cut_window, moved
from phiscan.screen.people_count import count_people
from phiscan.screen.prototypes import screening_of

MAX_EXAMINED = 50  # paths of one file that have a health term
# Kinds of concepts that tell of illness or care by themselves: no symptom, part of the body or specialty.
OF_CARE = ("dx:", "rx:", "px:", "lab:", "mh:", "icd:", "lay:")
_BARE = Document("", (), "text/plain")


def examine_path(
    document: Document, source: SourceFile, engine: Engine
) -> tuple[Document, Examination] | None:
    """Judge what a file, its folders and its members are called; None: that does not refer it.

    Returns the document with all names after its text, and what was found in the names at its place there.
    """
    if engine.decider.is_knn_alone:
        return None
    paths = judged_paths(document, path_of(source))
    names = all_names(paths)
    found = [pair for path in _telling(paths, names, engine) for pair in _referred(path, engine)]
    if not found:
        return None
    whole = with_names(document, names)
    best = max((one for _, one in found), key=lambda one: one.decision.log_odds)
    places = [(one, partial(place_in, whole, alone)) for alone, one in found]
    findings = [each for one, place in places for each in moved(one.screening.findings, place)]
    terms = [each for one, place in places for each in moved(one.health.terms, place)]
    return whole, _with(best, dict.fromkeys(findings), terms, whole, engine)


def examine_titled(
    document: Document, source: SourceFile, engine: Engine
) -> tuple[Document, Examination] | None:
    """Judge the content of a file with the names that it lies under as its first line.

    None: that does not refer it, or these names tell of no illness, procedure or care. A part with such a
    line is referred where the encoder says that it tells of a person's health. Returns what ``examine_path``
    does.
    """
    if engine.decider.is_knn_alone or is_long(document):
        return None
    found: list[tuple[TextWindow, Examination, list[Finding], tuple[Named, ...]]] = []
    parts = (part for part in titled_parts(document, title_of(source)) if _tells_of_care(part[2], engine))
    for start, end, names in islice(parts, MAX_EXAMINED):
        window = cut_window(document, start, end, title_line(names))
        one = examine_named(window.document, (), engine)[1]
        # Whoever is named above the content counts where it is said who that is: ``any_names_person``.
        inside = list(moved(one.screening.findings, window.in_whole))
        if one.referral is Referral.REFERRED and _reads_like_health(one) and identifies(inside):
            found.append((window, one, inside, names))
    if not found:
        return None
    window, one, findings, names = max(found, key=lambda part: part[1].decision.log_odds)
    whole = with_names(document, names)
    of_names = with_names(_BARE, names)
    terms = [
        *moved(classify(of_names, engine.classifier).terms, partial(place_in, whole, of_names)),
        *moved(one.health.terms, window.in_whole),
    ]
    passage, n_title = one.decision.passage, window.n_header_chars
    below = passage and passage.end > n_title and Span(max(passage.start, n_title), passage.end)
    decided = replace(
        one.decision,
        case=TITLED,
        reasons=((TITLED, 0.0), *one.decision.reasons),
        passage=window.in_whole(below) if below else None,
    )
    return whole, _with(replace(one, decision=decided), findings, terms, whole, engine)


def is_titled(source: SourceFile, engine: Engine) -> bool:
    """Tell whether the names of a file and its folders tell of an illness, a procedure or care."""
    return _tells_of_care(title_of(source), engine)


def _reads_like_health(one: Examination) -> bool:
    """Tell whether the encoder raised P(PHI): a list of staff below "Clinic" tells of no patient."""
    return dict(one.decision.evidence).get(f"{INPUT}encoder", 0) > 0


def _tells_of_care(names: Sequence[Named], engine: Engine) -> bool:
    """Tell whether names may tell of somebody's health, by their words alone; the encoder decides."""
    if is_of_others(names):
        return False
    return has_word_of_care(names) or bool(classify(with_names(_BARE, names), engine.classifier).terms)


def joined(
    content: Examination, of_path: Examination, document: Document, whole: Document, engine: Engine
) -> Examination:
    """Return the examination of a document with the referral by the names that ``whole`` has besides."""
    n_chars = len(document.text)
    inside = [one for one in content.screening.findings if one.span.start < n_chars]
    terms = [*(one for one in content.health.terms if one.span.start < n_chars), *of_path.health.terms]
    found = {(one.span, one.entity_type): one for one in (*of_path.screening.findings, *inside)}
    decided = replace(of_path.decision, evidence=content.decision.evidence)
    return _with(replace(content, decision=decided), found.values(), terms, whole, engine)


def _telling(
    paths: Sequence[tuple[Named, ...]], names: Sequence[Named], engine: Engine
) -> Iterator[tuple[Named, ...]]:
    """Yield the paths, the first ones of many, of which a name has a health term or a word of care."""
    listed = with_names(_BARE, names)
    starts = [segment.start for segment in listed.segments]
    hits = read_terms(listed, engine.classifier).health.starts.tolist()
    segments = [listed.segments[bisect_right(starts, start) - 1] for start in hits]
    of_health = {(one.locator, listed.text[one.start : one.end]) for one in segments}
    of_health.update(name for name in names if has_word_of_care((name,)))
    left = MAX_EXAMINED
    for path in paths:
        if left and not of_health.isdisjoint(path) and not is_of_others(path) and any(map(may_name, path)):
            left -= 1
            yield path


def _referred(path: Sequence[Named], engine: Engine) -> Iterator[tuple[Document, Examination]]:
    """Yield the names of one path as a document and their examination, if these refer a file."""
    document = with_names(_BARE, path)
    screening = screen.screen(document, engine.screener)
    people = [one.span for one in screening.findings if _names_person(one, document.text)]
    if not people:
        return
    reading = read_terms(document, engine.classifier)
    health = classify(document, engine.classifier, reading)
    gathered = engine.decider.gather(document, screening, engine.classifier, reading)
    decided = engine.decider.decide(document, screening, health, (), gathered)
    # "hodgkin-howard" is a name, and no illness.
    concepts = [hit.concept for hit in health.terms if not any(map(hit.span.overlaps, people))]
    is_of_care = has_word_of_care(path) or any(concept.startswith(OF_CARE) for concept in concepts)
    if not is_of_care and not concepts:
        return
    referred = engine.decider.decide_path(decided, is_of_care=is_of_care)
    if referred is not None:
        yield document, Examination(screening, health, referred, ())


def _names_person(finding: Finding, text: str) -> bool:
    """Tell whether a finding is a full name, or part of one after a title: "Smith 2019" is an author."""
    return finding.bits >= NAMES or (bool(finding.bits & NAMES) and has_civil_title(text, finding.span.start))


def _with(
    examination: Examination,
    findings: Iterable[Finding],
    terms: Iterable[TermHit],
    whole: Document,
    engine: Engine,
) -> Examination:
    """Return an examination with these findings and terms of a document instead of its own."""
    ordered = tuple(sorted(findings, key=lambda finding: finding.span))
    before = examination.screening
    screening = screening_of(
        ordered,
        (bit for finding in ordered for bit in finding.bits),
        engine.screener.prototypes,
        n_people=max(before.n_people, count_people(whole, ordered)),
        people_interval=before.people_interval,
    )
    in_order = tuple(sorted(dict.fromkeys(terms), key=lambda hit: hit.span))
    return replace(examination, screening=screening, health=replace(examination.health, terms=in_order))
