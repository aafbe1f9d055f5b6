"""Rows of several sets in the two principal components of all of them together, for pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.numerics.eigen import leading_coordinates
from l2t.typing import Array

__all__ = ["two_components"]


def two_components(*sets: npt.NDArray[Any], like: Array | None = None) -> list[Array]:
    """Return each set of rows in two dimensions.

    Parameters
    ----------
    *sets : arrays of shape (n_i, m)
        Rows with the same columns.
    like : array of shape (sum of n_i, 2), optional
        An earlier picture of the same rows: the new one is turned and mirrored to be nearest to it, so
        that a sequence of pictures moves and does not jump.

    Examples
    --------
    >>> left, right = two_components(np.array([[0.0, 1.0, 0.0]]), np.array([[0.0, 3.0, 0.0]]))
    >>> float(abs(left - right)[0, 0]), abs(float(left[0, 1]))
    (2.0, 0.0)
    """
    rows = np.concatenate([np.asarray(each, dtype=np.float64) for each in sets])
    rows = rows - rows.mean(axis=0)
    flat = np.zeros((len(rows), 2))
    coordinates = leading_coordinates(rows, 2)
    flat[:, : coordinates.shape[1]] = coordinates
    if like is not None:
        U, _, Vt = np.linalg.svd(flat.T @ like)
        flat = flat @ (U @ Vt)
    return np.split(flat, np.cumsum([len(each) for each in sets])[:-1])
