"""Experiences: what a transfer was worth, measured, kept and gathered."""

from __future__ import annotations

from l2t.experiences.collection import Collection, collect, measure_run
from l2t.experiences.evaluation import LABEL_COUNTS, Accuracies, evaluate, improvement_ratio
from l2t.experiences.experience import Experience, Run, Score
from l2t.experiences.records import CollectionProgress, FunctionVersion, Merged, SuggestionRecord
from l2t.experiences.store import ExperienceStore, open_store, upgrade_store

__all__ = ["LABEL_COUNTS", "Accuracies", "Collection", "CollectionProgress", "Experience"]
__all__ += ["ExperienceStore", "FunctionVersion", "Merged", "Run", "Score", "SuggestionRecord"]
__all__ += ["collect", "evaluate", "improvement_ratio", "measure_run", "open_store"]
__all__ += ["upgrade_store"]
