"""The reflection function: predictions for a new transfer, learned from past ones."""

from l2t.reflection.assessment import Assessment, assess, learning_curve
from l2t.reflection.explanation import Explanation, Neighbor
from l2t.reflection.files import load_reflection
from l2t.reflection.function import ReflectionFunction
from l2t.reflection.learning import learn
from l2t.reflection.table import recompute_statistics

__all__ = ["Assessment", "Explanation", "Neighbor", "ReflectionFunction", "assess", "learn"]
__all__ += ["learning_curve", "load_reflection", "recompute_statistics"]
