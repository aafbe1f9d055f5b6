"""The cells of one column as numbers, and whether the column holds numbers, text or ids."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np

from l2t.domains.files._columns import Names
from l2t.typing import AnyArray

__all__ = ["ID_NAME", "PADDED", "Cells"]

#: Names of columns that hold ids where their values are whole numbers that are all different.
ID_NAME = re.compile(r"(?i:(?:.*[ _.-])?(?:id|uuid)|index)|.*[a-z](?:ID|Id)")
#: Numbers that are padded with zeros name something.
PADDED = re.compile("0[0-9]+")
_COMMA = re.compile(r"[-+0-9.,]*[0-9],[0-9][-+0-9.,]*")
_MANY = 10  # rows that no feature counts by chance


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column: numbers, NaN where one is missing or none, and their text if it has any."""

    name: str
    numbers: AnyArray
    missing: AnyArray
    text: list[str]

    @classmethod
    def of(cls, column: Any, names: Names) -> Cells:
        """Read the cells of a column of a frame."""
        import pandas as pd

        if pd.api.types.is_numeric_dtype(column):
            numbers = column.to_numpy(np.float64, na_value=np.nan, copy=True)
            numbers[np.isin(numbers, pd.to_numeric(list(names.missing), errors="coerce"))] = np.nan
            return cls(str(column.name), numbers, np.isnan(numbers), [])
        cells = [None if gone else cell for cell, gone in zip(column, column.isna(), strict=True)]
        text = ["" if cell is None else str(cell).strip() for cell in cells]
        missing = np.isin(np.array(text, dtype=object), list(names.missing_texts))
        plain = [_plain(cell, names) for cell in cells]
        numbers = pd.to_numeric(pd.Series(plain, dtype=object).mask(missing), errors="coerce")
        return cls(str(column.name), numbers.to_numpy(np.float64), missing, text)

    @cached_property
    def wrong(self) -> AnyArray:
        """Where a cell is neither missing nor a finite number."""
        return ~np.isfinite(self.numbers) & ~self.missing

    @property
    def first_wrong(self) -> str:
        """The text of the first such cell; empty where there is none."""
        return self.text[int(self.wrong.argmax())] if self.text and self.wrong.any() else ""

    @property
    def has_commas(self) -> bool:
        """Whether the first cell that is no number looks like one with a comma."""
        return _COMMA.fullmatch(self.first_wrong) is not None

    @property
    def is_text(self) -> bool:
        """Whether fewer than half of the cells that are there are numbers."""
        wrong, there = int(self.wrong.sum()), int((~self.missing).sum())
        return bool(self.text) and 2 * wrong > there and not self.has_commas

    def is_id(self, *, first: bool) -> bool:
        """Tell whether all values differ, and are text or whole numbers that name the rows.

        Numbers name rows where they are padded with zeros, in a column that is called so, and in a first
        column that counts the rows.
        """
        n = len(self.numbers)
        if n < 2 or self.missing.any():
            return False
        if self.is_text:
            return len(set(self.text)) == n
        if self.wrong.any() or (self.numbers != np.floor(self.numbers)).any():
            return False
        if ID_NAME.fullmatch(self.name) or any(map(PADDED.fullmatch, self.text)):
            return len(np.unique(self.numbers)) == n
        counts = self.numbers[0] in (0, 1) and (np.diff(self.numbers) == 1).all()
        return bool(first and n >= _MANY and counts and not self.name[-1:].isdigit())

    def problem(self, *, imputed: bool) -> tuple[int, str] | None:
        """Return the first row that cannot be read, and what is wrong with such rows in words."""
        bad, words = np.zeros_like(self.missing), []
        if self.wrong.any():
            more = int(self.wrong.sum()) - 1
            cell = repr(self.first_wrong) if self.text else str(self.numbers[self.wrong][0])
            words.append(f"{cell:.80}" + (f" and {more} more like it" if more else ""))
            bad |= self.wrong
        if self.missing.all() or (self.missing.any() and not imputed):
            count = int(self.missing.sum())
            words.append(f"{count} missing {'cell' if count == 1 else 'cells'}")
            bad |= self.missing
        return (int(bad.argmax()), " and ".join(words)) if words else None


def _plain(cell: Any, names: Names) -> Any:
    """Return a number as it is, and anything else as the text of one."""
    if isinstance(cell, Number):
        return cell
    text = str(cell).strip().replace(names.thousands or "\0", "")
    return text.replace(names.decimal, ".")
