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

__all__ = ["ID_NAME", "Cells"]

#: Names of columns that hold ids where their values are whole numbers that are all different.
ID_NAME = re.compile(r"(?i:(?:.*[ _.-])?(?:id|uuid)|index)|.*[a-z](?:ID|Id)")
_COMMA = re.compile(r"[-+0-9.,]*[0-9],[0-9][-+0-9.,]*")
_MANY = 10  # rows that no feature counts by chance


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column.

    Attributes
    ----------
    name : str
        The name of the column.
    numbers : array of float
        The numbers, NaN where a cell is missing or is no number.
    missing : array of bool
        Where a cell is missing.
    text : list of str or None
        The cells as text, None where the column has a numeric type.
    """

    name: str
    numbers: AnyArray
    missing: AnyArray
    text: list[str] | None = None

    @classmethod
    def of(cls, column: Any, names: Names) -> Cells:
        """Read the cells of a column of a frame."""
        import pandas as pd

        name = str(column.name)
        if pd.api.types.is_numeric_dtype(column):
            numbers = column.to_numpy(np.float64, na_value=np.nan, copy=True)
            numbers[np.isin(numbers, pd.to_numeric(list(names.missing), errors="coerce"))] = np.nan
            return cls(name, numbers, np.isnan(numbers))
        empty = column.isna().to_numpy()
        text = ["" if gone else str(cell).strip() for cell, gone in zip(column, empty, strict=True)]
        missing = pd.Series(text, dtype=object).isin(names.missing_texts).to_numpy()
        cells = pd.Series([_plain(cell, names) for cell in column], dtype=object)
        cells[missing] = np.nan
        numbers = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64)
        return cls(name, numbers, missing, text)

    @cached_property
    def wrong(self) -> AnyArray:
        """Where a cell is neither missing nor a finite number."""
        return ~np.isfinite(self.numbers) & ~self.missing

    @property
    def has_commas(self) -> bool:
        """Whether the first cell that is no number looks like one with a comma."""
        row = int(self.wrong.argmax())
        return bool(self.text and self.wrong.any() and _COMMA.fullmatch(self.text[row]))

    @property
    def is_text(self) -> bool:
        """Whether fewer than half of the cells that are there are numbers."""
        there = int((~self.missing).sum())
        return self.text is not None and 2 * int(self.wrong.sum()) > there and not self.has_commas

    def is_id(self, *, first: bool) -> bool:
        """Tell whether the values are all different, and are text or numbers that name rows.

        Numbers are ids in a column that is called so, and in a first column that counts the rows.
        """
        n = len(self.numbers)
        if n < 2 or self.missing.any():
            return False
        if self.is_text:
            return len(set(self.text or ())) == n
        if self.wrong.any() or (self.numbers != np.floor(self.numbers)).any():
            return False
        if ID_NAME.fullmatch(self.name):
            return len(np.unique(self.numbers)) == n
        counts = self.numbers[0] in (0, 1) and (np.diff(self.numbers) == 1).all()
        return bool(first and n >= _MANY and counts and not self.name[-1:].isdigit())

    def problem(self, *, imputed: bool) -> tuple[int, str] | None:
        """Return the first row that cannot be read, and what is wrong with such rows in words."""
        bad = [] if imputed and not self.missing.all() else [self.missing]
        words = []
        if self.wrong.any():
            row, more = int(self.wrong.argmax()), int(self.wrong.sum()) - 1
            cell = float(self.numbers[row]) if self.text is None else self.text[row]
            words.append(f"{cell!r:.80}" + (f" and {more} more like it" if more else ""))
            bad.append(self.wrong)
        if len(bad) > len(words) and self.missing.any():
            count = int(self.missing.sum())
            words.append(f"{count} missing {'cell' if count == 1 else 'cells'}")
        return (int(np.any(bad, axis=0).argmax()), " and ".join(words)) if words else None


def _plain(cell: Any, names: Names) -> Any:
    """Return a number as it is, and anything else as the text of one."""
    if isinstance(cell, Number):
        return cell
    text = str(cell).strip().replace(names.thousands or "\0", "")
    return text.replace(names.decimal, ".")
