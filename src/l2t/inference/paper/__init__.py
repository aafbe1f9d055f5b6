"""The paper's method: search of W by conjugate gradient on its form of f."""

from l2t.inference.paper.objective import Objective
from l2t.inference.paper.search import Search, search

__all__ = ["Objective", "Search", "search"]
