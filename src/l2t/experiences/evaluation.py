"""What a representation of the target is worth: 1-NN accuracy from few labels.

For each label count c, c target rows are drawn by class in equal shares (a remainder goes to random
classes), the other labelled rows are classified by their nearest drawn row, and the accuracy is averaged
over several draws. The draws depend on the labels, the count and the seed alone, so that every
representation of a target is judged on the same labelled rows and the same test rows, and the
*improvement ratio* of two of them is a paired comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from l2t.exceptions import InvalidInputError
from l2t.numerics import squared_distances

__all__ = ["LABEL_COUNTS", "Accuracies", "evaluate"]

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

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
    """

    label_counts: tuple[int, ...]
    scores: Array

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


def evaluate(
    Z: npt.ArrayLike,
    codes: Codes,
    *,
    label_counts: Sequence[int] = LABEL_COUNTS,
    n_draws: int = 10,
    random_state: int = 0,
) -> Accuracies:
    """Measure 1-NN on the rows of Z.

    Parameters
    ----------
    Z : array-like of shape (n, u)
        The target in some representation: X itself, or X W.
    codes : int array of shape (n,)
        Class codes (`Domain.codes`); -1 where a label is missing: such rows are left out.
    label_counts : sequence of int
        How many rows are labelled. A count that leaves fewer than 30 rows for testing is left out.
    n_draws : int
        Draws a count.
    random_state : int
        The seed of the draws.

    Examples
    --------
    >>> codes = np.arange(60) % 3
    >>> evaluate(codes[:, None] * 1.0, codes, label_counts=(3, 15, 45)).label_counts
    (3, 15)
    """
    known = np.flatnonzero(codes >= 0)
    codes = codes[known]
    fitting = tuple(int(c) for c in label_counts if len(codes) - c >= MIN_TEST_ROWS)
    if not fitting:
        raise InvalidInputError(
            f"label_counts must leave at least {MIN_TEST_ROWS} target rows for testing, "
            f"got {tuple(label_counts)} for {len(codes)} labelled rows"
        )
    if min(fitting) < 1 or n_draws < 1:
        raise InvalidInputError(
            f"label_counts and n_draws must be at least 1, got {tuple(label_counts)}, {n_draws}"
        )
    # Distances once, whatever the number of counts and draws.
    D = squared_distances(np.asarray(Z, dtype=np.float64)[known])
    scores = np.empty((len(fitting), n_draws))
    for row, count in enumerate(fitting):
        for draw in range(n_draws):
            rng = np.random.default_rng(
                np.random.SeedSequence(random_state, spawn_key=(count, draw))
            )
            chosen = _stratified(rng, codes, count)
            test = np.delete(np.arange(len(codes)), chosen)
            nearest = D[np.ix_(test, chosen)].argmin(axis=1)
            scores[row, draw] = np.mean(codes[chosen][nearest] == codes[test])
    return Accuracies(fitting, scores)


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
