"""The tables: arrays by their content, domains of arrays, runs on two domains, scores, and what goes on.

The migrations make these tables; a test holds both descriptions against each other. All names begin
with ``l2t_``, so that a PostgreSQL database can be shared with other programs.
"""

from __future__ import annotations

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
    "VERSION_TABLE",
    "arrays",
    "collections",
    "domains",
    "functions",
    "metadata",
    "runs",
    "scores",
]

VERSION_TABLE = "l2t_version"

metadata = MetaData()
_HASH = String(64)

#: Every array once: `hash` is its `fingerprint`, so that the content proves itself.
arrays = Table(
    "l2t_arrays",
    metadata,
    Column("hash", _HASH, primary_key=True),
    Column("dtype", String(16), nullable=False),
    Column("shape", Text, nullable=False),
    Column("codec", String(16), nullable=False),
    Column("data", LargeBinary, nullable=False),
)


def _array(name: str, *, nullable: bool = True) -> Column[str]:
    # Indexed, for a deleted array is looked for in every column that may refer to it.
    return Column(name, _HASH, ForeignKey("l2t_arrays.hash"), nullable=nullable, index=True)


#: The content of a domain; its name and those of its features are the business of each run.
domains = Table(
    "l2t_domains",
    metadata,
    Column("fingerprint", _HASH, primary_key=True),
    Column("n_rows", Integer, nullable=False),
    Column("n_features", Integer, nullable=False),
    _array("X", nullable=False),
    _array("y"),
    Column("y_values", Text),
    _array("labeled"),
    _array("groups"),
    Column("groups_values", Text),
)


def _domain(name: str) -> Column[str]:
    return Column(name, _HASH, ForeignKey("l2t_domains.fingerprint"), nullable=False, index=True)


#: One row a run. `statistics` is one array with the rows d, tau and Q; times are microseconds (UTC).
runs = Table(
    "l2t_runs",
    metadata,
    Column("id", Integer, primary_key=True),  # joins by number are several times as fast as by key
    Column("key", _HASH, nullable=False, unique=True),
    Column("created_at", BigInteger, nullable=False),
    Column("status", String(16), nullable=False),
    Column("algorithm", Text, nullable=False),
    _domain("source"),
    _domain("target"),
    Column("source_name", Text, nullable=False),
    Column("target_name", Text, nullable=False),
    _array("source_features"),  # the names of the columns, as bytes of JSON
    _array("target_features"),
    Column("random_state", Text, nullable=False),  # a seed may have more than 64 bits
    Column("params", Text, nullable=False),
    Column("protocol", Text, nullable=False),
    Column("reason", Text, nullable=False),
    _array("W"),
    _array("statistics"),
    Column("bank_first", Double),
    Column("bank_last", Double),
    Column("bank_step", Double),
    Column("n_neighbors", Integer),
    Column("duration", Double, nullable=False),
    Column("version", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column(
        "seal", _HASH, nullable=False
    ),  # the sha256 of all the rest of the row and of its scores
    Column("used_for", String(16)),  # by the agent: "learning", "judging", or NULL: not yet
)
# A page in order of time is read off this index without sorting, and without the wide rows.
Index("ix_l2t_runs_time", runs.c.created_at, runs.c.key, runs.c.status, runs.c.algorithm)
# What the agent has not used yet, and what it judges by, are found without a look at all the rest.
Index("ix_l2t_runs_use", runs.c.used_for, runs.c.status, runs.c.created_at)

#: One row for each number of labels of a run.
scores = Table(
    "l2t_scores",
    metadata,
    Column("run", Integer, ForeignKey("l2t_runs.id", ondelete="CASCADE"), primary_key=True),
    Column("n_labels", Integer, primary_key=True, autoincrement=False),
    Column("accuracy_before", Double, nullable=False),
    Column("standard_error_before", Double, nullable=False),
    Column("accuracy_after", Double, nullable=False),
    Column("standard_error_after", Double, nullable=False),
    Column("improvement_ratio", Double, nullable=False),
    sqlite_with_rowid=False,
)

#: One row for each version of the agent's function, never changed; the last that took over is in use.
functions = Table(
    "l2t_functions",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("parent", Integer),
    Column("origin", String(16), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("n_runs", Integer, nullable=False),
    Column("n_judged", Integer, nullable=False),
    Column("error", Double),
    Column("incumbent_error", Double),
    Column("took_over", Boolean, nullable=False),
    Column("content", Text, nullable=False),  # the function, as JSON
    Column("seal", _HASH, nullable=False),  # the sha256 of all the rest of the row
)

#: One row a call of `collect`, kept up to date while it works; times are microseconds (UTC).
collections = Table(
    "l2t_collections",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started_at", BigInteger, nullable=False, index=True),
    Column("updated_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("total", Integer),
    Column("done", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("already_there", Integer, nullable=False),
    Column("latest", Text, nullable=False),
    Column("outcome", Text, nullable=False),
)
