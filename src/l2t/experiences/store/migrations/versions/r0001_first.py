"""The first tables; a new store has the newest tables at once, and needs no migration."""

from __future__ import annotations

revision = "0001"
down_revision: str | None = None
