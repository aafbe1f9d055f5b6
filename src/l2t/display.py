"""How results look to people: tables in notebooks, figures of bars, and frames of the kind that came in."""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from l2t.exceptions import MissingExtraError

#: A name, a value, whether it is the chosen one, and the ends of where it may lie.
Bar = tuple[str, float, bool, tuple[float, float] | None]

#: Characters that command a terminal or turn the direction of text; a line break and a tab do not.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """Return text in which names from files cannot command the terminal."""
    return _COMMANDS.sub(lambda found: repr(found[0])[1:-1], text)


def csv_cell(value: Any) -> Any:
    """Return a cell of csv in which text is no formula of a spreadsheet."""
    text = harmless(value) if isinstance(value, str) else value
    return (
        f"'{text}" if isinstance(value, str) and re.match(r"[=+@＝＋＠－\t\r\n-]", value) else text
    )


def show(result: Any) -> None:
    """Show a result: as HTML in a notebook, in words elsewhere.

    Parameters
    ----------
    result : Prediction, Inference, Report or any other result
        What to show.

    Examples
    --------
    >>> show("in words")
    in words
    """
    shell = sys.modules.get("IPython")
    if shell is not None and shell.get_ipython() is not None:
        shell.display.display(result)
    else:
        print(getattr(result, "report", result))


def html_table(records: Sequence[Mapping[str, Any]], *sentences: str) -> str:
    """Return records as an HTML table, followed by sentences."""
    import pandas as pd

    text = "".join(f"<p>{html.escape(each)}</p>" for each in sentences)
    how: Any = {"index": False, "float_format": "{:.3f}".format, "na_rep": ""}
    return str(pd.DataFrame(list(records)).to_html(**how)) + text


def new_figure(width: float, height: float) -> Any:
    """Return an empty `matplotlib.figure.Figure`; sizes are in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("a plot", "plots") from None
    return Figure(figsize=(width, height), layout="constrained")


def bar_figure(bars: Sequence[Bar], label: str, limits: tuple[float, float] | None = None) -> Any:
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


def frame_like(X: Any, columns: Mapping[str, Any]) -> Any:
    """Return columns as a frame of the kind that X is, pandas or polars; None where X is no frame."""
    if not hasattr(X, "columns"):
        return None
    more = {"index": X.index} if hasattr(X, "iloc") else {}
    return type(X)(dict(columns), **more)
