"""Counts, distributions and means over all experiences, by queries that return few rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Integer, cast, distinct, func, select

from l2t.experiences.store.database import Database
from l2t.experiences.store.rows import microseconds, moment
from l2t.experiences.store.schema import domains, runs, scores
from l2t.typing import AnyArray

__all__ = ["Distribution", "DomainUse", "Failure", "Gain", "Summaries", "Totals"]

GRAIN = 0.001  #: ratios are counted rounded to this: a quantile is exact to half of it
BIN = 0.01  #: width of the bins of histograms
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MINUTE = 60_000_000  # microseconds
_SCORED = scores.join(runs, runs.c.id == scores.c.run)


@dataclass(frozen=True)
class Totals:
    """How much a store has, and from when to when."""

    runs: int
    failed: int
    experiences: int
    pairs: int
    domains: int
    algorithms: int
    first: datetime | None
    last: datetime | None


@dataclass(frozen=True, eq=False)
class Distribution:
    """Improvement ratios of an algorithm at a number of labels.

    Attributes
    ----------
    algorithm, n_labels : str, int
        Of which experiences.
    count, mean : int, float
        How many they are, and their mean ratio.
    better : float
        The share of ratios above 1.
    quantiles : array of shape (5,)
        At 5, 25, 50, 75 and 95 %, rounded to `GRAIN`.
    bins, counts : arrays
        Centres of the bins of width `BIN` that are not empty, and how many ratios are in each.
    """

    algorithm: str
    n_labels: int
    count: int
    mean: float
    better: float
    quantiles: AnyArray
    bins: AnyArray
    counts: AnyArray


@dataclass(frozen=True)
class Gain:
    """The mean improvement ratio from a source to a target, by name, over `count` experiences."""

    source: str
    target: str
    count: int
    mean: float


@dataclass(frozen=True)
class Failure:
    """Runs of one algorithm that failed for one reason: how many, and when last."""

    algorithm: str
    reason: str
    count: int
    last: datetime


@dataclass(frozen=True)
class DomainUse:
    """A domain with one of the names that runs gave it."""

    fingerprint: str
    name: str
    n_rows: int
    n_features: int
    labelled: bool


class Summaries:
    """Few numbers on all that a store has; made by `ExperienceStore.summaries`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def state(self) -> tuple[int, int, int]:
        """Return a value that differs after every change of the runs; cheap, for caches."""
        columns = (func.count(), func.max(runs.c.id), func.max(runs.c.created_at))
        count, last, time = self._rows(select(*columns).select_from(runs))[0]
        return int(count), int(last or 0), int(time or 0)

    def totals(self) -> Totals:
        """Return how much there is."""
        pairs = select(runs.c.source, runs.c.target).distinct().subquery()
        n_scores, n_pairs, n_domains = (
            select(func.count()).select_from(table).scalar_subquery()
            for table in (scores, pairs, domains)
        )
        query = select(
            func.count(runs.c.id),
            func.count().filter(runs.c.status == "failed"),
            func.count(distinct(runs.c.algorithm)),
            func.min(runs.c.created_at),
            func.max(runs.c.created_at),
            *(n_scores, n_pairs, n_domains),
        )
        ((n, failed, algorithms, first, last, scored, n_pairs, n_domains),) = self._rows(query)
        return Totals(
            runs=n,
            failed=failed,
            experiences=scored + failed,
            pairs=n_pairs,
            domains=n_domains,
            algorithms=algorithms,
            first=None if first is None else moment(first),
            last=None if last is None else moment(last),
        )

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

    def label_counts(self) -> list[int]:
        """Return the numbers of labels that there are."""
        return sorted(self._column(select(scores.c.n_labels).distinct()))

    def algorithms(self) -> list[str]:
        """Return the algorithms that there are."""
        return sorted(self._column(select(runs.c.algorithm).distinct()))

    def names(self) -> list[str]:
        """Return the names of all sources and targets."""
        sides = (select(side).distinct() for side in (runs.c.source_name, runs.c.target_name))
        return sorted({name for side in sides for name in self._column(side)})

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
        failed = func.count().filter(runs.c.status == "failed")
        query = select(minute, func.count(), failed)
        query = query.where(runs.c.created_at >= microseconds(since, "since"))
        rows = self._rows(query.group_by(minute).order_by(minute))
        return [(moment(int(at) * _MINUTE), n - bad, bad) for at, n, bad in rows]

    def domains(self, *, limit: int = 500) -> list[DomainUse]:
        """Return domains of runs, each with one of its names, in order of name."""
        found: dict[str, DomainUse] = {}
        shown = domains.c["n_rows", "n_features", "y"]
        for side, name in (
            (runs.c.source, runs.c.source_name),
            (runs.c.target, runs.c.target_name),
        ):
            query = select(side, func.min(name), *shown)
            query = query.select_from(runs.join(domains, domains.c.fingerprint == side))
            for key, first, n, m, y in self._rows(query.group_by(side, *shown).limit(limit)):
                found.setdefault(key, DomainUse(key, first, n, m, y is not None))
        return sorted(found.values(), key=lambda each: (each.name, each.fingerprint))[:limit]

    def run_of_domain(self, fingerprint: str) -> tuple[str, bool] | None:
        """Return the key of a run on a domain, and whether it is the run's source; None without any."""
        for side, source in ((runs.c.source, True), (runs.c.target, False)):
            rows = self._rows(select(runs.c.key).where(side == fingerprint).limit(1))
            if rows:
                return rows[0][0], source
        return None

    def some_runs(self, limit: int) -> list[str]:
        """Return the keys of so many finished runs; they are hashes, so the smallest are a random sample."""
        query = select(runs.c.key).where(runs.c.status == "done").order_by(runs.c.key).limit(limit)
        return self._column(query)

    def _rows(self, query: Any) -> list[Any]:
        with self._database.reading() as connection:
            return list(connection.execute(query).all())

    def _column(self, query: Any) -> list[Any]:
        return [row[0] for row in self._rows(query)]


def _distribution(algorithm: str, n_labels: int, bins: AnyArray) -> Distribution:
    places, counts, sums, better = bins.T
    total = counts.sum()
    at = np.searchsorted(np.cumsum(counts) / total, QUANTILES)
    centres, which = np.unique((places * (GRAIN / BIN)).round(), return_inverse=True)
    return Distribution(
        algorithm=algorithm,
        n_labels=n_labels,
        count=int(total),
        mean=float(sums.sum() / total),
        better=float(better.sum() / total),
        quantiles=places[np.minimum(at, len(counts) - 1)] * GRAIN,
        bins=centres * BIN,
        counts=np.bincount(which, weights=counts).astype(np.intp),
    )
