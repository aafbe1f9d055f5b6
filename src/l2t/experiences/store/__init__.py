"""The store of experiences, in SQLite, PostgreSQL or memory."""

from l2t.experiences.store.reading import Filters
from l2t.experiences.store.rows import Packed, pack
from l2t.experiences.store.store import ExperienceStore, open_store, upgrade_store

__all__ = ["ExperienceStore", "Filters", "Packed", "open_store", "pack", "upgrade_store"]
