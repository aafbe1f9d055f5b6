"""The first tables: those of `schema`, which the first change of the tables copies to this file."""

from __future__ import annotations

from alembic import op

from l2t.experiences.store.schema import metadata

revision = "0001"
down_revision: str | None = None


def upgrade() -> None:
    """Make them."""
    metadata.create_all(op.get_bind())
