"""Which column of a table has which role, the same for csv, xlsx and parquet."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from l2t.domains.domain import Domain
from l2t.domains.files._names import Names, listed, missing, option
from l2t.exceptions import FileFormatError, InvalidInputError
from l2t.typing import AnyArray

__all__ = ["Columns", "feature_names", "header_of", "refuse_row_numbers", "refuse_twice"]

_MASK = "labeled"
_GROUPS = "groups"
_MANY = 10  # rows that no feature counts by chance
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Columns:
    """Names of columns by their role in the domain."""

    features: list[str]
    label: str | None
    labeled: str | None
    groups: str | None

    @classmethod
    def of(cls, table: Sequence[str], names: Names, *, index: Collection[str] = ()) -> Columns:
        """Find the columns that were named, and give the others their default role.

        Parameters
        ----------
        table : list of str
            The columns of the table.
        names : Names
            What the caller named.
        index : collection of str
            Columns that number the rows, which are no features unless they are named.
        """
        refuse_twice(table)
        label = names.label
        if label is None and "label" in table and "label" not in names.columns:
            label = "label"
        others = {name for name in (label, names.labeled, names.groups) if name is not None}
        for name in (*names.columns, *others):
            if name not in table:
                raise missing("column", name, table)
        features = list(names.columns)
        if not features:
            _refuse_unnamed(table, {*others, *names.ignore})
            left_out = {*others, *index, *names.ignore}
            features = [name for name in table if name not in left_out]
        if not features:
            raise FileFormatError(f"has no feature columns; its columns are {listed(table)}")
        if both := others & set(features):
            raise FileFormatError(f"column {both.pop()!r} cannot be a feature and another part")
        return cls(features, label, names.labeled, names.groups)

    @property
    def others(self) -> list[str]:
        """The columns that are no features."""
        return [name for name in (self.label, self.labeled, self.groups) if name is not None]


def header_of(cells: Sequence[str], names: Names) -> list[str] | None:
    """Return the names of columns in the first record, None where it is data.

    Names are not numbers, but for those that pandas gives by default: 0, 1, 2, ... So few as 0 and
    1 may well be data, unless the caller's names or the index column of pandas are beside them.
    """
    text = [cell.strip() for cell in cells]
    numbers = [cell for cell in text if _NUMBER.fullmatch(cell)]
    if numbers != [str(i) for i in range(len(numbers))] or not any(text):
        return None
    named = {"label", names.label, names.labeled, names.groups, *names.columns, ""}
    if numbers and len(numbers) <= 2 and not named & (set(text) - set(numbers)):
        return None
    # pandas and R number the rows in a first column without a name, which pandas reads as this one.
    return [cell or (f"Unnamed: {position}") for position, cell in enumerate(text)]


def refuse_twice(table: Sequence[str]) -> None:
    """Reject two columns of the same name."""
    if len(set(table)) < len(table):
        twice = next(name for i, name in enumerate(table) if name in table[:i])
        raise FileFormatError(f"has more than one column {twice!r}")


def refuse_row_numbers(X: AnyArray, table: Sequence[str], names: Names) -> None:
    """Reject a first column that counts the rows: an index and no feature, unless called like x0."""
    if names.columns or table[0][-1:].isdigit() or X.shape[1] < 2:
        return
    if len(X) >= _MANY and X[0, 0] in (0, 1) and (np.diff(X[:, 0]) == 1).all():
        raise FileFormatError(
            f"column {table[0]!r} numbers the rows and is no feature: leave it out with "
            f"{option('ignore', table[0])}"
        )


def feature_names(domain: Domain, label: str) -> list[str]:
    """Return the names of the features, or x0, x1, ..., none of which may be that of the label."""
    if not isinstance(label, str) or not label or label != label.strip():
        raise InvalidInputError(f"label must be a name for a column, got {label!r}")
    given = domain.feature_names or ()
    usable = all(name and name == name.strip() and name not in (_MASK, _GROUPS) for name in given)
    if not given or not usable or len(set(given)) < len(given):
        given = tuple(f"x{column}" for column in range(domain.n_features))
    if label in (_MASK, _GROUPS, *given) or re.fullmatch("x[0-9]+", label):
        raise InvalidInputError(f"label must not be the name of another column, got {label!r}")
    return list(given)


def _refuse_unnamed(table: Sequence[str], others: Collection[str]) -> None:
    """Reject a mask among the features: it would tell an algorithm what it must not know."""
    for name in (_MASK, _GROUPS):
        if name in table and name not in others:
            raise FileFormatError(
                f"column {name!r} is a feature or not: say {option(name, name)}, or leave it out with "
                f"{option('ignore', name)}"
            )
