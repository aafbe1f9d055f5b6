"""Types that appear in many signatures."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["AnyArray", "Array", "Indices", "Mask"]

Array: TypeAlias = npt.NDArray[np.float64]
"""An array of floats: features, factors, statistics."""

AnyArray: TypeAlias = npt.NDArray[Any]
"""An array of anything: labels, or features before they are checked."""

Indices: TypeAlias = npt.NDArray[np.intp]
"""Whole numbers: places in an array, or classes by their number."""

Mask: TypeAlias = npt.NDArray[np.bool_]
"""Which entries of an array are meant."""
