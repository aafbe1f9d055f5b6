"""Types that appear in many signatures."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "AnyArray",
    "Array",
    "Indices",
    "JsonObject",
    "JsonValue",
    "Label",
    "Mask",
    "Matrix",
    "MatrixLike",
]

Array: TypeAlias = npt.NDArray[np.float64]
"""An array of floats: features, factors, statistics."""

AnyArray: TypeAlias = npt.NDArray[Any]
"""An array of any dtype: labels, or features before validation."""

Indices: TypeAlias = npt.NDArray[np.intp]
"""An array of integers: positions in an array, or class codes."""

Mask: TypeAlias = npt.NDArray[np.bool_]
"""A boolean mask."""

Matrix: TypeAlias = Any
"""Validated features: an array or a sparse matrix of scipy, which has no types."""

MatrixLike: TypeAlias = Any
"""Features from a user: array-like, DataFrame or sparse matrix."""

Label: TypeAlias = Hashable
"""A class label: text, a number or a bool."""

JsonValue: TypeAlias = Any
"""A value that JSON holds: text, a number, a bool, None, or lists and objects of them."""

JsonObject: TypeAlias = dict[str, JsonValue]
"""An object of JSON, before its fields are checked."""
