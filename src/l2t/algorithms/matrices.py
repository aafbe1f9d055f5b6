"""Matrices W that a user gives in place of algorithms: candidates, or starts of the paper's search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from l2t.algorithms.identity import NO_TRANSFER
from l2t.exceptions import InvalidInputError
from l2t.typing import AnyArray

if TYPE_CHECKING:
    import numpy.typing as npt


def check_matrices(wanted: Mapping[str, npt.ArrayLike], n_features: int) -> dict[str, AnyArray]:
    """Return matrices W by name, after validation.

    Parameters
    ----------
    wanted : mapping of str to array-like of shape (n_features, u)
        The matrices by name. "identity" is not a name for one.
    n_features : int
        The number of features.

    Returns
    -------
    dict of str to array
        The matrices as read-only arrays of float64.

    Raises
    ------
    InvalidInputError
        A matrix is not finite, or does not have one row per feature.
    """
    factors: dict[str, AnyArray] = {}
    for name, W in wanted.items():
        if name == NO_TRANSFER:
            raise InvalidInputError("candidates must not name a matrix 'identity', got one")
        try:
            if np.iscomplexobj(W):
                raise ValueError("it has complex numbers")
            array = np.array(W, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"candidate {name!r} must be a matrix of numbers: {error}"
            ) from None
        shaped = array.ndim == 2 and len(array) == n_features and array.size > 0
        if not shaped or not np.isfinite(array).all():
            raise InvalidInputError(
                f"candidate {name!r} must be a finite matrix with one row per feature ({n_features}), "
                f"got shape {array.shape}"
            )
        array.flags.writeable = False
        factors[str(name)] = array
    return factors
