"""Counts, distributions and means over all experiences, by queries that return few rows."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Integer, cast, distinct, func, select

from l2t.experiences.records import Distribution, DomainUse, Failure, Gain, Totals
from l2t.experiences.store.database import Database
from l2t.experiences.store.rows import microseconds, moment
from l2t.experiences.store.schema import domains, runs, scores
from l2t.typing import AnyArray

__all__ = ["Summaries"]

GRAIN = 0.001  #: ratios are counted rounded to this: a quantile is exact to half of it
BIN = 0.01  #: width of the bins of histograms
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MINUTE = 60_000_000  # microseconds
_SCORED = scores.join(runs, runs.c.id == scores.c.run)


class Summaries:
    """Few numbers on all that a store has; made by `ExperienceStore.summaries`."""

    def __init__(self, database: Database) -> None:
        self._rows = database.rows

    def state(self) -> tuple[int, int, int]:
        """Return a value that differs after every change of the runs; cheap, for caches."""
        columns = (func.count(), func.max(runs.c.id), func.max(runs.c.created_at))
        count, last, time = self._rows(select(*columns).select_from(runs))[0]
        return int(count), int(last or 0), int(time or 0)

    def totals(self) -> Totals:
        """Return how much there is."""
        failed = func.count().filter(runs.c.status == "failed")
        times = (func.min(runs.c.created_at), func.max(runs.c.created_at))
        query = select(func.count(), failed, func.count(distinct(runs.c.algorithm)), *times)
        n, n_failed, algorithms, *ends = self._rows(query.select_from(runs))[0]
        pairs = select(runs.c.source, runs.c.target).distinct().subquery()
        n_scores, n_pairs, n_domains = (
            self._rows(select(func.count()).select_from(table))[0][0]
            for table in (scores, pairs, domains)
        )
        first, last = (None if time is None else moment(time) for time in ends)
        n_all = n_scores + n_failed
        return Totals(n, n_failed, n_all, n_pairs, n_domains, algorithms, first, last)

    def distributions(self) -> list[Distribution]:
        """Return the ratios by algorithm and number of labels, in this order."""
        place = cast(func.round(scores.c.improvement_ratio / GRAIN), Integer)
        total, better = func.sum(scores.c.improvement_ratio), scores.c.improvement_ratio > 1.0
        groups = (runs.c.algorithm, scores.c.n_labels, place)
        query = select(*groups, func.count(), total, func.count().filter(better))
        found: dict[tuple[str, int], list[Any]] = {}
        for algorithm, count, *bin_ in self._rows(query.select_from(_SCORED).group_by(*groups)):
            found.setdefault((algorithm, count), []).append(bin_)
        return [_distribution(*key, np.array(sorted(bins))) for key, bins in sorted(found.items())]

    def gains(self) -> list[Gain]:
        """Return the mean ratio for each source and target, by name."""
        groups = (runs.c.source_name, runs.c.target_name)
        mean = func.avg(scores.c.improvement_ratio)
        query = select(*groups, func.count(), mean).select_from(_SCORED).group_by(*groups)
        return [Gain(source, target, n, float(m)) for source, target, n, m in self._rows(query)]

    def facets(self) -> tuple[list[str], list[int], list[str]]:
        """Return the algorithms, the numbers of labels, and the names of domains that there are."""
        columns = (runs.c.algorithm, scores.c.n_labels, runs.c.source_name, runs.c.target_name)
        algorithms, counts, sources, targets = (
            {value for (value,) in self._rows(select(column).distinct())} for column in columns
        )
        return sorted(algorithms), sorted(counts), sorted(sources | targets)

    def failures(self, *, limit: int = 50) -> list[Failure]:
        """Return why runs failed, the most frequent reason first."""
        groups = (runs.c.algorithm, runs.c.reason)
        count, last = func.count(), func.max(runs.c.created_at)
        query = select(*groups, count, last).where(runs.c.status == "failed").group_by(*groups)
        rows = self._rows(query.order_by(count.desc(), last.desc()).limit(limit))
        return [Failure(algorithm, reason, n, moment(at)) for algorithm, reason, n, at in rows]

    def runs_per_minute(self, since: datetime) -> list[tuple[datetime, int, int]]:
        """Return the minutes in which runs ended, with how many were done and how many failed."""
        minute = runs.c.created_at // _MINUTE
        query = select(minute, func.count(), func.count().filter(runs.c.status == "failed"))
        query = query.where(runs.c.created_at >= microseconds(since, "since"))
        rows = self._rows(query.group_by(minute).order_by(minute))
        return [(moment(int(at) * _MINUTE), n - failed, failed) for at, n, failed in rows]

    def domains(self, *, limit: int = 500) -> list[DomainUse]:
        """Return domains of runs, each with one of its names, in order of name."""
        found: dict[str, DomainUse] = {}
        shown = domains.c["n_rows", "n_features", "y"]
        for side in (runs.c.source, runs.c.target):
            query = select(side, func.min(runs.c[f"{side.name}_name"]), *shown)
            query = query.select_from(runs.join(domains, domains.c.fingerprint == side))
            for key, name, n, m, y in self._rows(query.group_by(side, *shown).limit(limit)):
                found.setdefault(key, DomainUse(key, name, n, m, y is not None))
        return sorted(found.values(), key=lambda each: (each.name, each.fingerprint))[:limit]

    def run_of_domain(self, fingerprint: str) -> tuple[str, bool] | None:
        """Return the key of a run on a domain, and whether it is the run's source; None without any."""
        for side in (runs.c.source, runs.c.target):
            for (key,) in self._rows(select(runs.c.key).where(side == fingerprint).limit(1)):
                return key, side is runs.c.source
        return None

    def some_runs(self, limit: int) -> list[str]:
        """Return the keys of so many finished runs: the smallest hashes are a random sample."""
        query = select(runs.c.key).where(runs.c.status == "done").order_by(runs.c.key).limit(limit)
        return [key for (key,) in self._rows(query)]


def _distribution(algorithm: str, n_labels: int, bins: AnyArray) -> Distribution:
    places, counts, sums, better = bins.T
    total = counts.sum()
    at = np.searchsorted(np.cumsum(counts) / total, QUANTILES)
    centres, which = np.unique((places * (GRAIN / BIN)).round(), return_inverse=True)
    quantiles = places[np.minimum(at, len(counts) - 1)] * GRAIN
    heights = np.bincount(which, weights=counts).astype(np.intp)
    mean, share = float(sums.sum() / total), float(better.sum() / total)
    return Distribution(
        algorithm, n_labels, int(total), mean, share, quantiles, centres * BIN, heights
    )
