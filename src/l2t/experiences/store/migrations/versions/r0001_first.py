"""The first tables; nothing to migrate, because a new store gets the newest tables directly."""

revision = "0001"
down_revision: str | None = None
