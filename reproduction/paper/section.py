"""The parts of a report: text, tables and figures, independent of the output format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from l2t.typing import Array
from reproduction.pages import TEMPLATES
from reproduction.paper.measuring import Measured, p_values
from tools.reports import render_block

__all__ = [
    "Claim",
    "Figure",
    "Section",
    "Table",
    "label_columns",
    "mean",
    "p_of_means",
    "paragraph",
    "ratio_table",
    "standard_error",
]


@dataclass(frozen=True)
class Table:
    """Rows of plain values; the first column names the row."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]

    @property
    def shown(self) -> tuple[list[str], list[list[str]]]:
        """Columns and cells as text; a standard error, if there is one, follows its mean."""
        ends = ", standard error"
        errors = {
            at: self.columns.index(name.removesuffix(ends))
            for at, name in enumerate(self.columns)
            if name.endswith(ends)
        }
        behind = {mean: error for error, mean in errors.items()}
        columns = [
            name.removesuffix(" labels") if at else name
            for at, name in enumerate(self.columns)
            if at not in errors
        ]
        if all(name.isdigit() for name in columns[1:]):
            columns[0] = f"{columns[0]}, labels:" if columns[0] else "labels:"
        rows = [
            [
                _cell(value)
                + (f" ± {row[behind[at]]:.3f}" if at in behind and row[behind[at]] else "")
                for at, value in enumerate(row)
                if at not in errors
            ]
            for row in self.rows
        ]
        return columns, rows


@dataclass(frozen=True)
class Figure:
    """A picture; `draw` returns a `matplotlib.figure.Figure`."""

    name: str
    caption: str
    draw: Callable[[], Any]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, whether it holds with a method on this data, and the figures."""

    text: str
    method: str
    holds: bool
    figures: str


@dataclass(frozen=True)
class Section:
    """One part of the report."""

    title: str
    text: str
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    claims: Sequence[Claim] = ()

    @property
    def anchor(self) -> str:
        """The address of the section within the page."""
        return "".join(c if c.isalnum() else "-" for c in self.title.lower()).strip("-")


def paragraph(name: str, **values: Any) -> str:
    """Return the paragraph of a section from its block in the template."""
    return render_block(TEMPLATES / "paper-texts.md", name, **values)


def mean(ratios: Array) -> Array:
    """Return the mean over pairs (counts,), of those that are large enough."""
    return np.asarray(np.nanmean(ratios, axis=0))


def standard_error(ratios: Array) -> Array:
    """Return the standard error of the mean over pairs; 0 for a single pair."""
    known = np.isfinite(ratios).sum(axis=0)
    if known.min() < 2:
        return np.zeros(ratios.shape[1])
    return np.asarray(np.nanstd(ratios, axis=0, ddof=1) / np.sqrt(known))


def p_of_means(ours: Array, theirs: Array) -> float:
    """Return the paired t-test of two methods' ratios (pairs, counts), averaged over label counts."""
    averages = (np.nanmean(ratios, axis=1)[:, None] for ratios in (ours, theirs))
    return float(p_values(*averages)[0])


def label_columns(found: Measured) -> tuple[str, ...]:
    """Return one column per label count."""
    return tuple(f"{count} labels" for count in found.label_counts)


def ratio_table(name: str, caption: str, found: Measured, methods: Mapping[str, str]) -> Table:
    """Return mean ratios and their standard errors; `methods` maps displayed names to measured ones."""
    columns = ["method"]
    for column in label_columns(found):
        columns += [column, f"{column}, standard error"]
    rows = []
    for shown, method in methods.items():
        ratios = found[method]
        both = np.stack([mean(ratios), standard_error(ratios)], axis=1)
        rows.append((shown, *both.ravel().tolist()))
    return Table(name, caption, tuple(columns), rows)


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return "–"
    if isinstance(value, float):
        return f"{value:.0e}" if 0 < abs(value) < 5e-4 else f"{value:.3f}"
    return str(value)
