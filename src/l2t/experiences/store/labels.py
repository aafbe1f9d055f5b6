"""Labels and groups of any plain type as codes and a list of typed values.

A domain's fingerprint hashes the type and the ``repr`` of every label. Each distinct value is kept as
a pair of tag and text that gives exactly that type and ``repr`` back; what cannot is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.exceptions import InvalidInputError, StoreCorruptError

__all__ = ["decode_labels", "encode_labels"]

_PLAIN: dict[str, Callable[[str], Any]] = {
    "none": lambda text: None,
    "bool": lambda text: text == "True",
    "int": int,
    "float": float,
    "str": str,
    "bytes": bytes.fromhex,
    "str_": np.str_,
}


def encode_labels(values: npt.NDArray[Any], what: str) -> tuple[npt.NDArray[np.int32], str]:
    """Return the position of each value in a list of distinct values, and that list as JSON."""
    index: dict[tuple[str, str], int] = {}
    distinct: list[tuple[str, str]] = []
    codes = np.empty(len(values), dtype=np.int32)
    for row, value in enumerate(values.tolist()):
        identity = _identity(value)
        code = index.get(identity)
        if code is None:
            code = index[identity] = len(distinct)
            distinct.append(_tagged(value, what))
        codes[row] = code
    return codes, json.dumps(distinct, separators=(",", ":"))


def decode_labels(codes: npt.NDArray[Any], text: str) -> npt.NDArray[Any]:
    """Return the values again."""
    try:
        distinct = [_value(tag, said) for tag, said in json.loads(text)]
        values = [distinct[code] for code in codes.tolist()]
    except (ValueError, TypeError, LookupError) as error:
        raise StoreCorruptError(f"its labels cannot be read: {error}") from None
    array = np.empty(len(values), dtype=object)
    array[:] = values
    for kind, dtype in ((bool, np.bool_), (int, np.int64), (float, np.float64)):
        if {type(value) for value in values} == {kind}:
            try:
                return array.astype(dtype)
            except OverflowError:  # whole numbers of more than 64 bits stay objects
                break
    return array


def _identity(value: Any) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def _tagged(value: Any, what: str) -> tuple[str, str]:
    tagged = _tag(value)
    try:
        kept = tagged is not None and _identity(_value(*tagged)) == _identity(value)
    except (ValueError, TypeError):
        kept = False
    if tagged is None or not kept:
        raise InvalidInputError(
            f"{what} must be text, numbers, truths or bytes in a store, got {value!r:.80} of type "
            f"{type(value).__name__}; turn them into text first"
        )
    return tagged


def _tag(value: Any) -> tuple[str, str] | None:
    name = type(value).__name__
    if value is None:
        return "none", ""
    if name == "NAType":  # pandas stands for a missing label with it; pandas itself is optional
        return "pandas.NA", ""
    if isinstance(value, bytes):
        return "bytes", value.hex()
    if isinstance(value, str):
        return name, str(value)
    if isinstance(value, np.generic):
        return (value.dtype.str, repr(value.item())) if value.dtype.kind in "biuf" else None
    return (name, repr(value)) if isinstance(value, bool | int | float) else None


def _value(tag: str, text: str) -> Any:
    if tag in _PLAIN:
        return _PLAIN[tag](text)
    if tag == "pandas.NA":
        import pandas as pd

        return pd.NA
    dtype = np.dtype(tag)
    if dtype.kind not in "biuf":
        raise ValueError(f"type {tag!r:.40} is unknown")
    item = (
        _PLAIN["bool"](text) if dtype.kind == "b" else (float if dtype.kind == "f" else int)(text)
    )
    return dtype.type(item)
