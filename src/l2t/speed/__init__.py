"""Speed: parts of L2T beside the same computation written plainly, and beside what cannot be left out."""

from __future__ import annotations

from l2t.speed.comparison import Comparison, compare_speed
from l2t.speed.data import feature_pair
from l2t.speed.objective import PlainObjective, Weights, objective_floor
from l2t.speed.sparse_codes import codes_row_by_row, sparse_problem
from l2t.speed.statistics import plain_statistics, statistics_floor
from l2t.speed.timing import best_of, side_by_side

__all__ = [
    "Comparison",
    "PlainObjective",
    "Weights",
    "best_of",
    "codes_row_by_row",
    "compare_speed",
    "feature_pair",
    "objective_floor",
    "plain_statistics",
    "side_by_side",
    "sparse_problem",
    "statistics_floor",
]
