"""The tables; their names begin with ``l2t_``, and times are microseconds since 1970 (UTC)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy import Column, Double, ForeignKey, Index, Integer, String, Table, Text

from l2t.exceptions import InvalidInputError

if TYPE_CHECKING:
    from sqlalchemy.types import TypeEngine

VERSION_TABLE = "l2t_version"

#: A row that a query returned, a `sqlalchemy.Row` whose type depends on the version; columns are attributes.
ResultRow: TypeAlias = Any

metadata = sa.MetaData()
_HASH = String(64)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _table(name: str, *columns: Column[Any], **options: Any) -> Table:
    return Table(f"l2t_{name}", metadata, *columns, **options)


def _columns(
    kind: TypeEngine[Any] | type[TypeEngine[Any]], *names: str, nullable: bool = False
) -> list[Column[Any]]:
    return [Column(name, kind, nullable=nullable) for name in names]


def _references(key: str, *names: str, nullable: bool = True) -> list[Column[Any]]:
    # Indexed, because deleting a row searches every column that may refer to it.
    return [Column(n, _HASH, ForeignKey(key), nullable=nullable, index=True) for n in names]


def _transfer() -> list[Column[Any]]:
    """Return the columns that runs and suggestions share: two domains, an algorithm and its W."""
    return [
        *_references("l2t_domains.fingerprint", "source", "target", nullable=False),
        *_columns(Text, "source_name", "target_name", "algorithm", "params", "version", "host"),
        *_columns(Text, "random_state"),  # a seed may have more than 64 bits
        *_references("l2t_arrays.hash", "source_features", "target_features", "W", "statistics"),
        *_columns(Text, "kernels", nullable=True),  # first, last, step and neighbours as JSON
        *_columns(Double, "duration"),
        *_columns(sa.BigInteger, "created_at"),
    ]


#: Names of the columns that runs and suggestions share.
TRANSFER = tuple(column.name for column in _transfer())

#: Each distinct array: compressed npy bytes, and the sha256 of these bytes before compression.
arrays = _table(
    "arrays", Column("hash", _HASH, primary_key=True), *_columns(sa.LargeBinary, "data")
)

#: The content of a domain; its name and the names of its features are stored with each run.
domains = _table(
    "domains",
    Column("fingerprint", _HASH, primary_key=True),
    *_columns(Integer, "n_rows", "n_features", "n_classes"),
    *_references("l2t_arrays.hash", "X", nullable=False),
    *_references("l2t_arrays.hash", "y", "labeled", "groups", "prepared"),
    *_columns(Text, "y_values", "groups_values", nullable=True),
)

#: One row per run; `statistics` is an array with the rows d, tau and Q, and `used_for` is not used since 0.3.
runs = _table(
    "runs",
    Column("id", Integer, primary_key=True),  # joins by number are several times as fast as by key
    Column("key", _HASH, nullable=False, unique=True),
    *_columns(String(16), "status", "origin"),
    *_columns(Text, "protocol", "reason"),
    *_columns(_HASH, "content"),  # the sha256 of the row and its scores
    *_transfer(),
    *_columns(String(16), "used_for", nullable=True),
)
# A page in order of time is read from this index, without sorting and without reading the rows.
BY_TIME = Index("ix_l2t_runs_time", *runs.c["created_at", "key", "status", "algorithm", "origin"])
Index("ix_l2t_runs_use", *runs.c["used_for", "status", "created_at"])

#: One row per run, number of labels and domain that the classifier was trained on.
scores = _table(
    "scores",
    Column("run", Integer, ForeignKey("l2t_runs.id", ondelete="CASCADE"), primary_key=True),
    Column("n_labels", Integer, primary_key=True, autoincrement=False),
    Column("trained_on", String(16), primary_key=True),
    *_columns(Double, "accuracy_before", "standard_error_before"),
    *_columns(Double, "accuracy_after", "standard_error_after", "improvement_ratio"),
    sqlite_with_rowid=False,
)

#: One row per suggestion of the agent; `run` has its outcome, NULL while it is open.
suggestions = _table(
    "suggestions",
    Column("id", String(16), primary_key=True),
    *_transfer(),
    *_columns(Integer, "n_labels"),
    *_columns(Double, "predicted"),
    *_columns(Double, "low", "high", nullable=True),
    *_columns(Text, "verdict", "reason"),
    Column("function", Integer, nullable=False, default=0),  # not used since 0.3
    Column("run", _HASH, ForeignKey("l2t_runs.key", ondelete="SET NULL"), index=True),
)

#: Versions of the agent's function in stores of 0.2; neither read nor written since 0.3. It stays, as the
#: two columns above do, so that no store needs an upgrade; the next migration drops them.
functions = _table(
    "functions",
    Column("number", Integer, primary_key=True, autoincrement=False),
    *_columns(Integer, "parent", nullable=True),
    *_columns(Text, "origin", "content"),
    *_columns(Integer, "n_runs", "n_judged"),
    *_columns(Double, "error", "incumbent_error", nullable=True),
    *_columns(sa.Boolean, "took_over"),
    *_columns(sa.BigInteger, "created_at"),
)

#: One row per candidate that was rehearsed on known classes; `work` and `outcome` are JSON.
rehearsals = _table(
    "rehearsals",
    Column("key", _HASH, primary_key=True),  # the sha256 of `work`
    *_columns(Text, "work", "outcome"),
    *_columns(sa.BigInteger, "created_at"),
)

#: One row per call of `collect`, updated while it runs.
collections = _table(
    "collections",
    Column("id", String(32), primary_key=True),
    *_columns(Text, "host", "latest", "outcome"),
    *_columns(Integer, "pid", "done", "failed", "already_there"),
    *_columns(Integer, "total", nullable=True),
    *_columns(sa.BigInteger, "started_at", "updated_at"),
    *_columns(sa.BigInteger, "ended_at", nullable=True),
)


def microseconds(time: datetime, parameter: str) -> int:
    """Return a time as microseconds since 1970 (UTC)."""
    if not isinstance(time, datetime) or time.tzinfo is None:
        raise InvalidInputError(f"{parameter} must be a datetime with a time zone, got {time!r}")
    return (time - _EPOCH) // timedelta(microseconds=1)


def to_datetime(time: int) -> datetime:
    """Return the time from microseconds since 1970 (UTC)."""
    return _EPOCH + timedelta(microseconds=time)
