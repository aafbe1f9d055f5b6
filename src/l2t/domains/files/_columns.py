"""What the caller says about a file, and which column of a table has which role."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from l2t.exceptions import FileFormatError, InvalidInputError, MissingColumnError
from l2t.validation import one_of

#: Texts that mean that a label or a number is missing, beside an empty cell.
MISSING = ("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None", "?")
NUMBER = re.compile(r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:e[+-]?[0-9]+)?", re.IGNORECASE)
_SHOWN = 12  # names in a sentence
_SEVERAL = ("id", "ignore", "keep", "missing")


@dataclass(frozen=True)
class Names:
    """Columns or arrays by their role, and the options of csv text; None for the default."""

    label: str | None = None
    features: str | Iterable[str] | None = None
    labeled: str | None = None
    groups: str | None = None
    id: str | Iterable[str] = ()
    ignore: str | Iterable[str] = ()
    keep: str | Iterable[str] = ()
    missing: str | Iterable[str] = ()
    impute: str | None = None
    decimal: str = "."
    thousands: str | None = None
    encoding: str | None = None
    #: Whether the label may be absent, as it may in one of several files.
    optional: bool = False
    #: Numbers that missing cells are filled with, one per feature; None for those of the file itself.
    fill: Sequence[float] | None = None

    def __post_init__(self) -> None:
        for name in ("features", *_SEVERAL):
            given = getattr(self, name)
            several = (given,) if isinstance(given, str | None) else tuple(given)
            object.__setattr__(self, name, None if given is None else several)
        one_of("impute", self.impute, (None, "mean", "median", "drop"))
        if self.features == () or len(set(self.columns)) < len(self.columns):
            raise InvalidInputError(f"features must be distinct names, got {self.features!r:.80}")
        for name in ("label", "labeled", "groups", "features", *_SEVERAL):
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

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that are named as no features."""
        return (*self.id, *self.ignore)

    @property
    def missing_texts(self) -> set[str]:
        """The texts of a cell that is missing."""
        return {"", *MISSING, *self.missing}

    def check_for(self, format: str) -> None:
        """Reject names that mean nothing in a format."""
        if format in ("npz", "mat") and len(self.columns) > 1:
            rule = f"features must be the name of one array in {format} files"
            raise InvalidInputError(f"{rule}, got {self.columns!r:.80}")
        roles = ("label", "features", "labeled", "groups") if format == "svmlight" else ()
        for name in (*_SEVERAL, *roles) if format in ("npz", "mat", "svmlight") else ():
            if given := getattr(self, name):
                rule = f"{name} cannot be chosen in {format} files, whose columns have no names"
                raise InvalidInputError(f"{rule}, got {given!r:.80}")


@dataclass(frozen=True)
class Columns:
    """Names of columns by their role in the domain; what has no role is passed through."""

    features: list[str]
    label: str | None = None
    labeled: str | None = None
    groups: str | None = None
    ids: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, table: Sequence[str], names: Names, *, index: Collection[str] = ("Unnamed: 0",)
    ) -> Columns:
        """Give columns their roles; those of `index` are no features unless they are named."""
        refuse_twice(table)
        label, used = names.label, (*names.columns, *names.keep, *names.others)
        if label is None and "label" in table and "label" not in used:
            label = "label"
        if names.optional and label not in table:
            label = None
        others = {name for name in (label, names.labeled, names.groups) if name is not None}
        for name in (*names.columns, *others):
            if name not in table:
                raise missing("column", name, table)
        features = list(names.columns)
        if not features:
            left_out = {*others, *index, *names.others} - set(names.keep)
            features = [name for name in table if name not in left_out]
        if not features:
            raise FileFormatError(f"has no feature columns; its columns are {listed(table)}")
        if both := others & {*features, *names.keep}:
            raise FileFormatError(f"column {both.pop()!r} cannot have two roles")
        ids = tuple(name for name in names.id if name in table)
        return cls(features, label, names.labeled, names.groups, ids)


def header_of(cells: Sequence[str], names: Names) -> list[str] | None:
    """Return the names of columns in the first record, None where it is data: numbers.

    pandas names columns 0, 1, 2, ...; so few as 0 and 1 are data, unless a name of the caller is beside them.
    """
    text = [cell.strip() for cell in cells]
    numbers = [cell for cell in text if NUMBER.fullmatch(cell.replace(names.thousands or ",", ""))]
    if numbers != [str(i) for i in range(len(numbers))] or not any(text):
        return None
    named = {"label", names.label, names.labeled, names.groups, *names.columns, *names.others}
    beside = text[0] == "" or named & (set(text) - set(numbers))
    if numbers and len(numbers) <= 2 and not beside:
        return None
    # pandas and R number the rows in a first column without a name, which pandas reads as this one.
    return [cell or (f"Unnamed: {position}") for position, cell in enumerate(text)]


def refuse_twice(table: Sequence[str]) -> None:
    """Reject two columns of the same name."""
    if len(set(table)) < len(table):
        twice = next(name for i, name in enumerate(table) if name in table[:i])
        raise FileFormatError(f"has more than one column {twice!r}")


def option(name: str, *values: str, flag: str | None = None) -> str:
    """Return how a parameter is given in Python and on the command line."""
    given = repr(values[0]) if len(values) == 1 else repr(list(values))
    typed = shlex.quote(",".join(values))
    return f"{name}={given} (on the command line --{flag or name} {typed})"


def missing(what: str, name: str, names: Sequence[str]) -> MissingColumnError:
    """Return the error of a column or array that does not exist, with the one that was meant."""
    close = close_to(name, names)
    hint = f"its {what}s are {listed(names)}" if close is None else f"did you mean {close!r:.80}?"
    return MissingColumnError(f"has no {what} {name!r}; {hint}")


def close_to(name: str, names: Sequence[str]) -> str | None:
    """Return the one of some names that was probably meant."""
    folded = {each.casefold(): each for each in reversed(names)}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.75)
    return folded[close[0]] if close else None


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence, shortened where there are many."""
    shown = [repr(name)[:60] for name in names]
    if len(shown) > _SHOWN:  # labels are often last
        shown = [*shown[: _SHOWN // 2], "...", *shown[-_SHOWN // 2 :]]
        return f"{', '.join(shown)} ({len(names)} in all)"
    return ", ".join(shown) or "none"
