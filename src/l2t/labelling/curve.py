"""The accuracy to expect by number of labels, and when more labels bring little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Labelling has nearly ended where the last so many labels raised the expected accuracy by less than this.
FLAT_LABELS, FLAT_GAIN = 20, 0.01
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
    >>> advice([Estimate(10, 0.7), Estimate(20, 0.8), Estimate(40, 0.805)], 500)
    'You can stop: the last 20 labels raised the expected accuracy by only 0.5 points.'
    """
    if not n_unlabelled:
        return "Every row has a label."
    known = [(each.n_labels, each.expected) for each in curve if each.expected is not None]
    if not known:
        return "Go on: there are too few labels to tell what accuracy to expect."
    n_labels, expected = known[-1]
    if expected >= ENOUGH:
        return f"You can stop: {100 * expected:.0f} % of the rows should be right."
    if len(known) == 1:
        return "Go on: the next prediction shows what the labels bring."
    far = [each for each in known if each[0] <= n_labels - FLAT_LABELS]
    before, past = far[-1] if far else known[0]
    points = 100 * (expected - past)
    gain = f"the last {n_labels - before} labels raised the expected accuracy by"
    if far and expected - past < FLAT_GAIN:
        return f"You can stop: {gain} only {max(points, 0.0):.1f} points."
    if points <= 0:
        return (
            f"Go on: the last {n_labels - before} labels did not raise the expected accuracy yet."
        )
    return f"Go on: {gain} {points:.1f} points."
