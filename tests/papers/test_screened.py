"""The experiment of Sokolova & El Emam (2008): shares of low prevalence, screened in steps."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from papers.commands.benchmark import benchmark
from papers.screened.collections import KINDS, PREVALENCES, made_pool, make_shares, read_pool
from papers.screened.experiment import SCREENS, eq_3, screened_shares
from phiscan.errors import InputError


def test_shares_have_the_papers_sizes_and_prevalences() -> None:
    pool = made_pool()
    shares = make_shares(pool)
    assert len(shares) == len(KINDS) * len(PREVALENCES)
    for share in shares:
        n_phi = sum(pool.texts[name].label == "PHI" for name in share.texts)
        expected, n_files = PREVALENCES[share.prevalence]
        assert n_phi == expected
        assert len(share.texts) == n_files
        assert len(set(share.texts)) == len(share.texts)
    assert make_shares(made_pool()) == shares


def test_a_share_is_not_made_smaller_where_texts_are_missing() -> None:
    with pytest.raises(InputError, match=r"doc_label NEITHER: expected at least 242 texts .* found 200"):
        make_shares(made_pool(n_other=200))
    with pytest.raises(InputError, match="doc_label PHI: expected at least 4 texts"):
        make_shares(made_pool(n_phi=3))


def test_counts_both_sides_of_table_1() -> None:
    pool = made_pool(n_phi=4, n_other=30)
    (share, *_) = make_shares(pool, scale=0.06)
    everything = {name: dict.fromkeys(SCREENS, True) for name in share.texts}
    found = screened_shares(pool, [share], everything)[0]
    assert (found.missed, found.rejected) == (0, 0)
    assert found.n_phi + found.n_not_phi == len(share.texts)
    assert found.auc == 0.5
    truth = {name: dict.fromkeys(SCREENS, pool.texts[name].label == "PHI") for name in share.texts}
    assert screened_shares(pool, [share], truth)[0].auc == 1.0
    assert eq_3(0, 0, 0, 5) is None


def test_reads_labelled_texts_and_names_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    labels = ("PHI", "PII_ONLY", "HI_ONLY", "NEITHER")
    path.write_text("".join(json.dumps({"id": x, "text": "t", "doc_label": x}) + "\n" for x in labels))
    pool = read_pool([path])
    assert [len(pool.of(label)) for label in labels] == [1, 1, 1, 1]
    assert len(pool.sha256["texts.jsonl"]) == 64
    path.write_text('{"id": 1, "text": "t", "doc_label": "PHI"}\n')
    with pytest.raises(InputError, match="found none in all files"):
        read_pool([path])
    path.write_text('{"id": 1, "text": "t"}\n')
    with pytest.raises(InputError, match="line 1: expected"):
        read_pool([path])


def test_prints_every_table_with_intervals(tmp_path: Path) -> None:
    out = tmp_path / "screened"
    result = CliRunner().invoke(benchmark, ["screened-positives", "--short", "--out", str(out)], obj=None)
    assert result.exit_code == 0, result.output
    found = json.loads((out / "results.json").read_text())
    assert len(found["shares"]) == len(KINDS) * len(PREVALENCES) * len(SCREENS)
    for row in found["shares"]:
        low, high = row["tdp"]["ci95"]
        assert low <= row["tdp"]["value"] <= high
        assert row["table_1_screened"]["phi"][1] is None
    # Both steps mark no more than step 1 alone does.
    by = {(r["kind"], r["prevalence"], r["screen"]): r["n_phi"] + r["n_not_phi"] for r in found["shares"]}
    for kind in KINDS:
        assert by[kind, "1%", "steps 1 and 2: eq. 4 and kNN"] <= by[kind, "1%", "step 1: eq. 4"]
