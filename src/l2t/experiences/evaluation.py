"""Evaluation of a representation of the target: its accuracy with few labels.

For each label count c, c target rows are drawn by class in equal shares (a remainder goes to random
classes; a class too small for its share leaves it to the others), the other rows that carry a label are
classified, by default by 1-NN, and the accuracy is averaged over several draws. The draws depend on the
labels, the count and the seed alone: every representation of a target is evaluated on the same rows, and the
*improvement ratio* of two of them is a paired comparison. Where the source has the target's classes, its
labelled rows can be trained on as well, in every draw, or alone: that is a label count of 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.exceptions import InvalidInputError
from l2t.numerics import squared_distances
from l2t.typing import AnyArray, Array, Indices
from l2t.validation import whole_number

#: The label counts of the paper.
LABEL_COUNTS = (3, 15, 30, 45, 60, 75, 90, 105, 120)
#: A count that leaves fewer test rows than this is left out.
MIN_TEST_ROWS = 30


@dataclass(frozen=True, eq=False)
class Accuracies:
    """The `scores` of each label count and draw (counts x draws).

    `n_test` are the test rows of each count, in the draw that has fewest.
    """

    label_counts: tuple[int, ...]
    scores: Array
    n_test: tuple[int, ...]

    @property
    def mean(self) -> Array:
        """The mean accuracy of each count."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_error(self) -> Array:
        """The standard error of each mean; 0 for a single draw."""
        draws = self.scores.shape[1]
        return np.asarray(self.scores.std(axis=1, ddof=min(1, draws - 1)) / np.sqrt(draws))


def expected_accuracy(measured: float, n_rows: int) -> float:
    """Return the accuracy to expect where `measured` is that on n rows, by Laplace's rule of succession.

    >>> expected_accuracy(1.0, 8)
    0.9
    """
    return (measured * n_rows + 1) / (n_rows + 2)


def improvement_ratio(before: npt.ArrayLike, after: npt.ArrayLike, n_test: npt.ArrayLike) -> Array:
    """Return ``l = after / before``, the ratio of accuracies with and without W on `n_test` test rows.

    An accuracy of zero counts as half a right answer, ``1 / (2 n_test)``: the ratio is finite and positive.

    >>> improvement_ratio([0.5, 0.0], [0.75, 0.5], [100, 50]).tolist()
    [1.5, 50.0]
    """
    least = 0.5 / np.asarray(n_test)
    return np.asarray(np.maximum(after, least) / np.maximum(before, least))


def evaluate(
    Z: npt.ArrayLike,
    codes: npt.ArrayLike,
    *,
    label_counts: Sequence[int] = LABEL_COUNTS,
    n_draws: int = 10,
    classifier: Any = None,
    groups: npt.ArrayLike | None = None,
    source: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    random_state: int = 0,
) -> Accuracies:
    """Measure a classifier on the rows of Z.

    Parameters
    ----------
    Z : array-like of shape (n, u)
        The target in some representation: X itself, or X W.
    codes : int array of shape (n,)
        Class codes (`Domain.codes`); -1 where a label is missing: such rows are left out.
    label_counts : sequence of int, default=(3, 15, 30, 45, 60, 75, 90, 105, 120)
        How many rows are labelled. A count that leaves fewer than 30 rows for testing is left out.
    n_draws : int, default=10
        Draws per count.
    classifier : scikit-learn classifier, optional
        Cloned and fitted to each draw; by default 1-NN, from distances computed once for all draws.
    groups : int array of shape (n,), optional
        Group codes (`Domain.group_codes`): a row of the same group as a labelled one is not tested.
    source : (array-like of shape (n_s, u), int array of shape (n_s,)), optional
        Labelled rows of the source and their class codes, which are trained on beside those of a draw. A
        label count may then be 0.
    random_state : int, default=0
        The seed of the draws.

    Returns
    -------
    Accuracies
        With the mean accuracy and its standard error for each label count.

    Examples
    --------
    >>> codes = np.arange(60) % 3
    >>> measured = evaluate(codes[:, None] * 1.0, codes, label_counts=(3, 15, 45))
    >>> measured.label_counts, measured.mean.tolist()
    ((3, 15), [1.0, 1.0])
    """
    rows, codes = np.asarray(Z, dtype=np.float64), np.asarray(codes)
    if rows.ndim != 2 or codes.shape != (len(rows),) or codes.dtype.kind not in "iu":
        raise InvalidInputError(
            "Z must be 2-D with one whole number in codes for each row, got shapes "
            f"{rows.shape} and {codes.shape} and codes of dtype {codes.dtype}"
        )
    if groups is not None and np.shape(groups) != codes.shape:
        raise InvalidInputError(
            f"groups must have one entry per row of Z ({len(rows)}), got shape {np.shape(groups)}"
        )
    known = np.flatnonzero(codes >= 0)
    together = None if groups is None else np.asarray(groups)[known]
    rows, codes = rows[known], codes[known]
    if not np.isfinite(rows).all():
        raise InvalidInputError("Z must be finite where a row carries a label")
    whole_number("n_draws", n_draws, least=1)
    least = 1 if source is None else 0
    counts = tuple(whole_number("label_counts", count, least=least) for count in label_counts)
    splits = {
        count: [
            (chosen, rows_to_test(len(codes), chosen, together))
            for chosen in labeled_draws(codes, count, n_draws, random_state)
        ]
        for count in counts
    }
    n_test = {count: min(len(test) for _, test in splits[count]) for count in counts}
    fitting = tuple(count for count in counts if n_test[count] >= MIN_TEST_ROWS)
    if not fitting:
        raise InvalidInputError(
            f"label_counts must leave at least {MIN_TEST_ROWS} target rows for testing, "
            f"got {counts} for {len(codes)} labelled rows"
            + ("" if together is None else f" in {len(np.unique(together))} groups")
        )
    score = _scoring(rows, codes, classifier, source)
    scores = np.array([[score(*split) for split in splits[count]] for count in fitting])
    return Accuracies(fitting, scores, tuple(n_test[count] for count in fitting))


def labeled_draws(
    codes: Indices, count: int, n_draws: int = 10, random_state: int = 0
) -> list[Indices]:
    """Return the rows that are labelled in each draw of `evaluate`, where every row has a class."""
    plain = np.asarray(codes, dtype=np.intp)
    return list(_draws(plain.tobytes(), count, n_draws, random_state))


@lru_cache(maxsize=256)
def _draws(codes: bytes, count: int, n_draws: int, random_state: int) -> tuple[Indices, ...]:
    """Return the draws, which all candidates of a task share."""
    seeds = (np.random.SeedSequence(random_state, spawn_key=(count, i)) for i in range(n_draws))
    plain = np.frombuffer(codes, dtype=np.intp)
    drawn = tuple(_stratified(np.random.default_rng(seed), plain, count) for seed in seeds)
    for rows in drawn:
        rows.flags.writeable = False
    return drawn


def rows_to_test(n: int, labeled: Indices, groups: AnyArray | None = None) -> Indices:
    """Return which of n rows a draw of `evaluate` tests: those in no group with a labelled one.

    >>> rows_to_test(5, np.array([0]), np.array([7, 7, 8, 8, 9])).tolist()
    [2, 3, 4]
    """
    tested = np.ones(n, dtype=bool)
    tested[labeled] = False
    if groups is not None:
        tested &= ~np.isin(groups, groups[labeled])
    return np.flatnonzero(tested)


def nearest_accuracy(D: Array, codes: Indices, chosen: Indices, test: Indices) -> float:
    """Return the accuracy of 1-NN from labelled to test rows, by the distances between all rows."""
    nearest = D[np.ix_(test, chosen)].argmin(axis=1)
    return float(np.mean(codes[chosen][nearest] == codes[test]))


def _scoring(
    Z: Array, codes: Indices, classifier: Any, source: tuple[Any, Any] | None
) -> Callable[[Indices, Indices], float]:
    """Return the function (labelled rows, test rows) -> score; distances for 1-NN are computed once."""
    n, D = len(Z), None if classifier else squared_distances(Z)
    if source is not None:
        rows, classes = np.asarray(source[0], dtype=np.float64), np.asarray(source[1])
        if D is None:
            Z = np.vstack([Z, rows])
        else:  # of the source rows of a class, the nearest is enough
            apart, of_row = squared_distances(Z, rows), classes
            classes = np.unique(of_row)
            D = np.column_stack([D, *(apart[:, of_row == k].min(axis=1) for k in classes)])
        codes = np.concatenate([codes, classes])
    always = np.arange(n, len(codes))
    if D is not None:
        return lambda drawn, test: nearest_accuracy(D, codes, np.append(drawn, always), test)

    from sklearn.base import clone  # which is slow to import

    def score(drawn: Indices, test: Indices) -> float:
        chosen = np.append(drawn, always)
        fitted = clone(classifier).fit(Z[chosen], codes[chosen])
        return float(fitted.score(Z[test], codes[test]))

    return score


def _stratified(rng: np.random.Generator, codes: Indices, count: int) -> Indices:
    """Draw `count` rows, one class after the other in random order."""
    order = rng.permutation(len(codes))
    shuffled = codes[order]
    classes = rng.permutation(np.unique(codes))
    place = np.empty(len(codes), dtype=np.intp)  # how many rows of the same class come before
    for turn, code in enumerate(classes):
        members = np.flatnonzero(shuffled == code)
        place[members] = np.arange(len(members)) * len(classes) + turn
    return np.asarray(order[np.argsort(place, kind="stable")[:count]])
