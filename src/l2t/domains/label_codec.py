"""Labels and groups as integer codes with a JSON list of the distinct values.

The list has a type and a text for each value. Decoding restores the type and the ``repr`` exactly, which the
fingerprint of a domain hashes.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from l2t.exceptions import InvalidInputError
from l2t.typing import AnyArray, Label

_PARSERS: dict[str, Callable[[str], Label]] = {
    "NoneType": lambda text: None,
    "bool": lambda text: text == "True",
    "int": int,
    "float": float,
    "str": str,
    "bytes": bytes.fromhex,
    "str_": np.str_,
}


def encode_labels(values: AnyArray, what: str) -> tuple[AnyArray, str]:
    """Return the index of each value in a list of distinct values, and this list as JSON."""
    codes: dict[tuple[str, str], int] = {}
    distinct: list[tuple[str, str]] = []
    indices = np.empty(len(values), dtype=np.int32)
    for row, value in enumerate(values.tolist()):
        code = codes.setdefault((type(value).__name__, repr(value)), len(distinct))
        if code == len(distinct):
            distinct.append(_tagged(value, what))
        indices[row] = code
    return indices, json.dumps(distinct, separators=(",", ":"))


def decode_labels(codes: AnyArray, text: str) -> AnyArray:
    """Return the values of `encode_labels`; a ValueError if codes and text are not valid."""
    try:
        distinct = [_parse(tag, value) for tag, value in json.loads(text)]
        values = [distinct[code] for code in codes.tolist()]
    except (ValueError, TypeError, LookupError) as error:
        raise ValueError(f"its labels cannot be read: {error}") from None
    array = np.empty(len(values), dtype=object)
    array[:] = values
    kinds = {type(value) for value in values}
    if kinds in ({bool}, {int}, {float}):
        try:
            return array.astype({bool: np.bool_, int: np.int64, float: np.float64}[kinds.pop()])
        except OverflowError:  # integers of more than 64 bits stay objects
            pass
    return array


def _tagged(value: object, what: str) -> tuple[str, str]:
    name = type(value).__name__
    if isinstance(value, np.generic) and not isinstance(value, str):
        tagged = (value.dtype.str, repr(value.item()))
    else:
        tagged = (name, value.hex() if isinstance(value, bytes) else str(value))
    try:
        again = _parse(*tagged)
        if (type(again).__name__, repr(again)) == (name, repr(value)):
            return tagged
    except (ValueError, TypeError):
        pass
    raise InvalidInputError(
        f"{what} must be strings, numbers, booleans or bytes, got {value!r:.80} of type "
        f"{name}; convert them to strings first"
    )


def _parse(tag: str, text: str) -> Label:
    if tag in _PARSERS:
        return _PARSERS[tag](text)
    if tag == "NAType":  # a missing label in pandas
        import pandas as pd

        missing: Label = pd.NA
        return missing
    dtype = np.dtype(tag)
    if dtype.kind not in "biuf":
        raise ValueError(f"unknown type {tag!r:.40}")
    value: Label = dtype.type(_PARSERS[{"b": "bool", "f": "float"}.get(dtype.kind, "int")](text))
    return value
