"""A domain: rows of features with labels and groups, validated at construction and then read-only."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from mmap import mmap
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from l2t.domains.draw import content_order
from l2t.domains.encoding import TableEncoder
from l2t.domains.labels import check_unmasked, class_codes, is_missing, label_array
from l2t.exceptions import InvalidInputError, L2TWarning
from l2t.numerics import fingerprint
from l2t.typing import AnyArray, Array, Indices, Label, Mask, Matrix, MatrixLike
from l2t.validation import check_memory, some_of

#: The largest absolute value in X must be 0 or between these.
SMALLEST, LARGEST = 1e-50, 1e50
#: A sparse matrix with more features is converted to a dense array only when `X` is accessed.
DENSE_FEATURES = 4096
#: Values that are checked at a time.
BLOCK = 2**22


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Domain:
    """Rows of features with optional labels.

    Parameters
    ----------
    X : array-like, DataFrame or sparse matrix of shape (n, m)
        Finite numbers. float32 and float64 are kept, float16 becomes float32, any other type float64.
    y : array-like of shape (n,), optional
        Labels of any type. A missing label is None or NaN; any other value, including -1, is a class.
    labeled : bool array-like of shape (n,), optional
        The mask of labels that the user has, by default those that are not missing. If no label is missing
        and no mask is given, all rows of a *source* are labelled, and no row of a *target*: its y is then
        used for evaluation only.
    groups : array-like of shape (n,), optional
        Rows that belong together: `evaluate` and `collect` never label one row of a group and test another.
    name : str, default="domain"
        The name to show; not part of the content.
    feature_names : sequence of str, optional
        Names of the columns, by default those of a DataFrame; not part of the content. If both domains of a
        pair have names, columns are matched by them. Labels of a DataFrame that are not text become text,
        those of a MultiIndex joined by "_"; columns that pandas numbered 0, 1, ... have no names.
    prepared : array-like of shape (2, m), optional
        The shift that `normalize` subtracted from each column, and the scale it divided by. `KnownClasses`
        uses it to recognise rows.
    encoder : TableEncoder, optional
        What made the features of the columns of a table; not part of the content.

    Examples
    --------
    >>> cats = Domain([[0.0, 1.0], [2.0, 3.0]], ["tabby", "lynx"], name="cats")
    >>> cats
    Domain('cats', 2 rows x 2 features, 2 classes)
    >>> cats.classes
    ('lynx', 'tabby')
    """

    X: AnyArray
    y: AnyArray | None
    labeled: Mask | None
    groups: AnyArray | None
    name: str
    feature_names: tuple[str, ...] | None
    prepared: Array | None
    encoder: TableEncoder | None

    def __init__(
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None = None,
        *,
        labeled: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        name: str = "domain",
        feature_names: Sequence[str] | None = None,
        prepared: npt.ArrayLike | None = None,
        encoder: TableEncoder | None = None,
    ) -> None:
        features = _wide_features(X) if is_wide(X) else _features(X)
        n = features.shape[0]
        mask = None if labeled is None else _mask(labeled, n)
        labels = None if y is None else _column(y, "y", n)
        if mask is not None and labels is None and mask.any():
            raise InvalidInputError("labeled marks rows as labelled, but y was not given")
        if labels is not None:
            mask = _label_mask(labels, mask)
        names = _feature_names(X, feature_names, features.shape[1])
        object.__setattr__(self, "_is_numbered", feature_names is None and is_numbered(X))
        grouping = None if groups is None else _column(groups, "groups", n)
        steps = None if prepared is None else _prepared(prepared, features.shape[1])
        values = (features, labels, mask, grouping, str(name), names, steps, encoder)
        for field, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, field.name, value)
        if sparse.issparse(features):
            object.__setattr__(self, "_sparse", self.__dict__.pop("X"))

    _sparse = None
    _is_numbered = False  # whether X was a DataFrame whose columns pandas numbered 0, 1, ...

    def __getattr__(self, name: str) -> AnyArray:
        """Convert a sparse X to a dense array at its first use."""
        if name != "X" or self._sparse is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        object.__setattr__(self, "X", _features(self._sparse))
        return self.X

    @property
    def rows(self) -> Matrix:
        """X, or the sparse matrix it was given as if that has more than 4,096 features."""
        return self.X if self._sparse is None else self._sparse

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def __repr__(self) -> str:
        n_classes, mask = len(self.classes), ""
        if self.labeled is not None:
            n_classes = len(np.unique(self.codes[self.labeled]))
            mask = f", {int(self.labeled.sum())} labelled rows"
        labels = "no labels" if self.y is None else f"{n_classes} classes"
        n, m = self.rows.shape
        return f"Domain({self.name!r}, {n} rows x {m} features, {labels}{mask})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Domain) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @property
    def n_features(self) -> int:
        """The number of columns m."""
        return int(self.rows.shape[1])

    @cached_property
    def _classes_and_codes(self) -> tuple[tuple[Label, ...], Indices]:
        if self.y is None:
            return (), np.full(len(self), -1, dtype=np.intp)
        return class_codes(self.y)

    @property
    def classes(self) -> tuple[Label, ...]:
        """The distinct labels, sorted."""
        return self._classes_and_codes[0]

    @property
    def codes(self) -> Indices:
        """The labels as indices of `classes`; -1 where a label is missing."""
        return self._classes_and_codes[1]

    @cached_property
    def group_codes(self) -> Indices | None:
        """The groups as integers; a row without a group forms its own. None if there are no groups."""
        if self.groups is None:
            return None
        names, codes = class_codes(self.groups)
        return np.where(codes < 0, len(names) + np.arange(len(codes)), codes)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the content (X, labels, mask, groups, preparation), the same on every machine."""
        digest = hashlib.sha256(b"l2t.Domain")
        for tag in ("X", "labeled", "y", "groups"):
            part, hashed = (
                getattr(self, tag),
                fingerprint if tag in ("X", "labeled") else _label_digest,
            )
            digest.update(f"|{tag}:{'' if part is None else hashed(part)}".encode())
        if self.prepared is not None:
            digest.update(f"|prepared:{fingerprint(self.prepared)}".encode())
        return digest.hexdigest()

    def labeled_rows(self, *, default: bool) -> Mask:
        """Return the mask of labelled rows.

        Parameters
        ----------
        default : bool
            Whether all rows of a domain with labels but without a mask are labelled.

        Returns
        -------
        bool array of shape (n,)
            `labeled`, or by default True or False for all rows.
        """
        if self.labeled is not None:
            return self.labeled
        return np.full(len(self), default and self.y is not None)

    def with_features(
        self, X: MatrixLike, *, name: str | None = None, feature_names: Sequence[str] | None = None
    ) -> Domain:
        """Return the domain with other features for the same rows, such as ``transform(X)``.

        Parameters
        ----------
        X : array-like of shape (n, u)
            The new features.
        name : str, optional
            The new name, by default that of this domain.
        feature_names : sequence of str, optional
            The names of the new features.

        Returns
        -------
        Domain
            With the labels, mask and groups of this one.
        """
        return replace(
            self,
            X=X,
            feature_names=None if feature_names is None else tuple(feature_names),
            prepared=None,
            encoder=None,
            name=self.name if name is None else name,
        )

    def with_columns(self, columns: Sequence[int]) -> Domain:
        """Return the domain with its columns in another order.

        Parameters
        ----------
        columns : sequence of int
            The indices of the columns.

        Returns
        -------
        Domain
            With the labels, mask and groups of this one.
        """
        order, names = list(columns), self.feature_names
        return replace(
            self,
            X=self.rows[:, order],
            feature_names=None if names is None else tuple(names[column] for column in order),
            prepared=None if self.prepared is None else self.prepared[:, order],
            encoder=None,
        )

    def take(self, rows: npt.ArrayLike, *, name: str | None = None) -> Domain:
        """Return the domain of some rows.

        Parameters
        ----------
        rows : int or bool array-like
            The indices of the rows, or a mask of shape (n,).
        name : str, optional
            The new name, by default that of this domain.

        Returns
        -------
        Domain
            The selected rows.
        """
        index = np.asarray(rows)
        if index.size == 0:
            index = index.astype(np.intp)
        return self.with_rows(
            X=self.rows[index],
            y=None if self.y is None else self.y[index],
            labeled=None if self.labeled is None else self.labeled[index],
            groups=None if self.groups is None else self.groups[index],
            name=self.name if name is None else name,
        )

    def with_rows(self, **changes: Any) -> Domain:
        """Return the domain with other rows in the same columns, and with other fields that are given."""
        domain = replace(self, **changes)
        object.__setattr__(domain, "_is_numbered", self._is_numbered)
        return domain

    def sample(self, n_rows: int, random_state: int | None = 0) -> Domain:
        """Return a random sample of rows, in their order; which ones depends on their content alone.

        Parameters
        ----------
        n_rows : int
            The number of rows.
        random_state : int or None, default=0
            The seed; None for a different sample each time.

        Returns
        -------
        Domain
            The sample, or the domain itself if it has at most `n_rows` rows.
        """
        if len(self) <= n_rows:
            return self
        return self.take(np.sort(content_order(self, random_state)[:n_rows]))


def _features(X: MatrixLike) -> AnyArray:
    """Return X as a finite, floating-point, read-only 2-D array that shares no writeable memory."""
    original = X
    check_whole("X", X)
    if sparse.issparse(X):
        check_memory(f"X of shape {X.shape} as a dense array", 8.0 * X.shape[0] * X.shape[1])
        X = X.toarray()
    array = _numbers(X)
    if array.dtype.kind not in "fiub":
        raise InvalidInputError(f"X must be real numbers, got dtype {array.dtype}")
    if array.ndim != 2 or 0 in array.shape:
        rule = "2-D with at least one row and column"
        raise InvalidInputError(f"X must be {rule}, got {array.shape}")
    single = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    with np.errstate(over="ignore"):  # longer floats may become infinite, which is rejected below
        array = np.ascontiguousarray(array, dtype=np.float32 if single else np.float64)
    _check_values(array)
    return _frozen(array, original)


def _numbers(X: MatrixLike) -> AnyArray:
    """Return X as an array; objects, such as those of nullable columns of pandas, as float64."""
    try:
        array = np.asarray(X)
        return array.astype(np.float64) if array.dtype == object else array
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f"X must be a table of numbers, got {error}") from None


def is_wide(X: MatrixLike) -> bool:
    """Return whether X is a sparse matrix with more than 4,096 features."""
    return bool(sparse.issparse(X) and X.ndim == 2 and X.shape[1] > DENSE_FEATURES)


def _wide_features(X: sparse.sparray) -> Matrix:
    """Return a copy of a wide sparse matrix, validated."""
    check_whole("X", X)
    if X.dtype.kind not in "fiub" or X.shape[0] == 0:
        return _features(X)  # raises the error
    single = X.dtype.kind == "f" and X.dtype.itemsize <= 4
    rows = sparse.csr_array(X, dtype=np.float32 if single else np.float64, copy=True)
    rows.sum_duplicates()
    if rows.nnz:
        _check_values(rows.data[:, None], lambda at: _stored_position(rows, at))
    return rows


def _stored_position(rows: sparse.csr_array, at: int) -> tuple[int, int]:
    """Return the row and column of a stored value of a csr matrix."""
    return int(np.searchsorted(rows.indptr, at, "right")) - 1, int(rows.indices[at])


def _check_values(array: AnyArray, place: Callable[[int], tuple[int, int]] | None = None) -> None:
    """Reject values that are not finite or too large, and an array of values that are all too small.

    Fourth powers of features must stay within float64. `place` maps a row of `array` to row and column of X.
    """
    most, largest = min(LARGEST, float(np.finfo(array.dtype).max)), 0.0
    step = 1 + BLOCK // array.shape[1]
    for at in range(0, len(array), step):
        sizes = np.abs(array[at : at + step])
        if (highest := float(sizes.max())) <= most:  # False for NaN
            largest = max(largest, highest)
            continue
        row, column = (int(i) for i in np.argwhere(~(sizes <= most))[0])
        value, count = array[at + row, column], int((~(np.abs(array) <= most)).sum())
        row, column = (at + row, column) if place is None else place(at + row)
        rule = f"at most {LARGEST:g} in size" if np.isfinite(value) else "finite"
        raise InvalidInputError(
            f"X must be {rule}, got {value} at row {row}, column {column} ({count} such values in total)"
        )
    if 0 < largest < SMALLEST:
        rule = f"a value of at least {SMALLEST:g} in size unless all are 0"
        raise InvalidInputError(
            f"X must have {rule}, got {largest:g} as the largest; multiply all domains by one number"
        )


def check_whole(parameter: str, values: MatrixLike) -> None:
    """Reject masked values, and sparse matrices with indices out of bounds, which crash scipy."""
    check_unmasked(parameter, values)
    try:
        if sparse.issparse(values) and values.format in ("dok", "lil"):
            values = values.tocsr()
        if sparse.issparse(values) and values.format == "coo":
            sparse.coo_array((values.data, values.coords), shape=values.shape)
        elif sparse.issparse(values) and hasattr(values, "check_format"):
            values.check_format(full_check=True)
    except ValueError as error:
        raise InvalidInputError(f"{parameter} must be a valid sparse matrix, got {error}") from None


def _frozen(array: AnyArray, original: Any) -> AnyArray:
    """Return a read-only array; a copy if the caller could still write to its memory."""
    if not _immutable(array) and np.may_share_memory(array, np.asarray(original)):
        array = array.copy()
    array.flags.writeable = False
    return array


def _immutable(array: object) -> bool:
    """Return whether neither an array nor its bases are writeable; read-only memory maps are not copied."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None or isinstance(array, mmap)


def _column(values: Any, parameter: str, n: int) -> AnyArray:
    """Return labels or groups as a read-only 1-D array of n entries."""
    array = label_array(values, parameter)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (n,):
        rule = f"one entry per row of X ({n})"
        raise InvalidInputError(f"{parameter} must have {rule}, got shape {array.shape}")
    rule = f"{parameter} must hold numbers, strings or other hashable values"
    if array.dtype.kind not in "iubfUSOM":
        raise InvalidInputError(f"{rule}, got dtype {array.dtype}")
    for value in array.tolist() if array.dtype == object else ():
        if not isinstance(value, Hashable):
            raise InvalidInputError(f"{rule}, got a value of type {type(value).__name__}")
    if array.dtype.kind not in "iubfO":  # strings and dates become str
        missing = np.isnat(array) if array.dtype.kind == "M" else np.zeros(n, dtype=bool)
        array = np.array(array.astype(str), dtype=object)
        array[missing] = None
    return _frozen(np.ascontiguousarray(array), values)


def _mask(values: npt.ArrayLike, n: int) -> Mask:
    check_whole("labeled", values)
    array = np.asarray(values)
    if array.dtype != np.bool_ or array.shape != (n,):
        raise InvalidInputError(
            f"labeled must be a boolean mask with one entry per row of X ({n}), "
            f"got dtype {array.dtype} and shape {array.shape}"
        )
    return _frozen(np.ascontiguousarray(array), values)


def _prepared(values: npt.ArrayLike, m: int) -> Array:
    """Return the shift and scale of the columns as a read-only array."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape == (2, m) and np.isfinite(array).all() and (array[1] > 0).all():
        return _frozen(array, values)
    rule = f"a finite shift and a positive scale for each of {m} columns"
    raise InvalidInputError(f"prepared must be {rule}, got {array.tolist()!r:.80}")


def feature_rows(X: MatrixLike | Domain, n_features: int) -> Matrix:
    """Return the rows of an array, DataFrame, sparse matrix (as csr) or Domain to transform, validated."""
    check_whole("X", features := X.rows if isinstance(X, Domain) else X)
    rows: Matrix = features if sparse.issparse(features) else _numbers(features)
    if rows.ndim != 2 or rows.shape[1] != n_features or rows.dtype.kind not in "fiub":
        raise InvalidInputError(
            f"X must be a 2-D array of numbers with the {n_features} features of the pair, "
            f"got shape {rows.shape} and dtype {rows.dtype}"
        )
    rows = rows.tocsr() if sparse.issparse(rows) else rows
    if not isinstance(X, Domain):
        _check_finite(rows)
    return rows


def _check_finite(rows: Matrix) -> None:
    """Reject NaN and infinite values in an array or csr matrix."""
    is_sparse = sparse.issparse(rows)
    values = rows.data if is_sparse else rows
    finite = np.isfinite(values)
    if not finite.all():
        at = tuple(np.argwhere(~finite)[0].tolist())
        row, column = _stored_position(rows, *at) if is_sparse else at
        raise InvalidInputError(
            f"X must be finite, got {values[at]} at row {row}, column {column} "
            f"({int((~finite).sum())} such values in total)"
        )


def column_names(X: MatrixLike) -> tuple[str, ...] | None:
    """Return the names of the columns of a DataFrame or Domain, also mere numbers; None if it has none."""
    if isinstance(X, Domain):
        return _column_numbers(X.n_features) if X._is_numbered else X.feature_names
    labels = list(getattr(X, "columns", ()))
    if not labels or not (hasattr(X, "iloc") or all(isinstance(label, str) for label in labels)):
        return None  # an object of another library whose columns are not their labels
    return tuple(map(_column_name, labels))


def _column_name(label: Label) -> str:
    if isinstance(label, tuple):  # of a MultiIndex
        return "_".join(map(_column_name, label))
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _column_numbers(n: int) -> tuple[str, ...]:
    return tuple(map(str, range(n)))


def is_numbered(X: MatrixLike) -> bool:
    """Return whether X is a DataFrame, or a Domain of one, whose columns pandas numbered 0, 1, ..."""
    if isinstance(X, Domain):
        return X._is_numbered
    names = column_names(X)
    if names is None or any(isinstance(label, str) for label in X.columns):
        return False
    return names == _column_numbers(len(names))


def _are_numbers(names: Sequence[str]) -> bool:
    return all(name.isdecimal() for name in names)


def position_note(named: str, unnamed: str) -> str:
    """Return the sentence for columns that are matched by position because only one side has names."""
    return (
        f"{named} has names of columns and {unnamed} has none, so columns are matched by position; "
        "if their order differs, name the columns of both"
    )


def columns_in_order(X: MatrixLike, names: Sequence[str] | None) -> MatrixLike:
    """Return the columns `names` of a DataFrame or Domain in this order; anything else unchanged.

    `names` are None for a target without names, whose columns are then numbered.
    """
    own, numbered = column_names(X), is_numbered(X)
    if own is None:
        return X
    wanted = _column_numbers(len(own)) if names is None else tuple(names)
    if own == wanted:
        return X
    if names is None and set(own) != set(wanted):
        warnings.warn(position_note("X", "the target"), L2TWarning, stacklevel=3)
        return X
    if numbered and not _are_numbers(wanted):
        warnings.warn(position_note("the target", "X"), L2TWarning, stacklevel=3)
        return X
    place = {name: column for column, name in enumerate(own)}
    if missing := [name for name in wanted if name not in place]:
        some = ", ".join(map(repr, missing[:3]))
        raise InvalidInputError(f"X must have the columns of the target, got none named {some}")
    needed = set(wanted)
    if repeated := _repeated([name for name in own if name in needed]) or _repeated(wanted):
        rule = "X must have each name of a column once, or columns in the order of the target"
        raise InvalidInputError(f"{rule}, got {repeated} more than once")
    order = [place[name] for name in wanted]
    if isinstance(X, Domain):
        return X.with_columns(order)
    return X.iloc[:, order] if hasattr(X, "iloc") else X[list(wanted)]


def matching_order(
    ours: Sequence[str] | None, theirs: Sequence[str] | None, role: str, *, numbered: bool
) -> list[int] | None:
    """Return the index of each of the target's columns among ours; None to match by position.

    `numbered` says that pandas numbered the columns of one side: these are matched with other numbers, and
    with names, like those of an array, by position.
    """
    if ours is None or theirs is None or ours == theirs:
        return None
    if numbered and not (_are_numbers(ours) and _are_numbers(theirs)):
        return None
    return column_order(ours, theirs, role)


def column_order(ours: Sequence[str], theirs: Sequence[str], role: str) -> list[int]:
    """Return the index of each of the target's columns among ours; `role` is for the error message.

    >>> column_order(["b", "a"], ["a", "b"], "source")
    [1, 0]
    """
    if len(set(ours)) < len(ours) or len(set(theirs)) < len(theirs):
        raise InvalidInputError(
            f"{role} and target must have each name of a column once, or in the same order, "
            f"got {_repeated(ours)}"
        )
    pairs = ((role, ours, theirs), ("target", theirs, ours))
    only = [(who, [repr(c) for c in mine if c not in set(others)]) for who, mine, others in pairs]
    if any(names for _, names in only):
        message = "; ".join(f"only {who} has {some_of(names, 3)}" for who, names in only if names)
        raise InvalidInputError(
            f"{role} and target must have the same columns, matched by name, got {message}"
        )
    place = {name: column for column, name in enumerate(ours)}
    return [place[name] for name in theirs]


def _repeated(names: Sequence[str]) -> str:
    return some_of(sorted(name for name, count in Counter(names).items() if count > 1), 3)


def _label_mask(y: AnyArray, mask: Mask | None) -> Mask | None:
    """Return the mask of known labels: `mask`, or that of the labels that are present if some are missing."""
    missing = np.array([is_missing(value) for value in y.tolist()], dtype=bool)
    if mask is None:
        return _frozen(~missing, None) if missing.any() else None
    if (missing & mask).any():
        row = int((missing & mask).argmax())
        rule = "y must not be missing where labeled is True"
        raise InvalidInputError(f"{rule}, got {y[row]!r} at row {row}")
    return mask


def _feature_names(X: MatrixLike, names: Sequence[str] | None, m: int) -> tuple[str, ...] | None:
    if names is None:
        return None if is_numbered(X) else column_names(X)
    columns = tuple(str(name) for name in names)
    if len(columns) != m:
        raise InvalidInputError(f"feature_names must name the {m} columns of X, got {len(columns)}")
    return columns


def _label_digest(values: AnyArray) -> str:
    """Hash labels by type and value, so that int32 and int64, or str widths, give the same hash."""
    digest = hashlib.sha256()
    for value in values.tolist():
        text = f"{type(value).__name__}:{value!r}".encode()
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()
