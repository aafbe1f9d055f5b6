"""A sheet of columns from csv, xlsx or parquet, and the domain that some of them make."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np

from l2t.domains.domain import is_missing
from l2t.domains.files._columns import Columns, Names, listed, option
from l2t.domains.files._labels import groups, infer, labels, mask
from l2t.exceptions import FileFormatError
from l2t.typing import AnyArray

#: Names of columns that hold ids where their values are whole numbers that are all different.
ID_NAME = re.compile(r"(?i:(?:.*[ _.-])?(?:id|uuid)|index)|.*[a-z](?:ID|Id)")
#: Numbers that are padded with zeros name something.
PADDED = re.compile("0[0-9]+")
_COMMA = re.compile(r"[-+0-9.,]*[0-9],[0-9][-+0-9.,]*")
_MANY = 10  # rows that no feature counts by chance
#: Names of columns that hold labels, in lower case.
LABEL_NAMES = ("label", "labels", "class", "target", "y")
_GUARDED = {"labeled": "labeled", "groups": "groups"} | dict.fromkeys(LABEL_NAMES, "label")
_PLACES = 3  # columns of which an error names the line, counted from the beginning of the file


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column, and their text if it has any."""

    name: str
    read: Callable[[], AnyArray]  # numbers of a typed column are not kept twice
    text: list[str]
    blank: AnyArray | None = None

    @classmethod
    def of(cls, column: Any, names: Names) -> Cells:
        """Read the cells of a column of a frame."""
        import pandas as pd

        if pd.api.types.is_numeric_dtype(column):
            return cls(str(column.name), lambda: _numbers(column, names), [])
        cells = [None if gone else cell for cell, gone in zip(column, column.isna(), strict=True)]
        text = ["" if cell is None else str(cell).strip() for cell in cells]
        missing = np.isin(np.array(text, dtype=object), list(names.missing_texts))
        plain = [_plain(cell, names) for cell in cells]
        found = pd.to_numeric(pd.Series(plain, dtype=object).mask(missing), errors="coerce")
        numbers = found.to_numpy(np.float64)
        return cls(str(column.name), lambda: numbers, text, missing)

    @property
    def numbers(self) -> AnyArray:
        """Float64, NaN where a cell is missing or no number."""
        return self.read()

    @property
    def missing(self) -> AnyArray:
        """Where a cell is missing."""
        return np.isnan(self.numbers) if self.blank is None else self.blank

    @property
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
        if not self.text:
            return False
        wrong, there = int(self.wrong.sum()), int((~self.missing).sum())
        return 2 * wrong > there and not self.has_commas

    def is_id(self, *, first: bool) -> bool:
        """Tell whether all values differ, and are text or whole numbers that name or count the rows."""
        numbers = self.numbers
        n = len(numbers)
        if n < 2:
            return False
        if self.is_text:
            return len(set(self.text)) == n and not self.missing.any()
        if not np.isfinite(numbers).all() or (numbers != np.floor(numbers)).any():
            return False
        if ID_NAME.fullmatch(self.name) or any(map(PADDED.fullmatch, self.text)):
            return len(np.unique(numbers)) == n
        counts = numbers[0] in (0, 1) and (np.diff(numbers) == 1).all()
        return bool(first and n >= _MANY and counts and not self.name[-1:].isdigit())

    def problem(self, *, imputed: bool, filled: bool) -> tuple[int, str] | None:
        """Return the first row that cannot be read, and what is wrong with such rows in words."""
        if np.isfinite(numbers := self.numbers).all():
            return None
        missing, wrong, words = self.missing, self.wrong, []
        bad = np.zeros_like(missing)
        if wrong.any():
            more = int(wrong.sum()) - 1
            cell = repr(self.first_wrong) if self.text else str(numbers[wrong][0])
            words.append(f"{cell:.80}" + (f" and {more} more like it" if more else ""))
            bad |= wrong
        if (missing.all() and not filled) or (missing.any() and not imputed):
            count = int(missing.sum())
            words.append(f"{count} missing {'cell' if count == 1 else 'cells'}")
            bad |= missing
        return (int(bad.argmax()), " and ".join(words)) if words else None


def _numbers(column: Any, names: Names) -> AnyArray:
    """Return the numbers of a typed column; NaN where one is missing."""
    numbers = column.to_numpy(np.float64, na_value=np.nan, copy=True)
    if names.missing:
        import pandas as pd

        numbers[np.isin(numbers, pd.to_numeric(list(names.missing), errors="coerce"))] = np.nan
    return np.asarray(numbers)


def _plain(cell: Any, names: Names) -> Any:
    """Return a number as it is, and anything else as the text of one."""
    if isinstance(cell, Number):
        return cell
    text = str(cell).strip().replace(names.thousands or "\0", "")
    return text.replace(names.decimal, ".")


@dataclass(frozen=True, eq=False)
class Sheet:
    """All columns of a file as a frame, their roles, and a function from a row to its line.

    A column that `columns` has as a feature may turn out to be text or an id. Without a `header` columns have
    no names; the type of labels is inferred from their text where they are `untyped`.
    """

    frame: Any
    columns: Columns
    names: Names
    line: Callable[[int], str]
    header: bool = True
    untyped: bool = False

    @cached_property
    def cells(self) -> dict[str, Cells]:
        """The cells of every column that may be a feature."""
        self.refuse_empty()
        features = self.columns.features
        return {name: Cells.of(self.frame[name], self.names) for name in features}

    @cached_property
    def passed_through(self) -> dict[str, str]:
        """The columns without a role that are no features: "id" or "text" by name."""
        found: dict[str, str] = {}
        named = (*self.names.columns, *self.names.keep)
        for name in (name for name in self.columns.features if name not in named):
            cells, role = self.cells[name], _GUARDED.get(name.casefold())
            if cells.is_id(first=name == self.frame.columns[0] and len(self.cells) > 1):
                found[name] = "id"
            elif cells.is_text:
                found[name] = "text"
            elif role is not None:
                raise FileFormatError(
                    f"column {name!r} must be named to be used: say {option(role, name)}, "
                    f"{option('keep', name, flag='feature')} if it is a feature, or {option('ignore', name)}"
                )
        return found

    def refuse_empty(self) -> None:
        """Reject a table without rows."""
        if self.frame.empty:
            raise FileFormatError("has a header but no rows")

    def refuse_text(self) -> None:
        """Reject a column of text where the column of labels is not known."""
        for name in (name for name, kind in self.passed_through.items() if kind == "text"):
            raise FileFormatError(
                f"column {name!r}, {self.line(0)}: {self.frame[name].iloc[0]!r:.80} is not a number; if "
                f"these are the labels, say {option('label', name)}, else {option('ignore', name)}"
            )

    def parts(self, features: Sequence[str]) -> dict[str, Any]:
        """Return the arguments of `Domain`; NaN where a cell is to be imputed."""
        self._refuse_cells(features)
        kinds = {str(self.frame[name].dtype).lower() for name in features}
        single = kinds <= {"float16", "float32"}
        X = np.empty((len(self.frame), len(features)), np.float32 if single else np.float64)
        for at, name in enumerate(features):
            X[:, at] = self.cells[name].numbers
        X.flags.writeable = False  # so that the domain needs no copy of its own
        parts: dict[str, Any] = {"X": X}
        columns, missing = self.columns, self.names.missing_texts
        if columns.labeled is not None:
            parts["labeled"] = mask(*self._column(columns.labeled))
        if columns.groups is not None:
            parts["groups"] = groups(*self._column(columns.groups, {""}))
        if columns.label is not None:
            parts["y"] = labels(*self._column(columns.label, missing))
        return parts | {"feature_names": list(features) if self.header else None}

    def notes(self, features: Collection[str]) -> list[str]:
        """Return sentences about columns that are no features, and labels that are missing."""
        notes, kinds = [], self.passed_through
        if kinds:
            places = ", ".join(f"{name!r} ({kind})" for name, kind in kinds.items())
            notes.append(f"columns that are no features: {places}")
            if numbers := [name for name in kinds if not self.cells[name].is_text]:
                notes[-1] += f"; to keep a number, say {option('keep', *numbers, flag='feature')}"
        used = {*features, *kinds}
        if extra := [name for name in self.columns.features if name not in used]:
            why = "as they are no features of every file"
            notes.append(f"columns left out, {why}: {listed(extra)}")
        if self.columns.label is not None:
            texts = self.frame[self.columns.label].dropna().astype(str).str.strip()
            counts = texts[texts.isin(self.names.missing_texts - {""})].value_counts()
            places = ", ".join(f"{text!r} ({count} rows)" for text, count in counts.items())
            notes += [f"labels taken as missing: {places}"] if places else []
        return notes

    def _column(
        self, name: str, missing: Collection[str] | None = None
    ) -> tuple[list[Any], Callable[[int], str]]:
        """Return the values of a column, None where one is missing, and where a row is."""
        values = self.frame[name].astype(object).tolist()
        if missing is not None:
            texts = ("" if is_missing(value) else str(value).strip() for value in values)
            known = [text not in ("", *missing) for text in texts]
            values = [value if there else None for value, there in zip(values, known, strict=True)]
            values = infer(values) if self.untyped else values
        return values, lambda row: f"column {name!r}, {self.line(row)}"

    def _refuse_cells(self, features: Sequence[str]) -> None:
        """Reject all columns with cells that are no numbers in one sentence, with what helps."""
        imputed = self.names.impute is not None
        how = {"imputed": imputed, "filled": imputed and self.names.fill is not None}
        found = {name: self.cells[name].problem(**how) for name in features}
        bad = {name: problem for name, problem in found.items() if problem is not None}
        if not bad:
            return
        first = list(bad.items())[:_PLACES]
        places = [f"{words} in column {name!r}, {self.line(row)}" for name, (row, words) in first]
        if rest := list(bad)[_PLACES:]:
            places.append(f"and such cells in {', '.join(map(repr, rest))}")
        cells = [self.cells[name] for name in bad]
        advice = [f"leave out columns: {option('ignore', *bad)}"]
        if not imputed and any(each.missing.any() and not each.missing.all() for each in cells):
            advice.insert(0, f"fill missing cells: {option('impute', 'median')}")
        if wrong := next((each for each in cells if each.first_wrong), None):
            text = wrong.first_wrong
            advice.insert(0, f"if {text!r:.80} means missing, say {option('missing', text)}")
            if wrong.has_commas:
                advice = [f"if a comma is the decimal mark, say {option('decimal', ',')}"]
                advice.append(f"if it separates thousands, {option('thousands', ',')}")
        raise FileFormatError(
            f"features must be finite numbers, got {', '.join(places)}; {', or '.join(advice)}"
        )
