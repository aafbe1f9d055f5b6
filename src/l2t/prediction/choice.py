"""Choice of the combinations whose probabilities are averaged.

The default is logistic regression on centred rows of the features that inference chose. Label spreading and
smoothed logistic regression on the same features are averaged with it, and balanced k-means where classes are
known to be balanced and it should gain; and the combination of features and classifier that is clearly better
than these on the labelled rows, where there is one. Where a classifier of the original features should be
clearly better than all of these, the same is done on the original features. What a combination should gain
over the default is

``s r + n / (n + 60) m``

* r is the mean difference d to the default in rehearsal, shrunk by its error s_d to ``d³ / (d² + s_d²)``. It
  counts by ``s = error / (error + 0.05)``: a gain can hardly show where the default is nearly always right
  in rehearsal;
* m is the difference on the n labelled rows, cross-validated.

Without a rehearsal, or where inference expects neighbourhoods to mislead in the target although they did not
in rehearsal, only the labelled rows count, and the default is averaged only with what is clearly better; in
the second case, with nothing that relies on neighbourhoods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from l2t.algorithms import traits_by_name
from l2t.experiences.evaluation import expected_accuracy
from l2t.prediction.classifiers import BALANCED, CLASSIFIERS, DEFAULT
from l2t.prediction.report import CLEAR_GAIN, PLAIN, ReportRow
from l2t.prediction.scoring import Scores
from l2t.typing import Array

#: Neighbourhoods mislead where inference corrects the rehearsed log ratio of "spectrum" to less by this.
MISLEADING_BELOW = -0.05
#: Classifiers that are averaged on the features that inference chose; and the maximum number of combinations.
AVERAGED_CLASSIFIERS = (DEFAULT, "label spreading", "smoothed logistic")
MAX_AVERAGED = 4
#: Error of the default in rehearsal, and number of labelled rows, at which a difference counts by half.
HALF_ERROR = 0.05
HALF_ROWS = 60.0
#: Standard deviation of measured accuracies around rehearsed ones.
REHEARSAL_DEVIATION = 0.1
#: Maximum of an expected accuracy.
MAX_EXPECTED = 0.99

Combination = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Comparison:
    """The scores of combinations in rehearsal and on the labelled rows of a target of `n_classes`.

    `corrections` are the logs of expected over rehearsed improvement ratios, by features; `default` is the
    combination that others are compared with.
    """

    rehearsed: Scores | None
    measured: Scores | None
    corrections: Mapping[str, float]
    default: Combination
    n_classes: int

    @property
    def rehearsal_counts(self) -> bool:
        """Whether there is a rehearsal, and neighbourhoods are not expected to mislead in the target."""
        return (
            self.rehearsed is not None and self.corrections.get("spectrum", 0.0) >= MISLEADING_BELOW
        )

    def usable(self, combination: Combination, *, balanced: bool = False) -> bool:
        """Return whether a combination may be used; `balanced` says that all classes have equal size."""
        features, classifier = combination
        misled = self.rehearsed is not None and not self.rehearsal_counts
        if misled and combination != self.default:
            if features != PLAIN and traits_by_name(features).relies_on_neighbours:
                return False
            if CLASSIFIERS[classifier].relies_on_neighbours:
                return False
        return balanced or classifier not in BALANCED

    def gain(self, combination: Combination) -> float:
        """Return the expected gain of a combination over the default."""
        gain = self.measured_gain(combination)
        if self.rehearsed is not None and self.rehearsal_counts:
            base = self.rehearsed.of(*self.default)
            difference, error = self.rehearsed.of(*combination) - base, 1.0 - float(base.mean())
            if np.isfinite(difference).all() and error > 0:
                gain += _shrunk_mean(difference) * error / (error + HALF_ERROR)
        return gain

    def measured_gain(self, combination: Combination) -> float:
        """Return the part of the gain that is measured on the labelled rows."""
        if self.measured is None:
            return 0.0
        m = self.measured.mean(*combination) - self.measured.mean(*self.default)
        n = self.measured.n_rows
        return m * n / (n + HALF_ROWS) if np.isfinite(m) else 0.0

    def report_row(self, combination: Combination) -> ReportRow:
        """Return the expected accuracy of a combination: that of the default, plus its gain."""
        gain, level, deviation = self.gain(combination), None, REHEARSAL_DEVIATION
        if (
            self.rehearsed is not None and self.rehearsal_counts
        ):  # accuracy above chance carries over
            base = self.rehearsed.of(*self.default).mean()
            skill = (base - 1 / self.rehearsed.n_classes) / (1 - 1 / self.rehearsed.n_classes)
            level = 1 / self.n_classes + skill * (1 - 1 / self.n_classes)
        accuracy, error = self._measured(self.default)
        if self.measured is not None and accuracy is not None and error is not None:
            accuracy = expected_accuracy(accuracy, self.measured.n_rows)
            if level is None or abs(level - accuracy) > 2.0 * np.hypot(REHEARSAL_DEVIATION, error):
                level = accuracy  # the rehearsal contradicts the labelled rows
                deviation = error
            else:
                level = np.average([level, accuracy], weights=[REHEARSAL_DEVIATION**-2, error**-2])
                deviation = float((REHEARSAL_DEVIATION**-2 + error**-2) ** -0.5)
        expected = None if level is None else float(np.clip(level + gain, 0.0, MAX_EXPECTED))
        row = ReportRow(*combination, gain, expected, *self._measured(combination))
        return row.with_interval(deviation)

    def _measured(self, combination: Combination) -> tuple[float | None, float | None]:
        """Return the accuracy on the labelled rows, and its standard error."""
        if self.measured is None or not np.isfinite(self.measured.mean(*combination)):
            return None, None
        accuracy = self.measured.mean(*combination)
        return accuracy, standard_error(accuracy, self.measured.n_rows)


def choose(
    combinations: list[Combination],
    comparison: Comparison,
    *,
    balanced: bool = False,
    single: bool = False,
) -> tuple[list[ReportRow], list[ReportRow]]:
    """Return the report rows of the combinations to average, only the best if `single`, and those of all."""
    rows = {each: comparison.report_row(each) for each in combinations}
    usable = [each for each in combinations if comparison.usable(each, balanced=balanced)]
    used = to_average(usable, comparison, single=single)
    best = rows[used[0]]
    for combination, row in rows.items():
        if row.is_above(best):
            rows[combination] = replace(row, reason=_why_not(combination, usable, used, comparison))
    return [rows[each] for each in used], list(rows.values())


def _why_not(
    combination: Combination,
    usable: Sequence[Combination],
    used: Sequence[Combination],
    comparison: Comparison,
) -> str:
    """Return why a combination that should be better than the first one that is used is not used instead."""
    if combination in used:
        return "and is averaged with it"
    if combination not in usable:
        return "but relies on neighbourhoods, which are expected to mislead in this target"
    if comparison.gain(combination) - comparison.gain(used[0]) <= CLEAR_GAIN:
        return "which is not clearly more"
    return "but that is not clear on the labelled rows"


def to_average(
    usable: Sequence[Combination], comparison: Comparison, *, single: bool = False
) -> list[Combination]:
    """Return the combinations to average, best first; only the best if `single`."""
    if single:
        better = _clearly_better(usable, [comparison.default], comparison.gain)
        return [*better, comparison.default][:1]
    found = _averaged(comparison.default[0], usable, comparison)
    plain = [each for each in usable if each[0] == PLAIN]
    best = max(map(comparison.gain, plain), default=0.0)
    if best > max(map(comparison.gain, found)) + CLEAR_GAIN:
        return _averaged(PLAIN, usable, comparison)
    return found


def _averaged(
    features: str, usable: Sequence[Combination], comparison: Comparison
) -> list[Combination]:
    """Return what is always averaged on some features, after what is clearly better on labelled rows."""
    classifier = comparison.default[1]
    steady = [(features, classifier)]
    if comparison.rehearsal_counts and classifier == DEFAULT:
        steady = [each for name in AVERAGED_CLASSIFIERS if (each := (features, name)) in usable]
        even = [each for name in BALANCED if (each := (features, name)) in usable]
        steady += [each for each in even if comparison.gain(each) > 0]
        steady.sort(key=comparison.gain, reverse=True)
    better = _clearly_better(usable, steady, comparison.measured_gain)
    return [*better[: MAX_AVERAGED - len(steady)], *steady]


def _clearly_better(
    usable: Sequence[Combination],
    than: Sequence[Combination],
    value: Callable[[Combination], float],
) -> list[Combination]:
    """Return the combinations of clearly larger value, largest first."""
    least = max(CLEAR_GAIN, *map(value, than))
    return sorted((each for each in usable if value(each) > least), key=value, reverse=True)


def standard_error(accuracy: float, n: int) -> float:
    """Return the standard error of an accuracy on n rows, which is above zero even at an accuracy of 1."""
    return float(np.sqrt((accuracy * (1 - accuracy) + 0.25 / n) / n))


def _shrunk_mean(differences: Array) -> float:
    """Return the mean of differences, shrunk by its standard error."""
    d = float(differences.mean())
    s = float(differences.std(ddof=1) / np.sqrt(len(differences))) if len(differences) > 1 else 1.0
    return d**3 / (d**2 + s**2) if d else 0.0
