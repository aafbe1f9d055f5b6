"""Labels and groups between the forms of files and those of a domain.

In files they are columns of text, nulls, codes; in a domain one array. Here is the way there
(`infer`, `gather`, `without_missing`, `complete`, `as_mask`, `whole`) and the way back (`plain`,
`storable`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.domains.domain import is_missing
from l2t.exceptions import FileFormatError, InvalidInputError

__all__ = [
    "as_mask",
    "complete",
    "gather",
    "infer",
    "plain",
    "storable",
    "truth",
    "whole",
    "without_missing",
]

_INT64 = np.iinfo(np.int64)
_EXACT = 2**53  # the whole numbers up to here are float64, too
# Neither leading zeros nor more digits than int64 surely holds: such labels are names, not numbers.
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,17})")
_FRACTION = re.compile(
    r"[+-]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|[0-9]+e[+-]?[0-9]+|inf|nan)",
    re.IGNORECASE,
)
_TRUTH = {"1": True, "0": False, "1.0": True, "0.0": False, "true": True, "false": False}


def gather(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Return Python values as an array: of bool, int64 or float64 if all are, else of objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    types = {type(value) for value in values}
    if types == {bool}:
        return array.astype(np.bool_)
    if types == {int} and _INT64.min <= min(values) and max(values) <= _INT64.max:
        return array.astype(np.int64)
    if types == {float}:
        return array.astype(np.float64)
    return array


def without_missing(
    y: npt.NDArray[Any], labeled: npt.NDArray[np.bool_] | None
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """Return labels with None where they are missing, and the mask that says so."""
    if y.ndim != 1 or y.dtype.kind not in "fO":
        return y, labeled
    values = y.tolist()
    missing = np.array([is_missing(value) for value in values], dtype=np.bool_)
    if not missing.any():
        return y, labeled
    known = [None if gone else value for value, gone in zip(values, missing, strict=True)]
    return gather(known), ~missing if labeled is None else labeled


def infer(cells: Sequence[str | None]) -> list[Any]:
    """Return text as int, float or bool where every cell is one, else as it stands."""
    text = [cell.strip() for cell in cells if cell is not None]
    if all(_WHOLE.fullmatch(cell) for cell in text):
        return [None if cell is None else int(cell) for cell in cells]
    if all(_WHOLE.fullmatch(cell) or _FRACTION.fullmatch(cell) for cell in text):
        return [None if cell is None else float(cell) for cell in cells]
    if all(cell.lower() in ("true", "false") for cell in text):
        return [None if cell is None else cell.strip().lower() == "true" for cell in cells]
    return list(cells)


def truth(value: Any) -> bool | None:
    """Return the truth that a cell of a mask says, None if it is none."""
    return _TRUTH.get(str(value).strip().lower())


def as_mask(values: npt.NDArray[Any], what: str) -> npt.NDArray[np.bool_]:
    """Return a boolean mask from an array of truths or of 0 and 1."""
    if values.dtype == np.bool_:
        return values
    said = [truth(value) for value in values.ravel().tolist()]
    if None in said:
        odd = values.ravel().tolist()[said.index(None)]
        raise FileFormatError(f"{what} must be 0, 1, true or false, got {odd!r:.80}")
    return np.array(said, dtype=np.bool_).reshape(values.shape)


def complete(groups: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    """Return groups of which none is missing."""
    for row, value in enumerate(groups.ravel().tolist()):
        if is_missing(value):
            raise FileFormatError(f"{what}, row {row}: a group is missing")
    return groups


def whole(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return float labels without fractions as int: some formats know no other numbers."""
    if values.dtype.kind != "f":
        return values
    known = values[~np.isnan(values)]
    if not (np.abs(known) <= _EXACT).all() or (known != np.floor(known)).any():
        return values
    return gather([None if value != value else int(value) for value in values.tolist()])


def plain(values: npt.NDArray[Any], what: str, *, optional: bool = False) -> list[Any]:
    """Return labels or groups as str, int, float or bool, all of one type; None where missing."""
    items = [value.item() if isinstance(value, np.generic) else value for value in values.tolist()]
    items = [None if is_missing(value) else value for value in items]
    if not optional and None in items:
        raise InvalidInputError(f"{what} must not be missing, got None at row {items.index(None)}")
    types = {type(value) for value in items if value is not None}
    if len(types) > 1 or not types <= {str, int, float, bool}:
        got = " and ".join(sorted(kind.__name__ for kind in types))
        raise InvalidInputError(f"{what} must be all str, int, float or bool in a file, got {got}")
    return items


def storable(values: Sequence[Any], what: str) -> npt.NDArray[Any]:
    """Return values of one type, none missing, as an array without objects."""
    if not values:
        return np.empty(0, dtype="U1")
    if isinstance(values[0], str):
        ends = [value for value in values if value.endswith("\0")]
        if ends:
            raise InvalidInputError(
                f"{what} must not end with a zero character, got {ends[0]!r:.80}"
            )
        return np.array(values, dtype=np.str_)
    if type(values[0]) is not int:
        return gather(values)
    try:
        return np.array(values, dtype=np.int64 if max(values) <= _INT64.max else np.uint64)
    except OverflowError:
        large = max(values, key=abs)
        raise InvalidInputError(f"{what} must fit into 64 bits, got {large}") from None
