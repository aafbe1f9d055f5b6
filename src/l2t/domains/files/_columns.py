"""What the caller says about a file, and which column of a table has which role."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from l2t.domains.domain import Domain
from l2t.exceptions import FileFormatError, InvalidInputError, MissingColumnError
from l2t.typing import AnyArray

__all__ = ["Columns", "Names", "feature_names", "header_of", "missing", "option"]
__all__ += ["refuse_row_numbers", "refuse_twice"]

_MASK = "labeled"
_GROUPS = "groups"
_MANY = 10  # rows that no feature counts by chance
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?", re.IGNORECASE)
_SHOWN = 12  # names in a sentence


@dataclass(frozen=True)
class Names:
    """Columns or arrays by their role, and the options of csv text; None for the default."""

    label: str | None = None
    features: str | Iterable[str] | None = None
    labeled: str | None = None
    groups: str | None = None
    ignore: str | Iterable[str] = ()
    decimal: str = "."
    thousands: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        for name in ("features", "ignore"):
            given = getattr(self, name)
            several = (given,) if isinstance(given, str | None) else tuple(given)
            object.__setattr__(self, name, None if given is None else several)
        if self.features == () or len(set(self.columns)) < len(self.columns):
            raise InvalidInputError(f"features must be distinct names, got {self.features!r:.80}")
        for name in ("label", "labeled", "groups", "features", "ignore"):
            given = getattr(self, name)
            for each in given if isinstance(given, tuple) else (given,):
                if not isinstance(each, str | None):
                    raise InvalidInputError(f"{name} must be a name, got {each!r:.80}")
        if any(len(mark) != 1 for mark in (self.decimal, self.thousands) if mark is not None):
            raise InvalidInputError(
                "decimal and thousands must be one character each, "
                f"got {self.decimal!r} and {self.thousands!r}"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the features, none where the format chooses them."""
        return tuple(self.features or ())

    def check_for(self, format: str) -> None:
        """Reject names that mean nothing in a format."""
        if format in ("npz", "mat") and len(self.columns) > 1:
            rule = f"features must be the name of one array in {format} files"
            raise InvalidInputError(f"{rule}, got {self.columns!r:.80}")
        if format in ("npz", "mat") and self.ignore:
            rule = "ignore is for the columns of csv, xlsx and parquet files"
            raise InvalidInputError(f"{rule}, got {self.ignore!r:.80}")
        for name in ("label", "features", "labeled", "groups", "ignore"):
            if format == "svmlight" and (given := getattr(self, name)):
                rule = f"{name} cannot be chosen in svmlight files, whose columns have no names"
                raise InvalidInputError(f"{rule}, got {given!r:.80}")


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

        Columns of `index` number the rows; they are no features unless they are named.
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


def option(name: str, value: str) -> str:
    """Return how a parameter is given in Python and on the command line.

    >>> print(option("label", "my digits"))
    label='my digits' (on the command line --label 'my digits')
    """
    return f"{name}={value!r:.80} (on the command line --{name} {shlex.quote(value):.80})"


def missing(what: str, name: str, names: Sequence[str]) -> MissingColumnError:
    """Return the error of a column or array that does not exist.

    >>> print(missing("column", "Digit", ["x", "digit"]))
    has no column 'Digit'; did you mean 'digit'?
    """
    folded = {each.casefold(): each for each in reversed(names)}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.75)
    hint = f"its {what}s are {listed(names)}"
    if close:
        hint = f"did you mean {folded[close[0]]!r:.80}?"
    return MissingColumnError(f"has no {what} {name!r}; {hint}")


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence, shortened where there are many."""
    shown = [repr(name)[:60] for name in names]
    if len(shown) > _SHOWN:  # labels are often last
        shown = [*shown[: _SHOWN // 2], "...", *shown[-_SHOWN // 2 :]]
        return f"{', '.join(shown)} ({len(names)} in all)"
    return ", ".join(shown) or "none"
