"""A sheet of columns from csv, xlsx or parquet, and the domain that some of them make."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from l2t.domains.domain import is_missing
from l2t.domains.files._cells import Cells
from l2t.domains.files._columns import Columns, Names, option
from l2t.domains.files._labels import groups, infer, labels, mask
from l2t.exceptions import FileFormatError
from l2t.typing import AnyArray

__all__ = ["Sheet"]

_LABEL_NAMES = ("label", "labels", "class", "target", "y")
_PLACES = 3  # lines that an error looks up: each is counted from the beginning of the file


@dataclass(frozen=True, eq=False)
class Sheet:
    """A frame with all columns of a file, and the roles of the columns.

    Attributes
    ----------
    frame : DataFrame
        The columns of the file, in their order.
    columns : Columns
        Their roles; a column that is listed as a feature may turn out to be text, or an id.
    names : Names
        What the caller said.
    line : callable
        From a row to where it is in the file, such as "line 3".
    header : bool
        Whether the columns have names.
    untyped : bool
        Whether the type of labels must be inferred from their text.
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
        return {name: Cells.of(self.frame[name], self.names) for name in self.columns.features}

    @cached_property
    def passed_through(self) -> dict[str, str]:
        """The columns without a role that cannot be features: "id" or "text" by name."""
        found = {}
        named = {*self.names.columns, *self.names.keep}
        for name, cells in self.cells.items():
            if name in named:
                continue
            if cells.is_id(first=name == self.frame.columns[0] and len(self.cells) > 1):
                found[name] = "id"
            elif cells.is_text:
                found[name] = "text"
            elif self.header and name.casefold() in _LABEL_NAMES:
                raise FileFormatError(
                    f"column {name!r} holds numbers and may be the label: say {option('label', name)} "
                    f"if it is, {option('keep', name, flag='feature')} if it is a feature, else "
                    f"{option('ignore', name)}"
                )
        return found

    def refuse_text(self) -> None:
        """Reject a column of text where nobody has said which column holds the labels."""
        for name, kind in self.passed_through.items():
            if kind == "text":
                raise FileFormatError(
                    f"column {name!r}, {self.line(0)}: {self.frame[name].iloc[0]!r:.80} is not a number; "
                    f"if these are the labels, say {option('label', name)}, else {option('ignore', name)}"
                )

    def parts(self, features: Sequence[str]) -> dict[str, Any]:
        """Return the arguments of `Domain`; NaN where a cell is to be imputed."""
        self._refuse_cells(features)
        parts: dict[str, Any] = {
            "X": self._matrix(features),
            "feature_names": list(features) if self.header else None,
        }
        columns = self.columns
        if columns.labeled is not None:
            parts["labeled"] = mask(*self._column(columns.labeled))
        for role, name, check in (("groups", columns.groups, groups), ("y", columns.label, labels)):
            if name is not None:
                missing = self.names.missing_texts if role == "y" else ("",)
                parts[role] = check(*self._column(name, missing))
        return parts

    def missing_labels(self) -> dict[str, int]:
        """Return how often each text but the empty one stands for a missing label."""
        if self.columns.label is None:
            return {}
        texts = self.frame[self.columns.label].dropna().astype(str).str.strip()
        counts = texts[texts.isin(self.names.missing_texts - {""})].value_counts()
        return {str(text): int(count) for text, count in counts.items()}

    def _column(
        self, name: str, missing: Collection[str] | None = None
    ) -> tuple[list[Any], Callable[[int], str]]:
        """Return the values of a column, None where one is missing, and where a row is."""
        values = self.frame[name].astype(object).tolist()
        if missing is not None:
            gone = [is_missing(value) or str(value).strip() in missing for value in values]
            if self.untyped:
                self._refuse_padded(values, name)
                values = infer(
                    ["" if out else each for each, out in zip(values, gone, strict=True)]
                )
            values = [None if out else each for each, out in zip(values, gone, strict=True)]
        return values, lambda row: f"column {name!r}, {self.line(row)}"

    def _matrix(self, features: Sequence[str]) -> AnyArray:
        kinds = [str(self.frame[name].dtype).lower() for name in features]
        single = all(kind in ("float16", "float32") for kind in kinds)
        X = np.empty((len(self.frame), len(features)), np.float32 if single else np.float64)
        for position, name in enumerate(features):
            X[:, position] = self.cells[name].numbers
        return X

    def _refuse_cells(self, features: Sequence[str]) -> None:
        """Reject all columns with cells that are no numbers in one sentence, with what helps."""
        imputed = self.names.impute is not None
        found = {name: self.cells[name].problem(imputed=imputed) for name in features}
        bad = {name: problem for name, problem in found.items() if problem is not None}
        if not bad:
            return
        told = [
            f"{words} in column {name!r}, {self.line(row)}"
            for name, (row, words) in list(bad.items())[:_PLACES]
        ]
        if len(bad) > _PLACES:
            told.append(f"and such cells in {', '.join(map(repr, list(bad)[_PLACES:]))}")
        advice = self._advice([self.cells[name] for name in bad], imputed=imputed)
        raise FileFormatError(f"features must be finite numbers, got {', '.join(told)}; {advice}")

    def _advice(self, bad: Sequence[Cells], *, imputed: bool) -> str:
        """Return the options that help with cells that are no numbers."""
        advice = []
        wrong = next((each for each in bad if each.wrong.any() and each.text), None)
        if wrong is not None and wrong.has_commas:
            decimal, thousands = option("decimal", ","), option("thousands", ",")
            return f"if a comma is the decimal mark, say {decimal}, if it separates thousands, {thousands}"
        if wrong is not None:
            text = (wrong.text or [""])[int(wrong.wrong.argmax())]
            advice.append(f"if {text!r:.80} means missing, say {option('missing', text)}")
        if not imputed and any(each.missing.any() and not each.missing.all() for each in bad):
            advice.append(f"fill missing cells: {option('impute', 'median')}")
        out = "it" if len(bad) == 1 else "these columns"
        advice.append(f"leave {out} out: {option('ignore', *(each.name for each in bad))}")
        return ", or ".join(advice)

    def _refuse_padded(self, cells: Sequence[str], name: str) -> None:
        """Reject labels that differ only in the blanks around them: nobody means two classes."""
        seen: dict[str, tuple[str, int]] = {}
        for row, cell in enumerate(cells):
            other, above = seen.setdefault(cell.strip(), (cell, row))
            if other != cell and cell.strip():
                raise FileFormatError(
                    f"column {name!r}: {other!r:.60} ({self.line(above)}) and {cell!r:.60} "
                    f"({self.line(row)}) differ in blanks alone: write them the same way"
                )
