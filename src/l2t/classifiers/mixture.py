"""A Bayesian mixture of Gaussians, one per class, with soft labels of unlabelled rows.

In coordinates in which a class has unit covariance, and class means vary by the diagonal psi (the model of
speaker recognition with two covariances, PLDA; Ioffe 2006), with soft labels R (n, C) and their sums N_c:

``m_c | R ~ N(mu_c, V_c)``,  ``V_c = psi / (1 + N_c psi)``,  ``mu_c = V_c sum_i R_ic z_i``
``log p(c | z) = log pi_c + log N(z; mu_c, 1 + V_c)``,  ``pi_c = (alpha + N_c) / (alpha C + n)``

The labels of unlabelled rows are those of the equation before, computed again until they settle (EM); those
of labelled rows are fixed. The Dirichlet prior keeps the class shares pi of unbalanced targets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from l2t.typing import Array, Indices

#: Rows of each class in the prior of class shares.
PRIOR_ROWS = 2.0
N_STEPS = 20


class Mixture(NamedTuple):
    """Scores ``z linear + z² squares + constant`` of rows z: logarithms of probabilities up to a constant."""

    linear: Array
    squares: Array
    constant: Array


def fit_mixture(
    Z: Array, at: Indices, codes: Indices, n_classes: int, variances: Array | None = None
) -> Mixture:
    """Fit a mixture to all rows, and the labels of some.

    Parameters
    ----------
    Z : array of shape (n, r)
        The rows.
    at : int array of shape (l,)
        The indices of labelled rows.
    codes : int array of shape (l,)
        Their classes, from 0.
    n_classes : int
        The number of classes.
    variances : array of shape (r,) or None, default=None
        The prior variances psi of class means relative to the mean squared norm of rows, of which
        ``1 / r - variances`` is left for the rows of a class; by default both are equal.

    Returns
    -------
    Mixture
    """
    n, r = Z.shape
    mean_square = float(np.mean(np.sum(Z**2, axis=1))) or 1.0
    if variances is None:
        variances = np.full(r, 0.5 / r)
    # In units of the variance of a class: rows of norm 1 have a mean square of r + sum(psi) there.
    unit = max(1.0 - float(variances.sum()), np.finfo(float).tiny) * mean_square / r
    psi = variances * mean_square / unit
    rows = Z / np.sqrt(unit)
    squared = rows**2
    fixed = np.eye(n_classes)[codes]
    R = np.zeros((n, n_classes))
    R[at] = fixed
    shares = np.full(n_classes, 1.0 / n_classes)
    for step in range(N_STEPS + 1):
        counts = R.sum(axis=0)
        V = psi / (1.0 + counts[:, None] * psi)
        means = V * (R.T @ rows)
        if step:
            shares = (PRIOR_ROWS + counts) / (PRIOR_ROWS * n_classes + counts.sum())
        precision = 1.0 / (1.0 + V)
        linear, squares = (means * precision).T, -0.5 * precision.T
        constant = np.log(shares) + 0.5 * np.sum(np.log(precision) - means**2 * precision, axis=1)
        R = np.exp(log_softmax(rows @ linear + squared @ squares + constant, axis=1))
        R[at] = fixed
    return Mixture(linear / np.sqrt(unit), squares / unit, constant)
