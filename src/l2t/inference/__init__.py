"""Inference: choosing what to transfer for a new pair."""

from l2t.inference.evidence import Evidence
from l2t.inference.inference import infer
from l2t.inference.ranking import RankedSource, rank_sources
from l2t.inference.result import Candidate, Candidates, Inference
from l2t.paper import Objective, Search

__all__ = ["Candidate", "Candidates", "Evidence", "Inference", "Objective", "RankedSource"]
__all__ += ["Search", "infer", "rank_sources"]
