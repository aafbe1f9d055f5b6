"""The first tables.

They are those of `schema`, since there is no other version yet. The first change of the tables copies
the schema as it is here, and describes what changed in a migration of its own.
"""

from __future__ import annotations

from alembic import op

from l2t.experiences.store.schema import metadata

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0001"
down_revision: str | None = None


def upgrade() -> None:
    """Make them."""
    metadata.create_all(op.get_bind())
