"""Reading an upload; apart from other work, for it needs little and people wait for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from l2t.domains import read_domain, write_domain
from l2t.exceptions import FileFormatError, InvalidInputError

__all__ = ["read_upload"]


def read_upload(request: dict[str, Any], tell: Callable[..., None]) -> dict[str, Any]:
    """Read an uploaded file, check its size, and write it as the npz that later work takes."""
    path = Path(request["path"])
    limits = request["limits"]
    _refuse_wide_text(path, limits["features"])
    try:
        domain = read_domain(
            path,
            label=request["label"],
            labeled=request["labeled"],
            name=request["name"],
            format=request["format"],
        )
    except FileFormatError as error:
        raise InvalidInputError(str(error).replace(str(path), request["name"])) from None
    rows, features = domain.X.shape
    told = f"{request['name']} has {rows} rows and {features} features"
    if rows > limits["rows"] or features > limits["features"] or rows * features > limits["values"]:
        raise InvalidInputError(
            f"{told}; a domain may have {limits['rows']} rows, {limits['features']} features and "
            f"{limits['values']} values at most"
        )
    write_domain(domain, request["to"], format="npz")
    return {
        "n_rows": rows,
        "n_features": features,
        "n_classes": len(domain.classes),
        "n_labelled": None if domain.labeled is None else int(domain.labeled.sum()),
    }


def _refuse_wide_text(path: Path, most: int) -> None:
    """Refuse a text table by its first line, before millions of cells become Python objects."""
    with path.open("rb") as handle:
        if handle.read(4) in (b"PK\x03\x04", b"PAR1"):
            return
        handle.seek(0)
        first = handle.readline(2**26)
    cells = max(first.count(mark) for mark in (b",", b";", b"\t")) + 1
    if cells > most + 8:  # labels, mask, groups and row numbers are no features
        raise InvalidInputError(
            f"its first line has {cells} cells, where {most} features are allowed"
        )
