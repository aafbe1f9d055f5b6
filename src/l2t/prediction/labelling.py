"""Which rows to label next, and how many labels a higher accuracy needs.

By default rows are chosen by Σ-optimality (Ma, Garnett and Schneider, NIPS 2013), weighted by uncertainty.
Let the classes be a Gaussian process f of covariance ``exp(-||z_i - z_j||² / s)``, where s is the median
squared distance of rows, and C its covariance given the labelled rows. The label of row j reduces the
variance of ``Σ u_i f_i`` by

``(Σ_i u_i C_ij)² / (C_jj + noise)``

The row of the largest reduction is taken, C is conditioned on it, and so on: the first 10 of 30 rows are the
10 that are suggested alone. The uncertainty u_i of a row is one minus the margin between its two most
probable classes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from l2t.numerics import squared_distances
from l2t.prediction.promise import Promise
from l2t.typing import Array, Indices, Mask
from l2t.validation import one_of

#: Accuracies to reach: the next one above the expected accuracy is reported.
ACCURACY_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
#: How rows to label next can be chosen, and how they are by default: docs/results/labelling.md.
STRATEGIES = ("informative", "diverse", "balanced", "random")
DEFAULT_STRATEGY = "informative"
#: The n rows of a class are chosen from this many times n of its least certain rows.
CANDIDATES_PER_ROW = 3
#: Maximum number of rows that are compared, a random sample of a larger target, and of labelled ones.
COMPARED = 1000
#: Variance of a label around the Gaussian process, whose own is one.
NOISE = 0.1
#: The uncertainty of a certain row, so that not all are zero.
LEAST_UNCERTAINTY = 1e-6

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
    if strategy == "balanced":
        return _balanced(features, order, probabilities.argmax(axis=1), labelled, n, random_state)
    some = np.sort(rng.permutation(len(free))[:COMPARED])
    uncertainty = np.maximum(1.0 - margin[some], LEAST_UNCERTAINTY)
    if strategy == "diverse":
        rows = _central(features, free[some], n, random_state, weights=uncertainty)
    else:
        known = rng.permutation(np.flatnonzero(labelled))[:COMPARED]
        Z = features(np.concatenate([free[some], known]))
        rows = free[some[_informative(Z, uncertainty, len(some), min(n, len(some)))]]
    return np.concatenate([rows, order[~np.isin(order, rows)][: n - len(rows)]])


def _margin(probabilities: Array) -> Array:
    """Return how much more probable the first class of each row is than the second."""
    best = np.sort(probabilities, axis=1)
    return np.asarray(best[:, -1] - best[:, -2] if best.shape[1] > 1 else best[:, -1])


def _balanced(
    features: FeaturesOf,
    order: Indices,
    predicted: Indices,
    labelled: Mask,
    n: int,
    random_state: int,
) -> Indices:
    """Return central rows among the least certain of each predicted class, more where fewer are labelled."""
    n_classes = int(predicted.max()) + 1
    taken = np.bincount(predicted[labelled], minlength=n_classes).astype(np.float64)
    left = np.bincount(predicted[order], minlength=n_classes)
    wanted = np.zeros(n_classes, dtype=np.intp)
    for _ in range(min(n, len(order))):
        code = int(np.where(wanted < left, taken, np.inf).argmin())
        taken[code] += 1
        wanted[code] += 1
    rows = [
        _central(features, uncertain[: CANDIDATES_PER_ROW * count], count, random_state)
        for code, count in enumerate(wanted.tolist())
        if count and len(uncertain := order[predicted[order] == code])
    ]
    return np.concatenate(rows)


def _informative(Z: Array, uncertainty: Array, n_free: int, n: int) -> Indices:
    """Return n of the first `n_free` rows by weighted Σ-optimality; the rows after them have a label."""
    D = squared_distances(Z)
    apart = D[np.triu_indices(len(Z), 1)]
    C = np.exp(-D / (float(np.median(apart)) or 1.0))
    free, labelled = slice(0, n_free), slice(n_free, None)
    K = C[labelled, labelled] + NOISE * np.eye(len(Z) - n_free)
    C = C[free, free] - C[free, labelled] @ np.linalg.solve(K, C[labelled, free])
    chosen: list[int] = []
    for _ in range(n):
        gain = (uncertainty @ C) ** 2 / (np.diag(C) + NOISE)
        gain[chosen] = -1.0
        row = int(gain.argmax())
        chosen.append(row)
        C = C - np.outer(C[:, row], C[row]) / (C[row, row] + NOISE)
    return np.array(chosen)


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


def labels_needed(shots: float, promise: Promise, n: int, curve: dict[int, float]) -> str | None:
    """Return a sentence on how many labels per class beyond `shots` the next of `ACCURACY_LEVELS` needs.

    The interval counts for as many rows as that of the present accuracy, which is most of what is unknown
    (docs/results/promises.md).

    Parameters
    ----------
    shots : float
        Labels per class.
    promise : Promise
        The accuracy to expect with them.
    n : int
        The number of unlabelled rows, or of their groups.
    curve : dict of int to float
        Accuracies in rehearsal by labels per class, beginning with the present number.

    Returns
    -------
    str or None

    Examples
    --------
    >>> labels_needed(5, Promise.of(0.85, 20, 200), 200, {5: 0.85, 10: 0.88, 20: 0.92})
    'About 9 more labels per class should raise the accuracy to 90 % (90 % interval 77 to 98 %).'
    """
    accuracy = promise.expected
    counts = sorted(curve)
    now = curve[counts[0]]
    if len(counts) < 2 or now >= 1.0:
        return None
    # The error is assumed to fall as in rehearsal.
    errors = np.minimum.accumulate(
        [(1.0 - accuracy) * (1.0 - curve[count]) / (1.0 - now) for count in counts]
    )
    level = next((higher for higher in ACCURACY_LEVELS if higher > accuracy + 0.01), 1.0)
    if level == 1.0 or errors[-1] > 1.0 - level:
        return None
    logs = np.interp(-(1.0 - level), -errors, np.log(counts))
    more = max(1, round(float(np.exp(logs)) - shots))
    many = "labels" if more > 1 else "label"
    later = Promise.of(level, promise.rows, n)
    return (
        f"About {more} more {many} per class should raise the accuracy to {100 * level:.0f} % "
        f"(90 % interval {100 * later.low:.0f} to {100 * later.high:.0f} %)."
    )
