"""The findings of the referred files as a hierarchy: fine types below their HIPAA identifiers.

The mapping of types is in dictionaries/span_types.txt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from phiscan.language import lazy_gettext as _
from phiscan.metrics.hierarchy import REPRESENTATION, Hierarchy
from phiscan.model import EntityType
from phiscan.report.data.estimates import LevelCount, TypeLevels
from phiscan.report.spans.files import read_type_map
from phiscan.report.words import ENTITY_TYPES, plain

ROOT = _("any identifier")
SOURCE = _("45 CFR 164.514(b)(2)(i); counts in the hierarchy: Falis et al. (2021), CoPHE")
NO_SCORES = _(
    "These are counts, not scores. Precision and recall need files whose identifiers and "
    "health topics people have checked one by one; a verdict says only whether a "
    "file is PHI. Where reviewers have done so, the scores stand under “How well spans "
    "and topics are found”."
)


def type_levels(
    findings: Mapping[int, Counter[str]], distinct: Mapping[str, int], confirmed: frozenset[int]
) -> TypeLevels:
    """Count findings at every level, a file once per label however many of its types are below it.

    Args:
        findings: number by type, by referred file.
        distinct: distinct values by type; values of different types are never the same.
        confirmed: files confirmed as PHI.

    Raises:
        InputError: the table of types cannot be read.

    Source: Falis et al. (2021): counts are preserved from the leaves upwards.
    """
    identifiers = read_type_map("hipaa")
    types = [str(kind) for kind in EntityType]
    tree = Hierarchy(
        {name: [identifiers[name]] for name in types} | {identifiers[name]: [ROOT] for name in types}
    )
    above = {name: [next(iter(level)) for level in tree.levels_above(name)] for name in types}
    n_findings: Counter[str] = Counter()
    n_distinct: Counter[str] = Counter()
    n_files: Counter[str] = Counter()
    n_confirmed: Counter[str] = Counter()
    for file_id, of_file in findings.items():
        labels = {label for name in of_file for label in above[name]}
        n_files.update(labels)
        if file_id in confirmed:
            n_confirmed.update(labels)
        for name, count in of_file.items():
            n_findings.update(dict.fromkeys(above[name], count))
    for name, count in distinct.items():
        n_distinct.update(dict.fromkeys(above[name], count))
    paths = sorted({tuple(reversed(above[name][place:])) for name in types for place in range(3)})
    return TypeLevels(
        counts=tuple(
            LevelCount(
                level=len(above[types[0]]) - len(path),
                name=path[-1],
                label=ENTITY_TYPES[EntityType(path[-1])] if path[-1] in types else plain(path[-1]),
                parent=plain(path[-2]) if len(path) > 1 else "",
                findings=n_findings[path[-1]],
                distinct=n_distinct[path[-1]],
                files=n_files[path[-1]],
                phi_files=n_confirmed[path[-1]],
            )
            for path in paths
            if n_findings[path[-1]]
        ),
        representation=REPRESENTATION,
        no_scores=NO_SCORES,
        source=SOURCE,
    )
