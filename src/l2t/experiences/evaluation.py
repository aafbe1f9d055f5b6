"""What a representation of the target is worth: accuracy from few labels.

For each label count c, c target rows are drawn by class in equal shares (a remainder goes to random
classes; a class too small for its share leaves it to the others), the other rows that carry a label are
classified, by default by their nearest drawn row, and the accuracy is averaged over several draws. The draws
depend on the labels, the count and the seed alone, so that every representation of a target is judged on
the same labelled rows and the same test rows, and the *improvement ratio* of two of them is a paired
comparison. A class without a labelled row is simply never predicted: its test rows count as errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from l2t.exceptions import InvalidInputError
from l2t.numerics import squared_distances
from l2t.typing import Array

__all__ = [
    "LABEL_COUNTS",
    "Accuracies",
    "evaluate",
    "improvement_ratio",
    "labeled_draws",
    "nearest_accuracy",
]

Codes = npt.NDArray[np.intp]
Scorer = Callable[[Any, Any, Any], float]

#: The label counts of the paper.
LABEL_COUNTS = (3, 15, 30, 45, 60, 75, 90, 105, 120)
#: A count that leaves fewer test rows than this is left out.
MIN_TEST_ROWS = 30


@dataclass(frozen=True, eq=False)
class Accuracies:
    """Accuracies by label count and draw.

    Attributes
    ----------
    label_counts : tuple of int
        The counts that left enough rows for testing.
    scores : array of shape (counts, draws)
        The accuracy of each draw.
    n_rows : int
        Target rows that carry a label; those that are not labelled in a draw are its test rows.
    left_out : tuple of int
        Counts that would have left too few rows for testing.
    """

    label_counts: tuple[int, ...]
    scores: Array
    n_rows: int
    left_out: tuple[int, ...] = ()

    @property
    def mean(self) -> Array:
        """The mean accuracy of each count."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_error(self) -> Array:
        """The standard error of each mean; 0 for a single draw."""
        draws = self.scores.shape[1]
        if draws < 2:
            return np.zeros(len(self.scores))
        return np.asarray(self.scores.std(axis=1, ddof=1) / np.sqrt(draws))


def improvement_ratio(before: float, after: float, n_test: int) -> float:
    """Return ``l = after / before``, always finite and positive.

    An accuracy of zero is taken for half a right answer among the test rows: ``1 / (2 n_test)``.

    >>> improvement_ratio(0.5, 0.75, 100), improvement_ratio(0.0, 0.5, 50)
    (1.5, 50.0)
    """
    least = 1.0 / (2.0 * n_test)
    return max(after, least) / max(before, least)


def evaluate(
    Z: npt.ArrayLike,
    codes: npt.ArrayLike,
    *,
    label_counts: Sequence[int] = LABEL_COUNTS,
    n_draws: int = 10,
    classifier: Any = None,
    scorer: Scorer | None = None,
    random_state: int = 0,
) -> Accuracies:
    """Measure a classifier on the rows of Z.

    Parameters
    ----------
    Z : array-like of shape (n, u)
        The target in some representation: X itself, or X W.
    codes : int array of shape (n,)
        Class codes (`Domain.codes`); -1 where a label is missing: such rows are left out.
    label_counts : sequence of int
        How many rows are labelled. A count that leaves fewer than 30 rows for testing is left out,
        and stands in `Accuracies.left_out`.
    n_draws : int
        Draws a count.
    classifier : scikit-learn classifier, optional
        Cloned and fitted to each draw; by default 1-NN, from distances computed once for all draws.
    scorer : callable, optional
        ``scorer(classifier, Z, codes)``, as scikit-learn makes them; by default accuracy.
    random_state : int
        The seed of the draws.

    Examples
    --------
    >>> codes = np.arange(60) % 3
    >>> measured = evaluate(codes[:, None] * 1.0, codes, label_counts=(3, 15, 45))
    >>> measured.label_counts, measured.left_out, measured.mean.tolist()
    ((3, 15), (45,), [1.0, 1.0])
    """
    rows, codes = np.asarray(Z, dtype=np.float64), np.asarray(codes)
    if rows.ndim != 2 or codes.shape != (len(rows),) or codes.dtype.kind not in "iu":
        raise InvalidInputError(
            "Z must be 2-D with one whole number in codes for each row, got shapes "
            f"{rows.shape} and {codes.shape} and codes of dtype {codes.dtype}"
        )
    known = np.flatnonzero(codes >= 0)
    rows, codes = rows[known], codes[known]
    if not np.isfinite(rows).all():
        raise InvalidInputError("Z must be finite where a row carries a label")
    counts = tuple(int(count) for count in label_counts)
    fitting = tuple(count for count in counts if len(codes) - count >= MIN_TEST_ROWS)
    if not fitting:
        raise InvalidInputError(
            f"label_counts must leave at least {MIN_TEST_ROWS} target rows for testing, "
            f"got {counts} for {len(codes)} labelled rows"
        )
    if min(fitting) < 1 or n_draws < 1:
        raise InvalidInputError(
            f"label_counts and n_draws must be at least 1, got {counts} and {n_draws}"
        )
    score = (
        _nearest_neighbour(rows, codes)
        if classifier is None and scorer is None
        else _any_classifier(rows, codes, classifier, scorer)
    )
    scores = np.empty((len(fitting), n_draws))
    for row, count in enumerate(fitting):
        for draw, chosen in enumerate(labeled_draws(codes, count, n_draws, random_state)):
            scores[row, draw] = score(chosen, np.delete(np.arange(len(codes)), chosen))
    left_out = tuple(count for count in counts if count not in fitting)
    return Accuracies(fitting, scores, len(codes), left_out)


def labeled_draws(
    codes: Codes, count: int, n_draws: int = 10, random_state: int = 0
) -> list[Codes]:
    """Return the rows that are labelled in each draw of `evaluate`, where every row has a class."""
    seeds = (np.random.SeedSequence(random_state, spawn_key=(count, i)) for i in range(n_draws))
    return [_stratified(np.random.default_rng(seed), codes, count) for seed in seeds]


def _nearest_neighbour(Z: Array, codes: Codes) -> Callable[[Codes, Codes], float]:
    """Return (labelled rows, test rows) -> accuracy of 1-NN; distances are computed once."""
    D = squared_distances(Z)

    return lambda chosen, test: nearest_accuracy(D, codes, chosen, test)


def nearest_accuracy(D: Array, codes: Codes, chosen: Codes, test: Codes) -> float:
    """Return the accuracy of 1-NN from labelled to test rows, by the distances between all rows."""
    nearest = D[np.ix_(test, chosen)].argmin(axis=1)
    return float(np.mean(codes[chosen][nearest] == codes[test]))


def _any_classifier(
    Z: Array, codes: Codes, classifier: Any, scorer: Scorer | None
) -> Callable[[Codes, Codes], float]:
    """Return (labelled rows, test rows) -> score of a classifier fitted to the labelled rows."""
    if classifier is None:
        raise InvalidInputError("a scorer needs a classifier, got classifier=None")

    def score(chosen: Codes, test: Codes) -> float:
        fitted = clone(classifier).fit(Z[chosen], codes[chosen])
        if scorer is None:
            return float(fitted.score(Z[test], codes[test]))
        return float(scorer(fitted, Z[test], codes[test]))

    return score


def _stratified(rng: np.random.Generator, codes: Codes, count: int) -> Codes:
    """Draw rows by turns from the classes, in a random order, until there are enough."""
    order = rng.permutation(len(codes))
    shuffled = codes[order]
    classes = rng.permutation(np.unique(codes))
    place = np.empty(len(codes), dtype=np.intp)  # how many rows of the same class come before
    for turn, code in enumerate(classes):
        members = np.flatnonzero(shuffled == code)
        place[members] = np.arange(len(members)) * len(classes) + turn
    return np.asarray(order[np.argsort(place, kind="stable")[:count]])
