"""Known classes: every labelled row in a feature space that is not a row of the target.

The source brings its classes, and so do labelled past targets. They say which directions of the features vary
within a class and which tell classes apart (`l2t.algorithms.classes`), and they are what a transfer can be
rehearsed on (`l2t.rehearsal`).
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from l2t.domains.domain import Domain
from l2t.exceptions import InvalidInputError
from l2t.numerics import fingerprint, principal_axes
from l2t.typing import AnyArray, Array

__all__ = ["KnownClasses", "KnownSpan", "occurs"]

Codes = npt.NDArray[np.intp]

#: Coordinates that scatter and rehearsal are computed in; more change no result (docs/adr/0014).
MAX_DIMENSIONS = 256
#: So many spans are kept in the process, for the next target of the same source.
SPANS_KEPT = 4
_spans: OrderedDict[str, KnownSpan] = OrderedDict()
#: Unit rows closer than this are the same row, up to the rounding of float32.
SAME_ROW = 1e-5


class _Store(Protocol):
    def targets(self, *, n_features: int | None = None) -> Iterable[Domain]:
        """Yield the labelled targets."""


@dataclass(frozen=True, eq=False)
class KnownSpan:
    """The known rows in their leading principal coordinates.

    Attributes
    ----------
    basis : array of shape (m, p)
        Orthonormal columns.
    rows : array of shape (n, p)
        The centred rows in that basis.
    rank : int
        Dimensions of the centred rows, whether or not they are among the p.
    outside : float
        Mean squared distance of a row from the span of the basis.
    """

    basis: Array
    rows: Array
    rank: int
    outside: float


class KnownClasses:
    """Labelled rows of one or more origins in one feature space.

    Classes of different origins are never merged by name. A row that occurs twice counts once, and a class
    of a single row does not count.

    Parameters
    ----------
    domains : iterable of Domain
        The origins: a source, other sources, labelled past targets. All labels that a domain marks as known
        are used; all that it has where it marks none.
    weights : sequence of float, optional
        How much the classes of each origin count, from 0 to 1; by default 1.

    Attributes
    ----------
    X : array of shape (n, m)
        The rows, class after class.
    codes : int array of shape (n,)
        The class of each row, from 0, never falling.

    Examples
    --------
    >>> from l2t.domains import digits
    >>> KnownClasses([digits()])
    KnownClasses(10 classes, 1797 rows x 64 features)
    """

    def __init__(
        self, domains: Iterable[Domain] = (), *, weights: Sequence[float] | None = None
    ) -> None:
        origins = list(domains)
        shares = [1.0] * len(origins) if weights is None else [float(each) for each in weights]
        _check(origins, shares)
        X: list[AnyArray] = [np.empty((0, origins[0].n_features if origins else 0), np.float32)]
        codes: list[Codes] = [np.empty(0, dtype=np.intp)]
        classes: list[tuple[float, int]] = []
        seen: set[bytes] = set()
        for domain, weight in zip(origins, shares, strict=True):
            known = domain.codes
            if domain.labeled is not None:
                known = np.where(domain.labeled, known, -1)
            fresh = _first_time(seen, domain.X, known)
            for code in np.unique(known[known >= 0]):
                members = np.flatnonzero(fresh & (known == code))
                X.append(domain.X[members])
                codes.append(np.full(len(members), len(classes)))
                classes.append((weight, int((known == code).sum())))
        weight_of, size_of = np.array(classes, dtype=np.float64).reshape(-1, 2).T
        self._set(np.concatenate(X), np.concatenate(codes), weight_of, size_of)

    def _set(self, X: AnyArray, codes: Codes, weights: Array, sizes: Array) -> None:
        """Take rows, class after class; those with code -1 are dropped, and classes of one row or none."""
        left = np.bincount(codes[codes >= 0], minlength=len(weights))
        kept = np.flatnonzero((left > 1) & (weights > 0))
        number = np.full(len(weights) + 1, -1, dtype=np.intp)
        number[kept] = np.arange(len(kept))
        codes = number[codes]
        self.X, self.codes = X[codes >= 0], codes[codes >= 0]
        self._weights, self._sizes = weights[kept], sizes[kept]

    @classmethod
    def of(cls, store: _Store, n_features: int | None = None) -> KnownClasses:
        """Return the classes of a store's labelled targets, those with `n_features` features alone."""
        return cls(store.targets(n_features=n_features))

    @property
    def n_features(self) -> int:
        """The number of features m."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self._weights)

    @property
    def weights(self) -> Array:
        """How much each class counts: the weight of its origin, times the share of its rows that is left."""
        return np.asarray(self._weights * np.bincount(self.codes) / self._sizes)

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return (
            f"KnownClasses({self.n_classes} classes, {len(self)} rows x {self.n_features} features)"
        )

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of rows, classes and weights."""
        parts = (
            fingerprint(np.ascontiguousarray(each)) for each in (self.X, self.codes, self.weights)
        )
        return hashlib.sha256("|".join(("l2t.KnownClasses", *parts)).encode()).hexdigest()

    @cached_property
    def span(self) -> KnownSpan:
        """The rows in at most 256 principal coordinates, in which everything else is computed."""
        if self.fingerprint not in _spans:
            _spans[self.fingerprint] = self._measure_span()
            while len(_spans) > SPANS_KEPT:
                _spans.popitem(last=False)
        _spans.move_to_end(self.fingerprint)
        return _spans[self.fingerprint]

    def _measure_span(self) -> KnownSpan:
        centred = self.X - self.X.mean(axis=0, dtype=np.float64)
        axes = principal_axes(centred, MAX_DIMENSIONS)
        rows = centred @ axes
        rank = axes.shape[1]
        if rank == MAX_DIMENSIONS:  # the others were not looked at
            rank = min(len(rows) - 1, int(centred.any(axis=0).sum()))
        outside = np.linalg.norm(centred) ** 2 - np.linalg.norm(rows) ** 2
        return KnownSpan(axes, rows, rank, max(float(outside), 0.0) / len(rows))

    def reduced(self) -> KnownClasses:
        """Return the classes with principal coordinates as features; with few features, as they are."""
        if self.n_features <= MAX_DIMENSIONS:
            return self
        found = copy(self)
        found.X = self.span.rows
        found.span = replace(self.span, basis=np.eye(self.span.rows.shape[1]))
        return found

    def only(self, classes: npt.ArrayLike) -> KnownClasses:
        """Return some of the classes, in the coordinates of all."""
        rows = np.isin(self.codes, classes)
        found = KnownClasses.__new__(KnownClasses)
        found._set(self.X, np.where(rows, self.codes, -1), self._weights, self._sizes)
        rank = min(self.span.rank, max(len(found) - 1, 1))
        found.span = replace(self.span, rows=self.span.rows[rows], rank=rank)
        return found

    def merge(self, other: KnownClasses) -> KnownClasses:
        """Return the classes of both; a row of `other` that is here already counts once."""
        if not (self.n_classes and other.n_classes):
            return self if self.n_classes else other
        if other.n_features != self.n_features:
            raise InvalidInputError(
                f"known classes must have the same features, got {self.n_features} and {other.n_features}"
            )
        seen: set[bytes] = set()
        _first_time(seen, self.X, self.codes)
        fresh = _first_time(seen, other.X, other.codes)
        found = KnownClasses.__new__(KnownClasses)
        found._set(
            np.concatenate([self.X, other.X]),
            np.concatenate([self.codes, np.where(fresh, other.codes + self.n_classes, -1)]),
            np.concatenate([self._weights, other._weights]),
            np.concatenate([self._sizes, other._sizes]),
        )
        return found

    def without(self, target: Domain) -> KnownClasses:
        """Return the classes without the rows of a target, or of their positive multiples."""
        if not self.n_classes:
            return self
        if target.n_features != self.n_features:
            raise InvalidInputError(
                f"known must have the target's {target.n_features} features, got {self.n_features}"
            )
        removed = occurs(self.X, target.X)
        if not removed.any():
            return self
        found = KnownClasses.__new__(KnownClasses)
        found._set(self.X, np.where(removed, -1, self.codes), self._weights, self._sizes)
        return found


def _check(origins: list[Domain], weights: list[float]) -> None:
    for domain in origins:
        if not isinstance(domain, Domain):
            raise InvalidInputError(f"domains must be Domain objects, got {type(domain).__name__}")
    widths = sorted({domain.n_features for domain in origins})
    if len(widths) > 1:
        raise InvalidInputError(
            f"domains must have the same number of features, got {', '.join(map(str, widths))}"
        )
    if len(weights) != len(origins) or not all(0 <= each <= 1 for each in weights):
        raise InvalidInputError(
            f"weights must be one number from 0 to 1 for each of {len(origins)} domains, got {weights}"
        )


def _first_time(seen: set[bytes], X: AnyArray, codes: Codes) -> npt.NDArray[np.bool_]:
    """Return which labelled rows were not seen before, and add them to those that were."""
    fresh = np.zeros(len(X), dtype=bool)
    for i in np.flatnonzero(codes >= 0):
        # In float32, so that a row is the same in any type that holds it.
        key = hashlib.blake2b(X[i].astype(np.float32).data, digest_size=16).digest()
        fresh[i] = key not in seen
        seen.add(key)
    return fresh


def occurs(X: AnyArray, others: AnyArray) -> npt.NDArray[np.bool_]:
    """Return which rows of X are a positive multiple of one of the others.

    Candidates are found by one random projection of the unit rows, and compared in full. With one or two
    features, where different rows are often multiples of each other, rows must be equal.
    """
    wide = X.shape[1] > 2
    ours, theirs = (_unit(each) if wide else each.astype(np.float64) for each in (X, others))
    slack = SAME_ROW * (1.0 if wide else float(np.abs(ours).max(initial=0.0)))
    direction = np.random.default_rng(0).normal(size=(X.shape[1],))
    direction = direction / np.linalg.norm(direction)
    at, places = ours @ direction, theirs @ direction
    order = np.argsort(places)
    first, last = (np.searchsorted(places[order], at + sign * slack) for sign in (-1, 1))
    found = np.zeros(len(X), dtype=bool)
    for i in np.flatnonzero(last > first):
        gaps = theirs[order[first[i] : last[i]]] - ours[i]
        found[i] = bool((np.linalg.norm(gaps, axis=1) <= slack).any())
    return found


def _unit(X: AnyArray) -> Array:
    rows = X.astype(np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1.0))
