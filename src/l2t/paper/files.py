"""Reflection functions as small JSON files; loading validates every field and never executes code.

A file contains the sha256 of its content, which reveals manual edits.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import warnings
from dataclasses import asdict, replace
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct

from l2t.domains.files.disk import reading
from l2t.exceptions import FileFormatError, InvalidInputError, L2TError, L2TWarning
from l2t.experiences.experience import TrainedOn
from l2t.forecast import Forecast
from l2t.forecast.reliability import LEVELS, Count, ErrorQuantiles, Natural
from l2t.paper.convex import ConvexReflection
from l2t.paper.function import Reflection, ReflectionFunction
from l2t.paper.loss import Form
from l2t.paper.table import QMode
from l2t.statistics import KernelBank
from l2t.typing import JsonObject

#: The version of the file format by the form of 1/f; newer ones are rejected.
SCHEMA_OF_FORM: dict[Form, int] = {"paper": 1, "convex": 2}
_MAX_BYTES = 16 * 2**20
_SHIPPED = "l2t.paper.shipped"

_MAX = sys.float_info.max
Finite = Annotated[float, Meta(ge=-_MAX, le=_MAX)]
NotNegative = Annotated[float, Meta(ge=0, le=_MAX)]
Positive = Annotated[float, Meta(gt=0, le=_MAX)]


class _Bank(Struct, forbid_unknown_fields=True):
    first: Finite
    last: Finite
    step: Positive


class _Choice(Struct):
    spearman: float | None = None


class _Training(Struct):
    choices: list[_Choice] = []
    algorithms: JsonObject = {}


class _Learned(Struct):
    """What the command line and the dashboard show of how a function was learned."""

    training: _Training


class _File(Struct, forbid_unknown_fields=True, kw_only=True):
    """What both forms of 1/f have in a file."""

    schema: Count
    b: Finite
    kernels: _Bank
    n_neighbors: Count
    c: Finite
    label_range: tuple[Natural, Natural]
    calibration: dict[Natural, ErrorQuantiles] | None
    forecast: Forecast | None
    training: JsonObject
    trained_on: TrainedOn = "target"
    checksum: str | None = None


class _PaperFile(_File, forbid_unknown_fields=True, kw_only=True):
    beta: list[NotNegative]
    lambda_: NotNegative = msgspec.field(name="lambda")
    mu: NotNegative
    q_mode: QMode


_Rows = tuple[list[NotNegative], list[NotNegative], list[NotNegative]]


class _ConvexFile(_File, forbid_unknown_fields=True, kw_only=True):
    form: Literal["convex"]
    weights: _Rows
    sizes: _Rows
    level: Positive | None = None


class _Header(Struct):
    schema: Count
    form: Form = "paper"


def to_json(function: Reflection, *, indent: int | None = None) -> str:
    """Return a function as JSON."""
    try:
        content = _content(function)
        content["checksum"] = _checksum(content)
        return json.dumps(content, indent=indent, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"training must hold plain JSON values: {error}") from None


def load_reflection(name: str | os.PathLike[str]) -> Reflection:
    """Load a reflection function from a file, or by the name of one that ships with the package.

    Parameters
    ----------
    name : str or path
        The file, or "default". A file that was edited by hand gives an `L2TWarning`.

    Returns
    -------
    ReflectionFunction or ConvexReflection

    Raises
    ------
    FileFormatError
        There is no such file, or it is not a reflection function that this version can read.
    """
    if isinstance(name, str) and name in shipped():
        text = (resources.files(_SHIPPED) / f"{name}.json").read_bytes()
        return replace(from_json(text), forecast=Forecast.default())
    path = Path(name)
    with reading(path):
        if path.stat().st_size > _MAX_BYTES:
            raise FileFormatError(f"has more than {_MAX_BYTES} bytes")
        function, edited = _decode(path.read_bytes())
    _warn(path, edited)
    return function


def from_json(text: str | bytes) -> Reflection:
    """Return the function in a JSON text, validated field by field."""
    function, edited = _decode(text)
    _warn("the reflection function", edited)
    return function


def _warn(name: object, edited: str) -> None:
    if edited:
        warnings.warn(f"{name} was edited by hand: {edited}", L2TWarning, stacklevel=3)


def _decode(text: str | bytes) -> tuple[Reflection, str]:
    """Return a function, and the sign that its text was edited: empty if there is none."""
    try:
        header = msgspec.json.decode(text, type=_Header)
        if header.schema > (newest := SCHEMA_OF_FORM[header.form]):
            raise ValueError(
                f"schema {header.schema} is newer than {newest}; use a newer version of l2t"
            )
        kind: type[_File] = _ConvexFile if header.form == "convex" else _PaperFile
        file = msgspec.json.decode(text, type=kind)
        function = _function(file)
        checksum = _checksum(msgspec.json.decode(text))
    except (L2TError, ValueError, ArithmeticError, RecursionError) as error:
        raise FileFormatError(f"is not a reflection function: {error}") from None
    if file.checksum is None:
        return function, "its checksum is missing"
    return function, "" if file.checksum == checksum else "its checksum does not match its content"


def shipped() -> tuple[str, ...]:
    """Return the names of the functions that ship with the package."""
    files = resources.files(_SHIPPED).iterdir()
    return tuple(sorted(file.name[:-5] for file in files if file.name.endswith(".json")))


def _checksum(content: JsonObject) -> str:
    """Return the sha256 of the content without its checksum, as JSON with sorted keys and no spaces."""
    rest = {name: value for name, value in content.items() if name != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _content(function: Reflection) -> JsonObject:
    convex = isinstance(function, ConvexReflection)
    content: JsonObject = {"schema": SCHEMA_OF_FORM["convex" if convex else "paper"]}
    content |= {"form": "convex"} if convex else {}
    for name, value in vars(function).items():
        content[name.rstrip("_")] = value.tolist() if isinstance(value, np.ndarray) else value
    content["kernels"] = asdict(function.kernels)
    for name in ("calibration", "forecast"):
        content[name] = msgspec.to_builtins(content[name], str_keys=True)
    content["training"] = dict(function.training)
    return content


def _function(file: _File) -> Reflection:
    try:
        kernels = KernelBank(file.kernels.first, file.kernels.last, file.kernels.step)
        len(kernels)
    except OverflowError:
        raise ValueError("kernels must be a bank of few kernels, got an infinite one") from None
    msgspec.convert({"training": file.training}, _Learned)
    if file.calibration is not None:
        _check_calibration(file.calibration, file.trained_on)
    if file.forecast is not None:
        file.forecast.check()
    values = msgspec.structs.asdict(file) | {"kernels": kernels}
    for name in ("schema", "form", "checksum"):
        values.pop(name, None)
    if isinstance(file, _ConvexFile):
        if len(lengths := {len(row) for row in (*file.weights, *file.sizes)}) > 1:
            raise ValueError(
                f"weights and sizes must have rows of one length, got {sorted(lengths)}"
            )
        return ConvexReflection(**values)
    return ReflectionFunction(**values)


def _check_calibration(calibration: dict[int, ErrorQuantiles], trained_on: TrainedOn) -> None:
    if 0 not in calibration or (len(calibration) == 1 and trained_on != "source"):
        raise ValueError(
            f"calibration must have 0 and label counts, got {sorted(calibration)!r:.80}"
        )
    for errors_of_count in calibration.values():
        errors = np.array(errors_of_count.errors)
        if errors.shape != (len(LEVELS),):
            raise ValueError(
                f"calibration.errors must be of shape {(len(LEVELS),)}, got {errors.shape}"
            )
        if errors[0] < 0 or (np.diff(errors) < 0).any():
            raise ValueError("calibration.errors must not be negative, and must not decrease")
