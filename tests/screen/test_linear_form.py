"""The form that an automaton has of a pattern takes all that the pattern takes."""

import re2
import regex
from hypothesis import given
from hypothesis import strategies as st

from phiscan.rules import Rule
from phiscan.screen.automata import automaton
from phiscan.screen.linear_form import linear_form
from phiscan.screen.rule_files import load_rules

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
    st.text("aAbnoxyé 12-.(]\\\u2019", max_size=12),
)
def test_any_pattern_takes_no_more_than_its_form(parts: list[str], text: str) -> None:
    pattern = "".join(parts)
    form = linear_form(pattern)
    assert form is not None
    linear = automaton(form)
    for found in regex.finditer(pattern, text):
        assert linear.match(text[found.start() :].encode())


def test_what_refers_back_has_none() -> None:
    assert linear_form(r"(?P<sign>[-/])\d(?P=sign)") is None
    assert linear_form(r"(a)\1") is None
    assert linear_form(r"[^\D5]") is None


def test_nested_looks_around_are_left_out_whole() -> None:
    assert linear_form(r"(?<=(?:a|b(?=c)) )x(?!(?:y))z") == "xz"
