"""The former name of the search of `l2t.paper`, with a warning; it will be removed in 0.4."""

import sys
import warnings
from importlib import import_module

from l2t.paper import Objective, Search, search

__all__ = ["Objective", "Search", "search"]

warnings.warn("l2t.inference.paper is deprecated: use l2t.paper", FutureWarning, stacklevel=2)
for _name in ["discrepancy", "kernel_stack", "objective", "search", "separation", "starts"]:
    # The same modules under both names, so that there is only one of each class.
    sys.modules[f"{__name__}.{_name}"] = import_module(f"l2t.paper.{_name}")
