"""Types that appear in many signatures."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["AnyArray", "Array", "Indices", "Mask"]

Array: TypeAlias = npt.NDArray[np.float64]
"""An array of floats: features, factors, statistics."""

AnyArray: TypeAlias = npt.NDArray[Any]
"""An array of any dtype: labels, or features before validation."""

Indices: TypeAlias = npt.NDArray[np.intp]
"""An array of integers: positions in an array, or class codes."""

Mask: TypeAlias = npt.NDArray[np.bool_]
"""A boolean mask."""
