"""A pair of domains with the same features: the source and the target of a transfer."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property

from l2t.domains.domain import (
    Domain,
    column_names,
    is_numbered,
    matching_order,
    position_note,
)
from l2t.exceptions import InvalidInputError, L2TWarning
from l2t.numerics import JointSpan
from l2t.typing import Mask
from l2t.validation import instance_of


@dataclass(frozen=True)
class DomainPair:
    """A source and a target with the same features; their classes are normally disjoint.

    Parameters
    ----------
    source : Domain
        The domain to transfer from. If both domains have names of features, its columns are put in the order
        of the target's; otherwise columns are matched by position.
    target : Domain
        The domain to transfer to.

    Examples
    --------
    >>> pair = DomainPair(Domain([[0.0, 1.0]], name="a"), Domain([[1.0, 1.0], [2.0, 0.0]], name="b"))
    >>> pair
    DomainPair('a' -> 'b', 1 + 2 rows x 2 features)
    """

    source: Domain
    target: Domain

    def __post_init__(self) -> None:
        for role in ("source", "target"):
            instance_of(role, getattr(self, role), Domain)
        names = column_names(self.source), column_names(self.target)
        numbered = is_numbered(self.source) or is_numbered(self.target)
        order = matching_order(*names, "source", numbered=numbered)
        if order is not None:
            matched = self.source.with_columns(order)
            named = rename_columns(matched, self.target.feature_names)
            object.__setattr__(self, "source", named)
        if self.source.n_features != self.target.n_features:
            raise InvalidInputError(
                "source and target must have the same features, "
                f"got {self.source.n_features} and {self.target.n_features} columns"
            )

    def __repr__(self) -> str:
        names = f"{self.source.name!r} -> {self.target.name!r}"
        sizes = f"{len(self.source)} + {len(self.target)} rows x {self.n_features} features"
        known = int(self.target_labeled.sum())
        labels = f", {known} target labels known" if known else ""
        return f"DomainPair({names}, {sizes}{labels})"

    def __getstate__(self) -> dict[str, object]:
        return {"source": self.source, "target": self.target}  # without the cached span

    @property
    def n_features(self) -> int:
        """The number of columns m."""
        return self.source.n_features

    @cached_property
    def span(self) -> JointSpan:
        """Both domains in the coordinates of their joint span, cached."""
        return JointSpan.of(self.source.X, self.target.X)

    @property
    def source_labeled(self) -> Mask:
        """The mask of labelled source rows: `labeled`, or without it all rows of a source with labels."""
        return self.source.labeled_rows(default=True)

    @property
    def target_labeled(self) -> Mask:
        """The mask of target labels that the user has: `labeled`, or without it none."""
        return self.target.labeled_rows(default=False)


def match_columns(source: Domain, target: Domain) -> Domain:
    """Return the source with the columns of the target, in its order and by its names.

    Warns
    -----
    L2TWarning
        If only one of the domains has names, so that columns are matched by position.
    """
    matched = DomainPair(source, target).source
    ours, theirs = matched.feature_names, target.feature_names
    if (ours is None) == (theirs is None):
        return matched
    if column_names(matched) != column_names(target) and target.n_features > 1:
        sides = ("the target", "the source") if ours is None else ("the source", "the target")
        warnings.warn(position_note(*sides), L2TWarning, stacklevel=3)
    return rename_columns(matched, theirs)


def rename_columns(domain: Domain, names: tuple[str, ...] | None) -> Domain:
    """Return the domain with other names of columns."""
    if domain.feature_names == names:
        return domain
    return replace(domain, X=domain.rows, feature_names=None if names is None else tuple(names))
