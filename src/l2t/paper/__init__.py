"""The paper's system: a function learned from experiences, and the search for its best W."""

from l2t.paper.assessment import Assessment, assess, learning_curve
from l2t.paper.convex import ConvexReflection
from l2t.paper.explanation import Explanation, Neighbor
from l2t.paper.files import load_reflection
from l2t.paper.function import Reflection, ReflectionFunction
from l2t.paper.learning import learn
from l2t.paper.objective import Objective
from l2t.paper.plan import Plan
from l2t.paper.practice import Practice, practice
from l2t.paper.search import Search, search
from l2t.paper.selection import Selection, select
from l2t.paper.table import recompute_statistics

__all__ = ["Assessment", "ConvexReflection", "Explanation", "Neighbor", "Objective", "Plan"]
__all__ += ["Practice", "Reflection", "ReflectionFunction", "Search", "Selection", "assess"]
__all__ += ["learn", "learning_curve", "load_reflection", "practice", "recompute_statistics"]
__all__ += ["search", "select"]
