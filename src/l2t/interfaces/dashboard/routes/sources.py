"""Totals of the store, distributions of its ratios, and what each source adds for each target."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from l2t.interfaces.dashboard.context import Context, Here
from l2t.typing import JsonObject

router = APIRouter(tags=["sources"])

_FRESH = 5.0  # seconds
_MAX_DOMAINS = 30  # rows, and columns, of the matrix of gains
_DEFAULT_LABELS = 15


@router.get("/totals")
def totals(here: Here) -> JsonObject:
    """Return the numbers of runs, experiences, pairs, domains and algorithms."""
    return here.memo.get("totals", here.store.summaries.totals)


@router.get("/distributions")
def distributions(here: Here) -> list[JsonObject]:
    """Return the improvement ratios by algorithm and number of labels.

    `better` is the share of ratios above 1, `quantiles` are those at 5, 25, 50, 75 and 95 %, and `bins`
    are the middles of the bins of width 0.01 that are not empty.
    """
    summaries = here.store.summaries
    return here.memo.get("distributions", summaries.distributions, fresh_for=_FRESH)


@router.get("/gains")
def gains(
    here: Here,
    by: Annotated[
        Literal["family", "name"],
        Query(description="family: the part before the bracket in names such as photos[ant, bee]."),
    ] = "family",
    algorithm: Annotated[
        str | None,
        Query(
            max_length=200,
            pattern=r"^[^\x00]+$",
            description="By default the one with the best median.",
        ),
    ] = None,
    n_labels: Annotated[
        int | None,
        Query(ge=1, le=10**9, description="By default 15, or the smallest in the store."),
    ] = None,
) -> JsonObject:
    """Return what each source (rows) adds for each target (columns), with one algorithm and number of labels.

    A cell has the `mean` of improvement ratios, its standard `error` and the `count` of tasks; it is `clear`
    if it differs from 1 by two standard errors, over at least three tasks. If there are many domains, those
    with the fewest tasks are left out.
    """
    key = ("gains", by, algorithm, n_labels)
    return here.memo.get(key, lambda: _gains(here, by, algorithm, n_labels), fresh_for=_FRESH)


def _gains(here: Context, by: str, algorithm: str | None, n_labels: int | None) -> JsonObject:
    known = distributions(here)
    counts = sorted({row["n_labels"] for row in known})
    if n_labels is None:
        n_labels = _DEFAULT_LABELS if _DEFAULT_LABELS in counts else min(counts, default=1)
    at = {row["algorithm"]: row["quantiles"][2] for row in known if row["n_labels"] == n_labels}
    if algorithm is None:
        algorithm = max(at, key=lambda name: at[name], default="")
    matrix = _matrix(here.store.summaries.gains(algorithm, n_labels), by)
    chosen = {"algorithm": algorithm, "n_labels": n_labels}
    return matrix | chosen | {"algorithms": sorted(at), "label_counts": counts}


def _matrix(gains: list[JsonObject], by: str) -> JsonObject:
    title: Callable[[str], str] = (lambda name: name) if by == "name" else family_of
    sums: defaultdict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    used: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for gain in gains:
        at = title(gain["source"]), title(gain["target"])
        for i, name in enumerate(("count", "total", "squares")):
            sums[at][i] += gain[name]
        for side, name in zip(used, at, strict=True):
            side[name] += gain["count"]
    most = [sorted(side, key=lambda name: -side[name])[:_MAX_DOMAINS] for side in used]
    sources, targets = map(sorted, most)
    cells = [[_cell(*sums[s, t]) if (s, t) in sums else None for t in targets] for s in sources]
    return {
        "sources": sources,
        "targets": targets,
        "cells": cells,
        "left_out": sum(max(len(side) - _MAX_DOMAINS, 0) for side in used),
    }


def _cell(count: float, total: float, squares: float) -> JsonObject:
    """Return the mean, its standard error, and whether it clearly differs from 1."""
    mean, error = total / count, None
    if count > 1:
        error = math.sqrt(max(squares - count * mean**2, 0.0) / (count - 1) / count)
    clear = error is not None and count > 2 and abs(mean - 1.0) > 2.0 * error
    return {"mean": mean, "error": error, "count": int(count), "clear": clear}


def family_of(name: str) -> str:
    """Return the part before the bracket in names such as photos[ant, bee]."""
    return name.partition("[")[0].strip() or name
