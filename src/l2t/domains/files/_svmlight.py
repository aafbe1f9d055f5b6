"""svmlight: a numeric label per line, then ``index:value`` for what is not zero.

A file does not say how many features there are, nor whether the first one is 0 or 1. Both are decided
once for all files that are read together, or their columns would not be the same features.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from l2t.domains.domain import Domain
from l2t.domains.files._disk import reading
from l2t.domains.files._formats import unpacked
from l2t.domains.files._labels import labels, plain, whole
from l2t.exceptions import FileFormatError, InvalidInputError

__all__ = ["read", "write"]


def read(paths: Sequence[Path], zero_based: bool | None) -> list[dict[str, Any]]:
    """Read files of the same features; without `zero_based`, an index 0 in any of them decides."""
    from sklearn.datasets import load_svmlight_file  # here: other formats need not wait for it

    files = []
    for path in paths:
        with reading(path), unpacked(path) as handle:
            try:
                X, y = load_svmlight_file(handle, dtype=np.float64, zero_based=True)
            except (ValueError, OverflowError) as error:
                raise FileFormatError(f"is not a whole svmlight file: {error}") from None
            if zero_based is False and 0 in X.indices:
                raise FileFormatError("has a feature 0, so that zero_based must not be False")
            files.append((X, labels(whole(y).tolist(), lambda row: f"row {row}")))
    start = 0 if zero_based or any(0 in X.indices for X, _ in files) else 1
    width = max((X.shape[1] for X, _ in files), default=0)
    for X, _ in files:
        X.resize(X.shape[0], width)
    return [{"X": X[:, start:], "y": y} for X, y in files]


def write(domain: Domain, handle: IO[bytes], label: str) -> None:
    """Write features and numeric labels, the first feature as 1; a domain with more is rejected.

    Not by scikit-learn's ``dump_svmlight_file``, which writes 16 digits where float64 needs 17. The last
    feature is written in the first row even where it is zero, so that a reader knows of it.
    """
    if label != "label":
        raise InvalidInputError(f"label has no name in svmlight files, got {label!r}")
    if domain.labeled is not None or domain.groups is not None:
        raise InvalidInputError("svmlight files hold neither a labeled mask nor groups")
    if domain.y is None:
        raise InvalidInputError("svmlight files need a label for every row, but y is None")
    values = plain(domain.y, "labels")
    if type(values[0]) not in (int, float):
        kind = type(values[0]).__name__
        raise InvalidInputError(f"labels must be int or float in svmlight files, got {kind}")
    if type(values[0]) is int and max(map(abs, values)) > 2**53:
        raise InvalidInputError("labels must be whole numbers up to 2**53 in svmlight files")
    for at, (row, value) in enumerate(zip(domain.X, values, strict=True)):
        shown = row != 0
        shown[-1] |= at == 0
        pairs = zip(np.flatnonzero(shown).tolist(), row[shown].tolist(), strict=True)
        cells = " ".join([repr(value), *(f"{index + 1}:{cell!r}" for index, cell in pairs)])
        handle.write(cells.encode() + b"\n")
