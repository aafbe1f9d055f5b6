"""A report: the expected accuracy of each way to classify the target, which one is used, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from l2t.display import bar_figure, html_table
from l2t.prediction.decisions import METRIC_NAMES, Metric
from l2t.prediction.promise import Promise, standard_error
from l2t.typing import JsonObject

if TYPE_CHECKING:
    import pandas as pd

#: Accuracies are shown in tenths of a percent.
SHOWN_DIFFERENCE = 0.0005
#: Gain in accuracy above which a combination is clearly better.
CLEAR_GAIN = 0.02
TOO_FEW = "There are too few labelled rows to measure the accuracy on them."
#: The original features.
PLAIN = "plain"
#: The average of plain classifiers that are trained on both domains.
AVERAGE = "average"
#: The learners of an `Ensemble` together.
ENSEMBLE = "ensemble"
COLUMNS: tuple[str, ...] = ("name", "features", "classifier", "trained_on", "measured", "error")
COLUMNS += ("expected", "low", "high", "weight", "used", "reason", "metric")


@dataclass(frozen=True)
class ReportRow:
    """One way to classify the target.

    Attributes
    ----------
    features, classifier : str
        The candidate whose features are used, or "plain" for the original features; and the classifier.
    expected : float or None, default=None
        Expected accuracy; None if unknown.
    measured, error : float or None, default=None
        Cross-validated accuracy on the labelled rows and its standard error; None if they are too few.
    used : bool, default=False
        Whether the predictions are made this way.
    reason : str, default=""
        Why it is used; or why not, where it should be better than what is used.
    trained_on : {"target", "source", "both"}, default="target"
        The domain whose labelled rows the classifier is trained on.
    low, high : float or None, default=None
        The 90 % interval of the expected accuracy.
    weight : float or None, default=None
        Its share of the weights of the ensemble that is used; None if there is none.
    metric : {"accuracy", "balanced", "f1"}, default="accuracy"
        What is expected and measured, if that is not the accuracy; only for what is used.
    """

    features: str
    classifier: str
    expected: float | None = None
    measured: float | None = None
    error: float | None = None
    used: bool = False
    reason: str = ""
    trained_on: str = "target"
    low: float | None = None
    high: float | None = None
    weight: float | None = None
    metric: Metric = "accuracy"

    @property
    def name(self) -> str:
        """The name for display."""
        name = self.classifier
        if self.features != PLAIN and name != ENSEMBLE:
            name += f" on {self.features}"
        return name + ("" if self.trained_on == "target" else f", trained on {self.trained_on}")

    @property
    def range(self) -> str:
        """The 90 % interval in words, in brackets; empty if it is unknown."""
        if self.low is None:
            return ""
        return f" (90 % interval {_share(self.low)} to {_share(self.high)} %)"

    @property
    def outcome(self) -> str:
        """The expected accuracy and its interval in words, without a full stop."""
        return f"About {_share(self.expected)} % of the predictions should be right{self.range}"

    def is_above(self, other: ReportRow) -> bool:
        """Return whether it should be better than another row by a difference that a table shows."""
        if self.expected is None or other.expected is None or self.metric != other.metric:
            return False
        return self.expected - other.expected > SHOWN_DIFFERENCE

    def promising(self, promise: Promise | None) -> ReportRow:
        """Return the row with the accuracy to expect, if that is known."""
        if promise is None:
            return self
        return replace(self, expected=promise.expected, low=promise.low, high=promise.high)

    def with_measured(self, accuracy: float | None, n_measured: int) -> ReportRow:
        """Return the row with an accuracy on n_measured held-out rows, if there is one, and its error."""
        if accuracy is None:
            return self
        return replace(self, measured=accuracy, error=standard_error(accuracy, n_measured))

    @property
    def is_baseline(self) -> bool:
        """Whether nothing is transferred: original features, and one classifier alone."""
        return self.features == PLAIN and self.classifier not in ("vote", AVERAGE, ENSEMBLE)


@dataclass(frozen=True)
class Report:
    """The accuracy to expect, and why.

    Attributes
    ----------
    rows : tuple of ReportRow
        The classifiers on the original features, then the best one on the features of each candidate.
    sentences : list of str
        The result in sentences, the most important first.
    promise : Promise or None, default=None
        The accuracy to expect on unlabelled rows; None if nothing tells it.
    """

    rows: tuple[ReportRow, ...]
    sentences: list[str]
    promise: Promise | None = None

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        used = next((row for row in self.rows if row.used), None)
        if used is not None and used.metric != "accuracy" and used.expected is not None:
            return f"A {METRIC_NAMES[used.metric]} of about {_share(used.expected)} % is expected."
        if used is None or used.expected is None:
            return "Every row has a predicted class; the accuracy could not be measured."
        plain = [row for row in self.rows if row.is_baseline and not row.used and row.expected]
        best = max(plain, key=lambda row: row.expected or 0.0, default=None)
        if used.is_baseline or best is None or best.expected is None:
            helps = best is None or any(row.is_above(used) for row in self.rows)
            why = "" if helps else "; a transfer is not expected to help"
            return f"{used.outcome}{why}."
        same = _share(used.expected) == _share(best.expected)
        if used.expected <= best.expected or same:
            same = same or best.expected - used.expected <= CLEAR_GAIN + SHOWN_DIFFERENCE
            words = "about as many as" if same else "fewer than"
            return f"{used.outcome}, {words} by {best.classifier} ({_share(best.expected)} %)."
        return (
            f"The transfer should raise the accuracy from {_share(best.expected)} % "
            f"to {_share(used.expected)} %{used.range}."
        )

    def for_metric(self, metric: Metric, expected: float, measured: float | None) -> Report:
        """Return the report of predictions that maximise a metric, of which so much is expected."""
        rows = tuple(
            replace(
                row,
                metric=metric,
                expected=expected,
                measured=measured,
                error=None,
                low=None,
                high=None,
            )
            if row.used
            else row
            for row in self.rows
        )
        sentences = [
            f"Predictions maximise the {METRIC_NAMES[metric]}: about {_share(expected)} % is expected.",
            *self.sentences,
        ]
        return replace(self, rows=rows, sentences=sentences)

    def records(self) -> list[JsonObject]:
        """Return a list with one dict per row."""
        return [{name: getattr(row, name) for name in COLUMNS} for row in self.rows]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a DataFrame, indexed by name."""
        import pandas as pd

        return pd.DataFrame(self.records()).set_index("name")

    def _repr_html_(self) -> str:
        return html_table(self.records(), *self.sentences)

    def plot(self) -> Any:
        """Return a `matplotlib.figure.Figure` of the expected accuracies with their intervals."""
        bars = []
        for row in self.rows:
            ends = None if row.low is None or row.high is None else (row.low, row.high)
            bars.append((row.name, row.expected or 0.0, row.used, ends))
        return bar_figure(bars, "expected accuracy, with 90 % intervals", (0.0, 1.0))


def _share(accuracy: float | None) -> str:
    return f"{100 * (accuracy or 0.0):.0f}"


def better_than_used(used: ReportRow, rows: Sequence[ReportRow]) -> list[str]:
    """Return a sentence on why the best row is not used, if it should be better than the one that is."""
    best = max(rows, key=lambda row: row.expected or 0.0, default=used)
    if not best.is_above(used):
        return []
    return [f"{best.name} should reach about {_share(best.expected)} %, {best.reason}."]
