"""`l2t bench`: speed as ratios."""

from __future__ import annotations

from l2t.interfaces.cli.formats import Format
from l2t.interfaces.cli.output import say, show_rows
from l2t.speed import compare_speed
from l2t.speed.comparison import FEATURES, ROWS

__all__ = ["run_bench"]


def run_bench(format: Format, *, quiet: bool) -> None:
    """Measure, and print a table of ratios."""
    size = f"{ROWS} + {ROWS} rows of {FEATURES} features"
    say(f"measuring on made data, {size}, on one thread ...", quiet)
    rows = [
        {
            "what": each.what,
            "ms": round(1e3 * each.seconds, 3),
            "against": each.against,
            "its_ms": round(1e3 * each.other_seconds, 3),
            "ratio": round(each.ratio, 2),
        }
        for each in compare_speed()
    ]
    show_rows(rows, format)
    say(
        "Above 1 l2t is faster, with the same result. The floor is what nobody can leave out.",
        quiet,
    )
