"""What labelled targets of the past say of the features: a metric that new targets can begin with.

Experiences keep the targets that they were made on, and their labels. Over their C classes, with the pooled
scatter S_w of rows around their class mean and the scatter S_b of class means,

``A = (S_w + √(m/C) s_w I)^(-1/2)``,  ``T = A (A S_b A + m/C s_b I)^(1/2)``

(s_w and s_b the mean eigenvalues of S_w and A S_b A) makes small what varied within classes and large what
told classes apart. m/C features a class is what there is to estimate against what there is to learn from: few
classes move T little, and one past target of three classes already helps. The search for W then begins in
X T instead of X. Rows of the new target are never among the past ones, so that no label of theirs is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from l2t.domains import Domain, DomainPair
from l2t.exceptions import InvalidInputError
from l2t.experiences import ExperienceStore

__all__ = ["PastTargets"]

Array = npt.NDArray[np.float64]

#: T is a matrix of features by features, and takes their number to the power of three.
MOST_FEATURES = 8192


class PastTargets:
    """Labelled targets of the past in one feature space, for `infer`.

    Parameters
    ----------
    targets : iterable of Domain
        Domains with labels and the same features. A row that came before counts once.

    Attributes
    ----------
    n_features : int
        The number of features m.
    n_classes : float
        The classes C; one of which a share of the rows came before counts by the rest.
    T : array of shape (m, m)
        The metric's factor: rows are compared in X T.

    Examples
    --------
    >>> from l2t.domains import digits
    >>> past = PastTargets([digits()])
    >>> past.n_classes, past.T.shape
    (10.0, (64, 64))
    """

    def __init__(self, targets: Iterable[Domain]) -> None:
        self._seen: set[bytes] = set()
        within, means, sizes = None, [], 0
        self.n_classes = 0.0
        for target in targets:
            within = _room(target, within)
            for block, share in self._new_classes(target):
                mean = block.mean(axis=0)
                block -= mean
                within += block.T @ block
                means.append(mean)
                sizes += len(block)
                self.n_classes += share
        if within is None or not means:
            raise InvalidInputError(
                "targets must be one or more domains in which a class has two labelled rows, got none"
            )
        self.n_features = len(within)
        centres = np.array(means) - np.mean(means, axis=0)
        self.T = _factor(within / sizes, centres.T @ centres / len(means), self.n_classes)

    @classmethod
    def of(cls, store: ExperienceStore, like: Domain | None = None) -> PastTargets:
        """Take the targets of a store's runs; those with the features of `like` alone, without its rows."""
        targets = store.targets(n_features=None if like is None else like.n_features)
        if like is None:
            return cls(targets)
        here = set(_keys(like.X))
        return cls(_without(targets, here))

    def __repr__(self) -> str:
        return f"PastTargets({self.n_classes:g} classes, {self.n_features} features)"

    def seen_by(self, pair: DomainPair) -> DomainPair:
        """Return the pair in X T, without labels.

        Raises
        ------
        InvalidInputError
            The features differ, or rows of the target are among the past ones.
        """
        if pair.n_features != self.n_features:
            raise InvalidInputError(
                f"past must have the pair's {pair.n_features} features, got {self.n_features}"
            )
        again = sum(key in self._seen for key in _keys(pair.target.X))
        if again:
            raise InvalidInputError(
                f"past must not hold rows of the pair's target, whose labels it would see, got {again} "
                "of them: PastTargets.of(store, like=target) leaves them out"
            )
        source, target = (Domain(domain.X @ self.T) for domain in (pair.source, pair.target))
        return DomainPair(source, target)

    def _new_classes(self, target: Domain) -> Iterator[tuple[Array, float]]:
        """Yield the rows of each class that did not come before, and their share of its rows."""
        keys = _keys(target.X)
        new = np.array([key not in self._seen for key in keys])
        self._seen.update(keys)
        for code in range(len(target.classes)):
            members = target.codes == code
            rows = np.flatnonzero(members & new)
            if len(rows) > 1:
                yield target.X[rows].astype(np.float64), len(rows) / int(members.sum())


def _keys(X: npt.NDArray[np.floating]) -> list[bytes]:
    """Return what tells rows apart, in float32, so that a row is the same in any type that holds it."""
    return [blake2b(row.tobytes(), digest_size=16).digest() for row in X.astype(np.float32)]


def _without(targets: Iterable[Domain], rows: set[bytes]) -> Iterator[Domain]:
    for target in targets:
        kept = np.array([key not in rows for key in _keys(target.X)])
        if kept.any():
            yield target if kept.all() else target.take(kept)


def _room(target: Domain, within: Array | None) -> Array:
    """Return where scatter is added up, for the features of all targets."""
    m = target.n_features
    if m > MOST_FEATURES:
        raise InvalidInputError(f"targets must have at most {MOST_FEATURES} features, got {m}")
    if within is None:
        return np.zeros((m, m))
    if len(within) != m:
        raise InvalidInputError(
            f"targets must have the same number of features, got {len(within)} and {m}"
        )
    return within


def _factor(within: Array, between: Array, n_classes: float) -> Array:
    """Return T, scaled to leave the mean square of a feature what it is."""
    m = len(within)
    A = _power(within, -0.5, np.sqrt(m / n_classes))
    T = A @ _power(A @ between @ A, 0.5, m / n_classes)
    return np.asarray(T * (np.sqrt(m) / np.linalg.norm(T)))


def _power(S: Array, exponent: float, ridge: float) -> Array:
    """Return ``(S + ridge s I)^exponent`` of a symmetric S with mean eigenvalue s; I where S is zero."""
    values, vectors = np.linalg.eigh(S)
    values = np.maximum(values, 0.0)
    mean = values.mean()
    if mean == 0:
        return np.eye(len(S))
    return np.asarray((vectors * (values / mean + ridge) ** exponent) @ vectors.T)
