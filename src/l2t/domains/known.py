"""Known classes: all labelled rows in a feature space that are not rows of the target.

`l2t.algorithms.classes` learns from them which features separate classes, and transfers are rehearsed on
them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.domains.copies import ClassPart, joint_groups, same_classes, same_rows
from l2t.domains.domain import Domain, column_names, is_numbered, matching_order
from l2t.domains.draw import in_content_order
from l2t.exceptions import InvalidInputError
from l2t.numerics import LRUCache, fingerprint, principal_axes
from l2t.typing import AnyArray, Array, Indices
from l2t.validation import instance_of

#: Principal coordinates in which scatter and rehearsal are computed; more change no result (docs/adr/0014).
MAX_DIMENSIONS = 256
#: Newest targets of a store whose classes are known; merging classes takes quadratic time (docs/adr/0010).
MAX_TARGETS = 200
#: Spans that are cached in the process, for the next target of the same source.
SPANS_KEPT = 4
_spans: LRUCache[KnownSpan] = LRUCache(SPANS_KEPT)


@dataclass(frozen=True, eq=False)
class KnownSpan:
    """The known rows in their leading p principal coordinates.

    Attributes
    ----------
    basis : array of shape (m, p)
        Orthonormal columns.
    rows : array of shape (n, p)
        The centred rows in this basis.
    rank : int
        The rank of the centred rows, which may exceed p.
    outside : float
        The mean squared distance of a row from the span of the basis.
    """

    basis: Array
    rows: Array
    rank: int
    outside: float


class KnownClasses:
    """Labelled rows of one or more origins in one feature space.

    Classes of different origins are never merged by name, but those with at least two rows in common are one
    class, because they were drawn from the same data. A duplicate row is used once, and a class with a single
    row is left out.

    Parameters
    ----------
    domains : iterable of Domain, default=()
        The origins: a source, other sources, labelled past targets. Of each, the labels that `labeled` marks
        are used, or all labels if it has no mask. Columns with names are matched by them.

    Attributes
    ----------
    X : array of shape (n, m)
        The rows, sorted by class; within a class they are in an order that depends on their content.
    codes : int array of shape (n,)
        The class of each row, from 0.
    weights : array of shape (n_classes,)
        The weight of each class: the share of its rows that no earlier origin has.
    groups : int array of shape (n,) or None
        The group of each row; None if no origin has groups.
    n_removed : int
        The number of labelled rows that `without` removed, duplicates included.

    Examples
    --------
    >>> from l2t.domains import digits
    >>> KnownClasses([digits()])
    KnownClasses(10 classes, 1797 rows x 64 features)
    """

    def __init__(self, domains: Iterable[Domain] = ()) -> None:
        members = list(domains)
        _check(members)
        self._build([_Origin.of(in_content_order(domain)) for domain in members])

    @classmethod
    def in_given_order(cls, domains: Iterable[Domain]) -> KnownClasses:
        """Return the classes of domains whose rows keep their order within a class.

        Parameters
        ----------
        domains : iterable of Domain
            Domains whose rows were put in the order of their content, perhaps with other features.

        Returns
        -------
        KnownClasses
            One origin per domain.
        """
        members = list(domains)
        _check(members)
        return cls()._build([_Origin.of(domain) for domain in members])

    def _build(self, origins: list[_Origin]) -> KnownClasses:
        """Set the rows, codes, weights and groups from the labelled rows of some origins."""
        named = (origin for origin in origins if origin.feature_names and not origin.is_numbered)
        names = next((origin.feature_names for origin in named), None)
        origins = [origin.with_columns(names) for origin in origins]
        X: list[AnyArray] = [np.empty((0, origins[0].X.shape[1] if origins else 0), np.float32)]
        codes: list[Indices] = [np.empty(0, dtype=np.intp)]
        weights: list[float] = []
        used_parts: list[ClassPart] = []
        classes = same_classes([(origin.X, origin.codes) for origin in origins])
        for parts in classes:
            weight = max(part.share for part in parts)
            members = [origins[part.domain].X[part.rows] for part in parts]
            n = sum(map(len, members))
            if n > 1:
                X += members
                used_parts += parts
                codes.append(np.full(n, len(weights)))
                weights.append(weight)
        self._origins = origins
        self.X, self.codes = np.concatenate(X), np.concatenate(codes)
        self.weights = np.array(weights, dtype=np.float64)
        self.groups: Indices | None = None
        if used_parts and any(origin.groups is not None for origin in origins):
            groups = joint_groups(origins)
            group_of_row = np.concatenate([groups[part.domain][part.rows] for part in used_parts])
            self.groups = np.unique(group_of_row, return_inverse=True)[1]
        self.n_removed = sum(origin.n_removed for origin in origins)
        return self

    @classmethod
    def of(
        cls,
        store: Any,
        n_features: int | None = None,
        feature_names: tuple[str, ...] | None = None,
    ) -> KnownClasses:
        """Return the classes of the newest 200 labelled targets in a store.

        Parameters
        ----------
        store : ExperienceStore
            The store.
        n_features : int, optional
            Use only targets with this number of features; by default all, which must then have the same.
        feature_names : tuple of str, optional
            Leave out targets whose features have other names.

        Returns
        -------
        KnownClasses
            One origin per target.
        """
        return cls(
            domain
            for domain in store.targets(n_features=n_features, limit=MAX_TARGETS)
            if not (feature_names and domain.feature_names)
            or set(domain.feature_names) == set(feature_names)
        )

    @property
    def n_features(self) -> int:
        """The number of features m."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.weights)

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        rows = f"{len(self)} rows x {self.n_features} features"
        return f"KnownClasses({self.n_classes} classes, {rows})"

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of rows, classes, weights and groups."""
        arrays = [self.X, self.codes, self.weights]
        if self.groups is not None:
            arrays.append(self.groups)
        parts = ("l2t.KnownClasses", *map(fingerprint, map(np.ascontiguousarray, arrays)))
        return hashlib.sha256("|".join(parts).encode()).hexdigest()

    @cached_property
    def span(self) -> KnownSpan:
        """The rows in at most 256 principal coordinates."""
        return _spans.get(self.fingerprint, self._compute_span)

    def _compute_span(self) -> KnownSpan:
        centred = self.X - self.X.mean(axis=0, dtype=np.float64)
        axes = principal_axes(centred, MAX_DIMENSIONS)
        rows = centred @ axes
        rank = axes.shape[1]
        if rank == MAX_DIMENSIONS:  # further dimensions were not computed: an upper bound
            rank = min(len(rows) - 1, int(centred.any(axis=0).sum()))
        outside = np.linalg.norm(centred) ** 2 - np.linalg.norm(rows) ** 2
        return KnownSpan(axes, rows, rank, max(float(outside), 0.0) / len(rows))

    def reduced(self) -> KnownClasses:
        """Return the classes with principal coordinates as features; unchanged with at most 256 features."""
        if self.n_features <= MAX_DIMENSIONS:
            return self
        reduced = copy(self)
        reduced.X, reduced._origins = self.span.rows, []
        reduced.span = replace(self.span, basis=np.eye(self.span.rows.shape[1]))
        return reduced

    def only(self, classes: npt.ArrayLike) -> KnownClasses:
        """Return some of the classes, in the principal coordinates of all classes."""
        rows = np.isin(self.codes, classes)
        subset = copy(self)
        subset.__dict__.pop("fingerprint", None)
        kept, subset.codes = np.unique(self.codes[rows], return_inverse=True)
        subset.X, subset.weights, subset._origins = self.X[rows], self.weights[kept], []
        subset.groups = None if self.groups is None else self.groups[rows]
        rank = min(self.span.rank, max(len(subset) - 1, 1))
        subset.span = replace(self.span, rows=self.span.rows[rows], rank=rank)
        return subset

    def distance_to(self, X: AnyArray) -> float:
        """Return the squared distance of the means of known rows and others, relative to their variance.

        Parameters
        ----------
        X : array of shape (n, m)
            The other rows, such as those of a target.

        Returns
        -------
        float
            Infinite if no class is known.
        """
        if not len(self):
            return float("inf")
        gap = X.mean(axis=0, dtype=np.float64) - self.X.mean(axis=0, dtype=np.float64)
        variance = sum(rows.var(axis=0, dtype=np.float64).sum() for rows in (X, self.X))
        return float(gap @ gap / max(variance, np.finfo(float).tiny))

    def merge(self, other: KnownClasses) -> KnownClasses:
        """Return the classes of both; a row that both have is used once.

        Parameters
        ----------
        other : KnownClasses
            Classes with the same number of features.

        Returns
        -------
        KnownClasses
            The classes of this object, then those of `other`.
        """
        if not (self.n_classes and other.n_classes):
            known, empty = (self, other) if self.n_classes else (other, self)
            if empty.n_removed:
                known = copy(known)
                known.n_removed += empty.n_removed
            return known
        if other.n_features != self.n_features:
            raise InvalidInputError(
                f"known classes must have the same features, got {self.n_features} and {other.n_features}"
            )
        return KnownClasses()._build([*self._origins, *other._origins])

    def divided_by(self, columns: AnyArray) -> KnownClasses:
        """Return the classes with each column divided by a number."""
        scaled = [replace(origin, X=origin.X / columns, prepared=None) for origin in self._origins]
        return KnownClasses()._build(scaled)

    def without(self, target: Domain) -> KnownClasses:
        """Return the classes without the rows of a target.

        Rows are also recognised after multiplication by a positive number, and after a preparation that their
        domain or the target records (`Domain.prepared`).

        A row that equals a target row by chance is removed as well: with few distinct rows, such as those of
        five binary features, copies and coincidences look the same, and no target label may remain.

        Parameters
        ----------
        target : Domain
            The target, with the same number of features; its labels are not read.

        Returns
        -------
        KnownClasses
            The remaining classes with at least two rows.
        """
        if not self.n_classes:
            return self
        if target.n_features != self.n_features:
            raise InvalidInputError(
                f"known must have the target's {target.n_features} features, got {self.n_features}"
            )
        names, numbered = column_names(target), is_numbered(target)
        left = [
            origin.with_columns(names, numbered=numbered).without(target)
            for origin in self._origins
        ]
        same = all(new is old for new, old in zip(left, self._origins, strict=True))
        return self if same else KnownClasses()._build(left)


@dataclass(frozen=True, eq=False)
class _Origin:
    """The rows of a domain; a negative code marks a row that is not labelled or was removed."""

    X: AnyArray
    codes: Indices
    prepared: AnyArray | None
    groups: AnyArray | None
    feature_names: tuple[str, ...] | None = None
    is_numbered: bool = False
    n_removed: int = 0

    @classmethod
    def of(cls, domain: Domain) -> _Origin:
        known = True if domain.labeled is None else domain.labeled
        codes = np.where(known, domain.codes, -1)
        names, numbered = column_names(domain), is_numbered(domain)
        return cls(domain.X, codes, domain.prepared, domain.groups, names, numbered)

    def with_columns(self, names: tuple[str, ...] | None, *, numbered: bool = False) -> _Origin:
        """Return the origin with its columns in the order of names, which may be mere numbers."""
        numbered = numbered or self.is_numbered
        order = matching_order(self.feature_names, names, "known", numbered=numbered)
        if order is None:
            return self
        prepared = None if self.prepared is None else self.prepared[:, order]
        return replace(
            self, X=self.X[:, order], prepared=prepared, feature_names=names, is_numbered=False
        )

    def __len__(self) -> int:
        return len(self.X)

    def without(self, target: Domain) -> _Origin:
        rows = np.flatnonzero(self.codes >= 0)
        is_removed = same_rows(self.X[rows], target.X, self.prepared, target.prepared)
        if not is_removed.any():
            return self
        codes = self.codes.copy()
        codes[rows[is_removed]] = -1
        return replace(self, codes=codes, n_removed=self.n_removed + int(is_removed.sum()))


def unlabel_rows(source: Domain, target: Domain) -> Domain:
    """Return the source with all rows that are also rows of the target marked as unlabelled."""
    origin = _Origin.of(source)
    left = origin.without(target)
    if left is origin:
        return source
    return replace(source, X=source.rows, labeled=left.codes >= 0)


def _check(origins: list[Domain]) -> None:
    for domain in origins:
        instance_of("each of domains", domain, Domain)
    widths = sorted({domain.n_features for domain in origins})
    if len(widths) > 1:
        raise InvalidInputError(
            f"domains must have the same number of features, got {', '.join(map(str, widths))}"
        )
