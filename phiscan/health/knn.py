"""One-class nearest-neighbour classifier: bags of concepts to the distance from stored positive prototypes.

Both estimators have scikit-learn's shape: the constructor only stores, ``fit`` returns self, learned state
ends in ``_``. scikit-learn learns the threshold; the search for one document is a matrix product of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

Bag = Mapping[str, int]
Row = tuple[Sequence[int], Sequence[float]]  # columns in order, and their values
Distances = npt.NDArray[np.float64]

BLOCKS: Final = ("concept", "kind", "cue")
_MARKS: Final = {"kind": "kind", "cue": "cue", "neg": "cue", "fam": "cue", "near": "cue"}


def block_of(feature: str) -> str:
    """Return the block of a feature.

    >>> block_of("dx:asthma"), block_of("cue:dose"), block_of("neg:any")
    ('concept', 'cue', 'cue')
    """
    return _MARKS.get(feature[: feature.find(":")], "concept")


@dataclass(slots=True)
class ConceptTfidf:
    """TF-IDF over features, each block with its own weight, rows L2-normalised.

    On such rows the Euclidean order is the cosine order: |x-y|^2 = 2 - 2 x.y.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(BLOCKS, 1.0))
    vocabulary_: dict[str, int] = field(default_factory=dict, init=False, repr=False)
    idf_: Distances = field(default_factory=lambda: np.zeros(0), init=False, repr=False)
    unseen_: float = field(default=1.0, init=False)

    def fit(self, bags: Sequence[Bag]) -> Self:
        """Learn the features and their smoothed inverse document frequency; cues and kinds have weight 1."""
        frequency = Counter(name for bag in bags for name in bag)
        self.vocabulary_ = {name: index for index, name in enumerate(sorted(frequency))}
        self.unseen_ = math.log(1 + len(bags)) + 1
        self.idf_ = np.array(
            [
                math.log((1 + len(bags)) / (1 + frequency[name])) + 1 if block_of(name) == "concept" else 1.0
                for name in self.vocabulary_
            ]
        )
        return self

    def rows(self, bags: Iterable[Bag]) -> list[Row]:
        """Return the known columns of each bag and their values, in column order; rows of length at most 1.

        A concept outside the vocabulary has no column, but it counts in the row's length: a text full of
        concepts that no prototype has is far from all of them.
        """
        found: list[Row] = []
        for bag in bags:
            known: list[tuple[int, float]] = []
            squares = 0.0
            for name, count in bag.items():
                column, block = self.vocabulary_.get(name), block_of(name)
                unseen = self.unseen_ if block == "concept" else 1.0
                idf = unseen if column is None else float(self.idf_[column])
                value = self.weights[block] * idf * math.log1p(count)
                squares += value * value
                if column is not None:
                    known.append((column, value))
            length = math.sqrt(squares) or 1.0
            known.sort()
            found.append(([column for column, _ in known], [value / length for _, value in known]))
        return found

    def transform(self, bags: Sequence[Bag]) -> Any:
        """Return ``rows`` as a sparse matrix (n_bags, n_features)."""
        from scipy.sparse import csr_matrix  # noqa: PLC0415 (slow to import; only needed where a health term was found)

        rows = self.rows(bags)
        values = [value for _, row in rows for value in row]
        columns = [column for row, _ in rows for column in row]
        ends = np.cumsum([0, *(len(row) for row, _ in rows)])
        return csr_matrix((values, columns, ends), shape=(len(bags), len(self.vocabulary_)))


@dataclass(slots=True)
class OneClassKnn:
    """Classify by the distance to the k-th nearest positive prototype; no negatives are needed.

    The threshold is the ``quantile`` of the leave-one-out distances among the prototypes: that share of the
    prototypes would be accepted if it were not itself stored. Source: instance-based learner of Sokolova &
    El Emam (2008), step 2.
    """

    k: int = 3
    quantile: float = 0.98
    threshold_: float = field(default=math.nan, init=False)
    scale_: float = field(default=math.nan, init=False)
    prototypes_: Any = field(default=None, init=False, repr=False)
    squared_lengths_: Distances | None = field(default=None, init=False, repr=False)
    columns_: Distances | None = field(default=None, init=False, repr=False)  # n_features x n_prototypes

    def fit(self, prototypes: Any) -> Self:
        """Store the prototypes (sparse, n_prototypes x n_features) and learn threshold and scale."""
        self.restore(prototypes, math.nan, math.nan)
        left_out = self._leave_one_out()
        self.threshold_ = float(np.quantile(left_out, self.quantile))
        self.scale_ = max(float(np.std(left_out)), 1e-3)
        return self

    def restore(self, prototypes: Any, threshold: float, scale: float) -> Self:
        """Store the prototypes with a threshold and scale that were learned before."""
        self.prototypes_, self.squared_lengths_, self.columns_ = prototypes, None, None
        self.threshold_, self.scale_ = threshold, scale
        return self

    def nearest(self, rows: Sequence[Row]) -> tuple[Distances, npt.NDArray[np.int64]]:
        """Return the distance to the k-th nearest prototype and the index of the nearest, for each row.

        |x-y|^2 = |x|^2 + |y|^2 - 2 x.y, over the few columns of a row: for the few windows of one
        document, building and checking matrices costs far more than the search. A test compares it with
        scikit-learn's.
        """
        if self.columns_ is None or self.squared_lengths_ is None:
            self.columns_ = np.ascontiguousarray(self.prototypes_.T.toarray())
            self.squared_lengths_ = np.asarray((self.columns_**2).sum(axis=0), dtype=np.float64)
        squared = np.empty((len(rows), len(self.squared_lengths_)))
        for index, (columns, values) in enumerate(rows):
            row = np.asarray(values, dtype=np.float64)
            squared[index] = row @ row + self.squared_lengths_ - 2.0 * (row @ self.columns_[columns])
        distances = np.sqrt(np.maximum(squared, 0.0))
        kth = np.partition(distances, self.k - 1, axis=1)[:, self.k - 1]
        return kth, distances.argmin(axis=1)

    def score(self, distances: Distances) -> Distances:
        """Turn distances into scores in [0, 1]: 0.5 at the threshold, higher is nearer."""
        return 1.0 / (1.0 + np.exp(np.clip((distances - self.threshold_) / self.scale_, -50.0, 50.0)))

    def _leave_one_out(self) -> Distances:
        from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415 (a second to import; only to learn)

        search = NearestNeighbors(n_neighbors=self.k, algorithm="brute", metric="euclidean")
        # Without rows, scikit-learn searches the stored points and never finds a point as its own neighbour.
        distances: Distances = search.fit(self.prototypes_).kneighbors()[0]
        return distances[:, -1]
