"""``phiscan score hierarchy``: labels in a tree, count-preserving and set-based."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from phiscan.cli.output import Answer, answers_alone, lines_of, print_message
from phiscan.cli.score import with_rates
from phiscan.cli.tables import Table, read_table
from phiscan.errors import InputError
from phiscan.metrics.hierarchy import REPRESENTATION, Hierarchy, LevelScore, score_hierarchy
from phiscan.metrics.rates import OverlapCounts

_PATH = click.Path(path_type=Path)


@click.command()
@click.option("--tree", "tree_path", type=_PATH, required=True, help="CSV with the columns child,parent.")
@click.option("--gold", "gold_path", type=_PATH, required=True, help="CSV with document,label[,count].")
@click.option("--system", "system_path", type=_PATH, required=True, help="CSV with document,label[,count].")
@click.option(
    "--missing-gold",
    type=click.Choice(["empty"]),
    help="Count a document that the gold standard does not list as one without labels; else it is refused.",
)
@answers_alone
def hierarchy(tree_path: Path, gold_path: Path, system_path: Path, missing_gold: str | None) -> Answer:
    """Score the labels of documents at every level of a hierarchy (CoPHE).

    Repeated rows are counts. A row without a label names a document that has none.

    \b
    Example:
      phiscan score hierarchy --tree icd10.csv --gold reviewed.csv --system predicted.csv --json
    """  # noqa: D301 (click reads the character)
    tree = _read_tree(tree_path)
    gold = _read_labels(gold_path, tree)
    known = None if missing_gold else gold
    system = _read_labels(system_path, tree, known=known, gold_path=gold_path)
    unlisted = [document for document in system if document not in gold]
    for document in unlisted:
        print_message(
            f"{gold_path}: the document '{document}' is not listed; it counts as one without labels"
        )
    missing = [document for document in gold if document not in system]
    for document in missing:
        print_message(f"{system_path}: the document '{document}' is missing; all its labels count as missed")
    levels, overall = score_hierarchy(tree, gold, system)
    payload: dict[str, Any] = {
        "representation": REPRESENTATION,
        "documents": len(gold) + len(unlisted),
        "levels": [{"level": score.level, **_scores(score)} for score in levels],
        "all": _scores(overall),
        "missing_documents": missing,
        "documents_without_gold": unlisted,
    }
    return payload, lines_of(payload)


def _scores(score: LevelScore) -> dict[str, Any]:
    return {"count_preserving": _counts(score.count_preserving), "set_based": _counts(score.set_based)}


def _counts(counts: OverlapCounts) -> dict[str, Any]:
    return with_rates(asdict(counts), counts.rates)


def _read_tree(path: Path) -> Hierarchy:
    """Read child,parent rows; an empty parent names a label without one."""
    table = read_table(path, ("child", "parent"))
    parents: dict[str, set[str]] = {}
    cells = zip(table.column("child"), table.column("parent"), strict=True)
    for row, (child, parent) in enumerate(cells):
        if not child or not child.isprintable():
            message = f"{table.where(row, 'child')}: expected a label"
            raise InputError(message)
        if child == parent or (parent and not parent.isprintable()):
            message = f"{table.where(row, 'parent')}: expected another label than the child"
            raise InputError(message)
        parents.setdefault(child, set()).update({parent} - {""})
    if not parents:
        message = f"{path}: line 2: expected child,parent rows, found none"
        raise InputError(message)
    try:
        return Hierarchy(parents)
    except ValueError as error:
        message = f"{path}: {error}"
        raise InputError(message) from None


def _read_labels(
    path: Path,
    tree: Hierarchy,
    known: Mapping[str, object] | None = None,
    gold_path: Path | None = None,
) -> dict[str, dict[str, int]]:
    table = read_table(path, ("document", "label"))
    counts = table.integers("count") if "count" in table.header else (1,) * len(table.rows)
    found: dict[str, dict[str, int]] = {}
    cells = zip(table.column("document"), table.column("label"), counts, strict=True)
    for row, (document, label, count) in enumerate(cells):
        _check_row(table, row, document, label, tree)
        if known is not None and document not in known:
            message = f"{table.where(row, 'document')}: the document '{document}' is not in {gold_path}"
            raise InputError(message)
        labels = found.setdefault(document, {})
        if label:
            labels[label] = labels.get(label, 0) + count
    return found


def _check_row(table: Table, row: int, document: str, label: str, tree: Hierarchy) -> None:
    if not document or not document.isprintable():
        message = f"{table.where(row, 'document')}: expected the name of a document"
        raise InputError(message)
    if label and label not in tree.labels:
        message = f"{table.where(row, 'label')}: expected a label of the tree"
        raise InputError(message)
