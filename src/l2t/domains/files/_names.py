"""What the caller says about a file: the names of its parts, and how its numbers are written."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from l2t.exceptions import InvalidInputError, MissingColumnError

__all__ = ["Names", "listed", "missing", "option"]

_SHOWN = 12


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
            raise InvalidInputError(
                f"features must be the name of one array in {format} files, got {self.columns!r:.80}"
            )
        if format in ("npz", "mat") and self.ignore:
            raise InvalidInputError(
                f"ignore is for the columns of csv, xlsx and parquet files, got {self.ignore!r:.80}"
            )
        for name in ("label", "features", "labeled", "groups", "ignore"):
            if format == "svmlight" and getattr(self, name):
                raise InvalidInputError(
                    f"{name} cannot be chosen in svmlight files, whose columns have no names, "
                    f"got {getattr(self, name)!r:.80}"
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
    hint = (
        f"did you mean {folded[close[0]]!r:.80}?" if close else f"its {what}s are {listed(names)}"
    )
    return MissingColumnError(f"has no {what} {name!r}; {hint}")


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence, shortened where there are many."""
    shown = [repr(name)[:60] for name in names]
    if len(shown) > _SHOWN:  # labels are often last
        shown = [*shown[: _SHOWN // 2], "...", *shown[-_SHOWN // 2 :]]
        return f"{', '.join(shown)} ({len(names)} in all)"
    return ", ".join(shown) or "none"
