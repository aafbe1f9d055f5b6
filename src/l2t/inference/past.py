"""What labelled targets of the past say of the features: a metric that new targets can begin with.

Experiences keep the targets that they were made on, and their labels. Over their C classes, with the pooled
scatter S_w of rows around their class mean and the scatter S_b of class means,

``A = (S_w + √(m/C) s_w I)^(-1/2)``,  ``T = A (A S_b A + m/C s_b I)^(1/2)``

(s_w and s_b the mean eigenvalues of S_w and A S_b A) makes small what varied within classes and large what
told classes apart. m/C features a class is what there is to estimate against what there is to learn from: few
classes move T little, and one past target of three classes already helps. The search for W then begins in
X T instead of X. Rows of the new target that are among the past ones are left out, so that no label of theirs
is seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from l2t.domains import Domain, DomainPair
from l2t.exceptions import InvalidInputError
from l2t.experiences import ExperienceStore
from l2t.typing import Array

__all__ = ["PastTargets"]


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
        The metric's factor: rows are compared in X T. The identity where no class is left.

    Examples
    --------
    >>> from l2t.domains import digits
    >>> past = PastTargets([digits()])
    >>> past.n_classes, past.T.shape
    (10.0, (64, 64))
    """

    def __init__(self, targets: Iterable[Domain]) -> None:
        self._classes: list[_Class] = []
        self._class_of: dict[bytes, int] = {}
        within: Array | None = None
        for target in targets:
            within = _room(target, within)
            self._take_in(target, within)
        if within is None or not self.n_classes:
            raise InvalidInputError(
                "targets must be one or more domains in which a class has two labelled rows, got none"
            )
        self._within = within

    @classmethod
    def none(cls, n_features: int) -> PastTargets:
        """Return a past in which nothing has come yet."""
        return cls._made(np.zeros((n_features, n_features)), [], {})

    @classmethod
    def of(cls, store: ExperienceStore, like: Domain | None = None) -> PastTargets:
        """Take the targets of a store's runs; those with the features of `like` alone, without its rows."""
        if like is None:
            return cls(store.targets())
        past = cls(store.targets(n_features=like.n_features)).without(like)
        if not past.n_classes:
            raise InvalidInputError(
                "store must have targets with other labelled rows than those of `like`, got none"
            )
        return past

    @property
    def n_features(self) -> int:
        """The number of features m."""
        return len(self._within)

    @property
    def n_classes(self) -> float:
        """The classes C."""
        return sum(each.share for each in self._classes)

    @cached_property
    def T(self) -> Array:
        """The metric's factor."""
        counted = [each for each in self._classes if each.share]
        means = np.array([each.mean for each in counted]).reshape(-1, self.n_features)
        n_rows = sum(each.n_rows for each in counted)
        centres = means - means.sum(axis=0) / max(len(means), 1)
        between = centres.T @ centres / max(len(means), 1)
        return _factor(self._within / max(n_rows, 1), between, self.n_classes)

    def __repr__(self) -> str:
        return f"PastTargets({self.n_classes:g} classes, {self.n_features} features)"

    def and_also(self, targets: Iterable[Domain]) -> PastTargets:
        """Return what these and other targets say, at the cost of the others alone."""
        found = self._copy()
        for target in targets:
            found._take_in(target, _room(target, found._within))
        return found

    def without(self, target: Domain) -> PastTargets:
        """Return what the rows say that are not those of a target, at the cost of the rows of both."""
        if target.n_features != self.n_features:
            raise InvalidInputError(
                f"past must have the pair's {target.n_features} features, got {self.n_features}"
            )
        again = {key: row for row, key in enumerate(_keys(target.X)) if key in self._class_of}
        if not again:
            return self
        found, rows_of = self._copy(), defaultdict[int, list[int]](list)
        for key, row in again.items():
            rows_of[found._class_of.pop(key)].append(row)
        for number, rows in rows_of.items():
            found._classes[number], gone = found._classes[number].without(target.X[rows])
            found._within -= gone
        return found

    def seen_by(self, pair: DomainPair) -> DomainPair:
        """Return the pair in X T, without labels."""
        source, target = (Domain(domain.X @ self.T) for domain in (pair.source, pair.target))
        return DomainPair(source, target)

    @classmethod
    def _made(cls, within: Array, classes: list[_Class], class_of: dict[bytes, int]) -> PastTargets:
        made = cls.__new__(cls)
        made._within, made._classes, made._class_of = within, classes, class_of
        return made

    def _copy(self) -> PastTargets:
        return self._made(self._within.copy(), self._classes.copy(), self._class_of.copy())

    def _take_in(self, target: Domain, within: Array) -> None:
        """Note the classes of a target, and add the scatter within them; rows of before do not count."""
        keys = _keys(target.X)
        for code in range(len(target.classes)):
            members = {keys[row]: row for row in np.flatnonzero(target.codes == code)}
            rows = {key: row for key, row in members.items() if key not in self._class_of}
            if not rows:
                continue
            block = target.X[[*rows.values()]].astype(np.float64)
            mean = block.mean(axis=0)
            block -= mean
            within += block.T @ block
            self._class_of.update(dict.fromkeys(rows, len(self._classes)))
            self._classes.append(_Class(mean, len(rows), len(members)))


class _Class(NamedTuple):
    """What is known of the rows of a class: their mean, and how many of all they are."""

    mean: Array
    n_rows: int
    n_members: int

    @property
    def share(self) -> float:
        """The share of the class that counts; a row alone does not."""
        return self.n_rows / self.n_members if self.n_rows > 1 else 0.0

    def without(self, rows: npt.NDArray[np.floating]) -> tuple[_Class, Array]:
        """Return the class without some of its rows, and the scatter that goes with them."""
        n_left = self.n_rows - len(rows)
        away = rows.astype(np.float64) - self.mean
        step = -away.sum(axis=0) / max(n_left, 1)  # of the mean
        gone = away.T @ away + n_left * np.outer(step, step)
        return self._replace(mean=self.mean + step, n_rows=n_left), gone


def _keys(X: npt.NDArray[np.floating]) -> list[bytes]:
    """Return what tells rows apart, in float32, so that a row is the same in any type that holds it."""
    return [blake2b(row.tobytes(), digest_size=16).digest() for row in X.astype(np.float32)]


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
    """Return T, scaled to leave the mean square of a feature what it is; I for no classes."""
    if not n_classes:
        return np.eye(len(within))
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
