"""A report: what to expect of each way to classify the target, which one is used, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from l2t.display import bar_figure, html_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PLAIN", "Report", "ReportRow"]

#: The features as they are.
PLAIN = "plain"
COLUMNS: tuple[str, ...] = ("name", "features", "classifier", "trained_on", "measured", "error")
COLUMNS += ("expected", "used", "reason")


@dataclass(frozen=True)
class ReportRow:
    """One way to classify the target.

    Attributes
    ----------
    features, classifier : str
        "plain" or the candidate whose features they are, and the classifier.
    gain, expected : float, float or None
        Accuracy to expect over that of the default, and all of it, from the rehearsal and the labelled rows.
    measured, error : float or None
        Accuracy cross-validated on the labelled rows and its standard error; None where they are too few.
    used, reason : bool, str
        Whether the predictions are made this way, and why.
    trained_on : {"target", "source", "both"}
        Whose labelled rows the classifier is trained on.
    """

    features: str
    classifier: str
    gain: float = 0.0
    expected: float | None = None
    measured: float | None = None
    error: float | None = None
    used: bool = False
    reason: str = ""
    trained_on: str = "target"

    @property
    def name(self) -> str:
        """What a person calls it."""
        name = self.classifier + ("" if self.features == PLAIN else f" on {self.features}")
        return name + ("" if self.trained_on == "target" else f", trained on {self.trained_on}")


@dataclass(frozen=True)
class Report:
    """What to expect, and why.

    Attributes
    ----------
    rows : tuple of ReportRow
        The plain classifiers, then the best one on the features of each candidate; one of all is used.
    sentences : list of str
        What a person should know, in order.
    """

    rows: tuple[ReportRow, ...]
    sentences: list[str]

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    def records(self) -> list[dict[str, Any]]:
        """Return one plain record per row."""
        return [{name: getattr(row, name) for name in COLUMNS} for row in self.rows]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a table."""
        import pandas as pd

        return pd.DataFrame(self.records()).set_index("name")

    def _repr_html_(self) -> str:
        return html_table(self.records(), *self.sentences)

    def plot(self) -> Any:
        """Return a `matplotlib.figure.Figure` of the accuracies to expect, and of those measured."""
        bars = []
        for row in self.rows:
            m, e = row.measured, row.error or 0.0
            ends = None if m is None else (m - e, m + e)
            bars.append((row.name, row.expected or 0.0, row.used, ends))
        return bar_figure(bars, "accuracy (bars: expected; lines: measured)", (0.0, 1.0))
