"""Feature maps: what a classifier is trained on, as a chain of steps of plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from l2t.numerics import unit_rows
from l2t.typing import AnyArray, Array, Matrix


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """The features ``(Z W - mean) / scale`` of rows X, where Z is what the map before it makes of X.

    Attributes
    ----------
    W : array, Lifted or None
        The factor; None for the identity.
    mean : array of shape (k,)
        Subtracted from each row.
    scale : float, default=1.0
        What rows are divided by.
    unit : bool, default=False
        Whether rows are divided by their norm at the end.
    columns : array or None, default=None
        What the columns of Z are divided by first.
    relu : bool, default=False
        Whether negative values are replaced by zero at the end, as in the hidden layer of a network.
    before : FeatureMap or None, default=None
        The map before this one; None for the first, whose Z is X. Several maps may follow the same one.
    """

    W: Matrix
    mean: Array
    scale: float = 1.0
    unit: bool = False
    columns: Array | None = None
    relu: bool = False
    before: FeatureMap | None = None

    @classmethod
    def of(
        cls,
        Z: AnyArray,
        W: AnyArray | None,
        *,
        unit: bool = False,
        before: FeatureMap | None = None,
    ) -> FeatureMap:
        """Return the map whose features have mean zero and mean squared norm 1 on rows Z."""
        features = np.asarray(Z if W is None else Z @ W, dtype=np.float64)
        mean = features.mean(axis=0)
        scale = float(np.sqrt(np.mean(np.sum((features - mean) ** 2, axis=1))))
        return cls(W, mean, scale if scale > 0 else 1.0, unit, before=before)

    @property
    def first(self) -> FeatureMap:
        """The first map of the chain, whose Z is X."""
        return self if self.before is None else self.before.first

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        W = self.first.W
        return len(self.first.mean) if W is None else int(W.shape[0])

    def __call__(self, X: Matrix) -> Array:
        """Return the features of rows X."""
        return self.after(X if self.before is None else self.before(X))

    def after(self, Z: Matrix) -> Array:
        """Return the features, given those of the map before this one."""
        if self.columns is not None:
            Z = (Z.toarray() if sparse.issparse(Z) else Z) / self.columns
        features = Z if self.W is None else Z @ self.W
        features = np.asarray(features.toarray() if sparse.issparse(features) else features)
        features = (features - self.mean) / self.scale
        if self.relu:
            features = np.maximum(features, 0.0)
        return unit_rows(features) if self.unit else np.asarray(features)


class Evaluation:
    """The features of one block of rows by many maps; a map that several follow is evaluated once."""

    def __init__(self, X: Matrix) -> None:
        self._X, self._known = X, dict[int, Array]()

    def __call__(self, features: FeatureMap) -> Array:
        """Return the features of the rows."""
        if id(features) not in self._known:
            before = self._X if features.before is None else self(features.before)
            self._known[id(features)] = features.after(before)
        return self._known[id(features)]


def change_first(
    maps: Sequence[FeatureMap], change: Callable[[FeatureMap], FeatureMap]
) -> list[FeatureMap]:
    """Return maps with the first one of each chain changed; maps that were shared still are.

    Parameters
    ----------
    maps : sequence of FeatureMap
        The maps.
    change : callable
        Returns what takes the place of a map without one before it.

    Returns
    -------
    list of FeatureMap
    """
    changed: dict[int, FeatureMap] = {}

    def visit(features: FeatureMap) -> FeatureMap:
        if id(features) not in changed:
            before = features.before
            changed[id(features)] = (
                change(features) if before is None else replace(features, before=visit(before))
            )
        return changed[id(features)]

    return [visit(features) for features in maps]
