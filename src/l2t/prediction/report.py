"""A report: what to expect of each way to classify the target, which one is used, and why."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

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
    features : str
        "plain", or the candidate whose features they are.
    classifier : str
        The classifier.
    measured, error : float or None
        Accuracy cross-validated on the labelled rows and its standard error; None where they are too few.
    expected : float or None
        Accuracy to expect, from that and from the rehearsal; None where neither says anything.
    used : bool
        Whether the predictions are made this way.
    reason : str
        Why, or why not.
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

    def records(self) -> list[dict[str, Any]]:
        """Return one plain record per row."""
        return [asdict(row) for row in self.rows]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a table."""
        import pandas as pd

        return pd.DataFrame(self.records()).set_index("name")

    def _repr_html_(self) -> str:
        text = "".join(f"<p>{html.escape(each)}</p>" for each in self.sentences)
        return str(self.to_frame().to_html(float_format="{:.3f}".format, na_rep="")) + text
