"""A prediction as one self-contained HTML page, and as HTML for a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

from l2t._version import __version__
from l2t.typing import JsonObject

COLOURS = ["#1f6fb5", "#d9782d", "#2f9e77", "#8a5cc2", "#c9487a", "#6b7a1f", "#0f8b9c", "#8c5a3c"]
COLOURS += ["#5b6bd6", "#767f8d"]
#: Columns that are listed as those that matter most, at most.
COLUMNS = 12
_STYLE = """
.l2t{font:15px/1.5 system-ui,sans-serif;color:#1b1f27;max-width:60rem;margin:0 auto;padding:0 .5rem}
.l2t h1{font-size:1.4rem} .l2t h2{font-size:1.05rem;margin:1.6rem 0 .4rem}
.l2t table{border-collapse:collapse;font-size:.9rem}
.l2t th,.l2t td{text-align:left;padding:.25rem .8rem .25rem 0}
.l2t td.n{text-align:right;font-variant-numeric:tabular-nums} .l2t .maps{display:flex;flex-wrap:wrap;gap:1rem}
.l2t figure{margin:0;max-width:100%}
.l2t svg{max-width:100%;height:auto} .l2t svg text{font:12px system-ui,sans-serif;fill:#1b1f27}
.l2t .q{color:#5c6675}
"""


def page(summary: JsonObject) -> str:
    """Return the whole page of a summary (`Prediction.summary`)."""
    title = html.escape(f"Prediction of {summary['target']}")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"></head>'
        f"<body><main>{fragment(summary)}</main></body></html>\n"
    )


def fragment(summary: JsonObject) -> str:
    """Return the content of the page, without head and body."""
    seen = summary["map"]
    sides = (("before", False), ("after", True))
    maps = "".join(
        f"<figure><figcaption>{'predicted' if after else 'as given'}</figcaption>"
        f"{_scatter(seen[side], seen, after=after)}</figure>"
        for side, after in sides
    )
    sentences = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in summary["sentences"])
    counts = zip(summary["classes"], summary["counts"], strict=True)
    parts = [
        f"<style>{_STYLE}</style><div class='l2t'><h1>{html.escape(summary['headline'])}</h1>",
        f"<p class='q'>{html.escape(summary['target'])}: {summary['n_rows']} rows, {summary['n_given']} of "
        f"them with a label, {summary['n_features']} features. L2T {__version__}.</p>",
        f"<h2>Accuracy to expect</h2>{_bars(summary['report'])}"
        "<p class='q'>Lines are 90 % intervals: the accuracy lies inside in nine of ten cases.</p>"
        f"<ul>{sentences}</ul>",
        f"<h2>The target</h2>{_legend(summary['classes'])}<div class='maps'>{maps}</div>",
        _importance_table(summary["importance"]),
        f"<h2>Predicted classes</h2>{_table(('class', 'rows'), counts)}",
        _rows_table("Rows to label next", summary["uncertain"]),
        _rows_table("Rows whose label differs from the prediction", summary["suspicious"]),
        f"<details><summary>Details</summary><p>{html.escape(summary['details']['model'])}</p></details></div>",
    ]
    return "".join(parts)


def _importance_table(importance: dict[str, float] | None) -> str:
    """Return a table of the columns that matter most; nothing if that is unknown."""
    if not importance:
        return ""
    columns = list(importance.items())[:COLUMNS]
    titles = "column", "predictions that change when its cells are shuffled"
    return f"<h2>Columns that matter</h2>{_table(titles, columns)}"


def _table(titles: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    head = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"<td class='n'>{100 * value:.0f} %</td>"
    number = " class='n'" if isinstance(value, int) else ""
    return f"<td{number}>{html.escape('' if value is None else str(value))}</td>"


def _rows_table(title: str, rows: list[JsonObject]) -> str:
    """Return a table of rows with their two most probable classes; nothing if there are no rows."""
    if not rows:
        return ""
    names = ["predicted", "probability", "second", "second_probability"]
    titles = ["row", "predicted", "probability", "or", "probability"]
    if rows[0]["label"] is not None:
        names, titles = ["label", *names], ["row", "your label", *titles[1:]]
    cells = ([record["row"] + 1, *(record[name] for name in names)] for record in rows)
    return f"<h2>{html.escape(title)}</h2>{_table(titles, cells)}"


def _bars(report: list[JsonObject]) -> str:
    """Return a bar chart of the expected accuracies with their intervals."""
    # A letter of this bold font is 7.5 wide on average.
    left = 16 + 7.5 * max((len(row["name"]) for row in report), default=0)
    line, wide = 24, 420
    parts = []
    for i, row in enumerate(report):
        y, name = i * line, html.escape(row["name"])
        weight = "700" if row["used"] else "400"
        parts.append(
            f'<text x="{left - 8}" y="{y + 16}" text-anchor="end" font-weight="{weight}">{name}</text>'
        )
        if row["expected"] is None:
            parts.append(f'<text x="{left}" y="{y + 16}">not known</text>')
            continue
        end, fill = left + wide * row["expected"], "#1f6fb5" if row["used"] else "#aab2bf"
        parts.append(
            f'<rect x="{left}" y="{y + 4}" width="{end - left:.1f}" height="16" rx="2" fill="{fill}"/>'
        )
        if row["low"] is not None:
            low, high = left + wide * row["low"], left + wide * row["high"]
            d = f"M{low:.1f} {y + 12}H{high:.1f}M{low:.1f} {y + 8}v8M{high:.1f} {y + 8}v8"
            parts.append(f'<path d="{d}" stroke="#1b1f27" stroke-width="1.3"/>')
        x = max(end, left + wide * (row["high"] or 0.0)) + 8
        parts.append(f'<text x="{x:.1f}" y="{y + 16}">{100 * row["expected"]:.0f} %</text>')
    size = f'viewBox="0 0 {left + wide + 60} {line * len(report) + 4}" width="{left + wide + 60}"'
    return f'<svg {size} role="img" aria-label="Accuracy to expect">{"".join(parts)}</svg>'


def _scatter(points: list[list[float]], seen: JsonObject, *, after: bool) -> str:
    """Return a scatter plot of the target: unlabelled rows grey, given labels solid, predictions pale."""
    drawn = []
    order = sorted(range(len(points)), key=lambda i: seen["given"][i] >= 0)  # labelled ones on top
    for i in order:
        label, code = seen["given"][i], seen["predicted"][i]
        x, y = 200 * (1 + 0.94 * points[i][0]), 200 * (1 - 0.94 * points[i][1])
        look = 'r="3" fill="#aab2bf" fill-opacity=".6"'
        if label >= 0:
            look = f'r="5" fill="{COLOURS[label % len(COLOURS)]}" stroke="#fff"'
        elif after:
            look = f'r="3" fill="{COLOURS[code % len(COLOURS)]}" fill-opacity=".4"'
        drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" {look}/>')
    title = f"The target {'with predicted classes' if after else 'as given'}"
    return f'<svg viewBox="0 0 400 400" width="400" role="img" aria-label="{title}">{"".join(drawn)}</svg>'


def _legend(classes: list[str]) -> str:
    shown = classes[: len(COLOURS)]
    dots = "".join(
        f'<span style="color:{COLOURS[i]}">&#9679;</span> {html.escape(name)} &nbsp; '
        for i, name in enumerate(shown)
    )
    return (
        f"<p>{dots}<span class='q'>solid: given label, pale: predicted, grey: no label</span></p>"
    )
