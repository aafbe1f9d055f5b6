"""Which column of a table has which part, the same for csv and parquet."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.domains.domain import Domain
from l2t.domains.files._parts import Names, listed, nearest, option
from l2t.exceptions import FileFormatError, InvalidInputError, MissingColumnError

__all__ = ["Columns", "feature_names", "refuse_row_numbers"]

_MASK = "labeled"
_GROUPS = "groups"
_MANY = 10  # rows that no feature counts by chance


@dataclass(frozen=True)
class Columns:
    """Positions of columns by their part in the domain."""

    features: tuple[int, ...]
    label: int | None
    labeled: int | None
    groups: int | None

    @classmethod
    def of(cls, table: Sequence[str], names: Names, *, index: Collection[str] = ()) -> Columns:
        """Find the columns that were named, and give the others their default part.

        Parameters
        ----------
        table : list of str
            The columns of the table.
        names : Names
            What the caller named.
        index : collection of str
            Columns that number the rows, which are no features unless they are named.
        """
        at = {name: position for position, name in enumerate(table)}
        if len(at) < len(table):
            twice = next(name for i, name in enumerate(table) if name in table[:i])
            raise FileFormatError(f"has more than one column {twice!r}")
        label = names.label
        if label is None and "label" in at and "label" not in (names.features or ()):
            label = "label"
        others = {name for name in (label, names.labeled, names.groups) if name is not None}
        asked = (*(names.features or ()), *others)
        if absent := [name for name in asked if name not in at]:
            near = nearest(absent[0], table)
            raise MissingColumnError(
                f"has no column {absent[0]!r}{near or f'; its columns are {listed(table)}'}"
            )
        if names.features is None:
            _refuse_unnamed(at, {*others, *names.ignore})
            left_out = {*others, *index, *names.ignore}
            features = [name for name in table if name not in left_out]
        else:
            features = list(names.features)
        if not features:
            raise FileFormatError(f"has no feature columns; its columns are {listed(table)}")
        if both := others & set(features):
            raise FileFormatError(f"column {both.pop()!r} cannot be a feature and another part")
        return cls(
            tuple(at[name] for name in features),
            *(None if name is None else at[name] for name in (label, names.labeled, names.groups)),
        )


def feature_names(domain: Domain, label: str) -> list[str]:
    """Return the names of the features, or x0, x1, ..., and refuse a label called like another column."""
    if not isinstance(label, str) or not label or label != label.strip():
        raise InvalidInputError(f"label must be a name for a column, got {label!r}")
    given = domain.feature_names or ()
    plain = all(name and name == name.strip() and name not in (_MASK, _GROUPS) for name in given)
    if not given or not plain or len(set(given)) < len(given):
        given = tuple(f"x{column}" for column in range(domain.n_features))
    if label in (_MASK, _GROUPS, *given) or re.fullmatch("x[0-9]+", label):
        raise InvalidInputError(f"label must not be the name of another column, got {label!r}")
    return list(given)


def refuse_row_numbers(
    X: npt.NDArray[Any], table: Sequence[str], columns: Columns, names: Names
) -> None:
    """Refuse a first column that counts the rows: an index and no feature, unless it is called like x0."""
    if columns.features[0] != 0 or names.features is not None or table[0][-1:].isdigit():
        return
    counted = len(X) >= _MANY and np.array_equal(X[:, 0], X[0, 0] + np.arange(len(X)))
    if counted and X[0, 0] in (0, 1) and X.shape[1] > 1:
        raise FileFormatError(
            f"column {table[0]!r} numbers the rows and is no feature: leave it out with "
            f"{option('ignore', table[0])}"
        )


def _refuse_unnamed(at: Collection[str], others: Collection[str | None]) -> None:
    """Refuse to take a mask for a feature: it would tell an algorithm what it must not know."""
    for name in (_MASK, _GROUPS):
        if name in at and name not in others:
            raise FileFormatError(
                f"column {name!r} is a feature or not: say {option(name, name)}, or leave it out with "
                f"{option('ignore', name)}"
            )
