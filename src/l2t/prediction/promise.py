"""The accuracy to expect of an ensemble, with its interval.

With p the mean probability of the predicted classes over unlabelled rows,

``logit(expected) = 0.95 logit(p)``,  ``logit(low), logit(high) = logit(expected) -+ h``,
``h² = s(k)² + 1.645² / (n expected (1 - expected))``

where s(k) is an error at k labels per class, measured on kinds of data that took no part in learning the
ensemble's weights (docs/results/answers.md), and the second term is the sampling error of the accuracy on n
rows, or groups of rows. The weights of the ensemble minimise the log-loss of rows that were held out, so that
p is nearly unbiased; nothing else that is known without more labels (accuracy in plays and in
cross-validation, distance of the domains) made the estimate better on kinds left out. Only where the accuracy
on held-out labelled rows is clearly lower, as with labels given at random, that accuracy is expected instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from l2t.experiences.evaluation import expected_accuracy
from l2t.prediction.report import NORMAL_90, standard_error
from l2t.typing import Array

#: Shrinks the logit of the mean probability.
SLOPE = 0.95
#: Labels per class, and half-widths of 90 % intervals of the logit without the sampling error.
SHOTS = (1.0, 5.0, 20.0)
HALF_WIDTHS = (1.3, 0.95, 0.6)
#: Standard errors by which the accuracy on labelled rows must be lower than what is expected without them.
CONTRADICTION = 2.0
#: Bounds of probabilities and accuracies whose logit is taken.
LEAST, MOST = 0.01, 0.99


@dataclass(frozen=True)
class Promise:
    """The accuracy to expect on unlabelled rows.

    Attributes
    ----------
    expected : float
        The accuracy.
    low, high : float
        Its 90 % interval.
    basis : str
        What it rests on, in words.
    """

    expected: float
    low: float
    high: float
    basis: str


def expect_accuracy(
    probability: Array,
    shots: float,
    n_groups: int,
    basis: str,
    own: tuple[float, int] | None = None,
) -> Promise | None:
    """Return the accuracy to expect; None if there are no unlabelled rows.

    Parameters
    ----------
    probability : array of shape (n,)
        The probabilities of the predicted classes of unlabelled rows.
    shots : float
        Labels per class.
    n_groups : int
        The number of unlabelled rows, or of their groups.
    basis : str
        What the probabilities rest on, in words.
    own : (float, int) or None, default=None
        The accuracy on held-out labelled rows, and their number.

    Returns
    -------
    Promise or None

    Examples
    --------
    >>> few, many = (expect_accuracy(np.full(100, 0.8), shots, 100, "") for shots in (1, 20))
    >>> round(few.expected, 2), few.low < many.low < many.high < few.high
    (0.79, True)
    """
    if not len(probability):
        return None
    centre = SLOPE * logit(np.clip(probability.mean(), LEAST, MOST))
    expected = float(expit(centre))
    sampling = NORMAL_90 / np.sqrt(max(n_groups, 1) * expected * (1.0 - expected))
    width = np.hypot(np.interp(np.log(shots), np.log(SHOTS), HALF_WIDTHS), sampling)
    if own is not None and expected - own[0] > CONTRADICTION * standard_error(*own):
        error = NORMAL_90 * standard_error(*own)
        expected = expected_accuracy(*own)
        ends = max(expected - error, 0.0), min(expected + error, 1.0)
        return Promise(expected, *ends, f"{basis}, where few predictions were right")
    low, high = expit([centre - width, centre + width]).tolist()
    # With less than one expected error there may be none.
    return Promise(expected, low, high if (1.0 - high) * n_groups >= 1.0 else 1.0, basis)
