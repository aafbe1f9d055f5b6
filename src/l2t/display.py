"""Display of results: text, tables in notebooks, bar charts, and data frames of the user's library."""

from __future__ import annotations

import html
import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from l2t.exceptions import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from l2t.typing import AnyArray, MatrixLike

#: Name, value, whether it is highlighted, and the interval.
Bar = tuple[str, float, bool, tuple[float, float] | None]

#: Columns that a prediction adds to those of the user, the last one if labels are known.
ANSWERS = ("predicted", "probability", "given")
#: Characters that control a terminal or change the direction of text, except line breaks and tabs.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    """Return text with control characters escaped, so that names from files cannot control a terminal."""
    return _CONTROLS.sub(lambda match: repr(match[0])[1:-1], text)


def csv_cell(value: object) -> object:
    """Return the value of a csv cell, with text that a spreadsheet would take for a formula quoted."""
    text = escape_controls(value) if isinstance(value, str) else value
    return (
        f"'{text}" if isinstance(value, str) and re.match(r"[=+@＝＋＠－\t\r\n-]", value) else text
    )


def finite_interval(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return an interval for display or JSON; None if it is unknown or infinite.

    >>> finite_interval((0.9, 1.1)), finite_interval((0.0, float("inf")))
    ((0.9, 1.1), None)
    """
    return interval if interval is not None and all(map(math.isfinite, interval)) else None


def show(result: object) -> None:
    """Show a result: as HTML in a notebook, as text elsewhere.

    Parameters
    ----------
    result : object
        A Prediction, Inference, Report or any other object.

    Examples
    --------
    >>> show("text")
    text
    """
    shell = sys.modules.get("IPython")
    if shell is not None and shell.get_ipython() is not None:
        shell.display.display(result)
    else:
        print(getattr(result, "report", result))


def html_table(records: Sequence[Mapping[str, object]], *sentences: str) -> str:
    """Return records as an HTML table, followed by one paragraph per sentence."""
    import pandas as pd

    text = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
    frame = pd.DataFrame(list(records))
    table: str = frame.to_html(index=False, float_format="{:.3f}".format, na_rep="")
    return table + text


def new_figure(width: float, height: float) -> Figure:
    """Return an empty `matplotlib.figure.Figure`; sizes are in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("a plot", "plots") from None
    return Figure(figsize=(width, height), layout="constrained")


def bar_figure(
    bars: Sequence[Bar], label: str, limits: tuple[float, float] | None = None
) -> Figure:
    """Return a `matplotlib.figure.Figure` of horizontal bars, the first on top."""
    figure = new_figure(7, 0.4 * len(bars) + 1)
    axes = figure.subplots()
    for name, value, chosen, ends in bars:
        axes.barh(name, value, color="C0" if chosen else "C7")
        if ends is not None:
            axes.plot(ends, (name, name), color="k", marker="|")
    axes.set(xlabel=label, xlim=limits)
    axes.invert_yaxis()
    return figure


def frame_like(X: MatrixLike, columns: Mapping[str, AnyArray]) -> pd.DataFrame | None:
    """Return columns as a frame of the type of X (pandas or polars); None if X is not a frame."""
    if not hasattr(X, "columns"):
        return None
    more = {"index": X.index} if hasattr(X, "iloc") else {}
    return type(X)(dict(columns), **more)
