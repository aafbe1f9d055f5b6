"""What the agent needs: versions of its function, and which runs it has used."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0002"
down_revision: str | None = "0001"


def upgrade() -> None:
    """Make the table and the column; no seal covers the column, so all seals stay."""
    op.add_column("l2t_runs", sa.Column("used_for", sa.String(16)))
    op.create_index("ix_l2t_runs_use", "l2t_runs", ["used_for", "status", "created_at"])
    op.create_table(
        "l2t_functions",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("parent", sa.Integer),
        sa.Column("origin", sa.String(16), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("n_runs", sa.Integer, nullable=False),
        sa.Column("n_judged", sa.Integer, nullable=False),
        sa.Column("error", sa.Double),
        sa.Column("incumbent_error", sa.Double),
        sa.Column("took_over", sa.Boolean, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("seal", sa.String(64), nullable=False),
    )
