"""The options for reading a file, and the role of each column of a table."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

from l2t.exceptions import FileFormatError, InvalidInputError, MissingColumnError
from l2t.validation import one_of

#: Texts of a missing number, besides an empty cell; in a label column they are classes.
MISSING = ("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None", "?")
NUMBER = re.compile(r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:e[+-]?[0-9]+)?", re.IGNORECASE)
_SHOWN = 12  # names in a message, at most
_LISTS = ("id", "ignore", "keep", "missing", "missing_numbers")
#: Options that name columns, and formats without column names.
_NAMING = ("id", "ignore", "keep")
_UNNAMED = ("npz", "mat", "svmlight")


#: The arguments of `Domain` that a file gives, by name.
DomainArguments: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class ReadOptions:
    """The parameters of `read_domain`: columns or arrays by role, and how to parse their cells."""

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
    #: Texts of a missing cell in features alone, such as those that a preview proposes.
    missing_numbers: str | Iterable[str] = ()
    #: Whether the label column may be absent, as in one of several files.
    optional: bool = False
    #: Values that missing cells are filled with, one per feature, by name if it has one; None for those that
    #: `impute` gives.
    fill: Sequence[float] | Mapping[str, float] | None = None
    #: Whether columns that are not numbers, or have missing cells, become features (`TableEncoder`).
    encode: bool = False
    #: The text encoder of `TableEncoder.fit`.
    text_encoder: str | None = None

    def __post_init__(self) -> None:
        for name in ("features", *_LISTS):
            value = getattr(self, name)
            values = (value,) if isinstance(value, str | None) else tuple(value)
            object.__setattr__(self, name, None if value is None else values)
        one_of("impute", self.impute, (None, "mean", "median", "drop"))
        if self.features == () or len(set(self.columns)) < len(self.columns):
            raise InvalidInputError(f"features must be distinct names, got {self.features!r:.80}")
        for name in ("label", "labeled", "groups", "features", *_LISTS):
            value = getattr(self, name)
            for column in value if isinstance(value, tuple) else (value,):
                if not isinstance(column, str | None):
                    raise InvalidInputError(f"{name} must be a name, got {column!r:.80}")
        if any(len(mark) != 1 for mark in (self.decimal, self.thousands) if mark is not None):
            raise InvalidInputError(
                "decimal and thousands must be one character each, "
                f"got {self.decimal!r} and {self.thousands!r}"
            )
        if self.decimal == self.thousands:
            other = option("decimal", "." if self.decimal == "," else ",")
            raise InvalidInputError(
                f"decimal and thousands must differ, got {self.decimal!r} for both; pass {other}"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """The feature columns, empty where they are chosen by default."""
        return tuple(self.features or ())

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that are given as `id` or `ignore`."""
        return (*self.id, *self.ignore)

    @property
    def missing_texts(self) -> set[str]:
        """The texts of a missing cell in a feature."""
        return {"", *MISSING, *self.missing, *self.missing_numbers}

    def check_for(self, formats: Sequence[str]) -> None:
        """Reject options that apply to none of the files that are read together, the target last."""
        arrays = [format for format in formats if format in ("npz", "mat")]
        if arrays and len(self.columns) > 1:
            rule = f"features must be the name of one array in {arrays[0]} files"
            raise InvalidInputError(f"{rule}, got {self.columns!r:.80}")
        refused = list(_NAMING) if set(formats) <= set(_UNNAMED) else []
        refused += ["label", "features", "groups"] if set(formats) == {"svmlight"} else []
        refused += ["labeled"] if formats[-1] == "svmlight" else []  # a column of the target
        for name in refused:
            if value := getattr(self, name):
                rule = f"cannot be chosen in {formats[-1]} files, whose columns have no names"
                raise InvalidInputError(f"{name} {rule}, got {value!r:.80}")


@dataclass(frozen=True)
class Columns:
    """The columns of a table by their role; a column without a role is copied to the output."""

    features: list[str]
    label: str | None = None
    labeled: str | None = None
    groups: str | None = None
    ids: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, table: Sequence[str], options: ReadOptions, *, index: Collection[str] = ("Unnamed: 0",)
    ) -> Columns:
        """Assign the roles; columns in `index` are features only if `options` name them."""
        check_unique(table)
        label, used = options.label, (*options.columns, *options.keep, *options.others)
        if label is None and "label" in table and "label" not in used:
            label = "label"
        if options.optional and label not in table:
            label = None
        others = {name for name in (label, options.labeled, options.groups) if name is not None}
        for name in (*options.columns, *others):
            if name not in table:
                raise missing_name("column", name, table)
        features = list(options.columns)
        if not features:
            left_out = {*others, *index, *options.others} - set(options.keep)
            features = [name for name in table if name not in left_out]
        if not features:
            raise FileFormatError(f"has no feature columns; its columns are {format_names(table)}")
        if both := others & {*features, *options.keep}:
            raise FileFormatError(f"column {both.pop()!r} cannot have two roles")
        ids = tuple(name for name in options.id if name in table)
        return cls(features, label, options.labeled, options.groups, ids)


def header_of(cells: Sequence[str], options: ReadOptions) -> list[str] | None:
    """Return the column names in the first record, or None if it is a row of numbers.

    pandas numbers unnamed columns 0, 1, 2, ..., which is a header. A record whose only numbers are 0 or
    0 and 1 is a header only if it also has a column that `options` name.
    """
    text = [cell.strip() for cell in cells]
    mark = options.thousands or ","
    numbers = [cell for cell in text if NUMBER.fullmatch(cell.replace(mark, ""))]
    if numbers != [str(i) for i in range(len(numbers))] or not any(text):
        return None
    roles = ("label", options.label, options.labeled, options.groups)
    named = {*roles, *options.columns, *options.others} & (set(text) - set(numbers))
    if 1 <= len(numbers) <= 2 and text[0] and not named:
        return None
    # pandas and R write row numbers as a first column without a name; pandas reads it back as this name.
    return [cell or f"Unnamed: {position}" for position, cell in enumerate(text)]


def check_unique(table: Sequence[str]) -> None:
    """Reject two columns with the same name."""
    if len(set(table)) < len(table):
        twice = next(name for i, name in enumerate(table) if name in table[:i])
        raise FileFormatError(f"has more than one column {twice!r}")


def option(name: str, *values: str) -> str:
    """Return how to pass a parameter in Python and on the command line."""
    shown = repr(values[0]) if len(values) == 1 else repr(list(values))
    typed = shlex.quote(",".join(values))
    return f"{name}={shown} (on the command line --{name} {typed})"


def missing_name(what: str, name: str, names: Sequence[str]) -> MissingColumnError:
    """Return the error for a column or array that does not exist; it suggests a similar name."""
    close = closest_name(name, names)
    hint = f"its {what}s are {format_names(names)}"
    hint = hint if close is None else f"did you mean {close!r:.80}?"
    return MissingColumnError(f"has no {what} {name!r}; {hint}")


def closest_name(name: str, names: Sequence[str]) -> str | None:
    """Return the most similar of `names`, or None if none is similar."""
    folded = {candidate.casefold(): candidate for candidate in reversed(names)}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.75)
    return folded[close[0]] if close else None


def format_names(names: Sequence[str]) -> str:
    """Return names for a message, shortened if there are many."""
    shown = [repr(name)[:60] for name in names]
    if len(shown) > _SHOWN:  # labels are often last
        shown = [*shown[: _SHOWN // 2], "...", *shown[-_SHOWN // 2 :]]
        return f"{', '.join(shown)} ({len(names)} in all)"
    return ", ".join(shown) or "none"
