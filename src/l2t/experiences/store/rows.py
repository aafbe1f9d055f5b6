"""Conversion of domains, runs and experiences to rows of the tables, and back.

Arrays are compressed npy bytes, identified by their sha256; nothing is pickled.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import numpy as np

from l2t.domains import Domain, DomainPair
from l2t.domains.label_codec import decode_labels, encode_labels
from l2t.exceptions import InvalidInputError, StoreCorruptError
from l2t.experiences.experience import Experience, Run, Score, TrainedOn, canonical_json, sha256
from l2t.experiences.store.schema import ResultRow, microseconds, runs, to_datetime
from l2t.statistics import KernelBank, PairStatistics
from l2t.typing import AnyArray
from l2t.validation import instance_of, one_of, real_number

if TYPE_CHECKING:
    import numpy.typing as npt


MAX_BYTES = 2**30 - 2**20  #: bytes; neither SQLite nor PostgreSQL holds a larger value
_LEVEL = 1  # features hardly compress: higher levels take several times as long for little gain


def add_array(array: npt.ArrayLike | None, what: str, rows: dict[str, Row]) -> str | None:
    """Add the row of a numeric array to `rows`, and return its hash; None for None."""
    if array is None:
        return None
    plain = np.asarray(array)
    if plain.dtype.kind not in "biuf" or plain.dtype.itemsize > 8:
        raise InvalidInputError(f"{what} must be an array of numbers, got dtype {plain.dtype}")
    if plain.nbytes > MAX_BYTES:
        raise InvalidInputError(f"{what} must have at most {MAX_BYTES} bytes, got {plain.nbytes}")
    file = io.BytesIO()
    # In a fixed byte order and memory layout, so that equal arrays have equal hashes.
    np.save(file, np.asarray(plain, plain.dtype.newbyteorder("<"), order="C"), allow_pickle=False)
    hash = hashlib.sha256(file.getbuffer()).hexdigest()
    if hash not in rows:
        rows[hash] = {"hash": hash, "data": zlib.compress(file.getbuffer(), _LEVEL)}
    return hash


def decode(row: ResultRow) -> AnyArray:
    """Return the array in a row, read-only; a StoreCorruptError if it does not have the hash of the row."""
    try:
        content = zlib.decompressobj().decompress(row.data, MAX_BYTES + 2**20)
        if hashlib.sha256(content).hexdigest() != row.hash:
            raise ValueError("its content does not match its hash")
        array: AnyArray = np.load(io.BytesIO(content), allow_pickle=False)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
    except (ValueError, TypeError, EOFError, zlib.error, MemoryError) as error:
        raise StoreCorruptError(f"array {row.hash!s:.12} is damaged: {error}") from None
    array.flags.writeable = False
    return array


Row: TypeAlias = dict[str, Any]  #: a row to insert, by the name of the column
ArrayReader = Callable[[str | None], Any]  #: from a hash to the array, and from None to None
_SCORE = tuple(column.name for column in fields(Score))
_NO_SCORE: Row = dict.fromkeys(_SCORE[1:-1], math.nan) | {"trained_on": "target"}
_TEXTS = ("algorithm", "status", "origin", "reason", "version", "host")
_JSON = ("params", "protocol", "random_state")


@dataclass(frozen=True, eq=False)
class Packed:
    """The rows of runs, and of the scores, domains and arrays they refer to."""

    runs: dict[str, Row] = field(default_factory=dict)
    scores: dict[str, list[Row]] = field(default_factory=dict)
    domains: dict[str, Row] = field(default_factory=dict)
    arrays: dict[str, Row] = field(default_factory=dict)


def pack(runs: Iterable[Run]) -> Packed:
    """Return the rows of runs; an InvalidInputError if a value cannot be stored unchanged."""
    packed = Packed()
    for run in runs:
        key = _key(run)
        if key in packed.runs:
            continue
        for side in (run.pair.source, run.pair.target):
            if side.fingerprint not in packed.domains:
                packed.domains[side.fingerprint] = _domain_row(side, packed.arrays)
        packed.scores[key] = _score_rows(run)
        row = {"key": key, **_run_row(run, packed.arrays)}
        packed.runs[key] = row | {"content": content_hash(row, packed.scores[key])}
    return packed


def content_hash(row: Mapping[Any, Any], scores: Iterable[Mapping[Any, Any]]) -> str:
    """Return the sha256 of the row of a run and its scores, without the columns that the store adds."""
    kept = {name: row[name] for name in row.keys() - {"id", "content", "used_for"}}
    # Without "target", for the same hash as in version 0001 of the tables, without that column.
    scored = sorted([s[name] for name in _SCORE if s[name] != "target"] for s in scores)
    return sha256(canonical_json([kept, scored]))


def verify_content(row: ResultRow, scored: Iterable[ResultRow]) -> None:
    """Raise a ValueError if the row of a run or its scores do not have the hash that was stored with them."""
    # The row may be joined with others.
    run = {column.name: row._mapping[column.name] for column in runs.c}
    if content_hash(run, [score._mapping for score in scored]) != row.content:
        raise ValueError("it or its scores were changed")


def class_count(domain: Domain) -> int:
    """Return the number of classes, with a mask only those of labelled rows."""
    labeled = domain.labeled
    return len(domain.classes if labeled is None else np.unique(domain.codes[labeled]))


def _domain_row(domain: Domain, arrays: dict[str, Row]) -> Row:
    row: Row = {
        "fingerprint": domain.fingerprint,
        "n_rows": len(domain),
        "n_features": domain.n_features,
        "n_classes": class_count(domain),
        "X": add_array(domain.X, "X", arrays),
        "labeled": add_array(domain.labeled, "labeled", arrays),
        "prepared": add_array(domain.prepared, "prepared", arrays),
    }
    for name, what, values in (("y", "labels", domain.y), ("groups", "groups", domain.groups)):
        codes, text = (None, None) if values is None else encode_labels(values, what)
        row |= {name: add_array(codes, what, arrays), f"{name}_values": text}
    return row


def _run_row(run: Run, arrays: dict[str, Row]) -> Row:
    row: Row = {name: _text(getattr(run, name)) for name in _TEXTS}
    plain = (dict(run.params), dict(run.protocol), run.random_state)
    row |= dict(zip(_JSON, map(canonical_json, plain), strict=True))
    row["created_at"] = microseconds(run.created_at, "created_at")
    row["duration"] = real_number("duration", run.duration)
    row["W"] = add_array(run.W, "W", arrays)
    for side, domain in (("source", run.pair.source), ("target", run.pair.target)):
        row[side], row[f"{side}_name"] = domain.fingerprint, _text(domain.name)
        names = domain.feature_names
        text = None if names is None else np.frombuffer(json.dumps(names).encode(), np.uint8)
        row[f"{side}_features"] = add_array(text, side, arrays)
    stats, stacked, kernels = run.statistics, None, None
    if stats is not None:
        stacked = np.vstack([stats.d, stats.tau, stats.Q])
        kernels = json.dumps([*astuple(stats.kernels), int(stats.n_neighbors)])
    return row | {"statistics": add_array(stacked, "statistics", arrays), "kernels": kernels}


def _score_rows(run: Run) -> list[Row]:
    keys = [(int(score.n_labels), score.trained_on) for score in run.scores]
    if len(set(keys)) < len(keys):
        raise InvalidInputError(f"scores must differ in n_labels or trained_on, got {keys}")
    return [
        {"n_labels": count, "trained_on": one_of("trained_on", kind, get_args(TrainedOn))}
        | {name: real_number(name, getattr(score, name)) for name in _SCORE[1:-1]}
        for (count, kind), score in zip(keys, run.scores, strict=True)
    ]


def domain_of(
    row: ResultRow, array: ArrayReader, name: str = "", features: str | None = None
) -> Domain:
    """Return the domain in a row; `name` and `features`, the hash of the column names, are those of a run.

    A ValueError if it does not have the fingerprint and the counts of the row.
    """
    y, groups = array(row.y), array(row.groups)
    domain = Domain(
        array(row.X),
        None if y is None else decode_labels(y, row.y_values),
        labeled=array(row.labeled),
        groups=None if groups is None else decode_labels(groups, row.groups_values),
        name=name,
        feature_names=None if features is None else json.loads(array(features).tobytes()),
        prepared=array(row.prepared),
    )
    counts = (*domain.X.shape, class_count(domain))
    if (domain.fingerprint, *counts) != (
        row.fingerprint,
        row.n_rows,
        row.n_features,
        row.n_classes,
    ):
        raise ValueError("the content of a domain does not match its fingerprint")
    return domain


def class_count_of(row: ResultRow, array: ArrayReader) -> int:
    """Return the number of classes of the domain in a row, without reading its features."""
    if row.y is None:
        return 0
    y = decode_labels(array(row.y), row.y_values)
    return class_count(Domain(np.zeros((len(y), 1)), y, labeled=array(row.labeled)))


def run_of(
    row: ResultRow, scores: Iterable[ResultRow], pair: DomainPair, array: ArrayReader
) -> Run:
    """Return the run in a row with its scores, pair, W and statistics."""
    return Run(
        pair=pair,
        W=array(row.W),
        statistics=statistics_of(row, array(row.statistics)),
        scores=tuple(map(score_of, scores)),
        **_common(row),
    )


def score_of(row: ResultRow) -> Score:
    """Return the score in a row."""
    return Score(*(getattr(row, name) for name in _SCORE))


def experience_of(row: ResultRow, statistics: PairStatistics | None) -> Experience:
    """Return the experience in the row of a run joined with one of its scores or none."""
    names = ("source", "target", "source_name", "target_name", "n_classes", *_SCORE)
    values = {name: getattr(row, name) for name in names}
    values |= _NO_SCORE if row.n_labels is None else {}
    return Experience(run_key=row.key, statistics=statistics, **values, **_common(row))


def _common(row: ResultRow) -> Row:
    parsed = {name: json.loads(getattr(row, name)) for name in _JSON}
    plain = {name: getattr(row, name) for name in (*_TEXTS, "duration")}
    return parsed | plain | {"created_at": to_datetime(row.created_at)}


def statistics_of(row: ResultRow, stacked: AnyArray | None) -> PairStatistics | None:
    """Return d, Q and tau from the array with the rows d, tau and Q."""
    if stacked is None:
        return None
    *bank, n_neighbors = json.loads(row.kernels)
    return PairStatistics(stacked[0], stacked[2:], stacked[1], KernelBank(*bank), n_neighbors)


def _key(run: Run) -> str:
    instance_of("run", run, Run)
    if _text(run.algorithm) != run.algorithm:
        raise InvalidInputError(f"algorithm must be valid Unicode, got {run.algorithm!r:.80}")
    try:
        return run.key
    except (TypeError, ValueError) as error:
        what = "params, random_state and protocol of a run"
        raise InvalidInputError(f"{what} must be JSON values: {error}") from None


def _text(text: str) -> str:
    """Return text that every database can store, without NUL and unpaired surrogates."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
