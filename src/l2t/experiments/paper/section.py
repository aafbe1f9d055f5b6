"""The pieces of a report: words, tables and figures, apart from how they are written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from l2t.experiments.paper.measuring import Measured
from l2t.typing import Array

__all__ = ["Figure", "Section", "Table", "mean", "ratio_table", "standard_error"]


@dataclass(frozen=True)
class Table:
    """Rows of plain values; the first column names the row."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class Figure:
    """A picture; `draw` takes matplotlib.pyplot and returns the figure."""

    name: str
    caption: str
    draw: Callable[[Any], Any]


@dataclass(frozen=True)
class Section:
    """One part of the report."""

    title: str
    text: str
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)


def mean(ratios: Array) -> Array:
    """Return the mean over pairs (counts,), of those that are large enough."""
    return np.asarray(np.nanmean(ratios, axis=0))


def standard_error(ratios: Array) -> Array:
    """Return the standard error of the mean over pairs; 0 for a single pair."""
    known = np.isfinite(ratios).sum(axis=0)
    if known.min() < 2:
        return np.zeros(ratios.shape[1])
    return np.asarray(np.nanstd(ratios, axis=0, ddof=1) / np.sqrt(known))


def ratio_table(name: str, caption: str, found: Measured, methods: Mapping[str, str]) -> Table:
    """Return mean ratios and their standard errors; `methods` maps what is shown to what was measured."""
    columns = ["method"]
    for count in found.label_counts:
        columns += [f"{count} labels", f"{count} labels, standard error"]
    rows = []
    for shown, method in methods.items():
        ratios = found[method]
        both = np.stack([mean(ratios), standard_error(ratios)], axis=1)
        rows.append((shown, *both.ravel().tolist()))
    return Table(name, caption, tuple(columns), rows)
