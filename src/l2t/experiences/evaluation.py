"""Evaluation of a representation of the target: its accuracy with few labels.

For each label count c, c target rows are drawn in equal numbers per class (a remainder goes to random
classes; what a small class cannot supply comes from the others), the other labelled rows are classified, by
default by 1-NN, and the accuracy is averaged over several draws. The draws depend only on the labels, the
count and the seed: every representation of a target is evaluated on the same rows, and the *improvement
ratio* of two of them is a paired comparison. If the source has the target's classes, its labelled rows can be
trained on as well, with the rows of each draw or without any (label count 0).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from l2t.exceptions import InvalidInputError
from l2t.numerics import squared_distances
from l2t.typing import AnyArray, Array, Indices
from l2t.validation import whole_number

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

#: The label counts of the paper.
LABEL_COUNTS = (3, 15, 30, 45, 60, 75, 90, 105, 120)
#: A label count that leaves fewer test rows than this is skipped.
MIN_TEST_ROWS = 30


@dataclass(frozen=True, eq=False)
class Accuracies:
    """The accuracies of `evaluate`.

    Attributes
    ----------
    label_counts : tuple of int
        The label counts that were evaluated.
    scores : array of shape (n_counts, n_draws)
        The accuracy for each label count and draw.
    n_test : tuple of int
        The smallest number of test rows of a draw, for each label count.
    """

    label_counts: tuple[int, ...]
    scores: Array
    n_test: tuple[int, ...]

    @property
    def mean(self) -> Array:
        """The mean accuracy for each label count."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_error(self) -> Array:
        """The standard error of each mean; 0 for a single draw."""
        draws = self.scores.shape[1]
        return np.asarray(self.scores.std(axis=1, ddof=min(1, draws - 1)) / np.sqrt(draws))


def expected_accuracy(measured: float, n_rows: int) -> float:
    """Return the expected accuracy given that on `n_rows` rows, by Laplace's rule of succession.

    >>> expected_accuracy(1.0, 8)
    0.9
    """
    return (measured * n_rows + 1) / (n_rows + 2)


def improvement_ratio(before: npt.ArrayLike, after: npt.ArrayLike, n_test: npt.ArrayLike) -> Array:
    """Return ``l = after / before``, the ratio of the accuracies with and without transfer.

    An accuracy of zero counts as half a correct row, ``1 / (2 n_test)``, so that the ratio is finite and
    positive.

    Parameters
    ----------
    before, after : array-like of shape (n,)
        The accuracies without and with transfer.
    n_test : array-like of shape (n,)
        The numbers of test rows.

    Returns
    -------
    array of shape (n,)
        The ratios.

    Examples
    --------
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
    classifier: ClassifierMixin | None = None,
    groups: npt.ArrayLike | None = None,
    source: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    random_state: int = 0,
) -> Accuracies:
    """Evaluate a classifier on a representation of the target with few labels.

    Parameters
    ----------
    Z : array-like of shape (n, u)
        The target in some representation: X itself, or X W.
    codes : int array of shape (n,)
        Class codes (`Domain.codes`); rows with -1 have no label and are not used.
    label_counts : sequence of int, default=(3, 15, 30, 45, 60, 75, 90, 105, 120)
        The numbers of labelled rows. A count that leaves fewer than 30 test rows is skipped.
    n_draws : int, default=10
        The number of draws per label count.
    classifier : scikit-learn classifier, optional
        The classifier, cloned and fitted to each draw; by default 1-NN.
    groups : int array of shape (n,), optional
        Group codes (`Domain.group_codes`): rows in a group with a labelled row are not tested.
    source : (array-like of shape (n_s, u), int array of shape (n_s,)), optional
        Labelled rows of the source and their class codes, which are added to the training rows of each draw.
        A label count may then be 0.
    random_state : int, default=0
        The seed of the draws.

    Returns
    -------
    Accuracies
        The accuracies, with their mean and standard error for each label count.

    Raises
    ------
    InvalidInputError
        If the arrays do not match, or every label count leaves fewer than 30 test rows.

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
            "Z must be 2-D and codes must have one integer per row of Z, got shapes "
            f"{rows.shape} and {codes.shape} and codes of dtype {codes.dtype}"
        )
    if groups is not None and np.shape(groups) != codes.shape:
        raise InvalidInputError(
            f"groups must have one entry per row of Z ({len(rows)}), got shape {np.shape(groups)}"
        )
    known = np.flatnonzero(codes >= 0)
    grouping = None if groups is None else np.asarray(groups)[known]
    rows, codes = rows[known], codes[known]
    if not np.isfinite(rows).all():
        raise InvalidInputError("Z must be finite in labelled rows, got NaN or infinity")
    whole_number("n_draws", n_draws, least=1)
    least = 1 if source is None else 0
    counts = tuple(whole_number("label_counts", count, least=least) for count in label_counts)
    splits = held_out_splits(codes, counts, n_draws, random_state, grouping)
    if not splits:
        raise InvalidInputError(
            f"label_counts must leave at least {MIN_TEST_ROWS} target rows for testing, "
            f"got {counts} for {len(codes)} labelled rows"
            + ("" if grouping is None else f" in {len(np.unique(grouping))} groups")
        )
    score = _scoring(rows, codes, classifier, source)
    scores = np.array([[score(*split) for split in draws] for draws in splits.values()])
    n_test = tuple(min(len(test) for _, test in draws) for draws in splits.values())
    return Accuracies(tuple(splits), scores, n_test)


def held_out_splits(
    codes: Indices,
    label_counts: Sequence[int],
    n_draws: int,
    random_state: int,
    groups: AnyArray | None = None,
) -> dict[int, list[tuple[Indices, Indices]]]:
    """Return the labelled and the test rows of each draw, by label count; every row must have a class.

    Label counts that leave too few test rows are left out.
    """
    splits = {}
    for count in label_counts:
        draws = [
            (chosen, rows_to_test(len(codes), chosen, groups))
            for chosen in labeled_draws(codes, count, n_draws, random_state)
        ]
        if min(len(test) for _, test in draws) >= MIN_TEST_ROWS:
            splits[count] = draws
    return splits


def labeled_draws(
    codes: Indices, count: int, n_draws: int = 10, random_state: int = 0
) -> list[Indices]:
    """Return the labelled rows of each draw of `evaluate`; every row must have a class."""
    plain = np.asarray(codes, dtype=np.intp)
    return list(_draws(plain.tobytes(), count, n_draws, random_state))


@lru_cache(maxsize=256)
def _draws(codes: bytes, count: int, n_draws: int, random_state: int) -> tuple[Indices, ...]:
    """Return the draws, cached because all candidates of a task use the same."""
    seeds = (np.random.SeedSequence(random_state, spawn_key=(count, i)) for i in range(n_draws))
    plain = np.frombuffer(codes, dtype=np.intp)
    drawn = tuple(_stratified(np.random.default_rng(seed), plain, count) for seed in seeds)
    for rows in drawn:
        rows.flags.writeable = False
    return drawn


def rows_to_test(n: int, labeled: Indices, groups: AnyArray | None = None) -> Indices:
    """Return which of n rows are tested: those that are neither labelled nor in a group with a labelled row.

    >>> rows_to_test(5, np.array([0]), np.array([7, 7, 8, 8, 9])).tolist()
    [2, 3, 4]
    """
    tested = np.ones(n, dtype=bool)
    tested[labeled] = False
    if groups is not None:
        tested &= ~np.isin(groups, groups[labeled])
    return np.flatnonzero(tested)


def nearest_accuracy(D: Array, codes: Indices, chosen: Indices, test: Indices) -> float:
    """Return the accuracy of 1-NN on test rows, from the distances D between all rows."""
    nearest = D[np.ix_(test, chosen)].argmin(axis=1)
    return float(np.mean(codes[chosen][nearest] == codes[test]))


def _scoring(
    Z: Array,
    codes: Indices,
    classifier: ClassifierMixin | None,
    source: tuple[npt.ArrayLike, npt.ArrayLike] | None,
) -> Callable[[Indices, Indices], float]:
    """Return a function from labelled and test rows to the accuracy; for 1-NN it reuses all distances."""
    n, D = len(Z), squared_distances(Z) if classifier is None else None
    if source is not None:
        rows, classes = np.asarray(source[0], dtype=np.float64), np.asarray(source[1])
        if D is None:
            Z = np.vstack([Z, rows])
        else:  # the nearest source row of each class is enough
            across, source_codes = squared_distances(Z, rows), classes
            classes = np.unique(source_codes)
            D = np.column_stack([D, *(across[:, source_codes == k].min(axis=1) for k in classes)])
        codes = np.concatenate([codes, classes])
    from_source = np.arange(n, len(codes))
    if D is not None:
        return lambda drawn, test: nearest_accuracy(D, codes, np.append(drawn, from_source), test)

    from sklearn.base import clone  # slow to import

    def score(drawn: Indices, test: Indices) -> float:
        chosen = np.append(drawn, from_source)
        fitted = clone(classifier).fit(Z[chosen], codes[chosen])
        return float(fitted.score(Z[test], codes[test]))

    return score


def _stratified(rng: np.random.Generator, codes: Indices, count: int) -> Indices:
    """Draw `count` random rows, one of each class in turn; the order of the classes is random."""
    order = rng.permutation(len(codes))
    shuffled = codes[order]
    classes = rng.permutation(np.unique(codes))
    rank = np.empty(len(codes), dtype=np.intp)
    for turn, code in enumerate(classes):
        members = np.flatnonzero(shuffled == code)
        rank[members] = np.arange(len(members)) * len(classes) + turn
    return np.asarray(order[np.argsort(rank, kind="stable")[:count]])
