"""The store of experiences, in SQLite, PostgreSQL or memory."""

from __future__ import annotations

from l2t.experiences.store.collections import CollectionProgress
from l2t.experiences.store.filters import Filters
from l2t.experiences.store.functions import FunctionVersion
from l2t.experiences.store.packing import Packed, pack
from l2t.experiences.store.rescue import rescue_store
from l2t.experiences.store.store import ExperienceStore, open_store, upgrade_store

__all__ = [
    "CollectionProgress",
    "ExperienceStore",
    "Filters",
    "FunctionVersion",
    "Packed",
    "open_store",
    "pack",
    "rescue_store",
    "upgrade_store",
]
