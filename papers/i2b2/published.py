"""Published results of Uzuner, Luo & Szolovits (2007): Tables 1 to 4 (complete corpus) and the rankings."""

from __future__ import annotations

# Table 1, complete corpus: instances and tokens; tokens outside PHI: 444,127.
TABLE_1 = {
    "PATIENT": (929, 1737),
    "DOCTOR": (3751, 7697),
    "LOCATION": (263, 518),
    "HOSPITAL": (2400, 5204),
    "DATE": (7098, 7651),
    "ID": (4809, 5110),
    "PHONE": (232, 271),
    "AGE": (16, 16),
}
NON_PHI_TOKENS = 444_127

# Table 2, complete challenge corpus: percentage out of vocabulary of instances and of tokens.
TABLE_2 = {"PATIENT": (80, 73), "DOCTOR": (85, 67), "LOCATION": (69, 56), "HOSPITAL": (91, 49)}

# Table 3, complete challenge corpus: percentage ambiguous with non-PHI: in record (instances, tokens), and in
# the corpus.
TABLE_3 = {
    "PATIENT": (8.36, 4.48, 17.9, 9.71),
    "DOCTOR": (12.9, 6.30, 29.9, 15.1),
    "LOCATION": (0.76, 0.39, 20.1, 10.6),
    "HOSPITAL": (32.0, 15.5, 50.9, 37.2),
    "DATE": (0.42, 0.42, 0.75, 1.10),
    "ID": (0.0, 0.0, 0.06, 0.06),
    "PHONE": (0.0, 0.0, 0.43, 0.37),
    "AGE": (0.0, 0.0, 0.0, 0.0),
}

_ORDER = ("NON-PHI", "PATIENT", "DOCTOR", "LOCATION", "HOSPITAL", "DATE", "ID", "PHONE", "AGE")
# Table 4, challenge corpus: percentage of the tokens of the row's category that also occur as the column's.
_TABLE_4_ROWS = (
    (None, 3.17, 8.27, 0.50, 1.18, 0.41, 0.0, 0.0, 0.0),
    (9.71, None, 18.0, 1.61, 0.92, 0.0, 0.0, 0.0, 0.0),
    (15.1, 10.31, None, 2.04, 3.26, 0.13, 0.13, 0.0, 0.0),
    (10.6, 3.66, 8.29, None, 5.39, 0.0, 0.0, 0.0, 0.0),
    (37.2, 1.23, 15.0, 3.07, None, 2.38, 0.08, 0.0, 0.0),
    (1.10, 0.0, 0.65, 0.0, 0.07, None, 0.0, 0.0, 0.0),
    (0.06, 0.0, 0.06, 0.0, 0.02, 0.0, None, 0.0, 0.0),
    (0.37, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, None, 0.0),
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, None),
)
TABLE_4 = {
    row: {column: value for column, value in zip(_ORDER, values, strict=True) if value is not None}
    for row, values in zip(_ORDER, _TABLE_4_ROWS, strict=True)
}

# The order of Table 8 (tokens, by F), of the systems whose family is repeated here.
TOKEN_RANKING = (
    "Wellner 3", "Szarvas 2", "Szarvas 3", "Szarvas 1", "Wellner 1", "Aramaki 1", "Wellner 2",
    "Hara 3", "Hara 1", "Guo 1", "Guo 2", "Guillen 1",
)  # fmt: skip
# The order of Table 16 (instances, by F); Guillen's output could not be scored there.
INSTANCE_RANKING = (
    "Szarvas 3", "Szarvas 2", "Szarvas 1", "Wellner 3", "Wellner 1", "Aramaki 1", "Wellner 2",
    "Hara 3", "Hara 1", "Guo 1", "Guo 2",
)  # fmt: skip
# Pairs that Table 8 marks as not significantly different in F (alpha 0.1), of the same systems.
TOKEN_TIES = frozenset(
    {
        frozenset(pair)
        for pair in (
            ("Wellner 3", "Szarvas 2"), ("Wellner 3", "Szarvas 3"), ("Wellner 3", "Szarvas 1"),
            ("Szarvas 2", "Szarvas 3"), ("Szarvas 2", "Szarvas 1"), ("Szarvas 2", "Wellner 1"),
            ("Szarvas 3", "Szarvas 1"), ("Szarvas 3", "Wellner 1"), ("Szarvas 1", "Wellner 1"),
        )
    }
)  # fmt: skip
ALPHA = 0.1
