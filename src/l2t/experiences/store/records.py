"""Domains, runs and experiences as rows of the tables, and back."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np

from l2t.domains import Domain, DomainPair
from l2t.exceptions import InvalidInputError, L2TError, StoreCorruptError
from l2t.experiences.experience import Experience, Run, Score, Status
from l2t.experiences.store.arrays import plain_array
from l2t.experiences.store.labels import decode_labels, encode_labels
from l2t.numerics import fingerprint
from l2t.statistics import KernelBank, PairStatistics
from l2t.typing import AnyArray

__all__ = [
    "EPOCH",
    "Record",
    "content_key",
    "domain_of",
    "domain_record",
    "experiences_of",
    "microseconds",
    "moment",
    "run_of",
    "run_record",
    "statistics_of",
    "verify_run",
]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STATUS = get_args(Status)
# By name, so that a column that a later version adds breaks no seal.
_SEALED = (
    *("key", "created_at", "status", "algorithm", "source", "target", "source_name", "target_name"),
    *("source_features", "target_features", "random_state", "params", "protocol", "reason", "W"),
    *("statistics", "bank_first", "bank_last", "bank_step", "n_neighbors", "duration", "version"),
    "host",
)
_SCORE = tuple(field.name for field in fields(Score))
_NO_SCORE: dict[str, Any] = dict.fromkeys(_SCORE[1:], math.nan)


@dataclass(frozen=True, eq=False)
class Record:
    """A row, the arrays that it refers to by their hashes, and for a run its scores."""

    row: dict[str, Any]
    arrays: dict[str, AnyArray]
    scores: tuple[dict[str, Any], ...] = ()


def domain_record(domain: Domain) -> Record:
    """Return the row of a domain; its name is not part of it."""
    found: dict[str, AnyArray] = {}
    y, y_values = _labels(domain.y, "labels")
    groups, groups_values = _labels(domain.groups, "groups")
    row = {
        "fingerprint": domain.fingerprint,
        "n_rows": len(domain),
        "n_features": domain.n_features,
        "X": _hashed(domain.X, found),
        "y": _hashed(y, found),
        "y_values": y_values,
        "labeled": _hashed(domain.labeled, found),
        "groups": _hashed(groups, found),
        "groups_values": groups_values,
    }
    return Record(row, found)


def _hashed(array: AnyArray | None, found: dict[str, AnyArray]) -> str | None:
    """Note an array among those found, and return its hash."""
    if array is None:
        return None
    hash = fingerprint(array)
    found[hash] = array
    return hash


def _labels(values: AnyArray | None, what: str) -> tuple[AnyArray | None, str | None]:
    return (None, None) if values is None else encode_labels(values, what)


def domain_of(
    row: Any, array: Callable[[str], AnyArray], name: str = "", features: str | None = None
) -> Domain:
    """Return the domain of a row whose content is that of its fingerprint.

    `name` and `features`, the array with the names of the columns, are those of a run.
    """
    where = f"domain {row.fingerprint:.12}"
    try:
        domain = Domain(
            array(row.X),
            None if row.y is None else decode_labels(array(row.y), row.y_values),
            labeled=None if row.labeled is None else array(row.labeled),
            groups=None
            if row.groups is None
            else decode_labels(array(row.groups), row.groups_values),
            name=name,
            feature_names=None if features is None else json.loads(array(features).tobytes()),
        )
    except (L2TError, ValueError, TypeError) as error:
        raise StoreCorruptError(f"{where} cannot be read: {error}") from None
    if domain.fingerprint != row.fingerprint or domain.X.shape != (row.n_rows, row.n_features):
        raise StoreCorruptError(f"{where} is not what it was: its content has another fingerprint")
    return domain


def run_record(run: Run) -> Record:
    """Return the rows of a run; what a store cannot give back unchanged is refused."""
    key = _key(run)
    found: dict[str, AnyArray] = {}
    row: dict[str, Any] = {
        "key": key,
        "created_at": microseconds(run.created_at, "created_at"),
        "status": run.status,
        "algorithm": run.algorithm,
        "source": run.pair.source.fingerprint,
        "target": run.pair.target.fingerprint,
        "source_name": _text(run.pair.source.name),
        "target_name": _text(run.pair.target.name),
        "random_state": json.dumps(run.random_state),
        "params": _json(run.params),
        "protocol": _json(run.protocol),
        "reason": _text(run.reason),
        "W": None,
        "statistics": None,
        **dict.fromkeys(("bank_first", "bank_last", "bank_step", "n_neighbors")),
        "duration": _finite(run.duration, "duration"),
        "version": _text(run.version),
        "host": _text(run.host),
    }
    if run.W is not None:
        row["W"] = _hashed(plain_array(run.W, "W"), found)
    for side, domain in (("source", run.pair.source), ("target", run.pair.target)):
        names = domain.feature_names
        packed = None if names is None else np.frombuffer(json.dumps(names).encode(), np.uint8)
        row[f"{side}_features"] = _hashed(packed, found)
    if run.statistics is not None:
        stats = run.statistics
        stacked = plain_array(np.vstack([stats.d, stats.tau, stats.Q]), "statistics")
        row["statistics"] = _hashed(stacked, found)
        row["bank_first"], row["bank_last"], row["bank_step"] = astuple(stats.kernels)
        row["n_neighbors"] = int(stats.n_neighbors)
    scored = tuple(_score_row(score) for score in _distinct(run.scores))
    row["seal"] = _seal(SimpleNamespace(**row), [SimpleNamespace(**each) for each in scored])
    return Record(row, found, scored)


def _score_row(score: Score) -> dict[str, Any]:
    row: dict[str, Any] = {"n_labels": int(score.n_labels)}
    return row | {name: _finite(getattr(score, name), name) for name in _SCORE[1:]}


def run_of(
    row: Any, scores: Sequence[Any], pair: DomainPair, array: Callable[[str], AnyArray]
) -> Run:
    """Return a run whole."""
    _unbroken(row, scores)
    return Run(
        pair=pair,
        W=None if row.W is None else array(row.W),
        statistics=None if row.statistics is None else statistics_of(row, array(row.statistics)),
        scores=tuple(Score(*(getattr(score, name) for name in _SCORE)) for score in scores),
        **_common(row),
    )


def experiences_of(
    row: Any, scores: Sequence[Any], statistics: PairStatistics | None
) -> dict[int | None, Experience]:
    """Return a run at each number of labels, and without one where it has no scores."""
    _unbroken(row, scores)
    common = _common(row) | {
        "run_key": row.key,
        "source": row.source,
        "target": row.target,
        "source_name": row.source_name,
        "target_name": row.target_name,
        "statistics": statistics,
    }
    if not scores:
        return {None: Experience(n_labels=None, **_NO_SCORE, **common)}
    return {
        score.n_labels: Experience(**{name: getattr(score, name) for name in _SCORE}, **common)
        for score in scores
    }


def _common(row: Any) -> dict[str, Any]:
    try:
        content = {name: json.loads(getattr(row, name)) for name in ("params", "protocol")}
        return content | {
            "random_state": json.loads(row.random_state),
            "created_at": moment(row.created_at),
            **{name: getattr(row, name) for name in ("algorithm", "status", "reason", "duration")},
            **{name: getattr(row, name) for name in ("version", "host")},
        }
    except (ValueError, TypeError, OverflowError) as error:
        raise StoreCorruptError(f"run {row.key:.12} cannot be read: {error}") from None


def statistics_of(row: Any, stacked: AnyArray) -> PairStatistics:
    """Return d, Q and tau from the array that holds all three."""
    try:
        bank = KernelBank(row.bank_first, row.bank_last, row.bank_step)
        return PairStatistics(stacked[0], stacked[2:], stacked[1], bank, row.n_neighbors)
    except (L2TError, LookupError, TypeError) as error:
        raise StoreCorruptError(
            f"the statistics of run {row.key:.12} cannot be read: {error}"
        ) from None


def _seal(row: Any, scores: Sequence[Any]) -> str:
    """Return the sha256 of a run's row and scores: what the key does not tell cannot change unnoticed."""
    content = [
        [getattr(row, name) for name in _SEALED],
        sorted([getattr(score, name) for name in _SCORE] for score in scores),
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _unbroken(row: Any, scores: Sequence[Any]) -> None:
    if _seal(row, scores) != row.seal:
        raise StoreCorruptError(
            f"run {row.key} is not what it was: its row or its scores have changed; all other runs "
            "are readable, and delete(key=...) removes this one"
        )


def content_key(row: Any) -> str:
    """Return the key that follows from a row's content: `run_key`, without the domains."""
    content = {name: getattr(row, name) for name in ("source", "target", "algorithm")}
    for name in ("params", "random_state", "protocol"):
        content[name] = json.loads(getattr(row, name))
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def verify_run(row: Any, scores: Sequence[Any], array: Callable[[str], AnyArray]) -> None:
    """Raise a StoreCorruptError unless a run can be read and is what its key says."""
    try:
        if content_key(row) != row.key:
            raise ValueError("its content has another key")
        _common(row)
        failed = row.status == "failed"
        if failed != bool(row.reason) or failed != (row.W is None) or row.status not in _STATUS:
            raise ValueError(f"its status is {row.status!r:.20} and its reason {row.reason!r:.80}")
        if row.W is not None and array(row.W).ndim != 2:
            raise ValueError("its W is no matrix")
        if row.statistics is not None:
            statistics_of(row, array(row.statistics))
        _unbroken(row, scores)
        for score in scores:
            _finite(sum(getattr(score, name) for name in _NO_SCORE), "a score")
    except (ValueError, TypeError, L2TError) as error:
        raise StoreCorruptError(f"run {row.key:.12} is damaged: {error}") from None


def microseconds(time: datetime, parameter: str) -> int:
    """Return a moment as microseconds since 1970 (UTC)."""
    if not isinstance(time, datetime) or time.tzinfo is None:
        raise InvalidInputError(
            f"{parameter} must be a datetime with a time zone, such as datetime.now(UTC), got {time!r}"
        )
    return (time - EPOCH) // timedelta(microseconds=1)


def moment(time: int) -> datetime:
    """Return the moment so many microseconds after 1970 (UTC)."""
    return EPOCH + timedelta(microseconds=time)


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
    """Return text for people as every database can hold it: no NUL, no half characters."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


def _finite(value: Any, name: str) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise InvalidInputError(f"{name} must be finite in a store, got {number}")
    return number


def _distinct(scores: tuple[Score, ...]) -> tuple[Score, ...]:
    counts = [score.n_labels for score in scores]
    if len(set(counts)) < len(counts):
        raise InvalidInputError(f"a run has one score a number of labels, got {counts}")
    return scores
