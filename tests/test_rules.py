from pathlib import Path

import pytest

from phiscan.config import Config
from phiscan.errors import RuleError
from phiscan.lexicon.identifier_labels import BIRTH_DATE, CARD, RECORD, label_words
from phiscan.model import EntityType
from phiscan.screen.rules.definitions import RuleSet, load_rules, read_rules
from phiscan.screen.rules.recognizer import PatternRecognizer
from phiscan.screen.rules.self_check import check_rules

GOOD = """
[context.local_mrn]
labels = ["local mrn"]

[[rule]]
id = "site.mrn.1"
entity_type = "MRN"
summary = "record number of our hospital"
pattern = 'Q\\d{7}'
score = 0.8
source = "our registration office"
examples = ["chart Q1234567"]
counterexamples = ["Q123456"]
"""


def read(tmp_path: Path, text: str) -> RuleSet:
    path = tmp_path / "site.toml"
    path.write_text(text, encoding="utf-8")
    return read_rules([path])


def test_every_shipped_rule_is_sound() -> None:
    assert list(check_rules(load_rules())) == []


def test_reads_a_site_file_beside_our_own(tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text(GOOD, encoding="utf-8")
    ruleset = load_rules(Config(extra_patterns=(str(path),)))
    assert ruleset.rules[-1].id == "site.mrn.1"
    assert ruleset.rules[-1].entity_type is EntityType.MRN
    assert list(check_rules(read_rules([path]))) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("score = 0.8", "score = 1.5"), "site.mrn.1: score: expected a number from 0 to 1"),
        (("score = 0.8", "score = 'high'"), "site.mrn.1: score: expected a float"),
        (('"MRN"', '"MRNN"'), "site.mrn.1: entity_type: expected a span type"),
        (("summary =", "sumary ="), "site.mrn.1: unknown field sumary"),
        (('examples = ["chart Q1234567"]', "examples = []"), "site.mrn.1: expected the field examples"),
        (("source =", "context = 'nowhere'\nsource ="), "no file has [context.nowhere]"),
        (("score = 0.8", "needs_evidence = true\nscore = 0.8"), "needs_evidence: expected a context"),
        (("score = 0.8", "guard = 'wall'\nscore = 0.8"), "guard: expected one of word, number, none"),
        (("score = 0.8", "priority = 1001\nscore = 0.8"), "priority: expected a number from 0 to 1000"),
        (('labels = ["local mrn"]', 'labels = ["Local MRN"]'), "expected lower-case words"),
        (("[[rule]]", "[rule]"), "expected [[rule]] tables"),
        (("[[rule]]", "[[rule"), "expected valid TOML"),
    ],
)
def test_refuses_a_bad_file_naming_file_and_rule(
    tmp_path: Path, change: tuple[str, str], expected: str
) -> None:
    with pytest.raises(RuleError) as caught:
        read(tmp_path, GOOD.replace(*change))
    assert expected in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "site.toml"))
    assert "\n" not in str(caught.value)


def test_refuses_an_id_that_is_taken(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="expected a unique id"):
        read(tmp_path, GOOD + GOOD[GOOD.index("[[rule]]") :])


def test_refuses_an_unknown_check(tmp_path: Path) -> None:
    ruleset = read(tmp_path, GOOD.replace("score = 0.8", "score = 0.8\ncheck = 'no_such'"))
    with pytest.raises(RuleError, match=r"site\.mrn\.1: check: expected one of"):
        PatternRecognizer(ruleset)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("chart Q1234567", "chart 1234567"), "example 1: expected a finding"),
        (('"Q123456"', '"Q7654321"'), "counterexample 1: expected no finding"),
        (("Q\\d{7}", "Q\\d+"), "expected bounded repetition"),
        (("Q\\d{7}", "(?<=Q)\\d{7}"), "expected a pattern of re2"),
        (("Q\\d{7}", "x{1000}{1000}"), "expected a pattern of re2"),
        (("site.mrn.1", "Site MRN"), "id: expected lower-case words"),
    ],
)
def test_check_finds_rules_that_do_not_work(tmp_path: Path, change: tuple[str, str], expected: str) -> None:
    assert expected in next(iter(check_rules(read(tmp_path, GOOD.replace(*change)))))


def test_check_refuses_a_label_of_one_letter(tmp_path: Path) -> None:
    text = '[context.span]\nlabels = ["à"]\n\n' + GOOD
    assert "context.span: labels: expected two letters or more, got à" in list(
        check_rules(read(tmp_path, text))
    )


def test_check_finds_a_shadowed_rule(tmp_path: Path) -> None:
    rule = GOOD[GOOD.index("[[rule]]") :]
    stronger = (
        rule.replace("site.mrn.1", "site.other.1").replace("0.8", "0.95").replace("Q\\d{7}", "Q\\d{6,8}")
    )
    stronger = stronger.replace('"Q123456"', '"Q12345"')
    defects = list(check_rules(read(tmp_path, GOOD + stronger)))
    assert defects == [
        (
            f"{tmp_path / 'site.toml'}: site.mrn.1: expected one example that no other rule takes, "
            "but site.other.1 shadows it"
        )
    ]


def test_a_word_of_a_context_is_a_label_of_it_and_no_other_identifier_has_it() -> None:
    contexts = load_rules().contexts
    places = (BIRTH_DATE, RECORD, CARD)
    for name in places:
        assert label_words(name)
        assert set(label_words(name)) <= set(contexts[name].labels)
    assert label_words() == label_words(*places)
    assert len(label_words()) == len(set(label_words()))
