"""What a prediction rests on: the columns that change it, and the labelled rows nearest to a row.

The importance of a column is the share of rows whose predicted class changes when the cells of the column are
shuffled among the rows: permutation importance (Breiman, 2001) with the predicted classes in place of the
true ones. The few labelled rows would not do: the model was trained on them, and an accuracy on 12 rows
moves in steps of 8 points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from l2t.classifiers.feature_map import FeatureMap
from l2t.domains import Domain
from l2t.exceptions import InvalidInputError
from l2t.numerics import squared_distances
from l2t.prediction.model import Model
from l2t.typing import Indices, Label, Mask

#: Maximum number of columns that are shuffled, rows among which they are, and how often: a few seconds.
MOST_COLUMNS, ROWS, REPEATS = 100, 300, 3
#: Maximum number of labelled rows of each source among which the nearest are looked for.
MOST_LABELED = 2000
#: Rows whose nearest ones are looked for at a time.
BLOCK = 2000


@dataclass(frozen=True)
class LabeledNeighbor:
    """A labelled row near another row.

    Attributes
    ----------
    source : int or None
        The index of the source that it belongs to; None if it is a row of the target.
    row : int
        Its index there.
    label : str, number or bool
        Its label.
    distance : float
        The Euclidean distance in the features of the model's first view.
    """

    source: int | None
    row: int
    label: Label
    distance: float


def column_importance(model: Model, target: Domain, random_state: int = 0) -> dict[str, float]:
    """Return the importance of each column of a target, the largest first; see `Prediction.importance`."""
    columns = _features_by_column(target)
    if len(columns) > MOST_COLUMNS:
        raise InvalidInputError(
            f"importance needs at most {MOST_COLUMNS} columns, got {len(columns)}"
        )
    rng = np.random.default_rng(random_state)
    rows = target.rows[np.sort(rng.permutation(len(target))[:ROWS])]
    X = np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
    orders = [rng.permutation(len(X)) for _ in range(REPEATS)]
    before = model.decide(model.predict_proba(X))
    importance = {}
    for name, features in columns.items():
        changed = np.tile(X, (REPEATS, 1))
        changed[:, features] = np.concatenate([X[order][:, features] for order in orders])
        after = model.decide(model.predict_proba(changed))
        importance[name] = float(np.mean(after != np.tile(before, REPEATS)))
    return dict(sorted(importance.items(), key=lambda item: -item[1]))


def _features_by_column(target: Domain) -> dict[str, Indices]:
    """Return the indices of the features that are made of each column."""
    if target.encoder is None:
        names = target.feature_names or [f"x{place}" for place in range(target.n_features)]
        return {str(name): np.array([place]) for place, name in enumerate(names)}
    sizes = [len(column.feature_names) for column in target.encoder.columns]
    parts = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    return dict(zip(target.encoder.names, parts, strict=True))


def nearest_labeled(
    features: FeatureMap,
    target: Domain,
    is_labeled: Mask,
    sources: Sequence[Domain],
    rows: Indices,
    n: int,
) -> list[list[LabeledNeighbor]]:
    """Return the n labelled rows nearest to each of some rows of a target, the nearest first.

    Of more than 2,000 labelled rows of a source, 2,000 are drawn. A row is not its own neighbour.

    Parameters
    ----------
    features : FeatureMap
        The features in which distances are measured.
    target : Domain
        The target.
    is_labeled : bool array of shape (n_rows,)
        The rows of the target that have a label.
    sources : sequence of Domain
        The sources.
    rows : int array
        The rows of the target.
    n : int
        The number of neighbours.

    Returns
    -------
    list of list of LabeledNeighbor
    """
    domains = [target, *sources]
    labeled = [np.flatnonzero(is_labeled), *(_labeled_rows(source) for source in sources)]
    Z = np.concatenate(
        [features(domain.rows[own]) for domain, own in zip(domains, labeled, strict=True)]
    )
    owner = np.repeat(np.arange(len(domains)), [len(own) for own in labeled])
    places = np.concatenate(labeled)
    neighbors = []
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        D = squared_distances(features(target.rows[block]), Z)
        D[(block[:, None] == places) & (owner == 0)] = np.inf
        order = np.argsort(D, axis=1, kind="stable")[:, :n]
        for distances, nearest in zip(D, order, strict=True):
            neighbors.append(
                [
                    LabeledNeighbor(
                        source=int(owner[place]) - 1 if owner[place] else None,
                        row=int(places[place]),
                        label=_label(domains[owner[place]], int(places[place])),
                        distance=float(np.sqrt(distances[place])),
                    )
                    for place in nearest
                    if np.isfinite(distances[place])
                ]
            )
    return neighbors


def _labeled_rows(source: Domain) -> Indices:
    """Return the labelled rows of a source, or 2,000 of them that are drawn."""
    labeled = np.flatnonzero(source.labeled_rows(default=source.y is not None))
    return np.sort(np.random.default_rng(0).permutation(labeled)[:MOST_LABELED])


def _label(domain: Domain, row: int) -> Any:
    assert domain.y is not None  # some of its rows are labelled
    return domain.y[[row]].tolist()[0]
