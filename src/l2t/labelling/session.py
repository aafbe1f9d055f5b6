"""A labelling session: a target, its labels so far, the rows to label next, and the accuracy to expect."""

from __future__ import annotations

import hashlib
import math
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from l2t.domains import Domain, Table, read_tables, write_domain
from l2t.domains.files import preview_file
from l2t.domains.files.disk import as_path
from l2t.domains.labels import LABEL_NAMES, infer_labels, is_missing, label_key
from l2t.exceptions import InvalidInputError
from l2t.labelling.curve import Estimate, advice
from l2t.labelling.file import LabelFile
from l2t.prediction import Prediction, predict
from l2t.prediction.labelling import DEFAULT_STRATEGY, STRATEGIES, suggest_rows
from l2t.typing import Array, Indices, JsonObject, JsonValue
from l2t.validation import one_of, whole_number

if TYPE_CHECKING:
    import pandas as pd

#: Labels after which the prediction is renewed, and after which it is tried again if there is none yet.
RENEW_AFTER, RENEW_FIRST = 10, 4
#: Rows that are suggested at a time: more than are labelled until the next prediction.
SUGGESTED = 3 * RENEW_AFTER
#: Maximum number of classes, and of characters of a class name.
MAX_CLASSES, MAX_NAME = 100, 200


@dataclass(frozen=True)
class PredictionUpdate:
    """What a prediction tells a session, as plain values: it may come from another process.

    Attributes
    ----------
    estimate : Estimate
        The accuracy to expect with the labels that the prediction had.
    rows : tuple of int
        The rows to label next, the best first.
    sentence : str
        The result in a sentence, or why there is no prediction.
    """

    estimate: Estimate
    rows: tuple[int, ...]
    sentence: str


@dataclass(frozen=True)
class Progress:
    """The state of a session: numbers of rows, and what is known about the accuracy.

    Attributes
    ----------
    n_rows, n_given, n_labelled, n_skipped : int
        All rows, those with a label in the file, those labelled in this session, and those skipped.
    n_labels : int
        All rows with a label.
    classes : tuple of str
        The classes to choose from.
    curve : tuple of Estimate
        The accuracy to expect, by number of labels.
    advice : str
        Whether to go on, in a sentence.
    is_due : bool
        Whether the prediction should be renewed.
    """

    n_rows: int
    n_given: int
    n_labelled: int
    n_skipped: int
    n_labels: int
    classes: tuple[str, ...]
    curve: tuple[Estimate, ...]
    advice: str
    is_due: bool


class LabellingSession:
    r"""Label the rows of a target file that help most; no label is lost when the process ends.

    Each label is written at once to a file beside the target, ``NAME.labels.csv`` (`l2t.labelling.file`); the
    target itself is never changed. A session of the same target continues from that file. Labels of rows that
    the user has not labelled, such as those hidden by a column `labeled`, are never read.

    Parameters
    ----------
    target : str or path
        The file to label, with labels for some rows or for none.
    sources : sequence of str or path, default=()
        Labelled files with the same columns.
    labels : str or path, optional
        The file of labels, by default beside the target.
    strategy : str, default="informative"
        How rows to label are chosen; see `l2t.Prediction.suggest`.
    random_state : int, default=0
        The seed.
    **reading
        How files are read; see `l2t.read_domains`. Without `label`, labels are in the column of that name, or
        in one with a few names in a minority of the rows; if there is none, they are in a new column.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder, "cats.csv")
    ...     _ = target.write_text("weight,label\n1.5,\n1.7,\n6.0,\n6.1,\n")
    ...     session = LabellingSession(target)
    ...     session.label(0, "kitten")
    ...     session.label(2, "cat")
    ...     LabellingSession(target).labels
    {0: 'kitten', 2: 'cat'}
    """

    def __init__(
        self,
        target: str | os.PathLike[str],
        sources: Sequence[str | os.PathLike[str]] = (),
        *,
        labels: str | os.PathLike[str] | None = None,
        strategy: str = DEFAULT_STRATEGY,
        random_state: int = 0,
        **reading: Any,
    ) -> None:
        self.strategy = one_of("strategy", strategy, STRATEGIES)
        self.random_state = whole_number("random_state", random_state, least=0)
        if reading.get("impute") == "drop":
            raise InvalidInputError("impute must not drop rows that can be labelled, got 'drop'")
        reading |= _roles(target, sources, reading)
        *self.sources, self.target = read_tables([*sources, target], **reading | {"encode": True})
        self.given = self.target.labelled.labeled_rows(default=False)
        path = as_path(target)
        beside = path.with_name(f"{path.stem}.labels.csv")
        own = self.target.roles
        kept = [name for name in self.target.frame if name not in (own.label, own.labeled)]
        self._cells = [self.target.frame[name] for name in kept]
        place = beside if labels is None else as_path(labels)
        if place.resolve() == path.resolve():
            raise InvalidInputError(
                f"labels must be another file than the target, got {str(place)!r}"
            )
        self.file = LabelFile(place, len(self.given), self._content)
        self._lock = threading.RLock()
        self._rows: tuple[int, ...] = ()
        self._undone: int | None = None
        self._predicted_at = -1
        #: The arguments that open the same session in another process, as plain values.
        self.arguments: JsonObject = {
            "target": str(path.resolve()),
            "sources": [str(as_path(source).resolve()) for source in sources],
            "labels": str(place.resolve()),
            "random_state": random_state,
        } | reading

    @property
    def labels(self) -> dict[int, str]:
        """The labels given in this session, by row, in the order in which they were given."""
        return self._state()[0]

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the target and, if it has none or shares some with them, those of the sources."""
        return self._classes(self.labels.values())

    @property
    def label_column(self) -> str:
        """The name of the column of labels, which is a new one if the target has none."""
        return self.target.roles.label or _free_name("label", self.target.frame)

    @property
    def progress(self) -> Progress:
        """The numbers of labels, and what they bring."""
        labels, skipped, _ = self._state()
        curve = self._curve()
        n_given = int(self.given.sum())
        n_labels = n_given + sum(not self.given[row] for row in labels)
        wait = RENEW_AFTER if curve else RENEW_FIRST
        return Progress(
            n_rows=len(self.given),
            n_given=n_given,
            n_labelled=len(labels),
            n_skipped=len(skipped),
            n_labels=n_labels,
            classes=self._classes(labels.values()),
            curve=curve,
            advice=advice(curve, len(self.given) - n_labels),
            is_due=self._predicted_at < 0 or n_labels - self._predicted_at >= wait,
        )

    @property
    def domain(self) -> Domain:
        """The target with all labels, those of the file and those given here."""
        y = np.full(len(self.given), None, dtype=object)
        if self.target.domain.y is not None:
            y[self.given] = self.target.domain.y[self.given]
        spelling = {label_key(label): label for label in y[self.given].tolist()}
        for table in self.sources:
            for label in table.domain.classes:
                spelling.setdefault(label_key(label), label)
        for row, name in self.labels.items():
            y[row] = spelling.get(label_key(name), name)
        known = np.array([label is not None for label in y], dtype=bool)
        if not known.any():
            return replace(self.target.domain, X=self.target.domain.rows, y=None, labeled=None)
        (typed,) = infer_labels([y], [known], [True])
        return replace(self.target.domain, X=self.target.domain.rows, y=typed, labeled=known)

    def suggested(self, n: int = 1) -> list[int]:
        """Return up to n rows to label next: those of the last forecast, or else central ones."""
        whole_number("n", n, least=1)
        labels, skipped, _ = self._state()
        done = set(labels) | skipped | set(np.flatnonzero(self.given).tolist())
        with self._lock:
            if not self._rows:
                self._rows = self._first_rows()
            first = () if self._undone is None else (self._undone,)
            rows = [row for row in dict.fromkeys((*first, *self._rows)) if row not in done]
        if len(rows) < n:
            listed = {*rows, *done}
            others = np.random.default_rng(self.random_state).permutation(len(self.given)).tolist()
            rows += [row for row in others if row not in listed]
        if len(rows) < n:  # only skipped rows are left
            rows += [row for row in skipped if row not in labels]
        return rows[:n]

    def label(self, row: int, name: str) -> None:
        """Give a row a label, which may be that of a new class; it is on the disk when this returns."""
        name = self._checked_name(name)
        with self._lock:
            self.file.refresh()
            self.file.append("label", self._checked_row(row), name)

    def skip(self, row: int) -> None:
        """Leave a row without a label; it is suggested again when no other rows are left."""
        with self._lock:
            self.file.refresh()
            self.file.append("skip", self._checked_row(row))

    def undo(self) -> int | None:
        """Undo the last label or skip, and return its row, the next to suggest; None if there is none."""
        with self._lock:
            self.file.refresh()
            done = self._state()[2]
            if not done:
                return None
            self.file.append("undo", done[-1])
            self._undone = done[-1]
            return done[-1]

    def predict(
        self, callback: Callable[[str], None] | None = None
    ) -> tuple[Prediction | None, PredictionUpdate]:
        """Predict all rows with the labels so far; None, and why, if these are too few.

        The forecast takes effect when it is passed to `adopt`.
        """
        domain = self.domain
        n_labels = int(domain.labeled_rows(default=False).sum())
        try:
            prediction = predict(
                [table.domain for table in self.sources],
                domain,
                random_state=self.random_state,
                callback=callback,
            )
        except InvalidInputError as error:
            reason = f"There is no prediction yet: {str(error).rstrip('.')}."
            return None, PredictionUpdate(Estimate(n_labels, None), (), reason)
        used = next((row for row in prediction.report.rows if row.used), None)
        estimate = Estimate(n_labels, None)
        if used is not None:
            estimate = Estimate(n_labels, used.expected, used.low, used.high)
        rows: list[int] = []
        if not prediction.given.all():
            rows = prediction.suggest(
                SUGGESTED, strategy=self.strategy, random_state=self.random_state
            ).tolist()
        return prediction, PredictionUpdate(estimate, tuple(rows), prediction.report.headline)

    def adopt(self, forecast: PredictionUpdate) -> None:
        """Suggest the rows of a forecast, and add its estimate to the curve."""
        with self._lock:
            self._rows = tuple(forecast.rows)
            self._predicted_at = forecast.estimate.n_labels
            if forecast.estimate.expected is not None and forecast.estimate not in self._curve():
                self.file.append("estimate", **asdict(forecast.estimate))

    def cells(self, row: int) -> JsonObject:
        """Return the cells of a row by column, without its label; None where a cell is missing."""
        row = self._checked_row(row)
        return {str(column.name): _cell(column.iloc[row]) for column in self._cells}

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the target with all labels, in its own columns and rows, as csv, parquet or npz.

        An existing file is replaced, but never the target.
        """
        place = as_path(path)
        if place.resolve() == self.target.path.resolve():
            raise InvalidInputError(f"path must be another file than the target, got {str(path)!r}")
        domain = self.domain
        if place.suffix.lower() == ".npz":
            write_domain(domain, place)
        else:
            self._labelled_table(domain).write(place)

    def _labelled_table(self, domain: Domain) -> Table:
        """Return the table with all labels in its label column, which is added if there is none."""
        import pandas as pd

        roles, frame = self.target.roles, self.target.frame
        name = self.label_column
        y = np.full(len(frame), None) if domain.y is None else domain.y
        columns: dict[str, Any] = {name: pd.Series(y, index=frame.index, dtype=object)}
        if roles.labeled is not None:
            columns[roles.labeled] = domain.labeled_rows(default=False).astype(int)
        return replace(
            self.target, roles=replace(roles, label=name), _frame=frame.assign(**columns)
        )

    def _state(self) -> tuple[dict[int, str], set[int], list[int]]:
        """Return the labels and the skipped rows, and the rows of all actions that can be undone."""
        done: list[tuple[int, str | None]] = []
        for record in self.file.records:
            if record.action == "undo":
                del done[-1:]
            elif record.row is not None:
                done.append((record.row, record.label if record.action == "label" else None))
        latest: dict[int, str | None] = {}
        for row, name in done:
            latest.pop(row, None)
            latest[row] = name
        labels = {row: name for row, name in latest.items() if name is not None}
        return (
            labels,
            {row for row, name in latest.items() if name is None},
            [row for row, _ in done],
        )

    def _curve(self) -> tuple[Estimate, ...]:
        """Return the estimates by number of labels; of several with one number, the last."""
        estimates = {
            record.n_labels: Estimate(record.n_labels, record.expected, record.low, record.high)
            for record in self.file.records
            if record.action == "estimate" and record.n_labels is not None
        }
        return tuple(estimates[n_labels] for n_labels in sorted(estimates))

    def _classes(self, names: Iterable[str]) -> tuple[str, ...]:
        names_by_key = {label_key(name): name for name in self._first_classes}
        for name in names:
            names_by_key.setdefault(label_key(name), name)
        return tuple(names_by_key.values())

    @cached_property
    def _first_classes(self) -> tuple[str, ...]:
        """The classes in the files, without those that have no label in this session yet."""
        domain = self.target.domain
        own = [] if domain.y is None else sorted(set(map(str, domain.y[self.given].tolist())))
        others = [str(name) for table in self.sources for name in table.domain.classes]
        keys = {label_key(name) for name in own}
        if not own or any(label_key(name) in keys for name in others):
            own += [name for name in others if label_key(name) not in keys]
        return tuple(own)

    def _checked_row(self, row: int) -> int:
        row = whole_number("row", row, least=0)
        if row >= len(self.given):
            raise InvalidInputError(f"row must be below {len(self.given)}, got {row}")
        return row

    def _checked_name(self, name: str) -> str:
        """Return the name of a class as it is spelled already, or of a new one."""
        text = " ".join(name.split()) if name.isprintable() else ""
        if not 0 < len(text) <= MAX_NAME:
            rule = f"must be one line of 1 to {MAX_NAME} characters"
            raise InvalidInputError(f"the name of a class {rule}, got {name!r:.80}")
        known = {label_key(name): name for name in self.classes}
        if label_key(text) not in known and len(known) >= MAX_CLASSES:
            raise InvalidInputError(
                f"there may be at most {MAX_CLASSES} classes, got {text!r:.80} as a further one"
            )
        return known.get(label_key(text), text)

    def _first_rows(self) -> tuple[int, ...]:
        """Return rows to label before there is a prediction: all are equally uncertain."""
        rows, uncertain = self.target.domain.rows, np.full((len(self.given), 2), 0.5)
        if self.given.all():
            return ()

        def features(some: Indices) -> Array:
            Z = np.asarray(
                rows[some].toarray() if sparse.issparse(rows) else rows[some], dtype=np.float64
            )
            deviations = Z.std(axis=0)
            return np.asarray((Z - Z.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0))

        chosen = suggest_rows(
            features, uncertain, self.given, SUGGESTED, self.strategy, self.random_state
        )
        return tuple(chosen.tolist())

    def _content(self, row: int) -> str:
        """Return a hash of the cells of a row; "r" keeps spreadsheets from reading it as a number."""
        cells = [str(_cell(column.iloc[row])) for column in self._cells]
        if not cells:  # those of a wide sparse matrix are in no frame
            some = self.target.domain.rows[[row]].tocoo()
            cells = [str(some.col.tolist()), str(some.data.tolist())]
        text = "\x1f".join(cells).encode("utf-8", "surrogatepass")
        return f"r{hashlib.blake2b(text, digest_size=6).hexdigest()}"


def _roles(
    target: str | os.PathLike[str],
    sources: Sequence[str | os.PathLike[str]],
    reading: dict[str, Any],
) -> JsonObject:
    """Return the label column of a target if it is not named, or the features of one that has no labels."""
    if any(reading.get(name) for name in ("label", "features", "per_file")):
        return {}
    preview = preview_file(target)
    for column in preview.columns:
        if column.role == "label" and (
            column.name.casefold() in LABEL_NAMES or 2 * column.n_missing > preview.n_rows
        ):
            return {"label": column.name}
    if sources or not preview.columns:
        return {}
    others = {reading.get("labeled"), reading.get("groups"), *reading.get("ignore", ())}
    return {
        "features": [
            column.name
            for column in preview.columns
            if column.role in ("feature", "label") and column.name not in others
        ]
    }


def _cell(value: object) -> JsonValue:
    """Return a cell as None, a bool, a number or a text."""
    value = value.item() if isinstance(value, np.generic) else value
    if is_missing(value):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, bool | int | float | str) else str(value)


def _free_name(name: str, frame: pd.DataFrame) -> str:
    while name in frame.columns:
        name += "_"
    return name
