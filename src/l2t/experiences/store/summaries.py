"""Counts, distributions and means over all experiences, computed by the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from operator import itemgetter

import numpy as np
from sqlalchemy import Integer, cast, distinct, func, select

from l2t.exceptions import L2TError, StoreCorruptError
from l2t.experiences.store.database import Database
from l2t.experiences.store.rows import Row
from l2t.experiences.store.schema import domains, microseconds, runs, scores, to_datetime
from l2t.typing import AnyArray

GRAIN = 0.001  #: ratios are rounded to this: quantiles are exact to half of it
BIN = 0.01  #: the width of histogram bins
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MINUTE = 60_000_000  # microseconds
_TIME = runs.c.created_at
# Only classifiers that were trained on the target.
_SCORED = scores.join(runs, (runs.c.id == scores.c.run) & (scores.c.trained_on == "target"))


@contextmanager
def _readable() -> Iterator[None]:
    """Convert an error about an impossible value into a StoreCorruptError."""
    try:
        yield
    except L2TError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise StoreCorruptError(f"a table is damaged: {error}") from None


class Summaries:
    """Summaries of a store as plain values; see `ExperienceStore.summaries`.

    The database computes them: unlike what `ExperienceStore.experiences` yields, a changed score is not
    noticed here, only by `ExperienceStore.check`.
    """

    def __init__(self, database: Database) -> None:
        self._rows = database.rows

    def state(self) -> tuple[int, ...]:
        """Return a value that changes with the runs, for caches."""
        query = select(func.count(), func.max(runs.c.id), func.max(_TIME)).select_from(runs)
        return tuple(int(value or 0) for value in self._rows(query)[0])

    @_readable()
    def totals(self) -> Row:
        """Return the numbers of runs, experiences, pairs ..., and the times of the first and last run."""
        failed = func.count().filter(runs.c.status == "failed").label("failed")
        algorithms = func.count(distinct(runs.c.algorithm)).label("algorithms")
        ends = (func.min(_TIME).label("first"), func.max(_TIME).label("last"))
        query = select(func.count().label("runs"), failed, algorithms, *ends).select_from(runs)
        totals = dict(self._rows(query)[0]._mapping)
        pairs = select(runs.c.source, runs.c.target).distinct().subquery()
        for name, table in (("experiences", scores), ("pairs", pairs), ("domains", domains)):
            totals[name] = self._rows(select(func.count()).select_from(table))[0][0]
        totals["experiences"] += totals["failed"]  # a failed run is one without scores
        times = {name: to_datetime(totals[name]) for name in ("first", "last") if totals["runs"]}
        return totals | times

    @_readable()
    def distributions(self) -> list[Row]:
        """Return the distribution of improvement ratios per algorithm and number of labels.

        Each has the `count` and `mean` of the ratios, the share that is `better` than 1, `quantiles` at 5,
        25, 50, 75 and 95 %, and a histogram: the centres of the non-empty `bins`, and `counts`.
        """
        place = cast(func.round(scores.c.improvement_ratio / GRAIN), Integer)
        total, better = func.sum(scores.c.improvement_ratio), scores.c.improvement_ratio > 1.0
        groups = (runs.c.algorithm, scores.c.n_labels, place)
        query = select(*groups, func.count(), total, func.count().filter(better))
        bins_of: dict[tuple[str, int], list[list[float]]] = {}
        for algorithm, count, *bin_ in self._rows(query.select_from(_SCORED).group_by(*groups)):
            bins_of.setdefault((algorithm, count), []).append(bin_)
        return [
            {"algorithm": algorithm, "n_labels": count} | _distribution(np.array(sorted(bins)))
            for (algorithm, count), bins in sorted(bins_of.items())
        ]

    def gains(self, algorithm: str, n_labels: int) -> list[Row]:
        """Return the ratios of an algorithm at a number of labels, per name of `source` and `target`.

        Each has the `count` of ratios, their sum (`total`), and the sum of their `squares`.
        """
        source, target, ratio = runs.c.source_name, runs.c.target_name, scores.c.improvement_ratio
        names = source.label("source"), target.label("target")
        sums = func.sum(ratio).label("total"), func.sum(ratio * ratio).label("squares")
        query = select(*names, func.count().label("count"), *sums)
        query = query.where(runs.c.algorithm == algorithm, scores.c.n_labels == n_labels)
        rows = self._rows(query.select_from(_SCORED).group_by(source, target))
        return [dict(row._mapping) for row in rows]

    @_readable()
    def facets(self) -> tuple[list[str], list[int], list[str]]:
        """Return the distinct algorithms, numbers of labels, and names of domains."""
        columns = (runs.c.algorithm, scores.c.n_labels, runs.c.source_name, runs.c.target_name)
        algorithms, counts, sources, targets = (
            {value for (value,) in self._rows(select(column).distinct())} for column in columns
        )
        return sorted(algorithms), sorted(counts), sorted(sources | targets)

    @_readable()
    def failures(self, *, limit: int = 50) -> list[Row]:
        """Return why runs failed: `algorithm`, `reason`, `count` and `last` time, most frequent first."""
        groups = (runs.c.algorithm, runs.c.reason)
        count, last = func.count().label("count"), func.max(_TIME).label("last")
        query = select(*groups, count, last).where(runs.c.status == "failed").group_by(*groups)
        rows = self._rows(query.order_by(count.desc(), last.desc()).limit(limit))
        return [dict(row._mapping) | {"last": to_datetime(row.last)} for row in rows]

    @_readable()
    def runs_per_minute(self, since: datetime) -> list[tuple[datetime, int, int]]:
        """Return each minute in which runs ended, with the numbers of done and failed runs."""
        minute, failed = _TIME // _MINUTE, runs.c.status == "failed"
        query = select(minute, func.count(), func.count().filter(failed)).group_by(minute)
        rows = self._rows(query.where(microseconds(since, "since") <= _TIME).order_by(minute))
        return [(to_datetime(int(at) * _MINUTE), n - failed, failed) for at, n, failed in rows]

    @_readable()
    def domains(self, *, limit: int = 500) -> list[Row]:
        """Return the domains of runs, each with one of its names, sorted by name."""
        by_fingerprint: dict[str, Row] = {}
        sizes = (*domains.c["n_rows", "n_features"], domains.c.y.is_not(None).label("labelled"))
        for side in (runs.c.source, runs.c.target):
            name = func.min(runs.c[f"{side.name}_name"]).label("name")
            query = select(side.label("fingerprint"), name, *sizes)
            query = query.select_from(runs.join(domains, domains.c.fingerprint == side))
            for row in self._rows(query.group_by(side, domains.c.fingerprint).limit(limit)):
                by_fingerprint.setdefault(row.fingerprint, dict(row._mapping))
        distinct = sorted(by_fingerprint.values(), key=itemgetter("name", "fingerprint"))
        return distinct[:limit]

    def some_runs(self, limit: int) -> list[str]:
        """Return the keys of at most `limit` completed runs; the smallest keys are a random sample."""
        query = select(runs.c.key).where(runs.c.status == "done").order_by(runs.c.key).limit(limit)
        return [key for (key,) in self._rows(query)]


def _distribution(bins: AnyArray) -> Row:
    places, counts, sums, better = bins.T
    total = counts.sum()
    at = np.searchsorted(np.cumsum(counts) / total, QUANTILES)
    centres, which = np.unique((places * (GRAIN / BIN)).round(), return_inverse=True)
    return {
        "count": int(total),
        "mean": float(sums.sum() / total),
        "better": float(better.sum() / total),
        "quantiles": (places[np.minimum(at, len(counts) - 1)] * GRAIN).tolist(),
        "bins": (centres * BIN).round(2).tolist(),
        "counts": np.bincount(which, weights=counts).astype(int).tolist(),
    }
