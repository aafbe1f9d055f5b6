"""Numbers from the columns of a table: numbers with missing cells, categories, dates and text.

What a column holds is decided by the cells of all tables together, without any label:

==========  ================================================================================================
kind        features
==========  ================================================================================================
number      ``(x - mean) / deviation``; missing cells are the median, and marked by a further 0 or 1
category    0 or 1 for each category, of at most 40; an unknown or missing one is 0 for all
date        time, month, weekday and hour, as numbers
text        the leading directions (SVD) of TF-IDF: of words, or of letters if cells have fewer than 3 words;
            of words also the embedding by a sentence encoder of the user. Columns of words are multiplied by
            one number, so that together they count as much as all other columns
==========  ================================================================================================

Columns with a single value, and texts that are all different names (ids), are left out. An encoder does not
depend on the order of rows, and is saved as names, numbers and arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from decimal import Decimal
from functools import lru_cache
from numbers import Number
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from l2t.exceptions import InvalidInputError, MissingExtraError
from l2t.typing import AnyArray, Array

#: A text column with more different values is not one of categories; as in skrub's TableVectorizer.
MAX_CATEGORIES = 40
#: Mean number of words of a cell from which words are counted instead of letters.
MIN_WORDS = 3.0
#: Maximum numbers of words or groups of letters, of directions for words and for letters, and of different
#: texts that they are fitted to.
MAX_TERMS = 4000
WORD_DIRECTIONS = 200
LETTER_DIRECTIONS = 30
MAX_TEXTS = 20_000
#: Directions of smaller singular values, relative to the largest, are rounding.
RANK = 1e-8
#: Formats of dates in text; the first one that all cells have is used.
DATE_FORMATS = ("ISO8601", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y")
_DAY = 86_400.0


def is_frame(X: Any) -> bool:
    """Return whether X is a DataFrame of pandas or polars."""
    return hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "to_pandas"))


def needs_encoding(X: Any) -> bool:
    """Return whether X is a frame with columns that are not numbers, or with missing cells.

    >>> import pandas as pd
    >>> needs_encoding(pd.DataFrame({"size": [1, 2]})), needs_encoding(pd.DataFrame({"size": ["S", "L"]}))
    (False, True)
    """
    if not is_frame(X):
        return False
    frame = as_pandas(X)
    for position in range(frame.shape[1]):
        cells = cells_of(frame.iloc[:, position])
        if cells.dtype == object or cells.dtype.kind == "M" or np.isnan(cells).any():
            return True
    return False


def as_pandas(X: Any) -> Any:
    """Return a frame of polars as one of pandas; one of pandas unchanged."""
    return X if hasattr(X, "iloc") else X.to_pandas()


def cells_of(column: Any) -> AnyArray:
    """Return a column of pandas as an array of floats (NaN), datetimes (NaT) or texts (None) with gaps.

    >>> import pandas as pd
    >>> cells_of(pd.Series([True, None])), cells_of(pd.Series(["a", None]))
    (array([ 1., nan]), array(['a', None], dtype=object))
    """
    import pandas as pd

    types = pd.api.types
    if types.is_datetime64_any_dtype(column):
        utc = pd.to_datetime(column, utc=True).dt.tz_localize(None)
        return np.asarray(utc.to_numpy("datetime64[s]"))
    if types.is_timedelta64_dtype(column):
        return np.asarray(column.dt.total_seconds().to_numpy(np.float64))
    if types.is_numeric_dtype(column) and not types.is_complex_dtype(column):
        return np.asarray(column.to_numpy(np.float64, na_value=np.nan))
    missing = column.isna().to_numpy()
    known = column.to_numpy(object)[~missing].tolist()
    if all(isinstance(cell, Number | Decimal) and not isinstance(cell, complex) for cell in known):
        return _with_gaps(np.array(known, dtype=np.float64), missing, np.nan)
    if all(isinstance(cell, date) for cell in known):
        dates = pd.to_datetime(pd.Series(known, dtype=object), utc=True).dt.tz_localize(None)
        return _with_gaps(dates.to_numpy("datetime64[s]"), missing, np.datetime64("NaT"))
    texts = np.array([str(cell).strip() for cell in known], dtype=object)
    cells = _with_gaps(texts, missing, None)
    cells[cells == ""] = None
    return cells


def _with_gaps(known: AnyArray, missing: AnyArray, gap: Any) -> AnyArray:
    cells = np.full(len(missing), gap, dtype=known.dtype)
    cells[~missing] = known
    return cells


def _is_missing(cells: AnyArray) -> AnyArray:
    if cells.dtype == object:
        return np.array([cell is None for cell in cells], dtype=bool)
    return np.asarray(np.isnat(cells) if cells.dtype.kind == "M" else np.isnan(cells))


def _as_text(cells: AnyArray) -> AnyArray:
    """Return cells of any kind as texts, None where a cell is missing."""
    if cells.dtype == object:
        return cells
    texts = [f"{cell:g}" if cells.dtype.kind == "f" else str(cell) for cell in cells]
    return np.where(_is_missing(cells), np.array(None), np.array(texts, dtype=object))


@dataclass(frozen=True, eq=False)
class ColumnEncoding(ABC):
    """How one column of a table becomes features.

    A subclass is a kind of column: its fields are names, numbers, lists of them and arrays, which are all
    that is saved.
    """

    kind: ClassVar[str]
    name: str

    @classmethod
    @abstractmethod
    def fit(cls, name: str, cells: AnyArray) -> ColumnEncoding | None:
        """Return the encoding of cells of all tables; None if the column is not of this kind."""

    @property
    def holds_words(self) -> bool:
        """Whether cells are texts of several words."""
        return False

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features."""

    @abstractmethod
    def transform(self, cells: AnyArray) -> Array:
        """Return the features (n, k) of cells, as `cells_of` returns them.

        They may be of another kind than those of `fit`: cells that are all missing are numbers.
        """


@dataclass(frozen=True, eq=False)
class NumberColumn(ColumnEncoding):
    """Numbers, divided by their standard deviation."""

    kind = "number"
    mean: float
    deviation: float
    median: float
    #: Whether a cell was missing in the tables that the encoder was fitted to.
    marks_missing: bool

    @classmethod
    def fit(cls, name: str, cells: AnyArray) -> NumberColumn | None:
        """Return the encoding of numbers; None for other cells."""
        if cells.dtype.kind != "f":
            return None
        if np.isinf(cells).any():
            raise InvalidInputError(f"X must be finite, got an infinite number in column {name!r}")
        known = np.sort(cells[~np.isnan(cells)])  # so that sums do not depend on the order of rows
        scale = float(np.abs(known).max(initial=0.0)) or 1.0
        mean, deviation = (
            scale * float((known / scale).mean()),
            scale * float((known / scale).std()),
        )
        gaps = len(known) < len(cells)
        return cls(name, mean, deviation or 1.0, float(np.median(known)), gaps)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The name of the column, and of the mark of missing cells."""
        return (self.name, f"{self.name} is missing") if self.marks_missing else (self.name,)

    def transform(self, cells: AnyArray) -> Array:
        """Return the scaled numbers; a cell that is not a number counts as missing."""
        numbers = _as_numbers(cells)
        missing = ~np.isfinite(numbers)
        scaled = (np.where(missing, self.median, numbers) - self.mean) / self.deviation
        return np.column_stack([scaled, missing] if self.marks_missing else [scaled])


def _as_numbers(cells: AnyArray) -> Array:
    if cells.dtype.kind == "f":
        return cells
    import pandas as pd

    texts = pd.Series(_as_text(cells), dtype=object)
    return np.asarray(pd.to_numeric(texts, errors="coerce").to_numpy(np.float64))


@dataclass(frozen=True, eq=False)
class DateColumn(ColumnEncoding):
    """Dates and times, as parts that are scaled like numbers."""

    kind = "date"
    #: The format of dates in text; empty for columns of dates.
    format: str
    parts: tuple[str, ...]
    means: Array
    deviations: Array

    @classmethod
    def fit(cls, name: str, cells: AnyArray) -> DateColumn | None:
        """Return the encoding of dates, also in text; None for other cells."""
        format = ""
        if cells.dtype == object:
            format = _date_format(cells[~_is_missing(cells)])
        if cells.dtype.kind != "M" and not format:
            return None
        every = cls(
            name, format, _DATE_PARTS, np.zeros(len(_DATE_PARTS)), np.ones(len(_DATE_PARTS))
        )
        values = np.sort(every.transform(cells)[~np.isnat(every._dates(cells))], axis=0)
        varies = values.std(axis=0) > 0
        parts = tuple(part for part, keep in zip(_DATE_PARTS, varies, strict=True) if keep)
        return cls(name, format, parts, values.mean(axis=0)[varies], values.std(axis=0)[varies])

    def _dates(self, cells: AnyArray) -> AnyArray:
        if cells.dtype.kind == "M":
            return cells
        return _parse_dates(_as_text(cells), self.format or DATE_FORMATS[0])

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The name of the column with that of each part."""
        return tuple(f"{self.name} ({part})" for part in self.parts)

    def transform(self, cells: AnyArray) -> Array:
        """Return the scaled parts; those of a missing date are 0, their mean."""
        import pandas as pd

        dates = self._dates(cells)
        times = pd.DatetimeIndex(dates)
        values = {
            "time": dates.astype("datetime64[s]").astype(np.int64) / _DAY,
            "month": times.month,
            "weekday": times.day_of_week,
            "hour": times.hour + times.minute / 60,
        }
        parts = np.column_stack([np.asarray(values[part], dtype=np.float64) for part in self.parts])
        scaled = (parts - self.means) / self.deviations
        return np.where(np.isnat(dates)[:, None], 0.0, scaled)


_DATE_PARTS = ("time", "month", "weekday", "hour")


def _parse_dates(texts: AnyArray, format: str) -> AnyArray:
    """Return the dates in texts, NaT where a text is not one."""
    import pandas as pd

    dates = pd.to_datetime(pd.Series(texts, dtype=object), format=format, errors="coerce", utc=True)
    return np.asarray(dates.dt.tz_localize(None).to_numpy("datetime64[s]"))


def _date_format(texts: AnyArray) -> str:
    """Return the format of texts that are all dates with year, month and day; empty if they are not."""
    texts = np.unique(texts)
    for text in texts:
        # A number such as 20240101, or a year alone, is not a date.
        if len(text) < 8 or text.isdigit() or not text[:2].strip("/.-").isdigit():
            return ""
    formats = DATE_FORMATS if len(texts) else ()
    return next(
        (pattern for pattern in formats if not np.isnat(_parse_dates(texts, pattern)).any()), ""
    )


@dataclass(frozen=True, eq=False)
class CategoryColumn(ColumnEncoding):
    """Texts of few different values."""

    kind = "category"
    categories: tuple[str, ...]

    @classmethod
    def fit(cls, name: str, cells: AnyArray) -> CategoryColumn | None:
        """Return the encoding of at most 40 categories; None for more, and for other cells."""
        if cells.dtype != object:
            return None
        categories = sorted({cell for cell in cells if cell is not None})
        return cls(name, tuple(categories)) if len(categories) <= MAX_CATEGORIES else None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The name of the column with that of each category."""
        return tuple(f"{self.name}={category}" for category in self.categories)

    def transform(self, cells: AnyArray) -> Array:
        """Return 1 for the category of each cell and 0 for the others."""
        place = {category: position for position, category in enumerate(self.categories)}
        positions = np.array([place.get(cell, -1) for cell in _as_text(cells)], dtype=np.intp)
        return np.asarray(positions[:, None] == np.arange(len(place)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class TextColumn(ColumnEncoding):
    """Texts of many different values."""

    kind = "text"
    #: Whether words are counted, or else groups of three and four letters.
    words: bool
    terms: tuple[str, ...]
    #: The weight of each term, and the directions (terms, k).
    idf: Array
    directions: Array

    @classmethod
    def fit(cls, name: str, cells: AnyArray) -> TextColumn | None:
        """Return the encoding of texts; None for other cells, and for texts without a term."""
        if cells.dtype != object:
            return None
        from sklearn.utils.extmath import randomized_svd  # slow to import

        texts = sorted(cell for cell in cells if cell is not None)
        texts = texts[:: -(-len(texts) // MAX_TEXTS)]
        words = float(np.mean([len(text.split()) for text in texts])) >= MIN_WORDS
        vectorizer = _vectorizer(words)
        try:
            counts = vectorizer.fit_transform(texts)
        except ValueError:  # scikit-learn found no term
            return None
        n_directions = min(WORD_DIRECTIONS if words else LETTER_DIRECTIONS, *counts.shape)
        _, values, directions = randomized_svd(counts, n_directions, random_state=0)
        directions = directions[values > RANK * values[0]].T
        directions[np.abs(directions) < RANK] = 0.0  # rounding of terms that do not point there
        terms = tuple(vectorizer.get_feature_names_out().tolist())
        return cls(name, words, terms, vectorizer.idf_, np.ascontiguousarray(directions))

    @property
    def holds_words(self) -> bool:
        """Whether words are counted."""
        return self.words

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The name of the column with the number of each direction."""
        return tuple(f"{self.name} [{place}]" for place in range(1, self.directions.shape[1] + 1))

    def transform(self, cells: AnyArray) -> Array:
        """Return TF-IDF in the leading directions; a missing text is 0."""
        vectorizer = _vectorizer(self.words, self.terms)
        vectorizer.idf_ = self.idf
        texts = ["" if text is None else text for text in _as_text(cells)]
        return np.asarray(vectorizer.transform(texts) @ self.directions)


def _vectorizer(words: bool, terms: Sequence[str] | None = None) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

    shape: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (3, 4)}
    if words:
        shape = {"ngram_range": (1, 1)}
    if terms is not None:
        return TfidfVectorizer(vocabulary=terms, sublinear_tf=True, **shape)
    return TfidfVectorizer(max_features=MAX_TERMS, sublinear_tf=True, **shape)


@dataclass(frozen=True, eq=False)
class EmbeddedTextColumn(ColumnEncoding):
    """Texts as embeddings of norm 1, by a model of sentence-transformers that the user has."""

    kind = "embedded text"
    #: The folder of the model, or its name if it was downloaded before.
    model: str
    n_features: int

    @classmethod
    def fit(cls, name: str, cells: AnyArray, model: str = "") -> EmbeddedTextColumn | None:
        """Return the encoding of texts by a model; None for other cells."""
        if cells.dtype != object:
            return None
        place = str(Path(model).resolve()) if Path(model).exists() else model
        return cls(name, place, _embeddings(place, ["text"]).shape[1])

    @property
    def holds_words(self) -> bool:
        """True: other texts are not embedded."""
        return True

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The name of the column with the number of each direction."""
        return tuple(f"{self.name} [{place}]" for place in range(1, self.n_features + 1))

    def transform(self, cells: AnyArray) -> Array:
        """Return the embeddings; that of a missing text is 0."""
        texts = _as_text(cells)
        features, known = np.zeros((len(texts), self.n_features)), ~_is_missing(texts)
        if known.any():
            features[known] = _embeddings(self.model, texts[known].tolist())
        return features


def _embeddings(model: str, texts: list[str]) -> Array:
    encoder = _sentence_encoder(model)
    return np.asarray(
        encoder.encode(texts, normalize_embeddings=True, show_progress_bar=False), np.float64
    )


@lru_cache(maxsize=1)
def _sentence_encoder(model: str) -> Any:
    """Load a model from disk; nothing is downloaded."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingExtraError("text_encoder", "text") from None
    try:
        return SentenceTransformer(model, local_files_only=True)
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            "text_encoder must be the folder of a model of sentence-transformers, or the name of one that "
            f"was downloaded before, got {model!r}"
        ) from error


#: Kinds of columns, in the order in which they are tried.
KINDS: tuple[type[ColumnEncoding], ...] = (NumberColumn, DateColumn, CategoryColumn, TextColumn)
#: Kinds that a file may have.
SAVED_KINDS: tuple[type[ColumnEncoding], ...] = (*KINDS, EmbeddedTextColumn)


@dataclass(frozen=True, eq=False)
class TableEncoder:
    """An encoder of tables, fitted to the rows of all domains together without their labels.

    Attributes
    ----------
    columns : tuple of ColumnEncoding
        How each column becomes features.
    left_out : mapping of str to str
        The columns that are not used, and why: "constant" or "id".
    n_missing : mapping of str to int
        The number of missing cells of each column that has some.
    """

    columns: tuple[ColumnEncoding, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    n_missing: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def fit(
        cls, tables: Sequence[Any], *, keep: Iterable[str] = (), text_encoder: str | None = None
    ) -> TableEncoder:
        """Fit an encoder to tables with the same columns.

        Parameters
        ----------
        tables : sequence of pandas or polars DataFrames
            The tables; the last one, of the target, has the order of the columns.
        keep : iterable of str, default=()
            Columns that are used although they look like ids.
        text_encoder : str or None, default=None
            The folder of a model of sentence-transformers, or the name of one that was downloaded before,
            which makes features of texts of several words; None for TF-IDF.

        Returns
        -------
        TableEncoder

        Raises
        ------
        InvalidInputError
            A table lacks a column of the last one, no column has two different values, or there is no such
            text encoder.
        MissingExtraError
            The text encoder needs sentence-transformers, which is not installed.

        Examples
        --------
        >>> import pandas as pd
        >>> shop = pd.DataFrame({"price": [3.0, None, 5.0], "size": ["S", "L", "S"]})
        >>> encoder = TableEncoder.fit([shop])
        >>> encoder.feature_names
        ('price', 'price is missing', 'size=L', 'size=S')
        >>> encoder.transform(pd.DataFrame({"size": ["XL"], "price": [4.0]}))
        array([[0., 0., 0., 0.]])
        """
        frames = [_named_columns(table) for table in tables]
        columns: list[ColumnEncoding] = []
        left_out: dict[str, str] = {}
        n_missing: dict[str, int] = {}
        for name in frames[-1]:
            cells = _joined([cells_of(_column(frame, name)) for frame in frames])
            missing = _is_missing(cells)
            if gaps := int(missing.sum()):
                n_missing[name] = gaps
            reason = _reason_to_leave_out(cells, missing)
            if reason and not (reason == "id" and name in set(keep)):
                left_out[name] = reason
                continue
            encodings = (kind.fit(name, cells) for kind in KINDS)
            encoding = next((encoding for encoding in encodings if encoding is not None), None)
            if text_encoder is not None and encoding is not None and encoding.holds_words:
                encoding = EmbeddedTextColumn.fit(name, cells, text_encoder)
            if encoding is None:
                left_out[name] = "id"
            else:
                columns.append(encoding)
        if not columns:
            raise InvalidInputError(
                f"X must have a column with two different values, got {', '.join(left_out) or 'none'}"
            )
        return cls(tuple(columns), left_out, n_missing)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of a table that are used."""
        return tuple(column.name for column in self.columns)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The distinct names of the features."""
        names: dict[str, None] = {}
        for column in self.columns:
            for name in column.feature_names:
                while name in names:
                    name += "_"
                names[name] = None
        return tuple(names)

    def transform(self, table: Any) -> Array:
        """Return the features of a table.

        Parameters
        ----------
        table : pandas or polars DataFrame
            A table with the columns that the encoder uses, in any order; others are ignored.

        Returns
        -------
        array of shape (n, n_features)
        """
        frame = _named_columns(table)
        n_texts = sum(column.holds_words for column in self.columns)
        # A number has variance 1, and a text of words norm 1.
        weight = np.sqrt(max((len(self.columns) - n_texts) / max(n_texts, 1), 1.0))
        parts = []
        for column in self.columns:
            features = column.transform(cells_of(_column(frame, column.name)))
            parts.append(weight * features if column.holds_words else features)
        return np.hstack(parts)

    def describe(self) -> list[dict[str, Any]]:
        """Return a record for each column of a table: what it is, and how many features it becomes."""
        used = [
            {"column": column.name, "kind": column.kind, "features": len(column.feature_names)}
            for column in self.columns
        ]
        others = [
            {"column": name, "kind": reason, "features": 0}
            for name, reason in self.left_out.items()
        ]
        return [
            record | {"missing": self.n_missing.get(str(record["column"]), 0)}
            for record in used + others
        ]

    def sentences(self) -> list[str]:
        """Return what was done to the columns that are not plain numbers, in words."""
        by_kind: dict[str, list[str]] = {}
        for column in self.columns:
            by_kind.setdefault(column.kind, []).append(column.name)
        words = [
            f"{kind}: {', '.join(names)}" for kind, names in by_kind.items() if kind != "number"
        ]
        words += [f"{name} left out ({reason})" for name, reason in self.left_out.items()]
        sentences = [f"Columns: {'; '.join(words)}."] if words else []
        filled = {name: n for name, n in self.n_missing.items() if name in self.names}
        if filled:
            total = sum(filled.values())
            sentences.append(
                f"Missing cells: {total} in {', '.join(filled)}; missing numbers are filled with the "
                "median and marked."
            )
        return sentences

    def to_parts(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Return the content as values for JSON, and arrays by name."""
        records: list[dict[str, Any]] = []
        arrays: dict[str, AnyArray] = {}
        for place, column in enumerate(self.columns):
            record: dict[str, Any] = {"kind": column.kind}
            for part in fields(column):
                value = getattr(column, part.name)
                if isinstance(value, np.ndarray):
                    arrays[f"{part.name}-{place}"] = value
                else:
                    record[part.name] = value
            records.append(record)
        return {
            "columns": records,
            "left_out": dict(self.left_out),
            "n_missing": dict(self.n_missing),
        }, arrays

    @classmethod
    def from_parts(cls, content: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Self:
        """Return the encoder from what `to_parts` returns; raise a ValueError if that is invalid."""
        kinds = {kind.kind: kind for kind in SAVED_KINDS}
        columns = []
        for place, record in enumerate(content["columns"]):
            kind = kinds[record["kind"]]
            values: dict[str, Any] = {}
            for part in fields(kind):
                value = record[part.name] if part.name in record else arrays[f"{part.name}-{place}"]
                values[part.name] = tuple(value) if isinstance(value, list) else value
            columns.append(kind(**values))
        encoder = cls(tuple(columns), dict(content["left_out"]), dict(content["n_missing"]))
        import pandas as pd

        empty = encoder.transform(pd.DataFrame({name: [None] for name in encoder.names}))
        if (
            not columns
            or empty.shape != (1, len(encoder.feature_names))
            or not np.isfinite(empty).all()
        ):
            raise ValueError("its columns do not fit together")
        return encoder


def _named_columns(table: Any) -> Any:
    """Return a table as a pandas frame whose columns have distinct names."""
    if not is_frame(table):
        raise InvalidInputError(
            f"X must be a DataFrame, as its columns are not all numbers, got {type(table).__name__}"
        )
    frame = as_pandas(table)
    names = [str(label) for label in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InvalidInputError(f"X must have each name of a column once, got {twice!r} twice")
    return frame if names == list(frame.columns) else frame.set_axis(names, axis="columns")


def _column(frame: Any, name: str) -> Any:
    if name not in frame:
        raise InvalidInputError(f"X must have the columns of the target, got none named {name!r}")
    return frame[name]


def _joined(parts: Sequence[AnyArray]) -> AnyArray:
    """Return the cells of several tables as one array, as texts if they are of several kinds."""
    known = [cells for cells in parts if not _is_missing(cells).all()]
    kinds = {cells.dtype.kind for cells in known}
    if len(kinds) <= 1:
        dtype = known[0].dtype if known else np.dtype(np.float64)
        gap: Any = {"M": np.datetime64("NaT"), "O": None}.get(dtype.kind, np.nan)
        return np.concatenate(
            [
                np.full(len(cells), gap, dtype=dtype) if _is_missing(cells).all() else cells
                for cells in parts
            ]
        )
    return np.concatenate([_as_text(cells) for cells in parts])


def _reason_to_leave_out(cells: AnyArray, missing: AnyArray) -> str:
    """Return why a column is not used; empty if it is."""
    known = cells[~missing]
    different = len(set(known.tolist()))
    if different == 0 or (different == 1 and not missing.any()):
        return "constant"
    if cells.dtype != object or missing.any() or different < len(known) or different <= 2:
        return ""
    n_words = float(np.mean([len(text.split()) for text in known]))
    return "" if n_words >= MIN_WORDS or _date_format(known) else "id"
