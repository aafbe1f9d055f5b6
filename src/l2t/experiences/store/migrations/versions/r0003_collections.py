"""A table of collections: who is gathering what, and how far they are."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0003"
down_revision: str | None = "0002"


def upgrade() -> None:
    """Make it."""
    op.create_table(
        "l2t_collections",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False, index=True),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("total", sa.Integer),
        sa.Column("done", sa.Integer, nullable=False),
        sa.Column("failed", sa.Integer, nullable=False),
        sa.Column("already_there", sa.Integer, nullable=False),
        sa.Column("latest", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
    )
