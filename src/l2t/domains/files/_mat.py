"""mat: the variables X and y of a MATLAB file (-v6 or -v7), whatever else it holds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.io import savemat

from l2t.domains.domain import Domain
from l2t.domains.files._mat5 import Variable, read_value, variables
from l2t.domains.files._parts import Names, Parts, listed
from l2t.domains.files._values import (
    as_mask,
    complete,
    gather,
    plain,
    storable,
    whole,
    without_missing,
)
from l2t.exceptions import FileFormatError, InvalidInputError, MissingColumnError

__all__ = ["read", "write"]


def read(path: Path, names: Names) -> Parts:
    """Read the variables of a MATLAB file."""
    found = variables(path.read_bytes())
    label = _chosen(found, names.label, ("y", "labels", "label"))
    mask = _chosen(found, names.labeled, ("labeled",))
    group = _chosen(found, names.groups, ("groups",))
    features = _chosen(found, names.features[0] if names.features else None, ("X", "fts"))
    if features is None:
        features = _only_matrix(found, {label, mask, group})
    X = read_value(found[features])
    if isinstance(X, list):
        raise FileFormatError(f"array {features!r} holds text or cells, not numbers")
    labeled = groups = y = None
    if mask is not None:
        labeled = as_mask(_vector(found[mask]), f"array {mask!r}")
    if group is not None:
        groups = whole(complete(_vector(found[group]), f"array {group!r}"))
    if label is not None:
        y, labeled = without_missing(whole(_vector(found[label])), labeled)
    for name, part in ((label, y), (mask, labeled), (group, groups)):
        # Before a sparse X is made dense: its height is a mere claim.
        if part is not None and len(part) != X.shape[0]:
            raise FileFormatError(
                f"array {features!r} has {X.shape[0]} rows, but {name or label!r} has {len(part)}"
            )
    return Parts(X, y, labeled, groups)


def write(domain: Domain, handle: BinaryIO, label: str) -> None:
    """Write X, and where the domain has them y, labeled and groups."""
    if label not in ("label", "y"):
        raise InvalidInputError(f"label is always y in mat files, got {label!r}")
    arrays = {"X": domain.X}
    if domain.y is not None:
        arrays["y"] = _column(plain(domain.y, "labels", optional=True), "labels")
    if domain.labeled is not None:
        arrays["labeled"] = domain.labeled
    if domain.groups is not None:
        arrays["groups"] = _column(plain(domain.groups, "groups"), "groups")
    savemat(handle, arrays, do_compression=True, oned_as="column")


def _chosen(found: dict[str, Variable], name: str | None, defaults: Iterable[str]) -> str | None:
    if name is not None and name not in found:
        raise MissingColumnError(f"has no array {name!r}; its arrays are {listed(list(found))}")
    return name or next((default for default in defaults if default in found), None)


def _only_matrix(found: dict[str, Variable], others: set[str | None]) -> str:
    tables = [name for name, it in found.items() if it.is_matrix and name not in others]
    wide = [name for name in tables if min(found[name].shape) > 1]
    for only in (wide, tables):
        if len(only) == 1:
            return only[0]
    raise FileFormatError(
        "has neither X nor fts nor one single matrix; choose with features= "
        f"among its arrays {listed(list(found))}"
    )


def _vector(variable: Variable) -> npt.NDArray[Any]:
    """Return a row or a column, of numbers or of texts, as a 1-D array."""
    value = read_value(variable)
    if isinstance(value, list):
        return gather([_unpadded(item) for item in value])
    if sparse.issparse(value) or sum(side != 1 for side in value.shape) > 1:
        raise FileFormatError(f"array {variable.name!r} must be a vector, got shape {value.shape}")
    return np.asarray(value).ravel()


def _unpadded(item: Any) -> Any:
    """MATLAB fills rows of characters with blanks to one width; nothing but blanks is missing."""
    return item.rstrip(" ") or None if isinstance(item, str) else item


def _column(values: list[Any], what: str) -> npt.NDArray[Any]:
    """Return labels as MATLAB keeps them: cells of text, or numbers with NaN for missing."""
    known = [value for value in values if value is not None]
    if not known or isinstance(known[0], str):
        if any(not value.strip() or value.endswith(" ") or "\0" in value for value in known):
            raise InvalidInputError(
                f"{what} must not be blank, end with a blank or have a zero character in mat files"
            )
        return np.array([["" if value is None else value] for value in values], dtype=object)
    if len(known) == len(values):
        return storable(values, what)
    if not isinstance(known[0], float) and any(
        isinstance(value, bool) or abs(value) > 2**53 for value in known
    ):
        raise InvalidInputError(
            f"{what} of which some are missing must be text, float, or int up to 2**53 in mat files"
        )
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
