"""Experiences: what a transfer was worth, measured, kept and gathered."""

from __future__ import annotations

from l2t.experiences.evaluation import LABEL_COUNTS, Accuracies, evaluate, improvement_ratio
from l2t.experiences.experience import Experience, Run, Score

__all__ = [
    "LABEL_COUNTS",
    "Accuracies",
    "Experience",
    "Run",
    "Score",
    "evaluate",
    "improvement_ratio",
]
