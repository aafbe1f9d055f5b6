"""The accuracy to expect of predictions, with its interval.

What is known about an accuracy is a beta distribution with a mean m that counts for r rows, as if m r of r
labelled rows had been predicted correctly. The accuracy on n rows then has the variance
``m (1 - m) (n + r) / (n (r + 1))``, and the interval is that of a beta distribution with this variance. The
mean rests on labelled rows that were held out, or on the probabilities of unlabelled rows: with p the mean
probability of the predicted classes by an ensemble, c classes and k labels of each,

``logit(m) = 0.95 logit(p)``,  ``r = 3.5 k √min(c, 9) (1 - u/2)``

where u says how little plays tell about the target (`Ensemble.doubt`).

The weights of an ensemble minimise the log-loss of rows that were held out, so that p is nearly unbiased. The
numbers were chosen on kinds of data that took no part in learning these weights, and hold when each kind is
left out (docs/results/promises.md); nothing else that is known without more labels (accuracy in plays and in
cross-validation, distance of the domains, how far neighbourhoods mislead, classes of the target by those of
the source) made the estimate better on kinds left out.

In two cases less is expected. Where the accuracy on held-out labelled rows is lower than both this and
their own mean probability foresee, as with labels given at random, they take the place of the others. And
where the known classes cannot be separated in plays, the target's classes may be as random
(`Ensemble.randomness`): then the mean moves towards chance, and counts for fewer rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import beta

from l2t.forecast.forecast import rise
from l2t.typing import Array

#: Shrinks the logit of the mean probability of an ensemble.
SLOPE = 0.95
#: Rows that the mean probability of an ensemble counts for, for one label of each class and divided by the
#: root of the number of classes; and the number from which further classes tell no more.
ROWS_PER_LABEL = 3.5
MOST_CLASSES = 9
#: The part of these rows that is lost where plays tell nothing about the target.
DOUBTED_ROWS = 0.5
#: The largest part of these rows that is lost, and of the way to chance that the mean goes, where classes may
#: be random.
LOST_ROWS = 0.8
TOWARDS_CHANCE = 0.5
#: Standard errors by which the accuracy on labelled rows is lower than what is expected without them, from
#: which it begins to take its place, and from which it is alone.
CONTRADICTION = (1.0, 2.0)
#: Rows that are added to those that were right and to those that were wrong, by Laplace's rule of succession.
SUCCESSION = 1.0
#: Bounds of accuracies whose logit is taken.
LEAST, MOST = 0.01, 0.99
ENDS = (0.05, 0.95)
#: Intervals above this width are explained.
WIDE = 0.2


@dataclass(frozen=True)
class Promise:
    """The accuracy to expect on unlabelled rows.

    Attributes
    ----------
    expected : float
        The accuracy.
    low, high : float
        Its 90 % interval.
    rows : float
        The number of labelled rows whose accuracy would say as much.
    basis : str
        What it rests on, in words.
    cause : str, default=""
        Why no more is known, in words.
    """

    expected: float
    low: float
    high: float
    rows: float
    basis: str
    cause: str = ""

    @property
    def reason(self) -> str:
        """Why the interval is wide, in a sentence; empty if it is not."""
        wide = self.high - self.low > WIDE
        return f"The interval is wide because {self.cause}." if wide and self.cause else ""

    @classmethod
    def of(cls, expected: float, rows: float, n: int, basis: str = "", cause: str = "") -> Promise:
        """Return the promise for n unlabelled rows of an accuracy that counts for some rows.

        Parameters
        ----------
        expected : float
            The accuracy.
        rows : float
            The number of labelled rows whose accuracy would say as much.
        n : int
            The number of unlabelled rows, or of their groups.
        basis : str, default=""
            What it rests on, in words.
        cause : str, default=""
            Why no more is known, in words; by default the number of rows.

        Returns
        -------
        Promise

        Examples
        --------
        >>> few, many = (Promise.of(0.8, rows, 100) for rows in (5, 100))
        >>> few.low < many.low < 0.8 < many.high < few.high
        True
        """
        m = float(np.clip(expected, LEAST, MOST))
        n = max(n, 1)
        # The beta distribution of the variance of the accuracy on n rows.
        concentration = n * (rows + 1.0) / (n + rows) - 1.0
        low, high = beta.ppf(ENDS, m * concentration, (1.0 - m) * concentration).tolist()
        # With less than one expected error there may be none.
        high = high if (1.0 - high) * n >= 1.0 else 1.0
        if n < rows:
            cause = f"{n} unlabelled rows are few"
        cause = cause or f"what is known counts for only {rows:.0f} labelled rows"
        return cls(expected, min(low, expected), max(high, expected), rows, basis, cause)

    @classmethod
    def measured(cls, accuracy: float, n_measured: int, n: int, basis: str = "") -> Promise:
        """Return the promise for n unlabelled rows of an accuracy on n_measured held-out labelled rows."""
        rows = n_measured + 2.0 * SUCCESSION
        cause = f"it rests on {n_measured} labelled rows"
        return cls.of((accuracy * n_measured + SUCCESSION) / rows, rows, n, basis, cause)


class OwnRows(NamedTuple):
    """Labelled rows that were held out: the accuracy on them, their number, and their mean probability.

    If their probability is lower than that of unlabelled rows, because the least certain rows were labelled,
    a lower accuracy on them is no contradiction.
    """

    accuracy: float
    n_rows: int
    probability: float = 1.0


def standard_error(accuracy: float, n: int) -> float:
    """Return the standard error of an accuracy on n rows, which is above zero even at an accuracy of 1."""
    return float(np.sqrt((accuracy * (1 - accuracy) + 0.25 / n) / n))


def expect_accuracy(
    probability: Array,
    shots: float,
    n_classes: int,
    n: int,
    basis: str = "",
    *,
    own: OwnRows | None = None,
    doubt: float = 0.0,
    randomness: float = 0.0,
) -> Promise | None:
    """Return the accuracy to expect of an ensemble; None if there are no unlabelled rows.

    Parameters
    ----------
    probability : array of shape (n_rows,)
        The probabilities of the predicted classes of unlabelled rows.
    shots : float
        Labels per class.
    n_classes : int
        The number of classes.
    n : int
        The number of unlabelled rows, or of their groups.
    basis : str, default=""
        What the probabilities rest on, in words.
    own : OwnRows or None, default=None
        What is known of held-out labelled rows.
    doubt : float, default=0
        How little plays tell about the target, from 0 to 1.
    randomness : float, default=0
        How much speaks for classes that are random, from 0 to 1.

    Returns
    -------
    Promise or None

    Examples
    --------
    >>> few, many = (expect_accuracy(np.full(100, 0.8), shots, 4, 100) for shots in (1, 20))
    >>> round(few.expected, 2), few.low < many.low < many.high < few.high
    (0.79, True)
    """
    if not len(probability):
        return None
    expected = _shrunk(float(probability.mean()))
    chance = min(1.0 / n_classes, expected)
    expected += TOWARDS_CHANCE * randomness * (chance - expected)
    rows = ROWS_PER_LABEL * shots * float(np.sqrt(min(n_classes, MOST_CLASSES)))
    rows *= (1.0 - DOUBTED_ROWS * doubt) * (1.0 - LOST_ROWS * randomness)
    few = max(round(shots), 1)
    cause = f"no more is known with {few} label{'s' if few > 1 else ''} per class"
    if randomness > 0.5:
        cause = (
            "the known classes can hardly be separated, and those of the target may be as random"
        )
    if own is None:
        return Promise.of(expected, rows, n, basis, cause)
    accuracy = max(own.accuracy, chance)  # less than chance is an accident
    measured = Promise.measured(accuracy, own.n_rows, n)
    foreseen = min(expected, _shrunk(own.probability))
    error = standard_error(own.accuracy, own.n_rows)
    share = rise((foreseen - own.accuracy) / error, CONTRADICTION)
    kept, taken = (1.0 - share) * rows, share * measured.rows
    expected = (kept * expected + taken * measured.expected) / (kept + taken)
    if share > 0.5:
        basis, cause = f"{basis}, where few predictions were right", measured.cause
    return Promise.of(expected, kept + taken, n, basis, cause)


def _shrunk(probability: float) -> float:
    """Return the accuracy to expect at a mean probability."""
    return float(expit(SLOPE * logit(np.clip(probability, LEAST, MOST))))
