"""Rows of several sets in the two principal components of all of them together, for pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

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
    # Of the two products the smaller one: its eigenvectors are the components, or the rows on them.
    if rows.shape[1] <= len(rows):
        axes = np.linalg.eigh(rows.T @ rows)[1][:, ::-1][:, :2]
        flat[:, : axes.shape[1]] = rows @ axes
    else:
        values, vectors = np.linalg.eigh(rows @ rows.T)
        scaled = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0.0))
        flat[:, : scaled.shape[1]] = scaled
    if like is not None:
        U, _, Vt = np.linalg.svd(flat.T @ like)
        flat = flat @ (U @ Vt)
    return np.split(flat, np.cumsum([len(each) for each in sets])[:-1])
