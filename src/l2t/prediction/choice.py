"""Choice of the combinations whose probabilities are averaged.

The default is logistic regression on centred rows of the features that inference chose. Label spreading and
smoothed logistic regression on the same features are averaged with it, and balanced k-means where classes are
known to be balanced and it should gain; and the combination of features and classifier that is clearly better
than these on the labelled rows, where there is one. What a combination should gain over the default is

``s r + n / (n + 60) m``

* r is the mean difference d to the default in rehearsal, shrunk by its error s_d to ``d³ / (d² + s_d²)``. It
  counts by ``s = error / (error + 0.05)``: where the default hardly errs in rehearsal, there is no room to
  see a gain in;
* m is the difference on the n labelled rows, cross-validated.

Without a rehearsal, and where inference expects that the target's neighbourhoods mislead unlike those in
rehearsal, the labelled rows alone count, and the default is averaged only with what is clearly better; in the
second case not with anything that trusts neighbourhoods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from l2t.experiences.evaluation import expected_accuracy
from l2t.prediction.classifiers import BALANCED, DEFAULT
from l2t.prediction.report import ReportRow
from l2t.prediction.scoring import Scores
from l2t.typing import Array

#: Features and classifiers that trust the neighbourhoods of the target.
TRUSTING = {"spectrum", "classes+spectrum", "label spreading", "smoothed logistic", "soft k-means"}
TRUSTING |= set(BALANCED)
#: Neighbourhoods mislead where inference takes so much off the log ratio that "spectrum" rehearsed.
MISLED = -0.05
#: Classifiers that are averaged on the features that inference chose, and combinations in all, at most.
STEADY = (DEFAULT, "label spreading", "smoothed logistic")
AVERAGED = 4
#: A gain above this is clear.
CLEAR = 0.02
#: Half of a difference is believed at so much error of the default in rehearsal, and so many labelled rows.
ROOM = 0.05
ROWS = 60.0
#: Standard deviation of real accuracies around rehearsed ones.
SPREAD = 0.1
#: No accuracy above this is promised.
MOST = 0.99

Combination = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Situation:
    """What combinations were worth in rehearsal and on the labelled rows of a target of `n_classes`.

    `corrections` are logs of the improvement ratios that inference expects over the rehearsed ones, and
    `default` is what others are compared with.
    """

    rehearsed: Scores | None
    measured: Scores | None
    corrections: Mapping[str, float]
    default: Combination
    n_classes: int

    @property
    def rehearsal_counts(self) -> bool:
        """Whether there is a rehearsal, and the target's neighbourhoods are as in it."""
        return self.rehearsed is not None and self.corrections.get("spectrum", 0.0) >= MISLED

    def usable(self, combination: Combination, *, balanced: bool = False) -> bool:
        """Tell whether a combination may be used, where balanced classes are known or not."""
        misled = self.rehearsed is not None and not self.rehearsal_counts
        if misled and combination != self.default and TRUSTING & set(combination):
            return False
        return balanced or combination[1] not in BALANCED

    def gain(self, combination: Combination) -> float:
        """Return the expected gain of a combination over the default."""
        gain = self.measured_gain(combination)
        if self.rehearsed is not None and self.rehearsal_counts:
            base = self.rehearsed.of(*self.default)
            difference, error = self.rehearsed.of(*combination) - base, 1.0 - float(base.mean())
            if np.isfinite(difference).all() and error > 0:
                gain += _shrunk(difference) * error / (error + ROOM)
        return gain

    def measured_gain(self, combination: Combination) -> float:
        """Return the part of the gain that is measured on the labelled rows."""
        if self.measured is None:
            return 0.0
        m = self.measured.mean(*combination) - self.measured.mean(*self.default)
        n = self.measured.n_rows
        return m * n / (n + ROWS) if np.isfinite(m) else 0.0

    def outlook(self, combination: Combination) -> ReportRow:
        """Return what to expect of a combination: its gain over what to expect of the default."""
        gain, level, deviation = self.gain(combination), None, SPREAD
        if self.rehearsed is not None and self.rehearsal_counts:  # the skill of its classes
            base = self.rehearsed.of(*self.default).mean()
            skill = (base - 1 / self.rehearsed.n_classes) / (1 - 1 / self.rehearsed.n_classes)
            level = 1 / self.n_classes + skill * (1 - 1 / self.n_classes)
        accuracy, error = self._measured(self.default)
        if self.measured is not None and accuracy is not None and error is not None:
            accuracy = expected_accuracy(accuracy, self.measured.n_rows)
            if level is None or abs(level - accuracy) > 2.0 * np.hypot(SPREAD, error):
                level = accuracy  # the rehearsal is of something else
                deviation = error
            else:
                level = np.average([level, accuracy], weights=[SPREAD**-2, error**-2])
                deviation = float((SPREAD**-2 + error**-2) ** -0.5)
        expected = None if level is None else float(np.clip(level + gain, 0.0, MOST))
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
    situation: Situation,
    *,
    balanced: bool = False,
    single: bool = False,
) -> tuple[list[ReportRow], list[ReportRow]]:
    """Return the outlooks of the combinations to average, a `single` one where wanted, and those of all."""
    outlooks = {each: situation.outlook(each) for each in combinations}
    usable = [each for each in combinations if situation.usable(each, balanced=balanced)]
    used = to_average(usable, situation, single=single)
    return [outlooks[each] for each in used], list(outlooks.values())


def to_average(
    usable: Sequence[Combination], situation: Situation, *, single: bool = False
) -> list[Combination]:
    """Return the combinations to average, best first; a `single` one where wanted."""
    features, classifier = situation.default
    steady = [situation.default]
    if situation.rehearsal_counts and classifier == DEFAULT and not single:
        steady = [each for name in STEADY if (each := (features, name)) in usable]
        even = [each for name in BALANCED if (each := (features, name)) in usable]
        steady += [each for each in even if situation.gain(each) > 0]
        steady.sort(key=situation.gain, reverse=True)
    value = situation.gain if single else situation.measured_gain
    least = max(CLEAR, *map(value, steady))
    better = sorted((each for each in usable if value(each) > least), key=value, reverse=True)
    return [*better[: AVERAGED - len(steady)], *steady][: 1 if single else None]


def standard_error(accuracy: float, n: int) -> float:
    """Return the standard error of an accuracy on n rows, above zero where all of them are right."""
    return float(np.sqrt((accuracy * (1 - accuracy) + 0.25 / n) / n))


def _shrunk(differences: Array) -> float:
    """Return the mean of differences, the smaller the larger its error is."""
    d = float(differences.mean())
    s = float(differences.std(ddof=1) / np.sqrt(len(differences))) if len(differences) > 1 else 1.0
    return d**3 / (d**2 + s**2) if d else 0.0
