"""Which rows to label next, and how many labels a given accuracy takes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from l2t.numerics import squared_distances
from l2t.typing import Array

__all__ = ["labels_needed", "suggest_rows"]

#: Accuracies that a sentence is about: the first that is not reached yet.
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
#: Rows are suggested from a random sample of so many.
MAX_ROWS = 3000


def suggest_rows(
    Z: Array, labelled: npt.NDArray[np.bool_], n: int, random_state: int = 0
) -> npt.NDArray[np.intp]:
    """Return the rows to label next: typical rows of groups that have no labelled row yet.

    The rows are divided into as many groups as there will be labels (k-means); of the largest groups without
    a labelled row, the row nearest to the centre is taken (Hacohen et al. 2022, TypiClust).
    """
    from sklearn.cluster import KMeans

    free = np.flatnonzero(~labelled)
    if n >= len(free):
        return free
    rng = np.random.default_rng(random_state)
    rows = np.concatenate([np.flatnonzero(labelled), rng.permutation(free)[: max(MAX_ROWS, n)]])
    at = Z[rows]
    k = min(len(np.unique(at, axis=0)), int(labelled.sum()) + n)
    groups = KMeans(k, n_init=1, random_state=random_state).fit(at)
    D = squared_distances(at, groups.cluster_centers_)[np.arange(len(at)), groups.labels_]
    order = np.lexsort((D, groups.labels_))
    order = order[~labelled[rows[order]]]
    covered = np.bincount(groups.labels_[labelled[rows]], minlength=k)
    sizes = np.bincount(groups.labels_, minlength=k)
    found: list[int] = []
    place = np.zeros(len(at), dtype=np.intp)  # how many rows of the group are nearer to its centre
    for group in range(k):
        members = order[groups.labels_[order] == group]
        place[members] = np.arange(len(members))
    keys = (-sizes[groups.labels_[order]], place[order] + covered[groups.labels_[order]])
    found = rows[order[np.lexsort(keys)][:n]].tolist()
    return np.array(found, dtype=np.intp)


def labels_needed(shots: float, accuracy: float, curve: dict[int, float]) -> str | None:
    """Return a sentence about how many labels more would bring the next round accuracy.

    Parameters
    ----------
    shots : float
        Labels per class that there are.
    accuracy : float
        What to expect of them.
    curve : dict of int to float
        Accuracies in rehearsal by labels per class, the present number among them.

    Examples
    --------
    >>> labels_needed(5, 0.85, {5: 0.85, 10: 0.88, 20: 0.92})
    'About 9 more labels per class would bring 90 %.'
    """
    counts = sorted(curve)
    now = curve[counts[0]]
    if len(counts) < 2 or now >= 1.0:
        return None
    # Errors fall as they did in rehearsal.
    errors = np.minimum.accumulate(
        [(1.0 - accuracy) * (1.0 - curve[each]) / (1.0 - now) for each in counts]
    )
    for level in LEVELS:
        if level > accuracy + 0.01:
            if errors[-1] > 1.0 - level:
                return None
            logs = np.interp(-(1.0 - level), -errors, np.log(counts))
            more = max(1, round(float(np.exp(logs)) - shots))
            many = "labels" if more > 1 else "label"
            return f"About {more} more {many} per class would bring {100 * level:.0f} %."
    return None
