"""Which rows to label next, and how many labels a higher accuracy needs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from l2t.numerics import squared_distances
from l2t.typing import Array, Indices, Mask
from l2t.validation import one_of

#: Accuracies to reach: the next one above the expected accuracy is reported.
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
#: How rows to label next can be chosen, and how they are by default: docs/results/labelling.md.
STRATEGIES = ("typical", "diverse", "balanced", "covering", "random")
DEFAULT_STRATEGY = "diverse"
#: The n rows to suggest are chosen from this many times n of the least certain rows.
CANDIDATES = 3
#: Maximum number of rows that are clustered, a random sample of a larger target.
CLUSTERED = 2000

#: From indices of rows to their features.
FeaturesOf = Callable[[Indices], Array]


def suggest_rows(
    features: FeaturesOf,
    probabilities: Array,
    labelled: Mask,
    n: int,
    strategy: str = DEFAULT_STRATEGY,
    random_state: int = 0,
) -> Indices:
    """Return n rows to label next; see `Prediction.suggest` for the strategies.

    `features` returns the features of rows by their indices.
    """
    one_of("strategy", strategy, STRATEGIES)
    free, rng = np.flatnonzero(~labelled), np.random.default_rng(random_state)
    if strategy == "random":
        return rng.permutation(free)[:n]
    margin = _margin(probabilities[free])
    order = free[np.argsort(margin, kind="stable")]
    if n >= len(order):
        return order
    if strategy == "typical":
        return _typical(features, order, n, random_state)
    if strategy == "balanced":
        return _balanced(features, order, probabilities.argmax(axis=1), labelled, n, random_state)
    some = rng.permutation(len(free))[:CLUSTERED]
    if strategy == "diverse":
        return _central(features, free[some], n, random_state, weights=1.0 - margin[some])
    rows = _covering(features, free[some], np.flatnonzero(labelled), n, random_state)
    return np.concatenate([rows, order[~np.isin(order, rows)][: n - len(rows)]])


def _margin(probabilities: Array) -> Array:
    """Return how much more probable the first class of each row is than the second."""
    best = np.sort(probabilities, axis=1)
    return np.asarray(best[:, -1] - best[:, -2] if best.shape[1] > 1 else best[:, -1])


def _typical(features: FeaturesOf, order: Indices, n: int, random_state: int) -> Indices:
    """Return central rows among the least certain; rows are ordered by their certainty."""
    return _central(features, order[: CANDIDATES * n], n, random_state)


def _balanced(
    features: FeaturesOf,
    order: Indices,
    predicted: Indices,
    labelled: Mask,
    n: int,
    random_state: int,
) -> Indices:
    """Return typical rows of the predicted classes, more of those that have fewer labelled rows."""
    n_classes = int(predicted.max()) + 1
    taken = np.bincount(predicted[labelled], minlength=n_classes).astype(np.float64)
    left = np.bincount(predicted[order], minlength=n_classes)
    wanted = np.zeros(n_classes, dtype=np.intp)
    for _ in range(min(n, len(order))):
        code = int(np.where(wanted < left, taken, np.inf).argmin())
        taken[code] += 1
        wanted[code] += 1
    rows = [
        _typical(features, order[predicted[order] == code], int(wanted[code]), random_state)
        for code in np.flatnonzero(wanted)
    ]
    return np.concatenate(rows)


def _covering(
    features: FeaturesOf, free: Indices, labelled: Indices, n: int, random_state: int
) -> Indices:
    """Return the central rows of the n largest clusters without a labelled row, fewer if there are fewer."""
    from sklearn.cluster import KMeans

    rows = np.concatenate([free, labelled[-CLUSTERED:]])
    Z = features(rows)
    n_clusters = min(n + len(rows) - len(free), len(np.unique(Z, axis=0)))
    clusters = KMeans(n_clusters, n_init=1, random_state=random_state).fit(Z)
    sizes = np.bincount(clusters.labels_, minlength=n_clusters)
    sizes[clusters.labels_[len(free) :]] = 0
    best = np.argsort(-sizes, kind="stable")[:n]
    D = squared_distances(Z[: len(free)], clusters.cluster_centers_[best])
    D[clusters.labels_[: len(free), None] != best] = np.inf
    return np.asarray(free[D.argmin(axis=0)[sizes[best] > 0]])


def _central(
    features: FeaturesOf,
    rows: Indices,
    n: int,
    random_state: int,
    weights: Array | None = None,
) -> Indices:
    """Return the rows nearest to the n centres of clusters (k-means), each in its own cluster."""
    from sklearn.cluster import KMeans

    if n >= len(rows) or len(np.unique(Z := features(rows), axis=0)) <= n:
        return rows[:n]
    clusters = KMeans(n, n_init=1, random_state=random_state).fit(Z, sample_weight=weights)
    D = squared_distances(Z, clusters.cluster_centers_)
    D[clusters.labels_[:, None] != np.arange(n)] = np.inf
    return np.asarray(rows[D.argmin(axis=0)])


def labels_needed(shots: float, accuracy: float, curve: dict[int, float]) -> str | None:
    """Return a sentence on how many labels per class beyond `shots` the next of `LEVELS` needs.

    `curve` has accuracies in rehearsal by labels per class, beginning with the present number.

    Examples
    --------
    >>> labels_needed(5, 0.85, {5: 0.85, 10: 0.88, 20: 0.92})
    'About 9 more labels per class should raise the accuracy to 90 %.'
    """
    counts = sorted(curve)
    now = curve[counts[0]]
    if len(counts) < 2 or now >= 1.0:
        return None
    # The error is assumed to fall as in rehearsal.
    errors = np.minimum.accumulate(
        [(1.0 - accuracy) * (1.0 - curve[each]) / (1.0 - now) for each in counts]
    )
    level = next((each for each in LEVELS if each > accuracy + 0.01), 1.0)
    if level == 1.0 or errors[-1] > 1.0 - level:
        return None
    logs = np.interp(-(1.0 - level), -errors, np.log(counts))
    more = max(1, round(float(np.exp(logs)) - shots))
    many = "labels" if more > 1 else "label"
    return f"About {more} more {many} per class should raise the accuracy to {100 * level:.0f} %."
