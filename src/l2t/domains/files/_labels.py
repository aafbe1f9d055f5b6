"""Labels, groups and masks from the columns of a file."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from l2t.domains.labels import is_missing, label_key
from l2t.exceptions import FileFormatError
from l2t.typing import AnyArray

#: From a row to its location in the file, such as "column 'site', line 3".
Place = Callable[[int], str]

_TRUTH = {"1": True, "0": False, "1.0": True, "0.0": False, "true": True, "false": False}


def labels(
    values: Iterable[object], place: Place, missing: Iterable[str] = (), *, trim: bool = True
) -> AnyArray:
    """Return labels as objects, dates as str; None where a label is missing or among `missing`.

    A time of midnight is no part of a date. If `trim`, text has no blanks around it, and blank text is
    missing.
    """
    unlabeled = {label_key(text) for text in missing} | ({""} if trim else set())
    cells = [None if is_missing(value) else value for value in values]
    cleaned = np.full(len(cells), None)
    for row, value in enumerate(cells):
        label = str(label_key(value)) if isinstance(value, datetime.date) else value
        if not isinstance(label, str | int | float | None):
            raise FileFormatError(f"{place(row)}: {value!r:.80} is not a label")
        label = label.strip() if trim and isinstance(label, str) else label
        cleaned[row] = None if label_key(label) in unlabeled else label
    return cleaned


def groups(values: Iterable[object], place: Place, *, trim: bool = True) -> AnyArray:
    """Return groups as objects; none may be missing."""
    names = labels(values, place, trim=trim)
    for row, value in enumerate(names):
        if value is None:
            raise FileFormatError(f"{place(row)}: a group is missing")
    return names


def mask(values: Sequence[Any], place: Place) -> AnyArray:
    """Return a boolean mask from 0 and 1, or true and false."""
    truths = [_TRUTH.get(str(value).strip().lower()) for value in values]
    if None in truths:
        row = truths.index(None)
        raise FileFormatError(f"{place(row)}: {values[row]!r:.80} is not 0, 1, true or false")
    return np.array(truths, dtype=np.bool_)
