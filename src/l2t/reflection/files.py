"""Reflection functions as small JSON files; loading checks every field and can run no code."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from l2t.domains.files._disk import reading, replacing, writing
from l2t.exceptions import FileFormatError, InvalidInputError, L2TError
from l2t.reflection.calibration import PROBABILITIES, Calibration
from l2t.reflection.function import Lessons, ReflectionFunction
from l2t.reflection.loss import COMPONENTS, Memory, Settings, Units
from l2t.statistics import KernelBank
from l2t.typing import Array

__all__ = ["SCHEMA", "from_json", "load_reflection", "save_reflection", "shipped", "to_json"]

#: The version of the file's form; a reader refuses a newer one.
SCHEMA = 1
_LARGEST = 16 * 2**20  # bytes
_GREATEST = sys.float_info.max
_MOST = 2**53  # whole numbers beyond are no longer exact elsewhere
_SHIPPED = "l2t.reflection.shipped"


def save_reflection(function: ReflectionFunction, path: str | os.PathLike[str]) -> Path:
    """Write a function as JSON, whole or not at all."""
    where = Path(path)
    text = to_json(function, indent=1)
    with writing(where), replacing(where) as file:
        file.write(text.encode())
    return where


def to_json(function: ReflectionFunction, *, indent: int | None = None) -> str:
    """Return a function as the text of its file."""
    try:
        return json.dumps(_content(function), indent=indent, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"training must hold plain JSON values: {error}") from None


def load_reflection(name: str | os.PathLike[str]) -> ReflectionFunction:
    """Read a function from a file, or by the name of one that ships with the package.

    Raises
    ------
    FileFormatError
        There is no such file, or it does not hold a function that this version can read.
    """
    if isinstance(name, str) and name in shipped():
        return from_json((resources.files(_SHIPPED) / f"{name}.json").read_bytes())
    path = Path(name)
    with reading(path):
        if path.stat().st_size > _LARGEST:
            raise FileFormatError(f"has more than {_LARGEST} bytes")
        return from_json(path.read_bytes())


def from_json(text: str | bytes) -> ReflectionFunction:
    """Return the function of such a text, checked field by field."""
    try:
        return _function(_Fields(json.loads(text), ""))
    except (L2TError, ValueError, RecursionError) as error:
        raise FileFormatError(f"is no reflection function: {error}") from None


def shipped() -> tuple[str, ...]:
    """Return the names of the functions that ship with the package."""
    files = resources.files(_SHIPPED).iterdir()
    return tuple(sorted(each.name[:-5] for each in files if each.name.endswith(".json")))


def _content(function: ReflectionFunction) -> dict[str, Any]:
    bank = function.kernels
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "beta": function.beta.tolist(),
        "lambda": function.lambda_,
        "mu": function.mu,
        "b": function.b,
        "kernels": {"first": bank.first, "last": bank.last, "step": bank.step},
        "n_neighbors": function.n_neighbors,
        "q_mode": function.q_mode,
        "c": function.c,
        "label_range": list(function.label_range),
        "calibration": None,
        "lessons": None,
        "training": dict(function.training),
    }
    if (calibration := function.calibration) is not None:
        content["calibration"] = {
            "n_labels": calibration.n_labels.tolist(),
            "slope": calibration.slope.tolist(),
            "offset": calibration.offset.tolist(),
            "quantiles": calibration.quantiles.tolist(),
            "n_pairs": calibration.n_pairs,
        }
    if (lessons := function.lessons) is not None:
        memory, units, settings = lessons.memory, lessons.units, lessons.settings
        content["lessons"] = {
            "theta": memory.theta.tolist(),
            "gradient": memory.gradient.tolist(),
            "hessian": memory.hessian[np.tril_indices(len(memory.theta))].tolist(),
            "weight": memory.weight,
            "units": [units.d, units.Q, units.tau],
            "gamma": settings.gamma,
            "huber": settings.huber,
            "components": list(settings.components),
        }
    return content


def _function(fields: _Fields) -> ReflectionFunction:
    schema = fields.whole("schema", least=1)
    if schema > SCHEMA:
        raise ValueError(f"its schema {schema} is newer than {SCHEMA}; use a newer version of l2t")
    bank = fields.inner("kernels")
    try:
        kernels = KernelBank(*(bank.number(name) for name in ("first", "last", "step")))
        K = len(kernels)
    except OverflowError:
        raise ValueError("kernels must be a bank of few kernels, got one without end") from None
    bank.done()
    fewest, most = fields.wholes("label_range", 2)
    function = ReflectionFunction(
        fields.array("beta", (K,)),
        fields.number("lambda"),
        fields.number("mu"),
        fields.number("b"),
        kernels=kernels,
        n_neighbors=fields.whole("n_neighbors", least=1),
        q_mode=fields.text("q_mode"),  # type: ignore[arg-type]  # checked by the function itself
        c=fields.number("c"),
        label_range=(fewest, most),
        calibration=_calibration(fields.inner("calibration"))
        if fields.has("calibration")
        else None,
        lessons=_lessons(fields.inner("lessons"), K) if fields.has("lessons") else None,
        training=_training(fields.inner("training")),
    )
    fields.done()
    return function


def _calibration(fields: _Fields) -> Calibration:
    counts = np.array(fields.wholes("n_labels"), dtype=np.intp)
    C = len(counts)
    if C < 2 or counts[0] != 0 or not (np.diff(counts) > 0).all():
        raise ValueError(f"calibration.n_labels must rise from 0, got {counts.tolist()!r:.80}")
    slope, offset = fields.array("slope", (C,)), fields.array("offset", (C,))
    quantiles = fields.array("quantiles", (C, len(PROBABILITIES)))
    if (slope < 0).any() or (np.diff(quantiles, axis=1) < 0).any():
        raise ValueError("calibration.slope must not be negative, and quantiles must not fall")
    found = Calibration(counts, slope, offset, quantiles, fields.whole("n_pairs", least=1))
    fields.done()
    return found


def _lessons(fields: _Fields, K: int) -> Lessons:
    P = K + 4
    lower = fields.array("hessian", (P * (P + 1) // 2,))
    hessian = np.zeros((P, P))
    hessian[np.tril_indices(P)] = lower
    hessian += np.tril(hessian, -1).T
    values = np.linalg.eigvalsh(hessian)
    if values[0] < -1e-9 * max(values[-1], 1.0):
        raise ValueError(f"lessons.hessian must be positive semidefinite, got {values[0]:g}")
    memory = Memory(
        fields.array("theta", (P,)),
        fields.array("gradient", (P,)),
        hessian,
        fields.whole("weight", least=1),
    )
    units = Units(*fields.array("units", (3,)).tolist())
    components = fields.texts("components")
    numbers = {name: fields.number(name) for name in ("gamma", "huber")}
    if min(*numbers.values(), units.d, units.Q, units.tau) <= 0:
        raise ValueError("lessons.gamma, huber and units must be positive")
    if not components or not set(components) <= set(COMPONENTS):
        raise ValueError(f"lessons.components must be some of {COMPONENTS}, got {components!r:.80}")
    fields.done()
    return Lessons(memory, units, Settings(**numbers, components=tuple(components)))


def _training(fields: _Fields) -> Mapping[str, Any]:
    """Return what was told about learning: plain values, and those that `partial_fit` goes on from."""
    for name in ("experiences", "runs", "pairs", "max_labels"):
        if fields.has(name, needed=False):
            fields.whole(name, least=1)
    return fields.finite()


class _Fields:
    """A JSON object whose fields are asked for by type; whatever is wrong is a ValueError."""

    def __init__(self, content: Any, path: str) -> None:
        if not isinstance(content, dict):
            what = path.rstrip(".") or "it"
            raise ValueError(f"{what} must be a JSON object, got {type(content).__name__}")
        self._content, self._path, self._asked = content, path, set[str]()

    def has(self, name: str, *, needed: bool = True) -> bool:
        """Tell whether a field has a value and not null."""
        self._asked.add(name)
        if needed and name not in self._content:
            raise ValueError(f"{self._path}{name} is missing")
        return self._content.get(name) is not None

    def _get(self, name: str, kind: type | tuple[type, ...], what: str) -> Any:
        self._asked.add(name)
        if name not in self._content:
            raise ValueError(f"{self._path}{name} is missing")
        value = self._content[name]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ValueError(f"{self._path}{name} must be {what}, got {value!r:.80}")
        return value

    def number(self, name: str) -> float:
        """Return a finite number."""
        value = self._get(name, (int, float), "a number")
        if not abs(value) <= _GREATEST:
            raise ValueError(f"{self._path}{name} must be finite, got {value!r:.80}")
        return float(value)

    def whole(self, name: str, *, least: int) -> int:
        """Return a whole number."""
        value = int(self._get(name, int, "a whole number"))
        if not least <= value <= _MOST:
            raise ValueError(f"{self._path}{name} must be at least {least}, got {value!r:.80}")
        return value

    def wholes(self, name: str, size: int | None = None) -> list[int]:
        """Return a list of whole numbers."""
        values: list[int] = self._get(name, list, "a list")
        whole = all(type(value) is int and abs(value) <= _MOST for value in values)
        if not whole or size not in (None, len(values)):
            raise ValueError(f"{self._path}{name} must be whole numbers, got {values!r:.80}")
        return values

    def text(self, name: str) -> str:
        """Return a text."""
        return str(self._get(name, str, "a text"))

    def texts(self, name: str) -> list[str]:
        """Return a list of texts."""
        values: list[str] = self._get(name, list, "a list")
        if any(type(value) is not str for value in values):
            raise ValueError(f"{self._path}{name} must be texts, got {values!r:.80}")
        return values

    def finite(self) -> Mapping[str, Any]:
        """Return the whole object as it is."""
        try:
            json.dumps(self._content, allow_nan=False)
        except ValueError:
            raise ValueError(f"{self._path.rstrip('.')} must hold finite numbers") from None
        return dict(self._content)

    def array(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return finite numbers of a shape."""
        values = self._get(name, list, "a list")
        try:
            array = np.array(values)
        except ValueError:
            raise ValueError(f"{self._path}{name} must be of shape {shape}") from None
        if array.dtype.kind not in "iuf":  # texts, null, and numbers beyond 64 bits
            raise ValueError(f"{self._path}{name} must be numbers, got {values!r:.80}")
        array = array.astype(np.float64)
        if array.shape != shape or not np.isfinite(array).all():
            raise ValueError(
                f"{self._path}{name} must be finite numbers of shape {shape}, got shape {array.shape}"
            )
        return array

    def inner(self, name: str) -> _Fields:
        """Return an object inside."""
        return _Fields(self._get(name, dict, "a JSON object"), f"{self._path}{name}.")

    def done(self) -> None:
        """Refuse fields that nobody asked for."""
        unknown = sorted(self._content.keys() - self._asked)
        if unknown:
            raise ValueError(f"{self._path}{unknown[0]!r:.80} is no field of a reflection function")
