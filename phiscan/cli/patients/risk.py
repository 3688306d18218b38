"""``phiscan patients risk``: the re-identification risk of the people in a table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from phiscan.cli.extract import EXIT_UNREAD, read, reading_workers, source_file
from phiscan.cli.output import print_json, print_message
from phiscan.config import load_config
from phiscan.model import SourceFile
from phiscan.patients.risk import TableRisk, table_risks
from phiscan.sandbox.answers import Fault
from phiscan.visible import visible


@click.command(epilog="Example: phiscan patients risk share/export.xlsx --json")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line per file.")
@click.pass_context
def risk(ctx: click.Context, files: tuple[str, ...], as_json: bool) -> None:
    """Count the rows of the tables in FILES that are unique by birth date, postal code, sex and age.

    k is the size of the smallest group of rows that are equal in these, l the smallest number of different
    diagnoses, drugs or results in such a group. Counts only; the files are read in confined processes. Exit
    status 3: some file could not be read.
    """
    config = load_config(Path(ctx.obj) if ctx.obj else None)
    sources = [source_file(name) for name in files]
    n_failed = 0
    with reading_workers(config, sources) as sandbox:
        for source, answer in sandbox.run(_work, sources):
            name = visible(source.absolute.decode("utf-8", "backslashreplace"))
            if isinstance(answer, Fault):
                n_failed += 1
                print_message(f"{name}: could not be read: {answer.reason}")
                continue
            if as_json:
                print_json({"path": name, "tables": [_json(table) for table in answer]})
                continue
            for table in answer:
                click.echo(f"{name} {table.locator}: {table.sentence}")
            if not answer:
                click.echo(f"{name}: no table with birth dates, postal codes, sex or age")
    ctx.exit(EXIT_UNREAD if n_failed else 0)


def _work(source: SourceFile) -> list[TableRisk] | Fault:
    """Read one file; its values stay in this process."""
    document = read(source)
    return document if isinstance(document, Fault) else table_risks(document)


def _json(table: TableRisk) -> dict[str, Any]:
    found = {**asdict(table), "unique_share": table.unique_share}
    if table.l_diversity is None:
        found["reason"] = "no column of diagnoses, drugs or results"
    return found
