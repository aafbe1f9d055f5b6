"""A report: what to expect of each way to classify the target, which one is used, and why."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from l2t.exceptions import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Report", "ReportRow"]


@dataclass(frozen=True)
class ReportRow:
    """One way to classify the target.

    Attributes
    ----------
    name : str
        For people.
    features, classifier : str
        "plain" or the candidate whose features they are, and the classifier.
    measured, error : float or None
        Accuracy cross-validated on the labelled rows and its standard error; None where they are too few.
    expected : float or None
        Accuracy to expect, from that and from the rehearsal; None where neither says anything.
    used : bool
        Whether the predictions are made this way.
    reason : str
        Why it is used.
    """

    name: str
    features: str
    classifier: str
    measured: float | None
    error: float | None
    expected: float | None
    used: bool = False
    reason: str = ""


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

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a table."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows]).set_index("name")

    def _repr_html_(self) -> str:
        text = "".join(f"<p>{html.escape(each)}</p>" for each in self.sentences)
        return str(self.to_frame().to_html(float_format="{:.3f}".format, na_rep="")) + text

    def plot(self) -> Any:
        """Return a `matplotlib.figure.Figure` of the accuracies to expect, and of those measured."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtraError("a plot", "plots") from None
        figure = Figure(figsize=(7, 0.4 * len(self.rows) + 1), layout="constrained")
        axes = figure.subplots()
        colours = ["C0" if row.used else "C7" for row in self.rows]
        names = [row.name for row in self.rows]
        axes.barh(names, [row.expected or 0.0 for row in self.rows], color=colours)
        for row in self.rows:
            if row.measured is not None:
                axes.errorbar(row.measured, row.name, xerr=row.error, fmt="o", color="k")
        axes.set(xlabel="accuracy (bars: expected; dots: on the labelled rows)", xlim=(0, 1))
        axes.invert_yaxis()
        return figure
