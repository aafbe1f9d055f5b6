"""What the source alone says about classifiers that are trained on it: no label of the target is read.

The classes of rows held out at random say how well the columns tell the classes apart. That is too much to
promise for a target that differs, so logistic regression and a random forest are also trained on one side of
a column and tested on the other, for the columns in which the domains differ most (by the Kolmogorov-Smirnov
test, at 1 %). Their mean loss of accuracy, times `CARRIED_LOSS`, is taken off: of the evidence without labels
that was compared (docs/results/tables.md), this loss says most about the accuracy on the target.

Methods that adapt the source to the target rely on neighbourhoods; `SourceCheck.adaptation_share` says how
far 1-NN is as good as the plain classifiers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.stats import ks_2samp

from l2t.forecast.forecast import rise
from l2t.prediction.pooled_rows import LEARNERS, Rows, folds
from l2t.typing import AnyArray, Array, Indices

NEAREST = "nearest neighbour"
N_FOLDS = 2
#: The accuracy of 1-NN above chance on held-out source rows, relative to that of the best plain classifier:
#: from the first number on an adaptation by neighbourhoods counts, and from the second it is used alone.
ADAPTATION = (0.8, 1.0)
#: In the comparison of parts: classifiers, number of columns, level of the test that the domains differ in a
#: column, least share of rows on each side of it, and largest numbers of rows to train on and to test.
COMPARED_LEARNERS = LEARNERS[:2]
N_COLUMNS = 4
LEVEL = 0.01
LEAST_SIDE = 0.1
MAX_TRAINED, MAX_TESTED = 600, 400
#: The part of the loss between the sides of a column that the target is expected to suffer: least squares
#: over all tables gives .63, and .40 to .71 with one table left out.
CARRIED_LOSS = 2 / 3


@dataclass(frozen=True, eq=False)
class SourceCheck:
    """Accuracies on rows of the source.

    Attributes
    ----------
    accuracy : float or None
        The accuracy of the average of plain classifiers on held-out rows; None if there are too few.
    loss : float
        The mean loss of accuracy from one side of a column to the other, 0 if nothing could be compared.
    adaptation_share : float
        The weight that adaptations by neighbourhoods deserve, from 0 to 1.
    held_out, truth : array
        The probabilities (classifiers, rows, classes) of held-out rows, and their classes.
    """

    accuracy: float | None
    loss: float
    adaptation_share: float
    held_out: Array = field(repr=False)
    truth: Indices = field(repr=False)

    def carried(self, accuracy: float) -> float:
        """Return the accuracy to expect in the target of classifiers that have this one in the source."""
        return max(accuracy - CARRIED_LOSS * self.loss, 0.0)

    @property
    def carried_accuracy(self) -> float | None:
        """The accuracy to expect in the target; None if that on the source is unknown."""
        return None if self.accuracy is None else self.carried(self.accuracy)


def check_source(data: Rows, rng: np.random.Generator) -> SourceCheck:
    """Cross-validate plain classifiers and 1-NN on the source, and compare its parts."""
    source = data.some_of_source(rng)
    codes = data.codes[source]
    held_out = np.zeros((len(LEARNERS), len(source), data.n_classes))
    n_groups = len(np.unique(data.groups[source]))
    if len(source) <= N_FOLDS or n_groups < N_FOLDS or len(np.unique(codes)) < 2:
        return SourceCheck(None, 0.0, 0.0, held_out, codes)
    nearest = np.zeros(len(source), dtype=bool)
    for test in folds(data.groups[source], rng, N_FOLDS):
        for place, name in enumerate(LEARNERS):
            held_out[place, test] = data.probabilities(name, source[~test], source[test])
        P = data.probabilities(NEAREST, source[~test], source[test])
        nearest[test] = P.argmax(axis=1) == codes[test]
    right = held_out.argmax(axis=2) == codes
    average = float(np.mean(held_out.mean(axis=0).argmax(axis=1) == codes))
    loss = _loss_between_parts(data, source, right, rng)
    chance = float(np.bincount(codes).max() / len(codes))
    best = float(right.mean(axis=1).max())
    share = 0.0
    error = np.sqrt(chance * (1.0 - chance) / len(codes))
    if best > chance + 2.0 * error:  # otherwise the source's own classes can hardly be separated
        share = rise((float(nearest.mean()) - chance) / (best - chance), ADAPTATION)
    return SourceCheck(average, loss, share, held_out, codes)


def _loss_between_parts(
    data: Rows, source: Indices, right: AnyArray, rng: np.random.Generator
) -> float:
    """Return the mean loss of accuracy from one side of a column to the other.

    `right` are the source rows that classifiers predict correctly which are trained on random others.
    """
    losses = np.zeros(len(COMPARED_LEARNERS))
    n_tested = 0
    for above in _sides(data.Z[source], data.Z[: data.n_target]):
        for side in (above, ~above):
            train = rng.permutation(np.flatnonzero(~side))[:MAX_TRAINED]
            test = rng.permutation(np.flatnonzero(side))[:MAX_TESTED]
            truth = data.codes[source[test]]
            for place, name in enumerate(COMPARED_LEARNERS):
                P = data.probabilities(name, source[np.sort(train)], source[test])
                losses[place] += right[place, test].sum() - np.sum(P.argmax(axis=1) == truth)
            n_tested += len(test)
    return float(np.maximum(losses / n_tested, 0.0).mean()) if n_tested else 0.0


def _sides(Z: Array, target: Array) -> list[AnyArray]:
    """Return which source rows are above the median or else the mean of each column, for some columns.

    They are those in which source and target differ most.
    """
    tests = [ks_2samp(*pair, method="asymp") for pair in zip(Z.T, target.T, strict=True)]
    sides: list[AnyArray] = []
    for column in np.argsort([-test.statistic for test in tests], kind="stable"):
        if tests[column].pvalue > LEVEL:
            break
        values = Z[:, column]
        for middle in (np.median(values), values.mean()):
            above = values > middle
            if LEAST_SIDE < above.mean() < 1.0 - LEAST_SIDE:
                sides.append(above)
                break
        if len(sides) == N_COLUMNS:
            break
    return sides
