"""Tables of people who work somewhere: rosters, directories, lists of vendors.

A table is one of staff if its head says so in two columns at least and names nothing of a patient. What a
record of an employee's health has (absence, reason, restriction, vaccine) makes it none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.lexicon.gazetteer import fold

_STAFF = frozenset(
    {
        *(
            "title",
            "titre",
            "job title",
            "job",
            "position",
            "poste",
            "role",
            "fonction",
            "function",
            "emploi",
        ),
        *(
            "department",
            "dept",
            "departement",
            "service",
            "direction",
            "division",
            "office",
            "bureau",
            "local",
        ),
        *("shift", "quart", "fte", "etc", "extension", "ext", "hire date", "start date", "date d'embauche"),
        *("employee id", "employee no", "employee number", "matricule", "badge", "salary", "salaire", "rate"),
        *("supervisor", "superviseur", "manager", "gestionnaire", "reports to", "vendor", "supplier"),
        *(
            "fournisseur",
            "company",
            "compagnie",
            "entreprise",
            "contract",
            "contrat",
            "specialty",
            "specialite",
        ),
        *("course", "cours", "formation", "preceptor", "precepteur", "preceptrice", "student", "trainee"),
        *(
            "etudiant",
            "etudiante",
            "stagiaire",
            "declared on",
            "licence",
            "license",
            "credentials",
            "email",
            "e-mail",
            "courriel",
            "work phone",
        ),
    }
)
_PATIENT = re.compile(
    r"patient|usager|client|birth|naissance|\bdob\b|\bddn\b|\bmrn\b|dossier|chart|diagnos|\bdx\b|health|sante|ohip|ramq"
    r"|\bnam\b|\bhcn\b|assurance|insur|allerg|medic|\bdrug|reason|raison|motif|admi|discharge|\bconge|room|chambre"
    r"|\bbed\b|\blit\b|result|test|\bage\b|\bsexe?\b|gender|sick|malad|absen|leave|condition|restrict|limit|claim"
    r"|note|comment|remarque|incident|injur|bless|vaccin|immun|\bfit\b|symptom|treat|trait|procedure|visit|appoint"
    r"|rendez|follow|suivi|next of kin|famil|depend|benefici"
)
_CELLS = re.compile(r"[;,\t|]")
_MIN_CELLS, _MIN_STAFF, _MAX_HEAD = 3, 2, 400


def staff_tables(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the rows of each table of staff, without the head."""
    start = 0
    ends = 0  # of the table last found
    for line in text.splitlines(keepends=True):
        stop = start + len(line)
        if start >= ends and _is_head(line):
            ends = _end_of_rows(text, stop)
            if ends > stop:
                yield stop, ends
        start = stop


def _is_head(line: str) -> bool:
    if len(line) > _MAX_HEAD or len(_CELLS.findall(line)) < _MIN_CELLS - 1 or any(map(str.isdigit, line)):
        return False
    head = fold(line)
    if _PATIENT.search(head):
        return False
    cells = {cell.strip(" \"'_*\n\r").replace("_", " ") for cell in _CELLS.split(head)}
    return len(cells & _STAFF) >= _MIN_STAFF


def _end_of_rows(text: str, start: int) -> int:
    """Return where the rows end: at an empty line, or one without a cell."""
    while start < len(text):
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop + 1
        if not _CELLS.search(text, start, stop):
            break
        start = stop
    return start
