"""Tables of a document to their re-identification risk: k-anonymity and l-diversity over quasi-identifiers.

A person with a unique combination of birth date, postal code and sex can be re-identified in a table even
without names and numbers. Only counts leave this module.

Source: Sweeney (2002), "k-anonymity"; Machanavajjhala et al. (2007), "l-diversity".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from phiscan.language import lazy_decimal, lazy_join
from phiscan.language import lazy_gettext as _
from phiscan.lexicon.identifier_labels import BIRTH_DATE, label_words
from phiscan.model import Document
from phiscan.patients.normalise import date_forms, plain, postal_form

MIN_ROWS: Final = 2
_MIN_CELLS: Final = 2
_MIN_STEM: Final = 5  # letters of a cue that may begin a longer word: birthdate, postalcode
# Words of column labels by role, in the order in which they are tried.
_ROLES: Final[dict[str, tuple[str, ...]]] = {
    "birth_date": ("birth", "born", "naissance", *label_words(BIRTH_DATE)),
    "postal_code": ("postal", "zip", "postcode"),
    "sex": ("sex", "gender", "sexe", "genre"),
    "age": ("age",),
    "sensitive": (
        *("diagnosis", "diagnostic", "dx", "condition", "icd", "disease", "illness", "medication", "drug"),
        *("procedure", "result", "test", "reason", "treatment"),
    ),
}
_NAMES: Final = {
    "birth_date": _("birth date"),
    "postal_code": _("postal code"),
    "sex": _("sex"),
    "age": _("age"),
}
QUASI_IDENTIFIERS: Final = ("birth_date", "postal_code", "sex", "age")


@dataclass(frozen=True, slots=True)
class TableRisk:
    """Re-identification risk of one table, in counts."""

    locator: str  # of its first row
    n_rows: int
    quasi_identifiers: tuple[str, ...]
    k: int  # size of the smallest group of rows with equal quasi-identifiers
    n_unique: int  # rows in a group of size 1
    l_diversity: int | None  # smallest number of sensitive values in a group; None: no such column

    @property
    def unique_share(self) -> float:
        """The share of rows that are unique."""
        return self.n_unique / self.n_rows

    @property
    def sentence(self) -> str:
        """Return a one-line summary: rows, share of unique rows, quasi-identifiers, k and l."""
        return _(
            "{n} rows, {share} unique on {columns} (k = {k}{diverse})",
            n=f"{self.n_rows:,}",
            share=lazy_decimal(f"{self.unique_share:.0%}"),
            columns=lazy_join(" + ", [_NAMES[name] for name in self.quasi_identifiers]),
            k=self.k,
            diverse="" if self.l_diversity is None else f", l = {self.l_diversity}",
        )


def table_risks(document: Document) -> list[TableRisk]:
    """Return the risk of each table with a quasi-identifier and two rows or more."""
    return [risk for table in _tables(document) if (risk := _risk(*table)) is not None]


def _tables(document: Document) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Yield the rows of each table, as label to value, with the locator of the first row.

    Extractors write a row as "label: value | label: value".
    """
    first: str = ""
    labels: tuple[str, ...] = ()
    rows: list[dict[str, str]] = []
    for segment in document.segments:
        row = _cells(document.text[segment.start : segment.end])
        if len(row) < _MIN_CELLS and labels:
            continue  # a row with one cell, or a title inside of a table
        names = tuple(row)
        if names != labels and not (set(names) <= set(labels) and names):
            if rows:
                yield first, rows
            first, labels, rows = segment.locator, names, []
        if names:
            rows.append(row)
    if rows:
        yield first, rows


def _cells(text: str) -> dict[str, str]:
    cells = (cell.partition(": ") for cell in text.split(" | "))
    return {label.strip(): value.strip() for label, sign, value in cells if sign and label.strip()}


def _risk(locator: str, rows: Sequence[Mapping[str, str]]) -> TableRisk | None:
    labels = dict.fromkeys(label for row in rows for label in row)
    roles = {label: role for label in labels if (role := role_of(label))}
    quasi = [label for label, role in roles.items() if role in QUASI_IDENTIFIERS]
    if not quasi or len(rows) < MIN_ROWS:
        return None
    sensitive = [label for label, role in roles.items() if role == "sensitive"]
    groups: dict[tuple[str, ...], int] = defaultdict(int)
    values: dict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
    for row in rows:
        group = tuple(_form(roles[label], row.get(label, "")) for label in quasi)
        groups[group] += 1
        values[group].add(tuple(plain(row.get(label, "")) for label in sensitive))
    return TableRisk(
        locator=locator,
        n_rows=len(rows),
        quasi_identifiers=tuple(dict.fromkeys(roles[label] for label in quasi)),
        k=min(groups.values()),
        n_unique=sum(n for n in groups.values() if n == 1),
        l_diversity=min(map(len, values.values())) if sensitive else None,
    )


def role_of(label: str) -> str:
    """Return the role of a column by its label; "" = none of the roles.

    >>> role_of("Date of birth"), role_of("ZIP code"), role_of("Page")
    ('birth_date', 'postal_code', '')
    """
    words = plain(label).replace("_", " ").replace("-", " ").split()
    for role, cues in _ROLES.items():
        if any(
            word == cue or (len(cue) >= _MIN_STEM and word.startswith(cue)) for word in words for cue in cues
        ):
            return role
    return ""


def _form(role: str, value: str) -> str:
    if role == "birth_date":
        return next(iter(date_forms(value)), plain(value))
    return postal_form(value) or plain(value) if role == "postal_code" else plain(value)
