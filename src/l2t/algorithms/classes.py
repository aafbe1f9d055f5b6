"""classes: a metric learned from the known classes, alone or followed by the target's spectrum.

For the C known classes of the feature space (the source's, and those of labelled past targets), with the
pooled scatter S_w of rows around their class means and the scatter S_b of the class means, in r dimensions,

``A = (S_w + sqrt(r/C) s_w I)^(-1/2)``,  ``T = A (A S_b A + (r/C) s_b I)^(1/2)``

(s_w, s_b the mean eigenvalues of S_w and A S_b A) shrinks directions that vary within classes and stretches
those that separate them, like the PLDA of speaker recognition. The regularisation grows with r/C, the number
of dimensions per class: with few classes T is close to the identity.

Both scatters are computed in the leading principal coordinates B of the known rows; in all other directions T
is a multiple c of the identity: ``T = c I + B (T_B - c I) B'``, without an eigenproblem of all features.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from l2t.algorithms.base import LatentFactors, SoftAlgorithm
from l2t.algorithms.spectrum import MAX_SPECTRUM_ROWS, spectrum_factor
from l2t.domains import DomainPair, KnownClasses
from l2t.domains.domain import DENSE_FEATURES
from l2t.exceptions import InvalidInputError
from l2t.numerics import matrix_power, principal_axes
from l2t.typing import AnyArray, Array, Indices

#: T of the known classes in use, which both algorithms share; for very many features in known coordinates.
_cores: WeakKeyDictionary[KnownClasses, tuple[Array, float]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Classes(SoftAlgorithm):
    """The metric T learned from the known classes.

    Parameters
    ----------
    random_state : int or None, default=0
        Not used: T is a closed form.
    known : KnownClasses, optional
        The known classes, without rows of the target; by default those of the pair's source.
    """

    name: ClassVar[str] = "classes"
    uses_known_classes: ClassVar[bool] = True

    known: KnownClasses | None = field(default=None, repr=False, compare=False)

    def _fit(self, pair: DomainPair) -> LatentFactors:
        return self._pack(pair, self._geometry(pair))

    def _geometry(self, pair: DomainPair) -> Array:
        known = self.known
        if known is None:
            known = KnownClasses([pair.source]).without(pair.target)
        if not known.n_classes:
            raise InvalidInputError(
                f"{self.name} needs a source with labels and a class of two rows or more, got none"
            )
        return class_geometry(known, pair.target.X)


@dataclass(frozen=True)
class ClassesSpectrum(Classes):
    """The metric T of the known classes, followed by the spectrum of the target rows X T.

    Parameters
    ----------
    random_state : int or None, default=0
        The seed for sampling a target of more than 1,000 rows.
    known : KnownClasses, optional
        As for `Classes`.
    """

    name: ClassVar[str] = "classes+spectrum"
    relies_on_neighbours: ClassVar[bool] = True

    def _fit(self, pair: DomainPair) -> LatentFactors:
        T = self._geometry(pair)
        rows = pair.target.sample(MAX_SPECTRUM_ROWS, self.random_state).X
        return self._pack(pair, T @ spectrum_factor(rows @ T))


def class_geometry(known: KnownClasses, X: AnyArray) -> Array:
    """Return T for target rows X (n x m): m x m, or m x k for very many features.

    T is scaled to a mean squared eigenvalue of 1. For more than 4,096 features it has one column per
    dimension of the span of B and X, and preserves the distances that the square T gives the rows of X.
    """
    basis, m = known.span.basis, known.n_features
    if known not in _cores:
        core, outside = _core(known)
        T = core
        if m <= DENSE_FEATURES:
            T = basis @ ((core - outside * np.eye(len(core))) @ basis.T)
            T[np.diag_indices(m)] += outside
        _cores[known] = T, outside
    core, outside = _cores[known]
    if m <= DENSE_FEATURES:
        return core
    rest = X - X.mean(axis=0, dtype=np.float64)
    rest -= (rest @ basis) @ basis.T
    return np.hstack([basis @ core, outside * principal_axes(rest, len(X))])


def _core(known: KnownClasses) -> tuple[Array, float]:
    """Return T in the known coordinates, and the factor c for all other directions."""
    span = known.span
    T = geometry(
        span.rows, known.codes, known.weights, rank=span.rank, variance_outside=span.outside
    )
    # The factor of a direction in which both scatters are zero.
    outside = float((span.rank / known.weights.sum()) ** 0.25)
    square = np.sum(T**2) + outside**2 * max(span.rank - len(T), 0)
    size = np.sqrt(square / max(span.rank, len(T)))
    return T / size, outside / size


def geometry(
    rows: Array,
    codes: Indices,
    weights: Array | None = None,
    *,
    rank: int | None = None,
    variance_outside: float = 0.0,
) -> Array:
    """Return T of labelled rows, up to a factor.

    Parameters
    ----------
    rows : array of shape (n, r)
        The rows, sorted by class.
    codes : int array of shape (n,)
        The class of each row, from 0.
    weights : array of shape (n_classes,) or None, default=None
        The weight of each class; None for equal ones.
    rank : int or None, default=None
        The number of dimensions, if the rows are the leading coordinates of more of them.
    variance_outside : float, default=0.0
        The variance in the other dimensions.

    Returns
    -------
    array of shape (r, r)
    """
    sizes = np.bincount(codes)
    weights = np.ones(len(sizes)) if weights is None else weights
    rank = rows.shape[1] if rank is None else rank
    n_classes = weights.sum()
    means = np.add.reduceat(rows, np.cumsum(sizes) - sizes) / sizes[:, None]
    rest = (rows - means[codes]) * np.sqrt(weights[codes])[:, None]
    within = rest.T @ rest / (weights @ sizes)
    spread = (means - weights @ means / n_classes) * np.sqrt(weights)[:, None]
    between = spread.T @ spread / n_classes
    per_class = rank / n_classes
    total = np.trace(within) + variance_outside
    A = matrix_power(_scaled(within, total, rank), -0.5, np.sqrt(per_class))
    seen = A @ between @ A
    return np.asarray(A @ matrix_power(_scaled(seen, np.trace(seen), rank), 0.5, per_class))


def _scaled(S: Array, trace: float, rank: int) -> Array:
    """Return S divided by its mean eigenvalue, trace / rank; zero for a trace of zero."""
    return S * (rank / trace) if trace > 0 else np.zeros_like(S)
