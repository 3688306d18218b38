r"""Where to look: linear automata of all labels and of all shapes of values pass over the text.

They run over UTF-8 bytes and stop at the shape of a value, or at a label that a value can follow. Every stop
costs as much as thousands of bytes, so the automaton itself requires what must follow a label: most words
that are labels ("on", "clinic", "since") occur in prose without any value. A label counts when

- it ends its cell, and so may head a column; or
- the words and signs of ``GAP`` are followed by what its rules need: a digit at once, where a value can begin
  with nothing else; a digit within one word, or within three where a value can hold more; a capital letter,
  for organizations and places. Street addresses need a digit within 220 characters, looked for later; or
- the text has a JSON field "value", which may be far after its label: then every label counts.

One automaton of both would need a state for every pair of what each has seen so far, which no memory holds;
so both are divided once more, in groups of rules and of labels.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain, groupby
from typing import NamedTuple

import numpy as np
import re2
import regex

from phiscan.model import EntityType
from phiscan.screen.rules.context import GAP_WORDS, canonical, whole_word
from phiscan.screen.rules.definitions import Rule, RuleSet
from phiscan.text.automata import Alternatives, automaton, code_points, end_of, options
from phiscan.text.phrase_patterns import NOTHING, any_label

WINDOW_CHARS = 1 << 20
OVERLAP_CHARS = 4096  # more than any match, so that what a window cuts off the next one has
DFA_BYTES = 256 << 20  # for all rules at once: the default of 8 MB makes re2 fall back to its slow engines
REACH_CHARS = 96  # how far a match may extend around its trigger
# Rules, and labels with the same need after them, in one automaton: with more it has too many states.
_RULES_AT_ONCE = 40
_LABELS_AT_ONCE = 320
_UNIT_CHARS = 2
_GAP_BYTES = 400  # more than is between a label and its value
_TRIGGER_CHARS = 16  # how far after its beginning a stop may still hold a trigger
_WORD_BYTE = re.compile(rb"[0-9A-Za-z\x80-\xff]")
_GOES_ON = re.compile(rb"[0-9A-Za-z\x80-\xff]|[-/.][0-9]")  # a word, or a number in groups
_MORE_THAN_A_CAPITAL = re.compile(rb"[0-9\x80-\xff]")  # letters beyond ASCII are not distinguished
# The bits that tell the further bytes of a sign of UTF-8, and what they are there.
_LEADING_BITS, _FURTHER = 0xC0, 0x80
_SHAPE = -1  # where a label has its ``AfterLabel``
_LAST_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]+(?:[-/.][0-9]+){0,3}\Z")  # or number in groups
_LAST_GROUPS = re.compile(rb"(?:[0-9A-Za-z\x80-\xff]+[-/.])*[0-9A-Za-z\x80-\xff]+\Z")
# Types of values that may have no digit; every other labelled value has one.
WITHOUT_DIGITS = frozenset({EntityType.ORGANIZATION, EntityType.LOCATION})

# The automaton has no look-ahead and only ASCII words: what it takes for a gap or the end of a cell holds all
# that the real ones take, and a little more.
# Without bounds, which would cost states, and yet linear: a run of signs is passed once for its label.
_GAP = rf"[\W_]*(?:\([^()\n]*\)[\W_]*)?(?:{GAP_WORDS}[\W_]*){{0,3}}"
# A comma in a sentence ends no cell: the next cell of a header is short and ends, too.
_NEXT_CELL = r"(?:[^ ]|[ ](?:[^\s,;]+[ ]){0,4}[^\s,;]*[,;\n\r])"
_CELL_END = (
    r"[\w\x{80}-\x{10FFFF}#]{0,6}(?:(?: ?[#:])?(?: ?\([^()\n]+\))?[\"']?"
    rf"(?:[ ]{{0,2}}(?:[\t|\n\r]|[,;]{_NEXT_CELL})|[ ]{{2}})"
    rf"|\.(?:[ ]{{0,2}}(?:[\t|\n\r]|[,;]{_NEXT_CELL})|[ ]{{3}}))"
)
# What may follow a value by the guard of its rule; whatever is beyond ASCII may be no letter.
_ENDS = {
    "word": r"(?:\z|[^0-9A-Za-z])",
    "number": r"(?:\z|[^0-9A-Za-z/.:+-]|[/.:+-](?:\z|[^0-9]))",
    "none": "",
}
# What takes signs beyond ASCII, of which re2 knows none: a value may go on where re2 sees it end.
_MAY_GO_ON = re.compile(r"\\[wWsSDpPX]|\[\^|(?<!\\)\.|[^\x00-\x7f]")
# Letters of a word that are counted up to twenty or more: a state for every count, of which words need none.
_COUNTED = re.compile(r"(\[(?:a-z|A-Z|\\p\{L\}[.'’-]*)\]\{[12],)[1-9][0-9]\}")  # noqa: RUF001 (names are written with it)
_UNCOUNTED = r"\1}"
_FROM_NONE = re.compile(r"(?<!\\)\{(?=,\d)")  # `{,5}`, which re2 takes for signs as they are


class _Need(IntEnum):
    """What must follow a label; each includes those before it, but for the capital letter."""

    HEAD = 0  # the end of its cell
    DIGIT_NEXT = 1
    DIGIT_IN_WORD = 2
    DIGIT_NEAR = 3
    CAPITAL = 4
    ANYTHING = 5


_PATTERN_OF = {
    _Need.DIGIT_NEXT: r"\d",
    _Need.DIGIT_IN_WORD: r"[^\s\d]*\d",
    _Need.DIGIT_NEAR: r"(?:[^\s\d]+[ \t]{1,2}){0,2}[^\s\d]*\d",
    _Need.CAPITAL: r"\p{Lu}",
}
_BEFORE_DIGIT = frozenset("(+")
_NO_DIGITS = [*(chr(c) for c in range(32, 127) if not chr(c).isdecimal()), *"éÉàÇßøж字—°’"]  # noqa: RUF001 (any)
_WORDS = [*(char * n for char in "AaMmSs*" for n in range(1, 9)), "Mon", "Jan", "Mon,", "janv.", "lundi"]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A rule whose values a label announces, and their type; ``column_only`` for headers.

    Made once per label and process, and so compared by identity, which is quick.
    """

    rule: int
    entity_type: EntityType
    label: str
    column_only: bool


class AfterLabel(IntEnum):
    """What is after a label: nothing that could be its value, a word with a capital, or anything."""

    NOTHING = 0
    CAPITAL = 1
    ANYTHING = 2


class Place(NamedTuple):
    """Where an automaton stopped: code points; the rules whose shape fits, or what the label announces."""

    start: int
    end: int
    rules: tuple[int, ...]
    evidence: tuple[Evidence, ...] = ()
    following: AfterLabel = AfterLabel.ANYTHING


class Scanner:
    """Finds the places worth a closer look; built once per process."""

    def __init__(self, ruleset: RuleSet, types: Collection[EntityType] = tuple(EntityType)) -> None:
        """Compile the automata; only values of these ``types`` are looked for."""
        rules = ruleset.rules
        shapes = [i for i, one in enumerate(rules) if not one.needs_evidence and one.entity_type in types]
        self._plain = _RuleFinder([i for i in shapes if not rules[i].trigger], ruleset)
        self._triggered = _RuleFinder([i for i in shapes if rules[i].trigger], ruleset)
        triggers = [_trigger(rules[i]) for i in shapes]
        self._shape = _compiled(triggers)
        self._shapes = Alternatives(_in_groups(triggers))
        table, tails = _labels(ruleset, types)
        self._evidence = {label: tuple(evidence) for label, evidence in table.items()}
        self.labelled = sorted({item.rule for evidence in self._evidence.values() for item in evidence})
        self._labels = Alternatives(
            [f"{any_label(some)}{tail}" for tail in sorted(tails) for some in _by_first_letter(tails[tail])]
        )
        bare = any_label(chain.from_iterable(tails.values()))
        self._label = _compiled([bare])
        self._bare_labels = Alternatives([bare])

    def places(self, text: str, *, in_json: bool) -> Iterator[Place]:
        """Yield where the automata stopped, in text order; a label may lie inside a shape.

        ``in_json`` says that the text has a JSON field "value" (``JSON_FIELD``).
        """
        labels = self._bare_labels if in_json else self._labels
        done = [0, 0]
        for base in range(0, max(len(text), 1), WINDOW_CHARS):
            window = text[base : base + WINDOW_CHARS + OVERLAP_CHARS]
            # A line to write on is no part of a word: the value that is on it begins one.
            raw = window.encode("utf-8", "surrogatepass").replace(b"_", b" ")
            stops = [(start, end, _SHAPE) for start, end in self._shapes_of(raw)]
            stops += self._labels_of(labels, raw)
            if not stops:
                continue
            stops.sort()
            places = np.asarray(stops, dtype=np.int64)[:, :2]
            chars = places if len(raw) == len(window) else code_points(raw, places)
            for (a, b, following), (start, end) in zip(stops, chars.tolist(), strict=True):
                is_label = following != _SHAPE
                if start >= WINDOW_CHARS or base + start < done[is_label]:
                    continue
                done[is_label] = base + (end if is_label else start + 1)
                if not is_label:
                    yield Place(base + start, base + end, self._which(raw, a, b))
                elif whole_word(window, start, end) and not _is_unit(window, start, end):
                    evidence = self._evidence.get(canonical(window[start:end]), ())
                    yield Place(base + start, base + end, (), evidence, AfterLabel(following))

    def _labels_of(self, labels: Alternatives, raw: bytes) -> Iterator[tuple[int, int, int]]:
        """Yield start and end, in bytes, of each label alone, and its ``AfterLabel``."""
        search = labels.search(raw)
        found = search.after(0)
        while found is not None:
            start, end = found
            label_end = end_of(self._label, raw, start)
            yield start, label_end, _following(raw, label_end, end)
            # What is required after the label may be a label, too; but not in a word without end.
            found = search.after(label_end if 0 < end - label_end <= _GAP_BYTES else max(end, start + 1))

    def _shapes_of(self, raw: bytes) -> Iterator[tuple[int, int]]:
        """Yield start and end, in bytes, of each shape; what ends in a word or number hides none in it.

        A trigger may end in the first figures of something else: "ON 14-JUL-2002" begins as postal codes do.
        """
        search = self._shapes.search(raw)
        found = search.after(0)
        while found is not None:
            start, end = found
            yield start, end
            position = max(end, start + 1)
            goes_on = _GOES_ON.match(raw, end) is not None
            if goes_on or raw[end - 1 : end].isdigit():
                word = _LAST_WORD.search(raw, max(start + 1, end - _TRIGGER_CHARS), end)
                if word is not None and not _WORD_BYTE.match(raw, word.start() - 1):
                    if goes_on:
                        position = word.start()
                    else:
                        yield from self._within(raw, start, end, word.start())
            found = search.after(position)

    def _within(self, raw: bytes, start: int, end: int, word_at: int) -> Iterator[tuple[int, int]]:
        """Yield the shapes that begin at the last word, or group of figures, of another.

        Only looked at: if the search went on there, "5/12/1931 130-692-544" would hide its end.
        """
        groups = _LAST_GROUPS.search(raw, max(start + 1, end - _TRIGGER_CHARS), end)
        for at in {word_at, word_at if groups is None else groups.start()}:
            inner = end_of(self._shape, raw, at)
            if inner >= 0:
                yield at, inner

    def _which(self, raw: bytes, start: int, end: int) -> tuple[int, ...]:
        """Return the rules that fit where the scanner stopped; a trigger may begin inside what it took."""
        reach = end + REACH_CHARS
        while reach < len(raw) and raw[reach] & _LEADING_BITS == _FURTHER:
            reach += 1  # no sign is cut in its middle
        plain = self._plain.of(raw[start:reach])
        return (*plain, *self._triggered.of(raw[start : end + _TRIGGER_CHARS]))


class _RuleFinder:
    """Which rules match at a place: one automaton for all of them.

    Plain patterns are anchored at the start of the place; triggers may be anywhere in it.
    """

    def __init__(self, indexes: Sequence[int], ruleset: RuleSet) -> None:
        how = options(max_mem=DFA_BYTES)
        self._indexes = indexes
        triggered = bool(indexes) and bool(ruleset.rules[indexes[0]].trigger)
        self._set = re2.Set.SearchSet(how) if triggered else re2.Set.MatchSet(how)
        for index in indexes:
            rule = ruleset.rules[index]
            is_guarded = not triggered and not _MAY_GO_ON.search(rule.pattern)
            ends = _ENDS[rule.guard] if is_guarded else ""
            self._set.Add(f"(?:{_trigger(rule)}){ends}".encode())
        if indexes:
            self._set.Compile()

    def of(self, raw: bytes) -> list[int]:
        """Return the indexes of the rules that match in ``raw``."""
        return [self._indexes[i] for i in sorted(self._set.Match(raw) or ())] if self._indexes else []


def _following(raw: bytes, label_end: int, end: int) -> AfterLabel:
    """Tell by its last byte which of the conditions after a label (``_tail``) was met.

    A digit is tried before a capital letter, and both before the end of a cell, which ends in any sign.
    """
    if end == label_end or _MORE_THAN_A_CAPITAL.match(raw, end - 1):
        return AfterLabel.ANYTHING
    return AfterLabel.CAPITAL if raw[end - 1 : end].isupper() else AfterLabel.NOTHING


def _is_unit(text: str, start: int, end: int) -> bool:
    """Tell whether two letters follow a slash, as in mg/dL: no label, and a common one otherwise."""
    return end - start == _UNIT_CHARS and text[start - 1 : start] == "/"


def _in_groups(alternatives: Sequence[str]) -> list[str]:
    """Join alternatives, in their order, to few patterns whose automata have few states."""
    groups = range(0, len(alternatives), _RULES_AT_ONCE)
    return ["|".join(alternatives[at : at + _RULES_AT_ONCE]) for at in groups] or [NOTHING]


def _by_first_letter(labels: Collection[str]) -> Iterator[set[str]]:
    """Yield labels in parts of which no two begin with the same letter, whatever accents are left out.

    So no two parts match at the same place, where the longest label counts, and many labels are few at once.
    """
    part: set[str] = set()
    for _, group in groupby(sorted(labels, key=_first_letter), _first_letter):
        if len(part) >= _LABELS_AT_ONCE:
            yield part
            part = set()
        part.update(group)
    yield part


def _first_letter(label: str) -> str:
    return unicodedata.normalize("NFD", label)[:1].casefold()


def _compiled(alternatives: Sequence[str]) -> re2._Regexp:
    return automaton("|".join(alternatives or [NOTHING]), max_mem=DFA_BYTES)


def _trigger(rule: Rule) -> str:
    """Return what the scanner looks for: the rule's trigger, else its pattern at the start of a word.

    Without the word boundary every digit of a run would begin another match, and the automaton would need a
    state for every set of digits seen: it falls back to its slow engine on tables of numbers.
    """
    head = "" if rule.trigger or rule.guard == "none" else r"\b"
    looked_for = _FROM_NONE.sub("{0", rule.trigger or rule.pattern)
    pattern = f"{head}(?:{_COUNTED.sub(_UNCOUNTED, looked_for)})"
    return f"(?i:{pattern})" if rule.ignore_case else pattern


def _labels(
    ruleset: RuleSet, types: Collection[EntityType]
) -> tuple[dict[str, list[Evidence]], dict[str, set[str]]]:
    """Map canonical labels of values of ``types`` to what they announce; and what must follow to labels."""
    table: dict[str, list[Evidence]] = {}
    written: dict[str, set[str]] = {}  # the ways in which a label is written, by its canonical form
    needs: dict[str, set[_Need]] = {}
    for index, rule in enumerate(ruleset.rules):
        named = list(rule.labelled_as)
        if rule.context and (rule.needs_evidence or ruleset.contexts[rule.context].labels):
            named.append((rule.context, rule.entity_type))
        named = [(name, entity_type) for name, entity_type in named if entity_type in types]
        need = _need(rule) if named else _Need.HEAD
        for name, entity_type in named:
            words = ruleset.contexts[name]
            for column_only, phrases in ((False, words.labels), (True, words.headers)):
                for phrase in phrases:
                    key = canonical(phrase)
                    written.setdefault(key, set()).add(phrase)
                    needs.setdefault(key, set()).add(_Need.HEAD if column_only else need)
                    table.setdefault(key, []).append(Evidence(index, entity_type, phrase, column_only))
    tails: dict[str, set[str]] = {}
    for key, kinds in needs.items():
        tails.setdefault(_tail(kinds), set()).update(written[key])
    return table, tails


def _tail(needs: set[_Need]) -> str:
    """Return the pattern of what must follow a label of several rules."""
    if _Need.ANYTHING in needs:
        return ""
    wanted = {max(needs - {_Need.CAPITAL}, default=_Need.HEAD)} | (needs & {_Need.CAPITAL})
    required = "|".join(_PATTERN_OF[need] for need in sorted(wanted - {_Need.HEAD}))
    return f"(?:{_GAP}(?:{required})|{_CELL_END})" if required else f"(?:{_CELL_END})"


def _need(rule: Rule) -> _Need:
    """Return what must follow a label of this rule."""
    if rule.entity_type is EntityType.STREET_ADDRESS:
        return _Need.ANYTHING
    pattern = regex.compile(rule.pattern, regex.IGNORECASE if rule.ignore_case else 0)
    first = {char for char in _NO_DIGITS if pattern.fullmatch(char, partial=True)}
    if rule.entity_type in WITHOUT_DIGITS:
        return _Need.CAPITAL if all(char.isupper() for char in first) else _Need.ANYTHING
    if first <= _BEFORE_DIGIT:
        return _Need.DIGIT_NEXT
    more = any(pattern.fullmatch(f"{word} ", partial=True) for word in (*_WORDS, *first))
    return _Need.DIGIT_NEAR if more else _Need.DIGIT_IN_WORD
