"""Counts, distributions and means over all experiences, by queries that give few rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Integer, cast, distinct, func, select

from l2t.experiences.store.database import Database
from l2t.experiences.store.records import microseconds, moment
from l2t.experiences.store.schema import domains, runs, scores

__all__ = ["Distribution", "DomainUse", "Failure", "Gain", "Summaries", "Totals"]

#: Ratios are counted rounded to this: a quantile is exact to half of it.
GRAIN = 0.001
#: Width of the bins of histograms.
BIN = 0.01
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MINUTE = 60_000_000  # microseconds
_SCORED = scores.join(runs, runs.c.id == scores.c.run)


@dataclass(frozen=True)
class Totals:
    """How much there is, and from when to when."""

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
    count : int
        How many they are.
    mean : float
        Their mean ratio.
    better : float
        The share of ratios above 1.
    quantiles : array of shape (5,)
        At 5, 25, 50, 75 and 95 %, rounded to `GRAIN`.
    bins, counts : arrays
        Middles of the bins of width `BIN` that are not empty, and how many ratios are in each.
    """

    algorithm: str
    n_labels: int
    count: int
    mean: float
    better: float
    quantiles: npt.NDArray[np.float64]
    bins: npt.NDArray[np.float64]
    counts: npt.NDArray[np.intp]


@dataclass(frozen=True)
class Gain:
    """The mean improvement ratio from one source to one target, by name, over `count` experiences."""

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
    """What a store holds, in few numbers; made by `ExperienceStore.summaries`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def state(self) -> tuple[int, int, int]:
        """Return what is another after every change of the runs; cheap, for caches."""
        columns = (func.count(), func.max(runs.c.id), func.max(runs.c.created_at))
        count, last, time = self._rows(select(*columns).select_from(runs))[0]
        return int(count), int(last or 0), int(time or 0)

    def totals(self) -> Totals:
        """Return how much there is."""
        failed = func.count().filter(runs.c.status == "failed")
        times = (func.min(runs.c.created_at), func.max(runs.c.created_at))
        algorithms = func.count(distinct(runs.c.algorithm))
        pairs = select(runs.c.source, runs.c.target).distinct().subquery()
        with self._database.reading() as connection:
            of_runs = select(func.count(), failed, algorithms, *times)
            n, n_failed, n_algorithms, first, last = connection.execute(of_runs).one()
            scored = connection.execute(select(func.count()).select_from(scores)).scalar_one()
            n_pairs = connection.execute(select(func.count()).select_from(pairs)).scalar_one()
            n_domains = connection.execute(select(func.count()).select_from(domains)).scalar_one()
        return Totals(
            runs=n,
            failed=n_failed,
            experiences=scored + n_failed,
            pairs=n_pairs,
            domains=n_domains,
            algorithms=n_algorithms,
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

    def failures(self, since: datetime | None = None, *, limit: int = 50) -> list[Failure]:
        """Return why runs failed, the most frequent reason first."""
        groups = (runs.c.algorithm, runs.c.reason)
        count, last = func.count(), func.max(runs.c.created_at)
        query = select(*groups, count, last).where(runs.c.status == "failed").group_by(*groups)
        if since is not None:
            query = query.where(runs.c.created_at >= microseconds(since, "since"))
        rows = self._rows(query.order_by(count.desc(), last.desc()).limit(limit))
        return [Failure(algorithm, reason, n, moment(at)) for algorithm, reason, n, at in rows]

    def runs_per_minute(self, since: datetime) -> list[tuple[datetime, int, int]]:
        """Return the minutes in which runs were made, with how many were done and how many failed."""
        minute = runs.c.created_at // _MINUTE
        failed = func.count().filter(runs.c.status == "failed")
        query = select(minute, func.count(), failed)
        query = query.where(runs.c.created_at >= microseconds(since, "since"))
        rows = self._rows(query.group_by(minute).order_by(minute))
        return [(moment(int(at) * _MINUTE), n - bad, bad) for at, n, bad in rows]

    def domains(self, *, limit: int = 500) -> list[DomainUse]:
        """Return domains that runs were made on, each with one of its names, in order of name."""
        found: dict[str, DomainUse] = {}
        for side, name in (
            (runs.c.source, runs.c.source_name),
            (runs.c.target, runs.c.target_name),
        ):
            query = select(
                side, func.min(name), domains.c.n_rows, domains.c.n_features, domains.c.y
            )
            query = query.select_from(runs.join(domains, domains.c.fingerprint == side))
            query = query.group_by(side, *domains.c["n_rows", "n_features", "y"]).limit(limit)
            for key, first, n, m, y in self._rows(query):
                found.setdefault(key, DomainUse(key, first, n, m, y is not None))
        return sorted(found.values(), key=lambda each: (each.name, each.fingerprint))[:limit]

    def run_of_domain(self, fingerprint: str) -> tuple[str, bool] | None:
        """Return the key of a run on a domain, and whether it is the run's source; None without any."""
        for side, source in ((runs.c.source, True), (runs.c.target, False)):
            rows = self._rows(select(runs.c.key).where(side == fingerprint).limit(1))
            if rows:
                return rows[0][0], source
        return None

    def some_runs(self, limit: int, *, seed: int = 0) -> list[str]:
        """Return the keys of so many runs that were done, chosen by their keys and not by their time."""
        # Keys are hashes: from a random one on they are a random sample.
        start = f"{np.random.default_rng(seed).integers(16):x}"
        query = select(runs.c.key).where(runs.c.status == "done").order_by(runs.c.key).limit(limit)
        found: list[str] = self._column(query.where(runs.c.key >= start))
        if len(found) < limit:
            found += self._column(query.where(runs.c.key < start).limit(limit - len(found)))
        return found

    def _rows(self, query: Any) -> list[Any]:
        with self._database.reading() as connection:
            return list(connection.execute(query).all())

    def _column(self, query: Any) -> list[Any]:
        return [row[0] for row in self._rows(query)]


def _distribution(algorithm: str, n_labels: int, bins: npt.NDArray[Any]) -> Distribution:
    places, counts, sums, better = bins.T
    total = counts.sum()
    middles, at = np.unique((places * (GRAIN / BIN)).round(), return_inverse=True)
    return Distribution(
        algorithm=algorithm,
        n_labels=n_labels,
        count=int(total),
        mean=float(sums.sum() / total),
        better=float(better.sum() / total),
        quantiles=_quantiles(places, counts),
        bins=middles * BIN,
        counts=np.bincount(at, weights=counts).astype(np.intp),
    )


def _quantiles(places: npt.NDArray[Any], counts: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    reached = np.cumsum(counts) / counts.sum()
    at = np.searchsorted(reached, QUANTILES)
    return np.asarray(places[np.minimum(at, len(counts) - 1)] * GRAIN)
