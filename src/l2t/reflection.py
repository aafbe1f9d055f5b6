"""The former name of `l2t.paper` and `l2t.forecast`, with a warning; it will be removed in 0.4.

Its modules are importable too: ``from l2t.reflection.plan import Plan``.
"""

import sys
import warnings
from importlib import import_module

from l2t.paper import (
    Assessment,
    Explanation,
    Neighbor,
    ReflectionFunction,
    assess,
    learn,
    learning_curve,
    load_reflection,
    recompute_statistics,
)

__all__ = ["Assessment", "Explanation", "Neighbor", "ReflectionFunction", "assess", "learn"]
__all__ += ["learning_curve", "load_reflection", "recompute_statistics"]

_MOVED = {
    "l2t.forecast": ("forecast", "reliability"),
    "l2t.paper": (
        "assessment",
        "calibration",
        "explanation",
        "files",
        "function",
        "learning",
        "loss",
        "plan",
        "table",
        "training_set",
    ),
}

warnings.warn(
    "l2t.reflection is deprecated: use l2t.paper, and l2t.forecast for forecasts",
    FutureWarning,
    stacklevel=2,
)
for _home, _names in _MOVED.items():
    for _name in _names:
        # The same modules under both names, so that there is only one of each class.
        globals()[_name] = sys.modules[f"{__name__}.{_name}"] = import_module(f"{_home}.{_name}")
