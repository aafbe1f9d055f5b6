"""A table from a csv, xlsx or parquet file, and the parts of a domain in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from l2t.domains.encoding import MIN_WORDS
from l2t.domains.files._columns import (
    MISSING,
    NUMBER,
    Columns,
    DomainArguments,
    ReadOptions,
    format_names,
    option,
)
from l2t.domains.files._labels import groups, labels, mask
from l2t.domains.labels import LABEL_NAMES
from l2t.exceptions import FileFormatError
from l2t.typing import AnyArray

if TYPE_CHECKING:
    import pandas as pd

#: Names of columns that hold ids if their values are distinct whole numbers.
ID_NAME = re.compile(r"(?i:(?:.*[ _.-])?(?:id|uuid)|index)|.*[a-z](?:ID|Id)")
#: Zero-padded numbers, which are ids.
PADDED = re.compile("0[0-9]+")
_COMMA = re.compile(r"[-+0-9.,]*[0-9],[0-9][-+0-9.,]*")
_MIN_COUNTED = 10  # rows from which a column 1, 2, 3, ... is an id
#: Those that often name a feature: a coordinate, or a number that another column is compared with.
_FEATURE_NAMES = ("target", "y")
_ROLE_NAMES = {"labeled": "labeled", "groups": "groups"} | dict.fromkeys(LABEL_NAMES, "label")
NOT_IN_EVERY_FILE = "columns left out because not every file has them as features: {}"
_PLACES = 3  # columns for which an error names the line


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column: numbers, and text if the column is not numeric."""

    name: str
    read: Callable[[], AnyArray]  # a function, to avoid a second copy of a numeric column
    text: list[str]
    blank: AnyArray | None = None
    thousands: str | None = None

    @classmethod
    def of(cls, column: pd.Series, options: ReadOptions) -> Cells:
        """Read a column of a DataFrame."""
        import pandas as pd

        if pd.api.types.is_numeric_dtype(column):
            return cls(str(column.name), lambda: _numbers(column, options), [])
        if isinstance(column.dtype, pd.StringDtype) and not column.is_unique:
            codes, different = pd.factorize(column)  # -1 for a missing cell, the last one below
            distinct = cls.of(
                pd.Series([*different, None], dtype=object, name=column.name), options
            )
            return distinct._take(codes)
        known = column.notna().to_numpy()
        cells = np.where(known, column.to_numpy(object), np.array(None)).tolist()
        text = ["" if cell is None else str(cell).strip() for cell in cells]
        missing = np.isin(np.array(text, dtype=object), list(options.missing_texts))
        plain = [_plain(cell, options) for cell in cells]
        parsed = pd.to_numeric(pd.Series(plain, dtype=object).mask(missing), errors="coerce")
        numbers = parsed.to_numpy(np.float64)
        if rounds_numbers():
            numbers = np.array(list(map(_exact, plain, numbers)), dtype=np.float64)
        return cls(str(column.name), lambda: numbers, text, missing, options.thousands)

    def _take(self, rows: AnyArray) -> Cells:
        numbers, text = self.numbers[rows], np.array(self.text, dtype=object)[rows].tolist()
        blank = None if self.blank is None else self.blank[rows]
        return replace(self, read=lambda: numbers, text=text, blank=blank)

    @property
    def numbers(self) -> AnyArray:
        """The cells as float64; NaN where a cell is missing or not a number."""
        return self.read()

    @property
    def missing(self) -> AnyArray:
        """The mask of missing cells."""
        return np.isnan(self.numbers) if self.blank is None else self.blank

    @property
    def wrong(self) -> AnyArray:
        """The mask of cells that are neither missing nor finite numbers."""
        return ~np.isfinite(self.numbers) & ~self.missing

    @property
    def first_wrong(self) -> str:
        """The text of the first cell in `wrong`; empty if there is none."""
        return self.text[int(self.wrong.argmax())] if self.text and self.wrong.any() else ""

    @property
    def has_commas(self) -> bool:
        """Whether the first cell in `wrong` looks like a number with a comma."""
        return _COMMA.fullmatch(self.first_wrong) is not None

    @property
    def has_misplaced_marks(self) -> bool:
        """Whether the first cell in `wrong` is a number but for marks that do not separate thousands."""
        mark, cell = self.thousands, self.first_wrong
        return (
            mark is not None
            and mark in cell
            and NUMBER.fullmatch(cell.replace(mark, "")) is not None
        )

    @property
    def is_text(self) -> bool:
        """Whether fewer than half of the non-missing cells are numbers."""
        if not self.text:
            return False
        wrong, known = int(self.wrong.sum()), int((~self.missing).sum())
        return 2 * wrong > known and not (self.has_commas or self.has_misplaced_marks)

    def is_id(self, *, first: bool) -> bool:
        """Return whether the values are distinct, and are text or whole numbers that name or count rows."""
        numbers = self.numbers
        n = len(numbers)
        if n < 2:
            return False
        if self.is_text:
            if len(set(self.text)) < n or self.missing.any():
                return False
            return sum(len(text.split()) for text in self.text) / n < MIN_WORDS
        if not np.isfinite(numbers).all() or (numbers != np.floor(numbers)).any():
            return False
        if ID_NAME.fullmatch(self.name) or any(map(PADDED.fullmatch, self.text)):
            return len(np.unique(numbers)) == n
        counts = numbers[0] in (0, 1) and (np.diff(numbers) == 1).all()
        return bool(first and n >= _MIN_COUNTED and counts and not self.name[-1:].isdigit())

    def problem(self, *, imputed: bool, filled: bool) -> tuple[int, str] | None:
        """Return the first invalid row and a description of all invalid cells; None if there is none."""
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


def rounds_numbers() -> bool:
    """Return whether pandas may read a number as a neighbouring float64, as it does below version 3.1."""
    import pandas as pd

    major, minor = pd.__version__.split(".")[:2]
    return (int(major), int(minor)) < (3, 1)


def _exact(cell: Number | str, number: float) -> float:
    """Return a cell that pandas read as `number`, NaN if it is none, as the nearest float64."""
    if np.isnan(number) or isinstance(cell, Number):
        return number
    return float(cell.replace(" ", ""))  # pandas allows "1e 5"


def _numbers(column: pd.Series, options: ReadOptions) -> AnyArray:
    """Return a numeric column as float64; NaN where a cell is missing."""
    numbers = column.to_numpy(np.float64, na_value=np.nan, copy=True)
    if options.missing:
        import pandas as pd

        numbers[np.isin(numbers, pd.to_numeric(list(options.missing), errors="coerce"))] = np.nan
    return np.asarray(numbers)


def _plain(cell: Any, options: ReadOptions) -> Any:
    """Return a number unchanged, and any other cell as text with a decimal point and no thousands mark.

    None for a text whose marks do not separate groups of three digits: 0.5 is not 5.
    """
    if isinstance(cell, Number):
        return cell
    text, mark = str(cell).strip(), options.thousands
    if mark is not None and mark in text:
        grouped = (
            rf"[+-]?[0-9]{{1,3}}({re.escape(mark)}[0-9]{{3}})+({re.escape(options.decimal)}[0-9]*)?"
        )
        if not re.fullmatch(grouped, text):
            return None
        text = text.replace(mark, "")
    return text.replace(options.decimal, ".")


@dataclass(frozen=True, eq=False)
class Sheet:
    """All columns of a file as a DataFrame, their roles, and a function from a row to its line in the file.

    A feature in `columns` may turn out to be text or an id (`passed_through`). Without a `header`, columns
    have no names.
    """

    frame: pd.DataFrame
    columns: Columns
    options: ReadOptions
    line: Callable[[int], str]
    header: bool = True

    @cached_property
    def cells(self) -> dict[str, Cells]:
        """The cells of each column that may be a feature."""
        self.check_not_empty()
        features = self.columns.features
        return {name: Cells.of(self.frame[name], self.options) for name in features}

    @cached_property
    def passed_through(self) -> dict[str, str]:
        """The columns without a role that are not features: from the name to "id" or "text"."""
        kinds: dict[str, str] = {}
        named = (*self.options.columns, *self.options.keep)
        for name in (name for name in self.columns.features if name not in named):
            cells, role = self.cells[name], _ROLE_NAMES.get(name.casefold())
            if cells.is_id(first=name == self.frame.columns[0] and len(self.cells) > 1):
                kinds[name] = "id"
            elif cells.is_text:
                kinds[name] = "text"
            elif role is not None and not self._is_feature_despite_name(name):
                raise FileFormatError(
                    f"column {name!r} must have a role: pass {option(role, name)}, "
                    f"{option('keep', name)} if it is a feature, or {option('ignore', name)}"
                )
        return kinds

    def check_not_empty(self) -> None:
        """Reject a table without rows."""
        if self.frame.empty:
            raise FileFormatError("has a header but no rows")

    def check_no_text(self) -> None:
        """Reject a text column if no column is given as the label."""
        for name in (name for name, kind in self.passed_through.items() if kind == "text"):
            raise FileFormatError(
                f"column {name!r}, {self.line(0)}: {self.frame[name].iloc[0]!r:.80} is not a number; if "
                f"these are the labels, pass {option('label', name)}, else {option('ignore', name)}"
            )

    def parts(self, features: Sequence[str], text: Collection[str] = ()) -> DomainArguments:
        """Return the arguments of `Domain`; NaN where a cell must be imputed.

        If any feature is `text`, X is a DataFrame in which a missing text is None.
        """
        numbers = [name for name in features if name not in text]
        self._check_numbers(numbers)
        kinds = {str(self.frame[name].dtype).lower() for name in numbers}
        single = kinds <= {"float16", "float32"}
        X: Any = np.empty((len(self.frame), len(numbers)), np.float32 if single else np.float64)
        for at, name in enumerate(numbers):
            X[:, at] = self.cells[name].numbers
        X.flags.writeable = False  # so that `Domain` does not copy it
        if len(numbers) < len(features):
            import pandas as pd

            texts = {name: self._texts(name) for name in features if name in text}
            X = pd.DataFrame(X, columns=numbers).assign(**texts)[list(features)]
        parts: DomainArguments = {"X": X}
        columns = self.columns
        if columns.labeled is not None:
            parts["labeled"] = mask(*self._column(columns.labeled))
        if columns.groups is not None:
            parts["groups"] = groups(*self._column(columns.groups))
        if columns.label is not None:
            parts["y"] = labels(*self._column(columns.label), self.options.missing)
        return parts | {"feature_names": list(features) if self.header else None}

    def _texts(self, name: str) -> list[str | None]:
        """Return the cells of a column as texts, None where one is missing; dates as they are."""
        column, cells = self.frame[name], self.cells[name]
        if not cells.text or column.dtype.kind == "M":
            return list(column)
        missing = {"", *self.options.missing, *MISSING}
        return [None if text in missing else text for text in cells.text]

    def notes(self, features: Collection[str]) -> list[str]:
        """Return a sentence for each kind of column that is not a feature."""
        notes = []
        kinds = {name: kind for name, kind in self.passed_through.items() if name not in features}
        if kinds:
            places = ", ".join(f"{name!r} ({kind})" for name, kind in kinds.items())
            notes.append(f"columns not used as features: {places}")
            if numbers := [name for name in kinds if not self.cells[name].is_text]:
                notes[-1] += f"; to use a number, pass {option('keep', *numbers)}"
        for name in filter(self._is_feature_despite_name, features):
            how = option("ignore", name)
            notes.append(f"column {name!r} is used as a feature; if it holds labels, pass {how}")
        used = {*features, *kinds}
        if extra := [name for name in self.columns.features if name not in used]:
            notes.append(NOT_IN_EVERY_FILE.format(format_names(extra)))
        return notes

    def _is_feature_despite_name(self, name: str) -> bool:
        """Return whether a column y or target is a feature, because the labels are in another column."""
        named = (*self.options.columns, *self.options.keep)
        return (
            name.casefold() in _FEATURE_NAMES
            and self.options.label is not None
            and name not in named
        )

    def _column(self, name: str) -> tuple[list[Any], Callable[[int], str]]:
        """Return the values of a column, and a function from a row to its location."""
        return self.frame[name].tolist(), lambda row: f"column {name!r}, {self.line(row)}"

    def _check_numbers(self, features: Sequence[str]) -> None:
        """Reject features with cells that are not finite numbers, in one message with advice."""
        imputed = self.options.impute is not None or self.options.encode
        how = {
            "imputed": imputed,
            "filled": imputed and (self.options.fill is not None or self.options.encode),
        }
        problems = {name: self.cells[name].problem(**how) for name in features}
        bad = {name: problem for name, problem in problems.items() if problem is not None}
        if not bad:
            return
        first = list(bad.items())[:_PLACES]
        places = [f"{words} in column {name!r}, {self.line(row)}" for name, (row, words) in first]
        if rest := list(bad)[_PLACES:]:
            places.append(f"and such cells in {', '.join(map(repr, rest))}")
        cells = [self.cells[name] for name in bad]
        # Features that are named, such as those of a model, cannot be left out.
        advice = [] if self.options.columns else [f"leave out columns: {option('ignore', *bad)}"]
        fillable = self.options.fill is not None
        if not imputed and any(
            column.missing.any() and (fillable or not column.missing.all()) for column in cells
        ):
            advice.insert(0, f"fill missing cells: {option('impute', 'median')}")
        if wrong := next((column for column in cells if column.first_wrong), None):
            text = wrong.first_wrong
            if text.isprintable():  # a command line cannot have a NUL character
                advice.insert(0, f"if {text!r:.80} means missing, pass {option('missing', text)}")
            if wrong.has_misplaced_marks:
                mark = str(wrong.thousands)
                advice = [f"thousands={mark!r} must separate groups of three digits"]
                advice[0] += f"; if it is the decimal mark, pass {option('decimal', mark)} instead"
            elif wrong.has_commas:
                advice = [f"if a comma is the decimal mark, pass {option('decimal', ',')}"]
                advice.append(f"if it separates thousands, {option('thousands', ',')}")
        got = f"features must be finite numbers, got {', '.join(places)}"
        raise FileFormatError("; ".join([got, ", or ".join(advice)]) if advice else got)
