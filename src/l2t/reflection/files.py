"""Reflection functions as small JSON files; loading checks every field and can run no code."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict, astuple
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
_MOST = 2**53  # whole numbers beyond are no longer exact elsewhere
_BANK = ("first", "last", "step")
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
        return _function(_Fields(json.loads(text)))
    except (L2TError, ValueError, RecursionError) as error:
        raise FileFormatError(f"is no reflection function: {error}") from None


def shipped() -> tuple[str, ...]:
    """Return the names of the functions that ship with the package."""
    files = resources.files(_SHIPPED).iterdir()
    return tuple(sorted(each.name[:-5] for each in files if each.name.endswith(".json")))


def _content(function: ReflectionFunction) -> dict[str, Any]:
    fields = {name.rstrip("_"): value for name, value in vars(function).items()}
    content = {"schema": SCHEMA} | fields
    content["beta"] = function.beta.tolist()
    content["kernels"] = {name: getattr(function.kernels, name) for name in _BANK}
    content["training"] = dict(function.training)
    if function.calibration is not None:
        content["calibration"] = _plain(vars(function.calibration))
    if function.lessons is not None:
        memory, units, settings = vars(function.lessons).values()
        lower = memory.hessian[np.tril_indices(len(memory.theta))]
        content["lessons"] = _plain(vars(memory) | {"hessian": lower, "units": astuple(units)})
        content["lessons"] |= asdict(settings)
    return content


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(value).tolist() for name, value in fields.items()}


def _function(fields: _Fields) -> ReflectionFunction:
    schema = fields.whole("schema")
    if schema > SCHEMA:
        raise ValueError(f"its schema {schema} is newer than {SCHEMA}; use a newer version of l2t")
    fields.allow({"schema", *(name.rstrip("_") for name in _names(ReflectionFunction))})
    bank = fields.inner("kernels").allow(_BANK)
    try:
        kernels = KernelBank(*map(bank.number, _BANK))
        K = len(kernels)
    except OverflowError:
        raise ValueError("kernels must be a bank of few kernels, got one without end") from None
    label_range = fields.several("label_range", int, "whole numbers", 2)
    return ReflectionFunction(
        fields.array("beta", K),
        fields.number("lambda"),
        fields.number("mu"),
        fields.number("b"),
        kernels=kernels,
        n_neighbors=fields.whole("n_neighbors"),
        q_mode=fields.get("q_mode", str, "a text"),
        c=fields.number("c"),
        label_range=(label_range[0], label_range[1]),
        calibration=None
        if fields.is_null("calibration")
        else _calibration(fields.inner("calibration")),
        lessons=None if fields.is_null("lessons") else _lessons(fields.inner("lessons"), K),
        training=_training(fields.inner("training")),
    )


def _calibration(fields: _Fields) -> Calibration:
    fields.allow(_names(Calibration))
    counts = np.array(fields.several("n_labels", int, "whole numbers"), dtype=np.intp)
    C = len(counts)
    if C < 2 or counts[0] != 0 or not (np.diff(counts) > 0).all():
        raise ValueError(f"calibration.n_labels must rise from 0, got {counts.tolist()!r:.80}")
    slope, offset = fields.array("slope", C), fields.array("offset", C)
    quantiles = fields.array("quantiles", C, len(PROBABILITIES))
    if (slope < 0).any() or (np.diff(quantiles, axis=1) < 0).any():
        raise ValueError("calibration.slope must not be negative, and quantiles must not fall")
    return Calibration(counts, slope, offset, quantiles, fields.whole("n_pairs"))


def _lessons(fields: _Fields, K: int) -> Lessons:
    fields.allow([*_names(Memory), "units", *_names(Settings)])
    P = K + 4
    hessian = np.zeros((P, P))
    hessian[np.tril_indices(P)] = fields.array("hessian", P * (P + 1) // 2)
    hessian += np.tril(hessian, -1).T
    values = np.linalg.eigvalsh(hessian)
    if values[0] < -1e-9 * max(values[-1], 1.0):
        raise ValueError(f"lessons.hessian must be positive semidefinite, got {values[0]:g}")
    theta, gradient = fields.array("theta", P), fields.array("gradient", P)
    units = Units(*fields.array("units", 3).tolist())
    components = tuple(fields.several("components", str, "texts"))
    gamma, huber = fields.number("gamma"), fields.number("huber")
    if min(gamma, huber, *astuple(units)) <= 0:
        raise ValueError("lessons.gamma, huber and units must be positive")
    if not components or not set(components) <= set(COMPONENTS):
        raise ValueError(
            f"lessons.components must be some of {COMPONENTS}, got {list(components)!r:.80}"
        )
    memory = Memory(theta, gradient, hessian, fields.whole("weight"))
    return Lessons(memory, units, Settings(gamma, huber, components))


def _training(fields: _Fields) -> dict[str, Any]:
    """Return plain values; those that `partial_fit` resumes from are checked."""
    for name in ("experiences", "runs", "pairs", "max_labels"):
        if fields.content.get(name) is not None:
            fields.whole(name)
    try:
        json.dumps(fields.content, allow_nan=False)
    except ValueError:
        raise ValueError("training must hold finite numbers") from None
    return fields.content


def _names(kind: type[Any]) -> list[str]:
    return [each.name for each in dataclasses.fields(kind)]


class _Fields:
    """A JSON object whose fields are read by type; whatever is wrong is a ValueError."""

    def __init__(self, content: Any, path: str = "") -> None:
        if not isinstance(content, dict):
            raise ValueError(f"it must be a JSON object, got {type(content).__name__}")
        self.content, self._path = content, path

    def allow(self, names: Iterable[str]) -> _Fields:
        """Reject fields of other names."""
        unknown = sorted(self.content.keys() - set(names))
        if unknown:
            raise ValueError(f"{self._path}{unknown[0]!r:.80} is no field of a reflection function")
        return self

    def is_null(self, name: str) -> bool:
        return name in self.content and self.content[name] is None

    def get(self, name: str, kind: type | tuple[type, ...], what: str) -> Any:
        if name not in self.content:
            raise ValueError(f"{self._path}{name} is missing")
        value = self.content[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ValueError(f"{self._path}{name} must be {what}, got {value!r:.80}")
        return value

    def inner(self, name: str) -> _Fields:
        return _Fields(self.get(name, dict, "a JSON object"), f"{self._path}{name}.")

    def number(self, name: str) -> float:
        value = self.get(name, (int, float), "a number")
        if not abs(value) <= sys.float_info.max:
            raise ValueError(f"{self._path}{name} must be finite, got {value!r:.80}")
        return float(value)

    def whole(self, name: str) -> int:
        value = int(self.get(name, int, "a whole number"))
        if not 1 <= value <= _MOST:
            raise ValueError(f"{self._path}{name} must be at least 1, got {value!r:.80}")
        return value

    def several(self, name: str, kind: Any, what: str, size: int | None = None) -> list[Any]:
        values: list[Any] = self.get(name, list, "a list")
        right = all(type(v) is kind and (kind is str or abs(v) <= _MOST) for v in values)
        if not right or size not in (None, len(values)):
            raise ValueError(f"{self._path}{name} must be {what}, got {values!r:.80}")
        return values

    def array(self, name: str, *shape: int) -> Array:
        values = self.get(name, list, "a list")
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
