"""Pattern files to rules: the identifiers that phiscan looks for are data, and this reads them.

A pattern file is TOML with two kinds of tables. ``[[rule]]`` describes one identifier; ``[context.NAME]`` is
a set of words that speak for or against it. docs/reference/rules.md explains every field. Whatever is wrong
in a file is refused with the file and the rule id: a rule silently dropped is PHI silently missed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

import re2
import regex

from phiscan.config import Config, data_dir
from phiscan.errors import RuleError
from phiscan.model import EntityType

MAX_AHEAD = 96
MAX_PRIORITY = 1000
GUARDS = ("word", "number", "none")
_CONTEXT_FIELDS = ("words", "labels", "headers", "near", "negative")

_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*\.\d+")


@dataclass(frozen=True, slots=True)
class ContextWords:
    """Words around a value: lower case, English and French, matched as whole words.

    ``labels`` stand right before the value, or at the head of its column; ``headers`` count only at the head
    of a column; ``near`` anywhere within the same line raises the score; ``negative`` lowers it.
    """

    name: str
    labels: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One identifier that the pattern recognizer looks for; see docs/reference/rules.md for each field."""

    id: str
    entity_type: EntityType
    summary: str
    pattern: str
    score: float  # prior that a match is real, in [0, 1]; for a rule that needs evidence, with its label
    source: str
    examples: tuple[str, ...]
    counterexamples: tuple[str, ...]
    trigger: str = ""  # what the scanner looks for; "" = the pattern itself
    ahead: int = MAX_AHEAD  # how many characters of a match may stand before its trigger
    context: str = ""  # name of a ContextWords
    check: str = ""  # one of screen/validators/registry.py
    guard: str = "word"  # what may not stand at the ends of a match: one of GUARDS
    ignore_case: bool = False
    priority: int | None = None  # of a match without further evidence, in thousandths; None: its score
    needs_evidence: bool = False  # a bare match is nothing: only under one of the context's labels
    labelled_as: tuple[tuple[str, EntityType], ...] = ()  # under these context words, of another type
    path: str = field(default="", compare=False)  # the file it came from, for messages


# What a file has in a field of a rule, by the annotation of the field.
_IN_TOML = {
    "str": str, "EntityType": str, "float": float, "int": int, "int | None": int, "bool": bool,
    "tuple[str, ...]": list, "tuple[tuple[str, EntityType], ...]": dict,
}  # fmt: skip
_RULE_FIELDS = {one.name: _IN_TOML[str(one.type)] for one in fields(Rule) if one.name != "path"}
_REQUIRED = [one.name for one in fields(Rule) if one.default is MISSING]
_RANGES = {"score": 1, "ahead": MAX_AHEAD, "priority": MAX_PRIORITY}  # from 0


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules with the context words they name."""

    rules: tuple[Rule, ...]
    contexts: Mapping[str, ContextWords]


def read_rules(places: Iterable[Path]) -> RuleSet:
    """Read the pattern files at ``places`` (files, or folders of ``*.toml``) into one set.

    Raises:
        RuleError: names the file and the rule id, and says what was expected.
    """
    rules: dict[str, Rule] = {}
    contexts: dict[str, ContextWords] = {}
    for path in _files(places):
        raw = _parse(path)
        unknown = sorted(set(raw) - {"rule", "context"})
        if unknown:
            _refuse(path, unknown[0], "expected only [[rule]] and [context.NAME] tables")
        for name, table in _table(path, raw, "context", dict).items():
            if name in contexts:
                _refuse(path, f"context.{name}", "this name is already taken by another file")
            contexts[name] = _context(path, name, table)
        for number, table in enumerate(_table(path, raw, "rule", list), start=1):
            rule = _rule(path, number, table)
            if rule.id in rules:
                _refuse(path, rule.id, f"expected a unique id; {rules[rule.id].path} has it too")
            rules[rule.id] = rule
    for rule in rules.values():
        _known_contexts(rule, contexts)
    return RuleSet(tuple(rules.values()), contexts)


def _files(places: Iterable[Path]) -> list[Path]:
    files: list[Path] = []
    for place in places:
        if place.is_dir():
            files.extend(sorted(place.glob("*.toml")))
        elif place.is_file():
            files.append(place)
        else:
            raise RuleError(place, "expected a pattern file or a folder of them, found nothing")
    return files


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RuleError(path, f"cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RuleError(path, f"expected valid TOML in UTF-8: {error}") from None


def _refuse(path: Path | str, rule_id: str, expected: str) -> None:
    raise RuleError(path, f"{rule_id}: {expected}")


def _table(path: Path, raw: Mapping[str, Any], name: str, kind: type) -> Any:
    table = raw.get(name, kind())
    if not isinstance(table, kind):
        _refuse(path, name, "expected [[rule]] tables" if kind is list else "expected [context.NAME] tables")
    return table


def _context(path: Path, name: str, table: Any) -> ContextWords:
    where = f"context.{name}"
    if not isinstance(table, dict):
        _refuse(path, where, "expected a table of word lists")
    words: dict[str, tuple[str, ...]] = {}
    for key, value in table.items():
        if key not in _CONTEXT_FIELDS:
            _refuse(path, where, f"unknown field {key}; expected one of {', '.join(_CONTEXT_FIELDS)}")
        words[key] = _texts(path, where, key, value)
        for word in words[key]:
            if word != word.lower() or not word.strip():
                _refuse(path, where, f"{key}: expected lower-case words, found '{word}'")
    labels = (*words.pop("words", ()), *words.pop("labels", ()))
    return ContextWords(name, labels, **words)


def _texts(path: Path, where: str, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        _refuse(path, where, f"{key}: expected a list of texts")
    return tuple(value)


def _rule(path: Path, number: int, table: Any) -> Rule:  # noqa: C901 (one decision after the other reads best in one place)
    if not isinstance(table, dict):
        _refuse(path, f"rule {number}", "expected a [[rule]] table")
    name = table.get("id")
    where = name if isinstance(name, str) and name else f"rule {number}"
    for key, value in table.items():
        if key not in _RULE_FIELDS:
            _refuse(path, where, f"unknown field {key}; expected one of {', '.join(_RULE_FIELDS)}")
        if not isinstance(value, _RULE_FIELDS[key]):
            _refuse(path, where, f"{key}: expected a {_RULE_FIELDS[key].__name__}")
    for key in _REQUIRED:
        if key not in table or table[key] in ("", []):
            _refuse(path, where, f"expected the field {key}, and something in it")
    values = dict(table)
    for key, most in _RANGES.items():
        if not 0 <= values.get(key, 0) <= most:
            _refuse(path, where, f"{key}: expected a number from 0 to {most}, found {values[key]}")
    if values.get("guard", "word") not in GUARDS:
        _refuse(path, where, f"guard: expected one of {', '.join(GUARDS)}")
    if values.get("needs_evidence") and not values.get("context"):
        _refuse(path, where, "needs_evidence: expected a context that gives the evidence")
    values["entity_type"] = _entity_type(path, where, "entity_type", values["entity_type"])
    values["labelled_as"] = tuple(
        (context, _entity_type(path, where, "labelled_as", name))
        for context, name in values.get("labelled_as", {}).items()
    )
    for key in ("examples", "counterexamples"):
        values[key] = _texts(path, where, key, values[key])
    return Rule(**values, path=str(path))


def _entity_type(path: Path, where: str, key: str, name: Any) -> EntityType:
    if name not in EntityType.__members__:
        _refuse(path, where, f"{key}: expected a span type, found '{name}'")
    return EntityType(name)


def _known_contexts(rule: Rule, contexts: Mapping[str, ContextWords]) -> None:
    named: Sequence[str] = [rule.context, *(name for name, _ in rule.labelled_as)]
    for name in named:
        if name and name not in contexts:
            _refuse(rule.path, rule.id, f"context: no file has [context.{name}]")
    if rule.needs_evidence and not contexts[rule.context].labels + contexts[rule.context].headers:
        _refuse(rule.path, rule.id, f"needs_evidence: expected labels in [context.{rule.context}]")


_read_once = cache(read_rules)


def load_rules(config: Config | None = None) -> RuleSet:
    """Read our pattern files and the site's own (``extra_patterns``), in the order of their names.

    Raises:
        RuleError: names the file and the rule id, and says what was expected.
        ConfigError: our own pattern files are not found.
    """
    extra = () if config is None else config.extra_patterns
    ours = data_dir("patterns")
    return read_rules([ours, *map(Path, extra)]) if extra else _read_once((ours,))


def load_sound_rules(config: Config) -> RuleSet:
    """Read the rules for a scan; the site's own must compile (ours are proven by the tests).

    Raises:
        RuleError: as ``load_rules``, and for a rule of the site that ``phiscan rules check`` would refuse.
    """
    ruleset = load_rules(config)
    if not config.extra_patterns:
        return ruleset
    ours = data_dir("patterns")
    for rule in ruleset.rules:
        if Path(rule.path).parent != ours:
            for defect in form_defects(rule):
                raise RuleError(rule.path, f"{rule.id}: {defect}")
    return ruleset


def form_defects(rule: Rule) -> Iterator[str]:
    """Yield what is wrong with a rule in itself: its id, patterns that do not compile or are not linear."""
    if not _ID.fullmatch(rule.id):
        yield "id: expected lower-case words joined by dots and a number at the end, such as ca.sin.1"
    options = re2.Options()
    options.log_errors = False
    field, scanned = ("trigger", rule.trigger) if rule.trigger else ("pattern", rule.pattern)
    if not rule.needs_evidence:
        try:
            re2.compile(scanned.encode(), options)
        except re2.error:
            yield f"{field}: expected a pattern of re2 (no look-around; a trigger may stand in for it)"
    try:
        regex.compile(rule.pattern)
    except regex.error:
        yield "pattern: expected a regular expression"
    for name, pattern in (("pattern", rule.pattern), ("trigger", rule.trigger)):
        quantifier = unbounded(pattern)
        if quantifier:
            yield f"{name}: expected bounded repetition such as {{0,20}}, found {quantifier}"


def unbounded(pattern: str) -> str:
    r"""Return the first quantifier without an upper bound, or "".

    >>> unbounded(r"\d+"), unbounded(r"[+*]{1,3}\+"), unbounded("a{2,}")
    ('+', '', '{2,}')
    """
    inside = False
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if char == "\\":
            position += 2
            continue
        if inside:
            inside = char != "]"
        elif char == "[":
            inside = True
            position += pattern[position + 1 : position + 2] in ("]", "^")
        elif char in "*+":
            return char
        elif char == "{" and (match := re.match(r"\{\d*,\}", pattern[position:])):
            return match[0]
        position += 1
    return ""
