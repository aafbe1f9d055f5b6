"""Checks that the author of an algorithm can run.

>>> from l2t.algorithms import GFK
>>> from l2t.testing import check_algorithm
>>> check_algorithm(GFK)
"""

from __future__ import annotations

from l2t.numerics import gradient_error
from l2t.testing.algorithms import ALGORITHM_CHECKS, check_algorithm

__all__ = ["ALGORITHM_CHECKS", "check_algorithm", "gradient_error"]
