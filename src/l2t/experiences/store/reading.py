"""Runs and experiences out of the tables; whatever is damaged is named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt
from sqlalchemy import Connection, select

from l2t.domains import Domain, DomainPair
from l2t.exceptions import StoreCorruptError, UnknownRunError
from l2t.experiences.experience import Experience, Run
from l2t.experiences.store.arrays import decode
from l2t.experiences.store.contents import batches
from l2t.experiences.store.records import domain_of, experiences_of, run_of, statistics_of
from l2t.experiences.store.schema import arrays, domains, runs, scores
from l2t.statistics import PairStatistics

__all__ = ["array_of", "experiences_at", "run_row", "target_of", "whole_run"]


def run_row(connection: Connection, key: str) -> Any:
    """Return the row of a run."""
    row = connection.execute(select(runs).where(runs.c.key == key)).one_or_none()
    if row is None:
        raise UnknownRunError(f"no run has the key {key!r:.80}")
    return row


def whole_run(connection: Connection, key: str) -> Run:
    """Return a run with both domains, W, statistics and scores."""
    row = run_row(connection, key)
    sides = [_side(connection, row, side) for side in ("source", "target")]

    def array(hash: str) -> npt.NDArray[Any]:
        return array_of(connection, hash, key)

    query = select(scores).where(scores.c.run == row.id).order_by(scores.c.n_labels)
    return run_of(row, connection.execute(query).all(), DomainPair(*sides), array)


def target_of(connection: Connection, key: str) -> Domain:
    """Return the target of a run alone."""
    return _side(connection, run_row(connection, key), "target")


def _side(connection: Connection, row: Any, side: str) -> Domain:
    """Return the source or the target of a run."""
    fingerprint, key = getattr(row, side), row.key
    query = select(domains).where(domains.c.fingerprint == fingerprint)
    found = connection.execute(query).one_or_none()
    if found is None:
        raise StoreCorruptError(f"domain {fingerprint:.12} of run {key:.12} is missing")
    name, features = getattr(row, f"{side}_name"), getattr(row, f"{side}_features")
    return domain_of(found, lambda hash: array_of(connection, hash, key), name, features)


def experiences_at(
    connection: Connection, places: Sequence[Any], with_statistics: bool
) -> list[Experience]:
    """Return experiences in the order of their places; what belongs to a run is read once."""
    rows: list[Any] = []
    scored: dict[int, list[Any]] = {}
    for batch in batches(place[0] for place in places):
        rows += connection.execute(select(runs).where(runs.c.id.in_(batch))).all()
        for score in connection.execute(select(scores).where(scores.c.run.in_(batch))):
            scored.setdefault(score.run, []).append(score)
    computed = _statistics(connection, rows) if with_statistics else {}
    found = {
        row.id: experiences_of(row, scored.get(row.id, ()), computed.get(row.id)) for row in rows
    }
    return [found[number][count] for number, count, *_ in places]


def _statistics(connection: Connection, rows: Sequence[Any]) -> dict[int, PairStatistics]:
    wanted: dict[str, list[Any]] = {}
    for row in rows:
        if row.statistics is not None:
            wanted.setdefault(row.statistics, []).append(row)
    computed: dict[int, PairStatistics] = {}
    for batch in batches(wanted):
        for packed in connection.execute(select(arrays).where(arrays.c.hash.in_(batch))):
            stacked = _decoded(packed, wanted[packed.hash][0].key)
            for row in wanted[packed.hash]:
                computed[row.id] = statistics_of(row, stacked)
    return computed


def array_of(connection: Connection, hash: str, key: str) -> npt.NDArray[Any]:
    """Return an array of a run."""
    row = connection.execute(select(arrays).where(arrays.c.hash == hash)).one_or_none()
    if row is None:
        raise StoreCorruptError(f"array {hash:.12} of run {key:.12} is missing")
    return _decoded(row, key)


def _decoded(row: Any, key: str) -> npt.NDArray[Any]:
    try:
        return decode(row)
    except StoreCorruptError as error:
        raise StoreCorruptError(
            f"run {key}: {error}; all other runs are readable, and delete(key=...) removes this one"
        ) from None
