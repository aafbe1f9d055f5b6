"""Experiences: evaluation of transfers, their collection, and the store that keeps them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from l2t.experiences.evaluation import LABEL_COUNTS, Accuracies, evaluate, improvement_ratio
from l2t.experiences.experience import Experience, Run, Score
from l2t.experiences.records import CollectionProgress, Merged, SuggestionRecord

if TYPE_CHECKING:
    from l2t.experiences.collection import Collection, collect
    from l2t.experiences.store import ExperienceStore, open_store, upgrade_store

__all__ = ["LABEL_COUNTS", "Accuracies", "Collection", "CollectionProgress", "Experience"]
__all__ += ["ExperienceStore", "Merged", "Run", "Score", "SuggestionRecord"]
__all__ += ["collect", "evaluate", "improvement_ratio", "open_store"]
__all__ += ["upgrade_store"]

_COLLECTION = ("Collection", "collect")


def __getattr__(name: str) -> Any:
    """Import modules that need SQLAlchemy at their first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "collection" if name in _COLLECTION else "store"
    return getattr(import_module(f"{__name__}.{home}"), name)
