"""Inference: what to transfer for a new pair."""

from __future__ import annotations

from l2t.inference.objective import Objective
from l2t.inference.past import PastTargets
from l2t.inference.ranking import RankedSource, rank_sources
from l2t.inference.result import Candidate, Inference, Step
from l2t.inference.search import infer

__all__ = [
    "Candidate",
    "Inference",
    "Objective",
    "PastTargets",
    "RankedSource",
    "Step",
    "infer",
    "rank_sources",
]
