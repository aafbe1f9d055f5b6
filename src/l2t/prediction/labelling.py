"""Which rows to label next, and how many labels a higher accuracy needs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from l2t.numerics import squared_distances
from l2t.typing import Array, Indices, Mask

#: Accuracies to reach: the next one above the expected accuracy is reported.
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
#: The n rows to suggest are chosen from this many times n of the least certain rows.
CANDIDATES = 3


def suggest_rows(
    features: Callable[[Indices], Array],
    probabilities: Array,
    labelled: Mask,
    n: int,
    random_state: int = 0,
) -> Indices:
    """Return the rows nearest to the n cluster centres (k-means) of the 3 n least certain rows.

    `features` returns the features of rows by their indices.
    """
    from sklearn.cluster import KMeans

    free = np.flatnonzero(~labelled)
    best = np.sort(probabilities[free], axis=1)
    margin = best[:, -1] - best[:, -2] if best.shape[1] > 1 else best[:, -1]
    order = free[np.argsort(margin, kind="stable")]
    some = order[: CANDIDATES * n]
    if n >= len(some) or len(np.unique(Z := features(some), axis=0)) <= n:
        return order[:n]
    groups = KMeans(n, n_init=1, random_state=random_state).fit(Z)
    D = squared_distances(Z, groups.cluster_centers_)
    D[groups.labels_[:, None] != np.arange(n)] = np.inf  # the nearest of its own group
    return np.asarray(some[D.argmin(axis=0)])


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
