"""svmlight: a numeric label a line, then ``index:value`` for what is not zero.

Features are counted from 1, as LIBSVM does. The last one is written in the first row even where it
is zero, for a reader knows of no feature beyond the largest index it has seen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from l2t.domains.domain import Domain
from l2t.domains.files._parts import Names, Parts
from l2t.domains.files._values import plain, whole
from l2t.exceptions import FileFormatError, InvalidInputError

__all__ = ["read", "write"]


def read(path: Path, names: Names) -> Parts:
    """Read lines of labels and sparse features; `names` has nothing to say here."""
    from sklearn.datasets import load_svmlight_file  # here: other formats need not wait for it

    with path.open("rb") as handle:
        try:
            X, y = load_svmlight_file(handle, dtype=np.float64)
        except (ValueError, OverflowError) as error:
            raise FileFormatError(f"is not a whole svmlight file: {error}") from None
    return Parts(X, whole(y))


def write(domain: Domain, handle: BinaryIO, label: str) -> None:
    """Write the features and the labels of a domain that has nothing else.

    Not by scikit-learn's ``dump_svmlight_file``: it writes 16 digits, where float64 needs 17.
    """
    if label != "label":
        raise InvalidInputError(f"label has no name in svmlight files, got {label!r}")
    if domain.labeled is not None or domain.groups is not None:
        raise InvalidInputError("svmlight files hold neither a labeled mask nor groups")
    last = domain.n_features - 1
    for at, (row, value) in enumerate(zip(domain.X, _labels(domain), strict=True)):
        shown = row != 0
        shown[last] |= at == 0
        handle.write(_line(value, np.flatnonzero(shown), row[shown]))


def _line(label: Any, at: npt.NDArray[np.intp], values: npt.NDArray[Any]) -> bytes:
    pairs = zip((at + 1).tolist(), values.tolist(), strict=True)
    return " ".join([repr(label), *(f"{i}:{value!r}" for i, value in pairs)]).encode() + b"\n"


def _labels(domain: Domain) -> list[Any]:
    if domain.y is None:
        raise InvalidInputError("svmlight files need a label for every row, but y is None")
    labels = plain(domain.y, "labels")
    if type(labels[0]) not in (int, float):
        kind = type(labels[0]).__name__
        raise InvalidInputError(f"labels must be int or float in svmlight files, got {kind}")
    if type(labels[0]) is int and max(map(abs, labels)) > 2**53:
        raise InvalidInputError("labels must be whole numbers up to 2**53 in svmlight files")
    return labels
