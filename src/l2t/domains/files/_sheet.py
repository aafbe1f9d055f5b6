"""A sheet of columns from csv, xlsx or parquet, and the domain that some of them make."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from l2t.domains.domain import is_missing
from l2t.domains.files._cells import Cells
from l2t.domains.files._columns import Columns, Names, listed, option
from l2t.domains.files._labels import groups, infer, labels, mask
from l2t.exceptions import FileFormatError

__all__ = ["Sheet"]

_GUARDED = {"labeled": "labeled", "groups": "groups"}
_GUARDED |= dict.fromkeys(("label", "labels", "class", "target", "y"), "label")
_PLACES = (
    3  # columns of which an error names the line: each is counted from the beginning of the file
)


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
        if self.frame.empty:
            raise FileFormatError("has a header but no rows")
        features = self.columns.features
        return {name: Cells.of(self.frame[name], self.names) for name in features}

    @cached_property
    def passed_through(self) -> dict[str, str]:
        """The columns without a role that are no features: "id" or "text" by name."""
        found = {}
        for name in self.cells.keys() - {*self.names.columns, *self.names.keep}:
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
        return {name: found[name] for name in self.columns.features if name in found}

    def refuse_text(self) -> None:
        """Reject a column of text where nobody has said which column holds the labels."""
        for name in (name for name, kind in self.passed_through.items() if kind == "text"):
            raise FileFormatError(
                f"column {name!r}, {self.line(0)}: {self.frame[name].iloc[0]!r:.80} is not a number; if "
                f"these are the labels, say {option('label', name)}, else {option('ignore', name)}"
            )

    def parts(self, features: Sequence[str]) -> dict[str, Any]:
        """Return the arguments of `Domain`; NaN where a cell is to be imputed."""
        self._refuse_cells(features)
        kinds = {str(self.frame[name].dtype).lower() for name in features}
        X = np.column_stack([self.cells[name].numbers for name in features])
        parts: dict[str, Any] = {
            "X": X.astype(np.float32) if kinds <= {"float16", "float32"} else X
        }
        parts["feature_names"] = list(features) if self.header else None
        columns, missing = self.columns, self.names.missing_texts
        if columns.labeled is not None:
            parts["labeled"] = mask(*self._column(columns.labeled))
        if columns.groups is not None:
            parts["groups"] = groups(*self._column(columns.groups, {""}))
        if columns.label is not None:
            parts["y"] = labels(*self._column(columns.label, missing))
        return parts

    def notes(self, features: Collection[str]) -> list[str]:
        """Return sentences about columns that are no features, and labels that are missing."""
        notes, kinds = [], self.passed_through
        if kinds:
            told = ", ".join(f"{name!r} ({kind})" for name, kind in kinds.items())
            numbers = [name for name in kinds if not self.cells[name].is_text]
            keep = (
                f"; to keep a number, say {option('keep', *numbers, flag='feature')}"
                if numbers
                else ""
            )
            notes.append(f"columns that are no features: {told}{keep}")
        if extra := [name for name in self.columns.features if name not in {*features, *kinds}]:
            notes.append(
                f"columns left out, as they are no features of every file: {listed(extra)}"
            )
        if self.columns.label is not None:
            texts = self.frame[self.columns.label].dropna().astype(str).str.strip()
            counts = texts[texts.isin(self.names.missing_texts - {""})].value_counts()
            told = ", ".join(f"{text!r} ({count} rows)" for text, count in counts.items())
            notes += [f"labels taken as missing: {told}"] if told else []
        return notes

    def _column(
        self, name: str, missing: Collection[str] | None = None
    ) -> tuple[list[Any], Callable[[int], str]]:
        """Return the values of a column, None where one is missing, and where a row is."""
        values = self.frame[name].astype(object).tolist()
        if missing is not None:
            gone = [is_missing(value) or str(value).strip() in missing for value in values]
            if self.untyped:
                values = infer(
                    ["" if out else cell for cell, out in zip(values, gone, strict=True)]
                )
            values = [None if out else value for value, out in zip(values, gone, strict=True)]
        return values, lambda row: f"column {name!r}, {self.line(row)}"

    def _refuse_cells(self, features: Sequence[str]) -> None:
        """Reject all columns with cells that are no numbers in one sentence, with what helps."""
        imputed = self.names.impute is not None
        found = {name: self.cells[name].problem(imputed=imputed) for name in features}
        bad = {name: problem for name, problem in found.items() if problem is not None}
        if not bad:
            return
        first = list(bad.items())[:_PLACES]
        told = [f"{words} in column {name!r}, {self.line(row)}" for name, (row, words) in first]
        if rest := list(bad)[_PLACES:]:
            told.append(f"and such cells in {', '.join(map(repr, rest))}")
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
            f"features must be finite numbers, got {', '.join(told)}; {', or '.join(advice)}"
        )
