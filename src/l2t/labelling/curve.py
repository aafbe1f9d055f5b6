"""The accuracy to expect by number of labels, and when more labels bring little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Labelling has nearly ended where the last so many labels raised the expected accuracy by less than this.
FLAT_LABELS, FLAT_GAIN = 20, 0.01
#: ... and the expected accuracy is known within so much: a wider interval hides what more labels bring.
KNOWN_WITHIN = 0.1
#: Expected accuracy from which the rest is better checked than labelled.
ENOUGH = 0.98


@dataclass(frozen=True)
class Estimate:
    """The accuracy to expect with some number of labels, with its 90 % interval; None where unknown."""

    n_labels: int
    expected: float | None
    low: float | None = None
    high: float | None = None


def advice(curve: Sequence[Estimate], n_unlabelled: int) -> str:
    """Return whether to go on labelling, in a sentence.

    Parameters
    ----------
    curve : sequence of Estimate
        By number of labels.
    n_unlabelled : int
        Rows without a label.

    Examples
    --------
    >>> advice([Estimate(10, 0.7), Estimate(20, 0.8)], 500)
    'Go on: the last 10 labels raised the expected accuracy by 10.0 points.'
    >>> advice([Estimate(10, 0.7), Estimate(20, 0.8), Estimate(40, 0.805, 0.78, 0.83)], 500)
    'You can stop: the last 20 labels raised the expected accuracy by only 0.5 points.'
    >>> advice([Estimate(12, 0.42), Estimate(52, 0.38, 0.27, 0.5)], 500)
    'Go on: the last 40 labels did not raise the expected accuracy, but its interval is 23 points wide.'
    """
    if not n_unlabelled:
        return "Every row has a label."
    known = [
        (point.n_labels, point.expected, (point.high or 1.0) - (point.low or 0.0))
        for point in curve
        if point.expected is not None
    ]
    if not known:
        return "Go on: there are too few labels to tell what accuracy to expect."
    n_labels, expected, width = known[-1]
    if expected >= ENOUGH:
        return f"You can stop: {100 * expected:.0f} % of the rows should be right."
    if len(known) == 1:
        return "Go on: the next prediction shows what the labels bring."
    far = [point for point in known if point[0] <= n_labels - FLAT_LABELS]
    before, past, _ = far[-1] if far else known[0]
    points = 100 * (expected - past)
    gain = f"the last {n_labels - before} labels raised the expected accuracy by"
    if far and expected - past < FLAT_GAIN and width <= KNOWN_WITHIN:
        return f"You can stop: {gain} only {max(points, 0.0):.1f} points."
    if points <= 0:
        return (
            f"Go on: the last {n_labels - before} labels did not raise the expected accuracy, but its "
            f"interval is {100 * width:.0f} points wide."
        )
    return f"Go on: {gain} {points:.1f} points."
