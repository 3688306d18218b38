"""``phiscan score``: the contract of its commands, and how they refuse nonsense."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.program import as_published, invoke

CANARY = "Zebulon Quarkwhistle"  # a name that no output may ever hold

GOLD = [
    {
        "id": "1",
        "text": f"Mr. {CANARY} seen 10/29 by Dr. May in May",
        "spans": [[4, 24, "PATIENT"], [30, 35, "DATE"], [43, 46, "DOCTOR"]],
    },
    {"id": "2", "text": "call 555-1234 now", "spans": [[5, 13, "PHONE"]]},
]


pytestmark = pytest.mark.usefixtures("home")


def run(*arguments: str) -> Result:
    return invoke("score", *arguments)


def answer(result: Result, name: str) -> dict[str, Any]:
    """Return the JSON of a successful command, checked against its published schema."""
    assert result.exit_code == 0, result.output
    assert CANARY.split()[1] not in result.output
    payload: dict[str, Any] = as_published(f"score-{name}", result.stdout)
    return payload


def refusal(result: Result) -> str:
    """Return the message of a refused command: one line, without document text."""
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    (line,) = result.stderr.splitlines()
    assert CANARY.split()[1] not in line
    return line


def jsonl(name: str, documents: list[Any]) -> str:
    Path(name).write_text("".join(json.dumps(item) + "\n" for item in documents), encoding="utf-8")
    return name


def text(name: str, content: str) -> str:
    Path(name).write_text(content, encoding="utf-8")
    return name


def spans(system: list[Any], *more: str, gold: list[Any] | None = None) -> Result:
    gold_file = jsonl("gold.jsonl", GOLD if gold is None else gold)
    files = ("--gold", gold_file, "--system", jsonl("system.jsonl", system))
    return run("spans", *files, "--format", "jsonl", "--json", *more)


def test_spans_answers_the_contract() -> None:
    first = [[4, 24, "PATIENT"], [4, 24, "PATIENT"], [30, 35, "ID"], [50, 53, "DOCTOR"]]
    system = [{"id": "1", "spans": first}]
    vocabulary = text("words.txt", "# comment\nMay\ncall\n")
    result = spans(system, "--vocabulary", vocabulary)
    assert "the document '2' is missing" in result.stderr
    found = answer(result, "spans")
    counts = {"correct": 1, "substitution": 1, "insertion": 2, "deletion": 2}
    assert found["instance"] == {**counts, "precision": 1 / 4, "recall": 1 / 4, "f1": 1 / 4}
    assert found["token"] == {"tp": 3, "fp": 1, "fn": 2, "precision": 3 / 4, "recall": 3 / 5, "f1": 2 / 3}
    # Dates are of no vocabulary: only the two tokens of the patient count. The source says so.
    assert (found["out_of_vocabulary"]["found"], found["out_of_vocabulary"]["total"]) == (2, 2)
    assert found["out_of_vocabulary"]["recall"] == 1.0
    assert found["ambiguous"]["recall"] == 0.0
    assert found["missing_documents"] == ["2"]
    assert found["instance_by_type"]["ID"]["recall"] is None
    assert "versus" not in found


def test_spans_compares_two_systems() -> None:
    versus = jsonl("versus.jsonl", [{"id": "1", "spans": []}, {"id": "2", "spans": [[5, 13, "PHONE"]]}])
    system = [{**item, "text": item["text"]} for item in GOLD]
    found = answer(spans(system, "--versus", versus), "spans")["versus"]
    assert found["recall"] == {"difference": 3 / 4, "p_value": found["recall"]["p_value"], "shuffles": 9_999}
    assert found["recall"]["p_value"] > 0.4  # one record differs: every shuffle is as extreme
    again = answer(spans(system, "--versus", versus), "spans")["versus"]
    assert again == found


def test_spans_tests_alike_whatever_the_order_of_the_documents() -> None:
    gold = [{"id": str(n), "text": "a b c", "spans": [[0, 1, "X"], [2, 3, "X"]]} for n in range(9)]
    system = [{"id": item["id"], "spans": gold[0]["spans"][: 1 + n % 2]} for n, item in enumerate(gold)]
    versus = [{"id": item["id"], "spans": gold[0]["spans"][: n % 3]} for n, item in enumerate(gold)]
    p_values = set()
    for turn in range(9):
        order = gold[turn:] + gold[:turn]
        result = spans(system, "--versus", jsonl("v.jsonl", versus), "--shuffles", "99", gold=order)
        p_values.add(answer(result, "spans")["versus"]["recall"]["p_value"])
    assert len(p_values) == 1


def test_spans_says_why_a_difference_does_not_exist() -> None:
    empty = [{"id": "1", "spans": []}]
    found = answer(spans(empty, "--versus", jsonl("v.jsonl", empty)), "spans")
    assert found["versus"]["precision"]["difference"] is None
    assert found["versus"]["precision"]["reason"]
    assert found["versus"]["recall"]["difference"] == 0.0


def test_spans_reads_objects_as_screen_writes_them() -> None:
    def written(found: Any) -> list[dict[str, Any]]:
        return [{"start": start, "end": end, "type": kind, "score": 1} for start, end, kind in found]

    system = [{"id": item["id"], "spans": written(item["spans"])} for item in GOLD]
    assert answer(spans(system), "spans")["instance"]["f1"] == 1.0


def test_spans_maps_types() -> None:
    system = [
        {"id": "1", "spans": [[4, 24, "PERSON"], [30, 35, "DATE_OF_BIRTH"], [43, 46, "HEALTH_PROFESSIONAL"]]},
        {"id": "2", "spans": [[5, 13, "FAX"]]},
    ]
    found = answer(spans(system, "--types", "i2b2-2006"), "spans")
    assert found["instance"]["correct"] == 4
    assert sorted(found["instance_by_type"]) == ["DATE", "DOCTOR", "PATIENT", "PHONE"]
    unheard = [{"id": "1", "spans": [[0, 2, "UNHEARD"]]}]
    assert "no mapping" in refusal(spans(unheard, "--types", "hipaa"))


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ([{"id": "9", "spans": []}], "system.jsonl: the document '9' is not in gold.jsonl"),
        (
            [{"id": "1", "text": "short", "spans": [[0, 9, "ID"]]}],
            "line 1, field spans[0]: [0, 9) ends beyond",
        ),
        ([{"id": "1", "spans": CANARY}], "field spans: expected a list"),
        ([{"id": "", "spans": []}], "field id"),
        ([{"id": "1"}], "field spans"),
        ([[CANARY]], "system.jsonl: line 1: expected a JSON object"),
        ([{"id": "1", "spans": []}, {"id": "1", "spans": []}], "comes twice"),
        ([{"id": "1", "text": CANARY, "spans": []}], "differs from gold.jsonl at character 0"),
        ([], "expected documents, found none"),
        ([0, 999, "ID"], "document '1', span 0: [0, 999) ends beyond the text"),
        ([5, 5, "ID"], "expected 0 <= start < end"),
        ([-1, 5, "ID"], "expected 0 <= start < end"),
        ([True, 5, "ID"], "expected whole numbers"),
        ([0.5, 5, "ID"], "expected whole numbers"),
        ([0, 5], "expected [start, end, type]"),
        ([0, 5, ""], "expected a type"),
    ],
)
def test_spans_refuses_nonsense(system: list[Any], words: str) -> None:
    is_span = isinstance(system[:1] and system[0], int | float)
    assert words in refusal(spans([{"id": "1", "spans": [system]}] if is_span else system))


def test_spans_without_text_are_scored_by_instance_alone() -> None:
    gold = [{"id": "1", "spans": [[0, 4, "PERSON"], [9, 12, "MRN"]]}]
    found = answer(spans([{"id": "1", "spans": [[0, 4, "PERSON"]]}], gold=gold), "spans")
    assert (found["instance"]["correct"], found["instance"]["deletion"]) == (1, 1)
    assert (found["token"]["tp"], found["token"]["f1"]) == (0, None)
    assert "has no text" in found["token"]["reason"]


def test_spans_refuses_a_missing_file_and_broken_lines() -> None:
    gold = jsonl("gold.jsonl", GOLD)
    text("broken.jsonl", '{"id": "1", "spans": []}\n{' + CANARY)
    Path("latin.jsonl").write_bytes(b'{"id": "\xe9"}')
    refused = {"none": "cannot be read", "broken.jsonl": "line 2", "latin.jsonl": "byte 8: expected UTF-8"}
    for system, words in refused.items():
        message = refusal(run("spans", "--gold", gold, "--system", system, "--format", "jsonl"))
        assert system in message
        assert words in message


RECORD = "<RECORD ID='1'><TEXT>{}</TEXT></RECORD>"
TAGGED = "<d><TEXT>abc</TEXT><TAGS>\n<ID {}/></TAGS></d>"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("<RECORD ID='1'><TEXT>" + CANARY, "a.xml: line 1: expected well-formed XML"),
        ("<x/>", "expected RECORD elements"),
        ("<RECORD><TEXT/></RECORD>", "expected a RECORD with an ID"),
        (RECORD.format("\n<PHI>x</PHI>"), "a.xml: line 2: expected a type"),
        (RECORD.format("<PHI TYPE='ID'/>"), "expected 0 <= start < end"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]>" + RECORD.format("&b;"), "without a document type"),
        (TAGGED.format("start='0' end='9' TYPE='ID'"), "a.xml: line 2: [0, 9) ends"),
        (TAGGED.format("start='x' end='9'"), "field start: expected a whole number"),
        (TAGGED.format(f"start='{'9' * 5000}' end='9'"), "field start"),
        ("T1\tID 0 2;4 6\tx", "a.ann: line 1: expected a continuous span"),
        (f"T1\t{CANARY}", "a.ann: line 1: expected 'T<number>"),
        ("", "expected .ann files"),
    ],
)
def test_formats_refuse_nonsense(content: str, words: str) -> None:
    if content:
        path, kind = ("a.xml", "i2b2") if content.startswith("<") else ("a.ann", "brat")
        text(path, content)
    else:
        path, kind = "empty", "brat"
        Path(path).mkdir()
    assert words in refusal(run("spans", "--gold", path, "--system", path, "--format", kind))


SCORES = "score,label\n1.0,1\n0.8,1\n0.7,0\n0.6,1\n0.5,0\n0.3,0\n0.2,1\n0.1,0\n"


def test_ranking_answers_the_contract() -> None:
    found = answer(run("ranking", text("s.csv", SCORES), "--json", "--plot", "c.svg"), "ranking")
    assert (found["n"], found["m"], found["skew"]) == (4, 4, 0.5)
    assert found["auc_roc"] == 0.75
    assert found["aucpr"]["average_precision"] == pytest.approx((1 + 1 + 3 / 4 + 4 / 7) / 4)
    assert len(found["points"]) == 8
    assert found["points"][6]["recall"] == 1.0
    low, high = found["ci95"]["binomial"]
    area = found["aucpr"]["average_precision"]
    assert low == pytest.approx(area - 1.959964 * (area * (1 - area) / 4) ** 0.5)
    assert high == 1  # cut to the range of an area
    drawn = Path("c.svg").read_text(encoding="utf-8")
    assert "unachievable" in drawn
    assert "skew" in drawn


def test_ranking_plots_are_the_same_every_time() -> None:
    scores = text("s.csv", SCORES)
    for suffix in ("svg", "png"):
        for name in ("one", "two"):
            assert run("ranking", scores, "--plot", f"{name}.{suffix}").exit_code == 0
        assert Path(f"one.{suffix}").read_bytes() == Path(f"two.{suffix}").read_bytes()
    assert ".svg or .png" in refusal(run("ranking", scores, "--plot", "c.gif"))


def test_ranking_says_why_a_figure_does_not_exist() -> None:
    found = answer(run("ranking", text("s.csv", "label,score\n1,2\n0,1\n"), "--json"), "ranking")
    assert found["aucpr"]["binormal"] is None
    assert "binormal" in found["aucpr"]["reason"]
    assert found["ci95"]["logit"] is None
    assert found["ci95"]["cross_validation"] is None
    assert "logit" in found["ci95"]["reason"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "found an empty file"),
        ("score,label\n", "s.csv: line 2: expected a score and a label"),
        ("score,label\n1,1\n2,1\n", "one class only"),
        ("score,label\n1,1\nnan,0\n", "s.csv: line 3, field score: expected a finite number"),
        ("score,label\n1,1\ninf,0\n", "line 3, field score"),
        ("score,label\n1_0,1\n2,0\n", "line 2, field score"),
        ("score,label\n1,1\n2,2\n", "line 3, field label"),
        (f"score,label\n{CANARY},1\n2,0\n", "line 2, field score"),
        ("score,truth\n1,1\n", "expected a column 'label'"),
        ("score,label\n1,1,1\n", "line 2: expected 2 fields"),
    ],
)
@pytest.mark.parametrize("command", ["ranking", "private"])
def test_scores_refuse_nonsense(command: str, content: str, words: str) -> None:
    asked = private(scores=content) if command == "private" else run(command, text("s.csv", content))
    assert words in refusal(asked)


def private(*more: str, epsilon: str = "1", scores: str = SCORES) -> Result:
    given = ("--epsilon", epsilon, "--delta", "1e-6", "--metric", "auc_roc", "--json", *more)
    return run("private", text("s.csv", scores), *given)


def test_private_answers_the_contract() -> None:
    found = answer(private(), "private")
    assert (found["epsilon"], found["delta"], found["mechanism"]) == (1.0, 1e-6, "laplace")
    assert "scale" not in found
    assert "warning" in found  # eight examples: the noise drowns everything
    assert found["value"] != answer(private(), "private")["value"]


def test_private_shows_its_scale_to_the_owner() -> None:
    result = private("--show-scale", "--noise", "cauchy")
    found = answer(result, "private")
    assert found["sensitivity"] == pytest.approx(
        max(0.25, 0.5 * 2.718281828459045 ** (-2 / 6), 2.718281828459045 ** (-3 / 6))
    )
    assert found["scale"] == pytest.approx(6 * found["sensitivity"])
    assert found["delta"] == 0
    assert "must not be published" in found["notice"]
    assert "must not be published" in result.stderr


def test_private_refuses_past_the_budget() -> None:
    for spent in (4.0, 8.0):
        assert answer(private(epsilon="4"), "private")["spent"]["epsilon"] == spent
    assert "spent epsilon 8 of 10" in refusal(private(epsilon="4"))
    # The order of the rows makes no other data set; a raised budget is a decision of its own.
    rows = SCORES.splitlines()
    shuffled = "\n".join([rows[0], *reversed(rows[1:])])
    refusal(private(epsilon="4", scores=shuffled))
    raised = private("--budget-epsilon", "20", epsilon="4", scores=shuffled)
    assert answer(raised, "private")["spent"]["epsilon"] == 12.0


def test_private_joins_score_files_under_a_name() -> None:
    answer(private("--data-set", "ward-7", epsilon="6"), "private")
    other = SCORES.replace("0.3,0", "0.35,0")
    more = ("--metric", "accuracy", "--data-set", "ward-7")
    assert "budget" in refusal(private(*more, epsilon="6", scores=other))
    assert "--data-set" in refusal(private("--data-set", "../ward"))


def test_private_keeps_no_figure_in_its_ledger() -> None:
    answer(private("--data-set", "ward"), "private")
    ledger = json.loads(Path("home/privacy/named-ward.json").read_text(encoding="utf-8"))
    assert set(ledger["releases"][0]) == {"when", "metric", "noise", "epsilon", "delta"}
    Path("home/privacy/named-ward.json").write_text("{}", encoding="utf-8")
    assert "expected a ledger" in refusal(private("--data-set", "ward"))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--epsilon", "0"), "expected epsilon above 0"),
        (("--epsilon", "nan"), "expected epsilon above 0"),
        (("--epsilon", "inf"), "expected epsilon above 0"),
        (("--delta", "0"), "expected delta above 0"),
        (("--delta", "1"), "expected delta above 0"),
        (("--noise", "cauchy", "--delta", "-1"), "expected delta from 0"),
        (("--budget-epsilon", "-1"), "expected a budget"),
    ],
)
def test_private_refuses_nonsense(more: tuple[str, ...], words: str) -> None:
    assert words in refusal(private(*more))
    assert not Path("home/privacy").exists() or not list(Path("home/privacy").glob("*.json"))


TREE = "child,parent\n401.1,401\n401.9,401\n402.00,402.0\n402.01,402.0\n402.0,402\n401,I10\n402,I10\nI10,\n"


def hierarchy(gold: str, system: str, tree: str = TREE, *more: str) -> Result:
    files = ("--tree", text("t.csv", tree), "--gold", text("g.csv", gold), "--system", text("s.csv", system))
    return run("hierarchy", *files, "--json", *more)


def test_hierarchy_answers_the_contract() -> None:
    gold, system = "document,label\nd,401.9\nd,402.01\n", "document,label\nd,401.1\nd,402.01\nd,402.00\n"
    found = answer(hierarchy(gold, system), "hierarchy")
    assert [level["level"] for level in found["levels"]] == [0, 1, 2, 3]
    rates = {"precision": 2 / 3, "recall": 1.0, "f1": 0.8}
    assert found["levels"][1]["count_preserving"] == {"tp": 2, "fp": 1, "fn": 0, **rates}
    assert found["levels"][1]["set_based"]["fp"] == 0
    assert found["all"]["count_preserving"]["tp"] == 6
    assert "leaf" in found["representation"]


def test_hierarchy_counts_repeated_rows_and_counts() -> None:
    gold = "document,label\nd,401.9\nd,401.9\nempty,\n"
    found = answer(hierarchy(gold, "document,label,count\nd,401.9,1000000000\n"), "hierarchy")
    assert found["levels"][0]["count_preserving"]["tp"] == 2
    assert found["levels"][0]["count_preserving"]["fp"] == 999_999_998
    assert found["missing_documents"] == ["empty"]
    found = answer(hierarchy("document,label\nd,401.9\n", "document,label\n"), "hierarchy")
    assert (found["all"]["set_based"]["precision"], found["all"]["set_based"]["recall"]) == (None, 0.0)


def test_hierarchy_counts_documents_without_gold_when_asked() -> None:
    gold, system = "document,label\nd,401.9\n", "document,label\nd,401.9\ne,402.0\n"
    assert "is not in g.csv" in refusal(hierarchy(gold, system))
    found = answer(hierarchy(gold, system, TREE, "--missing-gold", "empty"), "hierarchy")
    assert found["documents"] == 2
    assert found["documents_without_gold"] == ["e"]
    assert found["levels"][0]["count_preserving"]["tp"] == 1
    assert found["levels"][0]["count_preserving"]["fp"] == 1


def test_ranking_draws_four_curves_and_scores_probabilities() -> None:
    probabilities = text("p.csv", "score,label\n0.9,1\n0.6,0\n0.4,1\n0.1,0\n")
    found = answer(run("ranking", probabilities, "--curves", "curves.svg", "--json"), "ranking")
    assert found["brier_score"] == pytest.approx((0.01 + 0.36 + 0.36 + 0.01) / 4)
    drawn = Path("curves.svg").read_text()
    assert "Brier curve" in drawn
    assert "cost curve" in drawn
    scores = text("s.csv", "score,label\n9,1\n6,0\n4,1\n1,0\n")
    found = answer(run("ranking", scores, "--curves", "curves.svg", "--json"), "ranking")
    assert found["brier_score"] is None
    assert "probabilities" in found["reason"]
    assert "no Brier curve" in Path("curves.svg").read_text()


def test_spans_compares_every_two_of_many_systems() -> None:
    whole = jsonl("whole.jsonl", [{"id": item["id"], "spans": item["spans"]} for item in GOLD])
    nothing = jsonl("nothing.jsonl", [{"id": item["id"], "spans": []} for item in GOLD])
    system = [{"id": item["id"], "spans": item["spans"][:1]} for item in GOLD]
    found = answer(spans(system, "--versus", whole, "--versus", nothing, "--shuffles", "99"), "spans")
    names = ["system.jsonl", "whole.jsonl", "nothing.jsonl"]
    assert [one["system"] for one in found["systems"]] == names
    assert [one["token"]["recall"] for one in found["systems"]][1:] == [1.0, 0.0]
    pairs = [(item["first"], item["second"]) for item in found["comparisons"]]
    assert pairs == [(names[0], names[1]), (names[0], names[2]), (names[1], names[2])]
    for level in ("instance", "token"):
        assert found["comparisons"][2][level]["recall"]["difference"] == 1.0
    assert found["versus"] == found["comparisons"][0]["instance"]


def test_private_releases_rates_and_charges_no_delta_for_accuracy() -> None:
    scores = "score,label\n" + "0.9,1\n" * 300 + "0.8,0\n" * 100 + "0.1,0\n" * 300
    for metric, truth in {"accuracy": 600 / 700, "sensitivity": 1.0, "specificity": 0.75}.items():
        more = ("--delta", "1e-3", "--metric", metric, "--budget-epsilon", "200")
        found = answer(private(*more, epsilon="50", scores=scores), "private")
        assert found["value"] == pytest.approx(truth, abs=0.02)
        assert found["delta"] == (0.0 if metric == "accuracy" else 1e-3)


NONE = "document,label\n"


@pytest.mark.parametrize(
    ("gold", "system", "tree", "words"),
    [
        (NONE + "d,nope\n", NONE, TREE, "g.csv: line 2, field label: expected a label of the tree"),
        (
            NONE + "d,401\n",
            NONE + "e,401\n",
            TREE,
            "s.csv: line 2, field document: the document 'e' is not in",
        ),
        (NONE + ",401\n", NONE, TREE, "line 2, field document: expected the name"),
        ("document,label,count\nd,401,-1\n", NONE, TREE, "field count: expected a whole number"),
        (NONE, NONE, "child,parent\na,b\nb,c\nc,a\n", "t.csv: the label 'a' is its own ancestor"),
        (NONE, NONE, "child,parent\na,a\n", "expected another label than the child"),
        (NONE, NONE, "child,parent\n,a\n", "line 2, field child"),
        (NONE, NONE, "child,parent\n", "expected child,parent rows"),
        (NONE, NONE, "a,b\n", "expected a column 'child'"),
        ("", NONE, TREE, "found an empty file"),
    ],
)
def test_hierarchy_refuses_nonsense(gold: str, system: str, tree: str, words: str) -> None:
    assert words in refusal(hierarchy(gold, system, tree))


def test_simulate_answers_its_schema_and_is_seeded() -> None:
    size = ("--examples", "60", "--replicates", "5", "--bootstrap", "20")
    arguments = ("simulate", *size, "--plot", "s.png", "--json")
    found = answer(run(*arguments), "simulate")
    assert [item["distribution"] for item in found["simulations"]] == ["binormal", "bibeta", "offset_uniform"]
    assert (found["simulations"][0]["n"], found["simulations"][0]["m"]) == (6, 54)
    assert answer(run(*arguments), "simulate") == found
    assert Path("s.png").read_bytes().startswith(b"\x89PNG")


def test_simulate_refuses_too_few_examples() -> None:
    assert "expected two of each class" in refusal(run("simulate", "--examples", "10"))


def test_people_get_lines_instead_of_json() -> None:
    jsonl("gold.jsonl", GOLD)
    text("s.csv", SCORES)
    text("t.csv", TREE)
    text("l.csv", "document,label\nd,401.9\n")
    for arguments in (
        ("spans", "--gold", "gold.jsonl", "--system", "gold.jsonl", "--format", "jsonl"),
        ("ranking", "s.csv"),
        ("hierarchy", "--tree", "t.csv", "--gold", "l.csv", "--system", "l.csv"),
        ("private", "s.csv", "--epsilon", "1", "--metric", "accuracy", "--noise", "cauchy"),
    ):
        result = run(*arguments)
        assert result.exit_code == 0
        assert not result.stdout.startswith("{")
        assert CANARY.split()[1] not in result.output
