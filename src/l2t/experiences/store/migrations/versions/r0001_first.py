"""The first tables: arrays, domains, runs and scores."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0001"
down_revision: str | None = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "l2t_arrays",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("dtype", sa.String(16), nullable=False),
        sa.Column("shape", sa.Text, nullable=False),
        sa.Column("codec", sa.String(16), nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "l2t_domains",
        sa.Column("fingerprint", sa.String(64), primary_key=True),
        sa.Column("n_rows", sa.Integer, nullable=False),
        sa.Column("n_features", sa.Integer, nullable=False),
        _array("X", nullable=False),
        _array("y"),
        sa.Column("y_values", sa.Text),
        _array("labeled"),
        _array("groups"),
        sa.Column("groups_values", sa.Text),
    )
    op.create_table(
        "l2t_runs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.String(64), nullable=False, unique=True),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("algorithm", sa.Text, nullable=False),
        _domain("source"),
        _domain("target"),
        sa.Column("source_name", sa.Text, nullable=False),
        sa.Column("target_name", sa.Text, nullable=False),
        _array("source_features"),
        _array("target_features"),
        sa.Column("random_state", sa.Text, nullable=False),
        sa.Column("params", sa.Text, nullable=False),
        sa.Column("protocol", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        _array("W"),
        _array("statistics"),
        sa.Column("bank_first", sa.Double),
        sa.Column("bank_last", sa.Double),
        sa.Column("bank_step", sa.Double),
        sa.Column("n_neighbors", sa.Integer),
        sa.Column("duration", sa.Double, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("seal", sa.String(64), nullable=False),
    )
    op.create_index("ix_l2t_runs_time", "l2t_runs", ["created_at", "key", "status", "algorithm"])
    op.create_table(
        "l2t_scores",
        sa.Column(
            "run",
            sa.Integer,
            sa.ForeignKey("l2t_runs.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("n_labels", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("accuracy_before", sa.Double, nullable=False),
        sa.Column("standard_error_before", sa.Double, nullable=False),
        sa.Column("accuracy_after", sa.Double, nullable=False),
        sa.Column("standard_error_after", sa.Double, nullable=False),
        sa.Column("improvement_ratio", sa.Double, nullable=False),
        sqlite_with_rowid=False,
    )


def _array(name: str, *, nullable: bool = True) -> sa.Column[str]:
    reference = sa.ForeignKey("l2t_arrays.hash")
    return sa.Column(name, sa.String(64), reference, nullable=nullable, index=True)


def _domain(name: str) -> sa.Column[str]:
    reference = sa.ForeignKey("l2t_domains.fingerprint")
    return sa.Column(name, sa.String(64), reference, nullable=False, index=True)
