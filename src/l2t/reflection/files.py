"""Reflection functions as small JSON files; loading checks every field and can run no code.

A file carries the sha256 of its content, so that a change by hand is noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import warnings
from dataclasses import asdict, astuple, replace
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct

from l2t.domains.files._disk import reading, replacing, writing
from l2t.exceptions import FileFormatError, InvalidInputError, L2TError, L2TWarning
from l2t.reflection.calibration import SHARES, Calibration
from l2t.reflection.forecast import Forecast, Signs
from l2t.reflection.function import Lessons, ReflectionFunction
from l2t.reflection.loss import Memory, Settings, Units
from l2t.reflection.table import QMode
from l2t.statistics import KernelBank
from l2t.typing import Array

__all__ = ["SCHEMA", "from_json", "load_reflection", "save_reflection", "shipped", "to_json"]

#: The version of the file's form; a reader refuses a newer one.
SCHEMA = 1
_LARGEST = 16 * 2**20  # bytes
_SHIPPED = "l2t.reflection.shipped"

_MAX = sys.float_info.max
Finite = Annotated[float, Meta(ge=-_MAX, le=_MAX)]
NotNegative = Annotated[float, Meta(ge=0, le=_MAX)]
Positive = Annotated[float, Meta(gt=0, le=_MAX)]
Natural = Annotated[int, Meta(ge=0, le=2**53)]  # larger whole numbers are not exact everywhere
Count = Annotated[int, Meta(ge=1, le=2**53)]


class _Calibration(Struct, forbid_unknown_fields=True):
    n_labels: Annotated[list[Natural], Meta(min_length=2)]
    slope: list[NotNegative]
    offset: list[Finite]
    errors: list[list[NotNegative]]
    pairs: list[Natural]


class _Lessons(Struct, forbid_unknown_fields=True):
    theta: list[Finite]
    gradient: list[Finite]
    hessian: list[Finite]  # its lower half, row by row
    weight: Count
    units: tuple[Positive, Positive, Positive]
    gamma: Positive
    huber: Positive
    components: Annotated[
        list[Literal["mmd", "variance", "discriminant"]], Meta(min_length=1, max_length=3)
    ]


class _Bank(Struct, forbid_unknown_fields=True):
    first: Finite
    last: Finite
    step: Positive


class _File(Struct, forbid_unknown_fields=True):
    schema: Count
    beta: list[NotNegative]
    lambda_: NotNegative = msgspec.field(name="lambda")
    mu: NotNegative
    b: Finite
    kernels: _Bank
    n_neighbors: Count
    q_mode: QMode
    c: Finite
    label_range: tuple[Count, Count]
    calibration: _Calibration | None
    lessons: _Lessons | None
    forecast: Forecast | None
    training: dict[str, Any]
    checksum: str | None = None


class _Training(Struct):  # what learning resumes from; the rest of it is for people
    experiences: Count | None = None
    runs: Count | None = None
    pairs: Count | None = None
    max_labels: Count | None = None
    learned_anew_at: Natural | None = None


class _Header(Struct):
    schema: Count
    training: _Training


def save_reflection(function: ReflectionFunction, path: str | os.PathLike[str]) -> Path:
    """Write a function as JSON; the file is replaced atomically."""
    where = Path(path)
    text = to_json(function, indent=1)
    with writing(where), replacing(where) as file:
        file.write(text.encode())
    return where


def to_json(function: ReflectionFunction, *, indent: int | None = None) -> str:
    """Return a function as the text of its file."""
    try:
        content = _content(function)
        content["checksum"] = _checksum(content)
        return json.dumps(content, indent=indent, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"training must hold plain JSON values: {error}") from None


def load_reflection(name: str | os.PathLike[str]) -> ReflectionFunction:
    """Read a function from a file, or by the name of one that ships with the package.

    A file that was edited by hand is loaded with an `L2TWarning`.

    Raises
    ------
    FileFormatError
        There is no such file, or it does not hold a function that this version can read.
    """
    if isinstance(name, str) and name in shipped():
        text = (resources.files(_SHIPPED) / f"{name}.json").read_bytes()
        return replace(from_json(text), forecast=Forecast.default())
    path = Path(name)
    with reading(path):
        if path.stat().st_size > _LARGEST:
            raise FileFormatError(f"has more than {_LARGEST} bytes")
        function, edited = _decoded(path.read_bytes())
    _warn(path, edited)
    return function


def from_json(text: str | bytes) -> ReflectionFunction:
    """Return the function of such a text, checked field by field."""
    function, edited = _decoded(text)
    _warn("the reflection function", edited)
    return function


def _warn(name: object, edited: str) -> None:
    if edited:
        warnings.warn(f"{name} was edited by hand: {edited}", L2TWarning, stacklevel=3)


def _decoded(text: str | bytes) -> tuple[ReflectionFunction, str]:
    """Return a function, and how one can see that its text was edited: empty where it was not."""
    try:
        if (schema := msgspec.json.decode(text, type=_Header).schema) > SCHEMA:
            raise ValueError(f"schema {schema} is newer than {SCHEMA}; use a newer version of l2t")
        file = msgspec.json.decode(text, type=_File)
        function = _function(file)
        checksum = _checksum(msgspec.json.decode(text))
    except (L2TError, ValueError, ArithmeticError, RecursionError) as error:
        raise FileFormatError(f"is no reflection function: {error}") from None
    if file.checksum is None:
        return function, "its checksum is missing"
    return function, "" if file.checksum == checksum else "its checksum does not match its content"


def shipped() -> tuple[str, ...]:
    """Return the names of the functions that ship with the package."""
    files = resources.files(_SHIPPED).iterdir()
    return tuple(sorted(each.name[:-5] for each in files if each.name.endswith(".json")))


def _checksum(content: dict[str, Any]) -> str:
    """Return the sha256 of the content without its checksum, as JSON with sorted names and no spaces."""
    rest = {name: value for name, value in content.items() if name != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _content(function: ReflectionFunction) -> dict[str, Any]:
    content = {"schema": SCHEMA} | {name.rstrip("_"): v for name, v in vars(function).items()}
    content["beta"] = function.beta.tolist()
    content["kernels"] = asdict(function.kernels)
    content["forecast"] = msgspec.to_builtins(function.forecast)
    content["training"] = dict(function.training)
    if function.calibration is not None:
        arrays = vars(function.calibration)
        content["calibration"] = {name: array.tolist() for name, array in arrays.items()}
    if function.lessons is not None:
        memory, units, settings = vars(function.lessons).values()
        lower = memory.hessian[np.tril_indices(len(memory.theta))]
        content["lessons"] = {
            "theta": memory.theta.tolist(),
            "gradient": memory.gradient.tolist(),
            "hessian": lower.tolist(),
            "weight": int(memory.weight),
            "units": astuple(units),
            **asdict(settings),
        }
    return content


def _function(file: _File) -> ReflectionFunction:
    try:
        kernels = KernelBank(file.kernels.first, file.kernels.last, file.kernels.step)
        K = len(kernels)
    except OverflowError:
        raise ValueError("kernels must be a bank of few kernels, got one without end") from None
    if file.forecast is not None:
        _check_forecast(file.forecast)
    return ReflectionFunction(
        _array("beta", file.beta, K),
        file.lambda_,
        file.mu,
        file.b,
        kernels=kernels,
        n_neighbors=file.n_neighbors,
        q_mode=file.q_mode,
        c=file.c,
        label_range=file.label_range,
        calibration=None if file.calibration is None else _calibration(file.calibration),
        lessons=None if file.lessons is None else _lessons(file.lessons, K),
        forecast=file.forecast,
        training=file.training,
    )


def _calibration(file: _Calibration) -> Calibration:
    counts = np.array(file.n_labels, dtype=np.intp)
    if counts[0] != 0 or not (np.diff(counts) > 0).all():
        raise ValueError(f"calibration.n_labels must rise from 0, got {file.n_labels!r:.80}")
    C = len(counts)
    slope = _array("calibration.slope", file.slope, C)
    offset = _array("calibration.offset", file.offset, C)
    errors = _array("calibration.errors", file.errors, C, len(SHARES))
    if (np.diff(errors, axis=1) < 0).any():
        raise ValueError("calibration.errors must not fall")
    pairs = _array("calibration.pairs", file.pairs, C).astype(np.intp)
    return Calibration(counts, slope, offset, errors, pairs)


def _lessons(file: _Lessons, K: int) -> Lessons:
    P = K + 4
    theta = _array("lessons.theta", file.theta, P)
    gradient = _array("lessons.gradient", file.gradient, P)
    lower = _array("lessons.hessian", file.hessian, P * (P + 1) // 2)
    hessian = np.zeros((P, P))
    hessian[np.tril_indices(P)] = lower
    hessian += np.tril(hessian, -1).T
    values = np.linalg.eigvalsh(hessian)
    if not values[0] >= -1e-9 * max(values[-1], 1.0):
        raise ValueError(f"lessons.hessian must be positive semidefinite, got {values[0]:g}")
    memory = Memory(theta, gradient, hessian, file.weight)
    settings = Settings(file.gamma, file.huber, tuple(file.components))
    return Lessons(memory, Units(*file.units), settings)


def _check_forecast(forecast: Forecast) -> None:
    """Reject a forecast whose lists do not fit each other: it cannot be evaluated."""
    signs = Signs(share=0.5, excess=0.0, error=0.5)
    try:
        with np.errstate(all="ignore"):
            expected = forecast.expect("spectrum", signs, 0.0, 1.0)
            valid = np.isfinite(expected).all() and not np.isnan(forecast.reach(signs))
    except (ValueError, ArithmeticError):
        valid = False
    if not valid:
        raise ValueError("forecast must hold lists of matching lengths and finite numbers")


def _array(name: str, values: list[Any], *shape: int) -> Array:
    rows = {len(row) for row in values} if len(shape) > 1 else {0}
    found = np.shape(values) if len(rows) == 1 else (len(values), "rows of several lengths")
    if found != shape:
        raise ValueError(f"{name} must be of shape {shape}, got {found}")
    return np.array(values, dtype=np.float64)
