"""Experiences: what a transfer was worth, measured."""

from __future__ import annotations

from l2t.experiences.evaluation import LABEL_COUNTS, Accuracies, evaluate

__all__ = ["LABEL_COUNTS", "Accuracies", "evaluate"]
