"""The form that an automaton has of a pattern takes all that the pattern takes."""

from dataclasses import replace

import pytest
import re2
import regex
from hypothesis import given
from hypothesis import strategies as st

from phiscan.screen.rules.compiled import CompiledRule
from phiscan.screen.rules.definitions import Rule
from phiscan.screen.rules.files import load_rules
from phiscan.screen.rules.linear_form import linear_form
from phiscan.screen.rules.value_starts import ValueStarts
from phiscan.text.automata import automaton, matches

RULES = load_rules().rules
PARTS = (
    r"\b", r"\w", r"\d{2}", r"\s?", r"[^\W\d_]+", r"[^\W_]", r"[\w.-]*+", r"\p{Lu}", r"[\p{L}'-]{1,3}",
    r"(?<!-)", r"(?=\w)", r"(?!ab)", r"(?i:no\.?)", r"(?:a|b)", r"(?P<g>é)", r"(?>x|y)", "\\u2019", r"\x2e",
    r"[^\s\d]", r"$", "-", "é", r"\(", r"[^)]", r"[\]\\^-]",
)  # fmt: skip


def compiled(rule: Rule) -> tuple[regex.Pattern[str], re2._Regexp]:
    form = linear_form(rule.pattern)
    assert form is not None, rule.id
    return (
        regex.compile(rule.pattern, regex.IGNORECASE if rule.ignore_case else 0),
        automaton(form, any_case=rule.ignore_case),
    )


def test_every_rule_of_ours_has_one_that_takes_what_it_takes() -> None:
    n_found = 0
    for rule in RULES:
        pattern, linear = compiled(rule)
        for text in map(str, (*rule.examples, *rule.counterexamples)):
            for found in pattern.finditer(text):
                n_found += 1
                assert linear.match(text[found.start() :].encode()), (rule.id, text)
    assert n_found > len(RULES)


@given(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=4, unique=True),
    st.text("aAbnoxyé 12-.(]\\\u2019\x0b", max_size=12),
)
def test_any_pattern_takes_no_more_than_its_form(parts: list[str], text: str) -> None:
    pattern = "".join(parts)
    form = linear_form(pattern)
    assert form is not None
    linear = automaton(form)
    for found in regex.finditer(pattern, text):
        assert linear.match(text[found.start() :].encode())


def test_a_text_with_a_value_has_the_form_of_it_with_what_precedes_it() -> None:
    n_with_lookbehind = 0
    for rule in RULES:
        pattern, required = CompiledRule(rule, None).at_hit, CompiledRule(rule, None).required
        n_with_lookbehind += linear_form(rule.pattern, with_lookbehind=True) != linear_form(rule.pattern)
        for text in (*rule.examples, *rule.counterexamples):
            if pattern.search(text):
                assert required is not None, rule.id
                assert matches(required, text.encode()), (rule.id, text)
    assert n_with_lookbehind


@given(
    st.lists(
        st.sampled_from((r"(?<=no )", r"(?<=\bx|a)", r"(?<=(?<!b)é )", r"(?<!a)", r"\d", "a|", "|")),
        min_size=1, max_size=5,
    ).map("".join),
    st.text("aAbnoxé 12", max_size=12),
)  # fmt: skip
def test_any_pattern_matches_only_where_its_form_with_what_precedes_does(pattern: str, text: str) -> None:
    form = linear_form(pattern, with_lookbehind=True)
    assert form is not None
    if regex.search(pattern, text):
        assert matches(automaton(form), text.encode())


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?P<sign>[-/])\d(?P=sign)", r"(a)\1", r"[^\D5]", r"a(?i)b", r"(?x) a b", r"(?:ab){e<=1}",
        r"[[:alpha:]]", r"[a[:alpha:]]",
        r"[\w--\d]", r"[\w&&a]", r"\L<names>", r"(?|a|b)", r"(a)?(?(1)b|c)", r"\X", r"a(?=b){0}", r"a\b*",
    ],
)  # fmt: skip
def test_what_an_automaton_cannot_tell_has_none(pattern: str) -> None:
    assert linear_form(pattern) is None


@pytest.mark.parametrize("pattern", [r"\p{Script=Latin}{3}", r"\U0001F600", r"\h\d{4}"])
def test_a_rule_that_re2_cannot_compile_is_always_tried(pattern: str) -> None:
    rule = replace(next(rule for rule in RULES if rule.trigger), pattern=pattern)
    assert CompiledRule(rule, None).can_match("", 0, 0)
    assert ValueStarts([rule], [0]).possible("", 0, ()) == ()


def test_counts_and_signs_are_written_as_re2_has_them() -> None:
    assert linear_form(r"Q\d{,6}") == linear_form(r"Q\d{0,6}")
    assert linear_form("\\u2019[\\u2013-]") == r"\x{2019}[\x{2013}-]"
    assert linear_form(r"\\u2019") == r"\\u2019"


def test_nested_looks_around_are_left_out_whole() -> None:
    assert linear_form(r"(?<=(?:a|b(?=c)) )x(?!(?:y))z") == "xz"
