"""Conversion of file columns to labels, groups and masks."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from l2t.domains.domain import is_missing
from l2t.exceptions import FileFormatError
from l2t.typing import AnyArray

#: From a row to its location in the file, such as "column 'site', line 3".
Place = Callable[[int], str]

_EXACT = 2**53  # float64 represents all whole numbers up to this one
# No leading zeros and at most 18 digits, which fit into int64: any other label is a name, not a number.
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,17})")
_FRACTION = re.compile(
    r"[+-]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|[0-9]+e[+-]?[0-9]+|inf|nan)",
    re.IGNORECASE,
)
_TRUTH = {"1": True, "0": False, "1.0": True, "0.0": False, "true": True, "false": False}


def labels(values: Sequence[Any], place: Place) -> AnyArray:
    """Return labels as an array; a missing label becomes None, and a date a str."""
    known: list[Any] = [None if is_missing(value) else value for value in values]
    known = [str(value) if isinstance(value, datetime.date) else value for value in known]
    for row, value in enumerate(known):
        if not isinstance(value, str | int | float | None):
            raise FileFormatError(f"{place(row)}: {value!r:.80} is not a label")
    types = {type(value) for value in known}
    array = np.empty(len(known), dtype=object)
    array[:] = known
    if types == {int} and not -(2**63) <= min(known) <= max(known) < 2**63:
        return array
    return array.astype(types.pop()) if types in ({bool}, {int}, {float}) else array


def groups(values: Sequence[Any], place: Place) -> AnyArray:
    """Return groups as an array; none may be missing."""
    for row, value in enumerate(values):
        if is_missing(value):
            raise FileFormatError(f"{place(row)}: a group is missing")
    return labels(values, place)


def mask(values: Sequence[Any], place: Place) -> AnyArray:
    """Return a boolean mask from 0 and 1, or true and false."""
    truths = [_TRUTH.get(str(value).strip().lower()) for value in values]
    if None in truths:
        row = truths.index(None)
        raise FileFormatError(f"{place(row)}: {values[row]!r:.80} is not 0, 1, true or false")
    return np.array(truths, dtype=np.bool_)


def infer_type(cells: Sequence[str | None]) -> list[Any]:
    """Return text as int, float or bool if every cell is one, else as stripped text; None stays None."""
    text = [cell.strip() for cell in cells if cell is not None]
    convert: Callable[[str], Any] = str
    if all(map(_WHOLE.fullmatch, text)):
        convert = int
    elif all(_WHOLE.fullmatch(cell) or _FRACTION.fullmatch(cell) for cell in text):
        convert = float
    elif all(cell.lower() in ("true", "false") for cell in text):
        convert = lambda cell: cell.lower() == "true"  # noqa: E731
    return [None if cell is None else convert(cell.strip()) for cell in cells]


def floats_to_int(values: AnyArray) -> AnyArray:
    """Return float labels as int if none has a fraction: mat and svmlight store all labels as floats."""
    if values.dtype.kind != "f":
        return values
    known = values[~np.isnan(values)]
    if not (np.abs(known) <= _EXACT).all() or (known != np.floor(known)).any():
        return values
    return np.array([None if value != value else int(value) for value in values.tolist()], object)
