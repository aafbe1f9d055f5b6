"""Domains, runs and experiences as rows of the tables, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from l2t.domains import Domain, DomainPair
from l2t.exceptions import InvalidInputError, L2TError, StoreCorruptError
from l2t.experiences.experience import Experience, Run, Score
from l2t.experiences.store.arrays import keep
from l2t.experiences.store.labels import decode_labels, encode_labels
from l2t.statistics import KernelBank, PairStatistics
from l2t.typing import AnyArray

__all__ = [
    "Packed",
    "Row",
    "domain_of",
    "experience_of",
    "microseconds",
    "moment",
    "pack",
    "run_of",
    "statistics_of",
]

Row = dict[str, Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SCORE = tuple(each.name for each in fields(Score))
_NO_SCORE: Row = {"n_labels": None} | dict.fromkeys(_SCORE[1:], math.nan)
_PLAIN = ("algorithm", "status", "origin", "reason", "duration", "version", "host")


@dataclass(frozen=True, eq=False)
class Packed:
    """The rows of some runs and of all that they refer to, hashed and compressed.

    Workers of a collection pack their runs, so that writing them takes the store little time.

    Attributes
    ----------
    runs, scores : dict
        By the key of the run.
    domains, arrays : dict
        By their fingerprints and hashes.
    """

    runs: dict[str, Row] = field(default_factory=dict)
    scores: dict[str, list[Row]] = field(default_factory=dict)
    domains: dict[str, Row] = field(default_factory=dict)
    arrays: dict[str, Row] = field(default_factory=dict)


def pack(runs: Iterable[Run]) -> Packed:
    """Return the rows of runs; of several with the same key the first counts.

    Raises
    ------
    InvalidInputError
        A run holds a value that a store cannot give back unchanged.
    """
    packed = Packed()
    for run in runs:
        key = _key(run)
        if key in packed.runs:
            continue
        for side in (run.pair.source, run.pair.target):
            if side.fingerprint not in packed.domains:
                packed.domains[side.fingerprint] = _domain_row(side, packed.arrays)
        packed.scores[key] = _score_rows(run)
        packed.runs[key] = {"key": key, **_run_row(run, packed.arrays)}
    return packed


def _domain_row(domain: Domain, arrays: dict[str, Row]) -> Row:
    row: Row = {
        "fingerprint": domain.fingerprint,
        "n_rows": len(domain),
        "n_features": domain.n_features,
        "X": keep(domain.X, "X", arrays),
        "labeled": None if domain.labeled is None else keep(domain.labeled, "labeled", arrays),
    }
    for name, what, values in (("y", "labels", domain.y), ("groups", "groups", domain.groups)):
        codes, text = (None, None) if values is None else encode_labels(values, what)
        row[name] = None if codes is None else keep(codes, what, arrays)
        row[f"{name}_values"] = text
    return row


def _run_row(run: Run, arrays: dict[str, Row]) -> Row:
    row: Row = {
        "created_at": microseconds(run.created_at, "created_at"),
        "status": run.status,
        "origin": run.origin,
        "algorithm": run.algorithm,
        "random_state": json.dumps(run.random_state),
        "params": _json(run.params),
        "protocol": _json(run.protocol),
        "reason": _text(run.reason),
        "W": None if run.W is None else keep(run.W, "W", arrays),
        "statistics": None,
        "kernels": None,
        "duration": _finite(run.duration, "duration"),
        "version": _text(run.version),
        "host": _text(run.host),
    }
    for side, domain in (("source", run.pair.source), ("target", run.pair.target)):
        row[side], row[f"{side}_name"] = domain.fingerprint, _text(domain.name)
        names = None if domain.feature_names is None else json.dumps(domain.feature_names).encode()
        packed = None if names is None else keep(np.frombuffer(names, np.uint8), side, arrays)
        row[f"{side}_features"] = packed
    if run.statistics is not None:
        stats = run.statistics
        row["statistics"] = keep(np.vstack([stats.d, stats.tau, stats.Q]), "statistics", arrays)
        row["kernels"] = json.dumps([*astuple(stats.kernels), int(stats.n_neighbors)])
    return row


def _score_rows(run: Run) -> list[Row]:
    counts = [int(score.n_labels) for score in run.scores]
    if len(set(counts)) < len(counts):
        raise InvalidInputError(f"a run must have one score per number of labels, got {counts}")
    return [
        {"n_labels": count} | {name: _finite(getattr(score, name), name) for name in _SCORE[1:]}
        for count, score in zip(counts, run.scores, strict=True)
    ]


def domain_of(
    row: Any, array: Callable[[str], AnyArray], name: str = "", features: str | None = None
) -> Domain:
    """Return the domain of a row; `name` and `features`, the array of column names, are a run's."""

    def labels(codes: str | None, values: str) -> AnyArray | None:
        return None if codes is None else decode_labels(array(codes), values)

    try:
        return Domain(
            array(row.X),
            labels(row.y, row.y_values),
            labeled=None if row.labeled is None else array(row.labeled),
            groups=labels(row.groups, row.groups_values),
            name=name,
            feature_names=None if features is None else json.loads(array(features).tobytes()),
        )
    except (L2TError, ValueError, TypeError) as error:
        raise StoreCorruptError(f"domain {row.fingerprint:.12} cannot be read: {error}") from None


def run_of(
    row: Any, scores: Iterable[Any], pair: DomainPair, array: Callable[[str], AnyArray]
) -> Run:
    """Return a run with all that belongs to it."""
    return Run(
        pair=pair,
        W=None if row.W is None else array(row.W),
        statistics=None if row.statistics is None else statistics_of(row, array(row.statistics)),
        scores=tuple(Score(*(getattr(score, name) for name in _SCORE)) for score in scores),
        **_common(row),
    )


def experience_of(row: Any, score: Any | None, statistics: PairStatistics | None) -> Experience:
    """Return a run at one number of labels, or without one where it has no scores."""
    scored = _NO_SCORE if score is None else {name: getattr(score, name) for name in _SCORE}
    names = ("source", "target", "source_name", "target_name")
    sides = {name: getattr(row, name) for name in names}
    return Experience(run_key=row.key, statistics=statistics, **sides, **scored, **_common(row))


def _common(row: Any) -> Row:
    try:
        parsed = {name: json.loads(getattr(row, name)) for name in ("params", "protocol")}
        parsed["random_state"] = json.loads(row.random_state)
        parsed["created_at"] = moment(row.created_at)
    except (ValueError, TypeError, OverflowError) as error:
        raise StoreCorruptError(f"its row cannot be read: {error}") from None
    return parsed | {name: getattr(row, name) for name in _PLAIN}


def statistics_of(row: Any, stacked: AnyArray) -> PairStatistics:
    """Return d, Q and tau from the array that holds all three."""
    try:
        *bank, n_neighbors = json.loads(row.kernels)
        return PairStatistics(stacked[0], stacked[2:], stacked[1], KernelBank(*bank), n_neighbors)
    except (L2TError, LookupError, ValueError, TypeError) as error:
        raise StoreCorruptError(f"its statistics cannot be read: {error}") from None


def microseconds(time: datetime, parameter: str) -> int:
    """Return a time as microseconds since 1970 (UTC)."""
    if not isinstance(time, datetime) or time.tzinfo is None:
        raise InvalidInputError(
            f"{parameter} must be a datetime with a time zone, such as datetime.now(UTC), got {time!r}"
        )
    return (time - _EPOCH) // timedelta(microseconds=1)


def moment(time: int) -> datetime:
    """Return the time of so many microseconds since 1970 (UTC)."""
    return _EPOCH + timedelta(microseconds=time)


def _key(run: Run) -> str:
    if not isinstance(run, Run):
        raise InvalidInputError(f"run must be a Run, got {type(run).__name__}")
    if _text(run.algorithm) != run.algorithm:
        raise InvalidInputError(f"algorithm must be valid Unicode, got {run.algorithm!r:.80}")
    try:
        return run.key
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"params, random_state and protocol of a run must be plain JSON values: {error}"
        ) from None


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(dict(content), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _text(text: str) -> str:
    """Return text that every database can hold: no NUL, no unpaired surrogates."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


def _finite(value: Any, name: str) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise InvalidInputError(f"{name} must be finite in a store, got {number}")
    return number
