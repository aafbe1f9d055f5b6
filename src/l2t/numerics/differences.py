"""How far an analytic gradient is from central differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from l2t.typing import Array

__all__ = ["gradient_error"]


def gradient_error(
    fun: Callable[[Array], tuple[float, Array]], W: Array, *, step: float = 1e-5
) -> float:
    """Return ``||g - g_fd|| / ||g_fd||`` of the gradient g that ``fun(W) = (value, g)`` gives at W.

    >>> round(gradient_error(lambda W: (float((W**2).sum()), 2 * W), np.ones((2, 2))), 8)
    0.0
    """
    _, gradient = fun(W)
    numeric = np.empty_like(W)
    for index in np.ndindex(*W.shape):
        shift = np.zeros_like(W)
        shift[index] = step
        numeric[index] = (fun(W + shift)[0] - fun(W - shift)[0]) / (2 * step)
    scale = max(float(np.linalg.norm(numeric)), np.finfo(float).tiny)
    return float(np.linalg.norm(gradient - numeric)) / scale
