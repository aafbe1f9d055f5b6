"""The tables: arrays by their content, domains of arrays, runs on two domains, and what is kept beside.

All names begin with ``l2t_``, so that a PostgreSQL database can be shared with other programs. Times are
microseconds since 1970 (UTC).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

__all__ = [
    "TRANSFER",
    "VERSION_TABLE",
    "arrays",
    "collections",
    "domains",
    "functions",
    "metadata",
    "runs",
    "scores",
    "suggestions",
]

VERSION_TABLE = "l2t_version"

metadata = MetaData()
_HASH = String(64)


def _columns(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False) for name in names]


def _references(key: str, *names: str, nullable: bool = True) -> list[Column[Any]]:
    # Indexed, because deleting a row looks for it in every column that may refer to it.
    return [Column(n, _HASH, ForeignKey(key), nullable=nullable, index=True) for n in names]


def _transfer() -> list[Column[Any]]:
    """Return what a run and a suggestion share: two domains, an algorithm and its W."""
    return [
        *_references("l2t_domains.fingerprint", "source", "target", nullable=False),
        *_columns(Text, "source_name", "target_name", "algorithm", "params", "version", "host"),
        *_columns(Text, "random_state"),  # a seed may have more than 64 bits
        *_references("l2t_arrays.hash", "source_features", "target_features", "W", "statistics"),
        Column("kernels", Text),  # of the statistics: first, last, step and neighbours as JSON
        Column("duration", Double, nullable=False),
        Column("created_at", BigInteger, nullable=False),
    ]


#: Names of the columns that runs and suggestions share.
TRANSFER = tuple(column.name for column in _transfer())

#: Every array once: compressed npy bytes, and the sha256 of these bytes before compression.
arrays = Table(
    "l2t_arrays",
    metadata,
    Column("hash", _HASH, primary_key=True),
    *_columns(LargeBinary, "data"),
)

#: The content of a domain; its name and those of its features belong to each run.
domains = Table(
    "l2t_domains",
    metadata,
    Column("fingerprint", _HASH, primary_key=True),
    *_columns(Integer, "n_rows", "n_features"),
    *_references("l2t_arrays.hash", "X", nullable=False),
    *_references("l2t_arrays.hash", "y", "labeled", "groups"),
    Column("y_values", Text),
    Column("groups_values", Text),
)

#: One row per run. `statistics` is one array with the rows d, tau and Q.
runs = Table(
    "l2t_runs",
    metadata,
    Column("id", Integer, primary_key=True),  # joins by number are several times as fast as by key
    Column("key", _HASH, nullable=False, unique=True),
    *_columns(String(16), "status", "origin"),
    *_columns(Text, "protocol", "reason"),
    *_transfer(),
    Column("used_for", String(16)),  # by the agent: "learning", "judging", or NULL: not yet
)
# A page in order of time is read from this index without sorting, and without the wide rows.
Index("ix_l2t_runs_time", *runs.c["created_at", "key", "status", "algorithm", "origin"])
# Finds what the agent has not used yet, and what it judges by.
Index("ix_l2t_runs_use", *runs.c["used_for", "status", "created_at"])

#: One row for each number of labels of a run.
scores = Table(
    "l2t_scores",
    metadata,
    Column("run", Integer, ForeignKey("l2t_runs.id", ondelete="CASCADE"), primary_key=True),
    Column("n_labels", Integer, primary_key=True, autoincrement=False),
    *_columns(Double, "accuracy_before", "standard_error_before"),
    *_columns(Double, "accuracy_after", "standard_error_after", "improvement_ratio"),
    sqlite_with_rowid=False,
)

#: One row per suggestion of the agent; `run` is what it became, NULL while its outcome is open.
suggestions = Table(
    "l2t_suggestions",
    metadata,
    Column("id", String(16), primary_key=True),
    *_transfer(),
    Column("n_labels", Integer),
    *(Column(name, Double) for name in ("predicted", "low", "high")),
    *_columns(Text, "verdict", "reason"),
    *_columns(Integer, "function"),
    Column("run", _HASH, ForeignKey("l2t_runs.key", ondelete="SET NULL")),
)
Index("ix_l2t_suggestions_open", *suggestions.c["run", "created_at"])

#: One row for each version of the agent's function, never changed; the last that took over is in use.
functions = Table(
    "l2t_functions",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("parent", Integer),
    *_columns(Text, "origin", "content"),  # the content is the function as JSON
    *_columns(Integer, "n_runs", "n_judged"),
    Column("error", Double),
    Column("incumbent_error", Double),
    *_columns(Boolean, "took_over"),
    *_columns(BigInteger, "created_at"),
)

#: One row for each call of `collect`, updated while it runs.
collections = Table(
    "l2t_collections",
    metadata,
    Column("id", String(32), primary_key=True),
    *_columns(Text, "host", "latest", "outcome"),
    *_columns(Integer, "pid", "done", "failed", "already_there"),
    Column("total", Integer),
    Column("started_at", BigInteger, nullable=False, index=True),
    *_columns(BigInteger, "updated_at"),
    Column("ended_at", BigInteger),
)
