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
from l2t.domains.matching import first_time, same_rows
from l2t.exceptions import InvalidInputError
from l2t.numerics import fingerprint, principal_axes
from l2t.typing import AnyArray, Array

__all__ = ["KnownClasses", "KnownSpan"]

Codes = npt.NDArray[np.intp]

#: Coordinates that scatter and rehearsal are computed in; more change no result (docs/adr/0014).
MAX_DIMENSIONS = 256
#: So many spans are kept in the process, for the next target of the same source.
SPANS_KEPT = 4
_spans: OrderedDict[str, KnownSpan] = OrderedDict()


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
        for number, (domain, weight) in enumerate(zip(origins, shares, strict=True)):
            known = domain.codes
            if domain.labeled is not None:
                known = np.where(domain.labeled, known, -1)
            fresh = first_time(seen, domain.X, known >= 0)
            weight *= fresh.sum() / max((known >= 0).sum(), 1)
            for code in np.unique(known[known >= 0]):
                members = np.flatnonzero(fresh & (known == code))
                X.append(domain.X[members])
                codes.append(np.full(len(members), len(classes)))
                classes.append((weight, number))
        self._prepared = [domain.prepared for domain in origins]
        weight_of = np.array([weight for weight, _ in classes], dtype=np.float64)
        origin_of = np.array([number for _, number in classes], dtype=np.intp)
        self._set(np.concatenate(X), np.concatenate(codes), weight_of, origin_of)

    def _set(self, X: AnyArray, codes: Codes, weights: Array, origins: Codes) -> None:
        """Take rows, class after class; those with code -1 are dropped, and classes of one row or none."""
        left = np.bincount(codes[codes >= 0], minlength=len(weights))
        kept = np.flatnonzero((left > 1) & (weights > 0))
        number = np.full(len(weights) + 1, -1, dtype=np.intp)
        number[kept] = np.arange(len(kept))
        codes = number[codes]
        self.X, self.codes = X[codes >= 0], codes[codes >= 0]
        self._weights, self._origins = weights[kept], origins[kept]

    def _derived(self, codes: Codes) -> KnownClasses:
        """Return the classes without the rows with code -1."""
        found = KnownClasses.__new__(KnownClasses)
        found._prepared = self._prepared
        found._set(self.X, codes, self._weights, self._origins)
        return found

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
        """How much each class counts: the weight of its origin, times the share of rows that are new in it.

        Rows of a target that are removed change no weight: it would depend on their labels.
        """
        return self._weights

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
        found = self._derived(np.where(rows, self.codes, -1))
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
        first_time(seen, self.X, self.codes >= 0)
        fresh = first_time(seen, other.X, other.codes >= 0)
        origins, n = other._origins[other.codes], len(other._prepared)
        share = np.bincount(origins[fresh], minlength=n) / np.bincount(origins, minlength=n).clip(1)
        found = KnownClasses.__new__(KnownClasses)
        found._prepared = self._prepared + other._prepared
        found._set(
            np.concatenate([self.X, other.X]),
            np.concatenate([self.codes, np.where(fresh, other.codes + self.n_classes, -1)]),
            np.concatenate([self._weights, other._weights * share[other._origins]]),
            np.concatenate([self._origins, other._origins + len(self._prepared)]),
        )
        return found

    def without(self, target: Domain) -> KnownClasses:
        """Return the classes without the rows of a target.

        Rows are found again after they were multiplied by a positive number, and after a preparation that
        their domain or the target records (`Domain.prepared`).
        """
        if not self.n_classes:
            return self
        if target.n_features != self.n_features:
            raise InvalidInputError(
                f"known must have the target's {target.n_features} features, got {self.n_features}"
            )
        removed = self._removed(target)
        return self._derived(np.where(removed, -1, self.codes)) if removed.any() else self

    def _removed(self, target: Domain) -> npt.NDArray[np.bool_]:
        """Return which rows are rows of a target."""
        if all(each is None for each in self._prepared):
            return same_rows(self.X, target.X, None, target.prepared)
        found = np.zeros(len(self), dtype=bool)
        for number, prepared in enumerate(self._prepared):
            rows = np.flatnonzero(self._origins[self.codes] == number)
            found[rows] = same_rows(self.X[rows], target.X, prepared, target.prepared)
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
