"""Files of models: a zip of npy arrays, one of which is JSON that refers to the others by name.

An array that several parts of a model share, such as the rows of a graph, is written once and shared again
when the file is read. Files of version 0.2.0 (schema 1) are read as well.
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from l2t.classifiers.classifiers import Head
from l2t.classifiers.feature_map import FeatureMap
from l2t.classifiers.trees import TreeHead
from l2t.domains.encoding import TableEncoder
from l2t.domains.files.arrays import archive
from l2t.domains.files.disk import reading, replacing, writing
from l2t.domains.label_codec import decode_labels, encode_labels
from l2t.exceptions import FileFormatError, InvalidInputError
from l2t.numerics.gram import Lifted
from l2t.prediction.model import EstimatorHead, Model, Part
from l2t.typing import AnyArray, JsonObject, JsonValue, Matrix
from l2t.validation import check_memory

#: The version of the format that is written, and those that are read.
SCHEMA = 2
SCHEMAS = (1, 2)
_HEAD = ("coef", "intercept", "rows", "shares", "squares")
_TREES = ("feature", "threshold", "left", "right", "value", "roots", "column", "baseline")
_ENCODER = "encoder-"  # before the names of the arrays of the encoder
#: The arrays of a part in schema 1, and those of a `Lifted` W: its sparse rows, and V.
_FIRST_HEAD = ("coef", "intercept", "rows", "shares")
_FIRST_LIFTED = ("lifted_data", "lifted_indices", "lifted_indptr", "lifted_V")


class _Writer:
    """The arrays and feature maps of a file, each of which is written once."""

    def __init__(self) -> None:
        self.arrays: dict[str, Any] = {}
        self.maps: list[JsonObject] = []
        self._names: dict[int, str] = {}
        self._places: dict[int, int] = {}

    def array(self, values: AnyArray | None) -> str | None:
        """Return the name of an array; None for None."""
        if values is None:
            return None
        if id(values) not in self._names:
            name = self._names[id(values)] = f"array-{len(self._names)}"
            self.arrays[name] = values
        return self._names[id(values)]

    def features(self, features: FeatureMap) -> int:
        """Return the place of a map in the file, in which it follows the map before it."""
        if id(features) not in self._places:
            before = None if features.before is None else self.features(features.before)
            self.maps.append(
                {
                    "W": self._factor(features.W),
                    "mean": self.array(features.mean),
                    "columns": self.array(features.columns),
                    "scale": features.scale,
                    "unit": features.unit,
                    "relu": features.relu,
                    "before": before,
                }
            )
            self._places[id(features)] = len(self.maps) - 1
        return self._places[id(features)]

    def _factor(self, W: Matrix | None) -> JsonValue:
        if not isinstance(W, Lifted):  # which as an array may have 1,000 times as many values
            return self.array(W)
        rows = sparse.csr_array(W.rows)
        names = [self.array(part) for part in (rows.data, rows.indices, rows.indptr, W.V)]
        return {"lifted": names, "n_features": rows.shape[1]}

    def part(self, part: Part) -> JsonObject:
        """Return the description of features and a classifier."""
        features, head = part
        if isinstance(head, EstimatorHead):
            raise InvalidInputError(
                f"a model with an estimator cannot be saved, got {type(head.estimator).__name__}; use "
                "classifier='auto' or one of l2t.prediction.CLASSIFIERS"
            )
        described: JsonObject = {"features": self.features(features)}
        if isinstance(head, TreeHead):
            return described | {
                "trees": {name: self.array(getattr(head, name)) for name in _TREES},
                "single": head.single,
            }
        return described | {
            "head": {name: self.array(getattr(head, name)) for name in _HEAD},
            "bandwidth": head.bandwidth,
        }


def write_model(model: Model, path: Path) -> None:
    """Write a model to one file, which is replaced if it exists.

    Parameters
    ----------
    model : Model
        The model, without estimators of scikit-learn.
    path : Path
        The file.
    """
    writer = _Writer()
    codes, classes = encode_labels(model.classes_, "classes")
    content: JsonObject = {
        "schema": SCHEMA,
        "classes": classes,
        "codes": writer.array(codes),
        "feature_names": model.feature_names,
        "temperature": model.temperature,
        "name": model.name,
        "parts": [writer.part(part) for part in model.parts],
        "maps": writer.maps,
        "means": writer.array(model.means),
        "medians": writer.array(model.medians),
        "weights": model.weights,
        "floor": model.floor,
        "shift": model.shift,
        "offsets": model.offsets,
    }
    if model.encoder is not None:
        content["encoder"], encoded = model.encoder.to_parts()
        writer.arrays |= {f"{_ENCODER}{name}": values for name, values in encoded.items()}
    with writing(path), replacing(path) as file:
        np.savez(file, json=np.array(json.dumps(content, allow_nan=False)), **writer.arrays)


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model that `Model.save` wrote; reading a file never runs code from it.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Model

    Raises
    ------
    FileFormatError
        The file does not exist, or is not a model that this version can read.
    """
    where = Path(path)
    with reading(where):
        if not zipfile.is_zipfile(where):
            raise FileFormatError("is not a saved model, or is damaged")
        with where.open("rb") as handle, archive(handle) as file:
            check_memory("the model", sum(member.file_size for member in file.zip.filelist))
            content = json.loads(str(file["json"]))
            arrays: dict[str, AnyArray] = {
                name: file[name] for name in file.files if name != "json"
            }
        if content["schema"] not in SCHEMAS:
            versions = " or ".join(map(str, SCHEMAS))
            raise ValueError(f"its schema is {content['schema']!r:.40}, not {versions}")
        if content["schema"] == 1:
            content = _from_first_schema(content, arrays)
        return _from_file(content, arrays)


def _from_file(content: JsonObject, arrays: dict[str, AnyArray]) -> Model:
    """Return the model from the content of a file; raise a ValueError if that is invalid."""
    numbers = [float(content["temperature"]), float(content["floor"] or 0.0)]
    finite = all(np.isfinite(values).all() for values in arrays.values())
    if not (finite and np.isfinite(numbers).all()):
        raise ValueError("its numbers must be finite")
    if numbers[0] <= 0 or numbers[1] < 0:
        raise ValueError("its temperature must be positive")
    names = content["feature_names"]
    named = None if names is None else tuple(map(str, names))
    maps: list[FeatureMap] = []
    for described in content["maps"]:
        maps.append(_feature_map(described, arrays, maps))
    model = Model(
        decode_labels(arrays[content["codes"]], content["classes"]),
        named,
        tuple(_part(described, arrays, maps) for described in content["parts"]),
        numbers[0],
        str(content["name"]),
        _named(arrays, content["means"]),
        _named(arrays, content["medians"]),
        _encoder(content, arrays, named),
        _numbers(content["weights"]),
        None if content["floor"] is None else numbers[1],
        _numbers(content["shift"]),
        _numbers(content["offsets"]),
    )
    _check(model)
    return model


def _check(model: Model) -> None:
    """Raise a ValueError if the parts of a model do not fit together."""
    if model.weights is None:
        if model.floor is not None:
            raise ValueError("its weights are missing")
    elif len(model.weights) != len(model.parts) or not all(w >= 0 for w in model.weights):
        raise ValueError("its weights do not fit its parts")
    if any(v is not None and len(v) != len(model.classes_) for v in (model.shift, model.offsets)):
        raise ValueError("its shift or offsets do not fit its classes")
    if any(features.n_features != model.n_features for features, _ in model.parts):
        raise ValueError("its features have different columns")
    # Parts of different shapes cannot score a row.
    scores = model.decision_function(np.zeros((1, model.n_features)))
    described = (model.feature_names, model.means, model.medians)
    lengths = {len(values) for values in described if values is not None}
    if scores.shape != (1, len(model.classes_)) or lengths - {model.n_features}:
        raise ValueError("its parts do not fit together")


def _numbers(values: list[float] | None) -> tuple[float, ...] | None:
    """Return finite numbers of a file."""
    if values is None:
        return None
    numbers = tuple(map(float, values))
    if not np.isfinite(numbers).all():
        raise ValueError("its numbers must be finite")
    return numbers


def _named(arrays: dict[str, AnyArray], name: str | None) -> AnyArray | None:
    return None if name is None else arrays[name]


def _encoder(
    content: JsonObject, arrays: dict[str, AnyArray], names: tuple[str, ...] | None
) -> TableEncoder | None:
    if "encoder" not in content:
        return None
    own = {
        name.removeprefix(_ENCODER): values
        for name, values in arrays.items()
        if name.startswith(_ENCODER)
    }
    encoder = TableEncoder.from_parts(content["encoder"], own)
    if encoder.feature_names != names:
        raise ValueError("its columns do not fit its features")
    return encoder


def _feature_map(
    described: JsonObject, arrays: dict[str, AnyArray], maps: list[FeatureMap]
) -> FeatureMap:
    scale, before = float(described["scale"]), described["before"]
    if not 0 < scale < np.inf:
        raise ValueError("its scales must be positive")
    if before is not None and not 0 <= before < len(maps):
        raise ValueError("its features must follow others")
    W = described["W"]
    return FeatureMap(
        _lifted(W, arrays) if isinstance(W, dict) else _named(arrays, W),
        arrays[described["mean"]],
        scale,
        bool(described["unit"]),
        _named(arrays, described["columns"]),
        bool(described["relu"]),
        None if before is None else maps[before],
    )


def _lifted(described: JsonObject, arrays: dict[str, AnyArray]) -> Lifted:
    """Return a `Lifted` W; raise a ValueError if its sparse rows are invalid."""
    data, indices, indptr, V = (arrays[name] for name in described["lifted"])
    shape = len(V), int(described["n_features"])
    rows = sparse.csr_array((data, indices, indptr), shape=shape)
    rows.check_format(full_check=True)  # scipy crashes on indices out of bounds
    return Lifted(rows, V)


def _part(described: JsonObject, arrays: dict[str, AnyArray], maps: list[FeatureMap]) -> Part:
    features = maps[described["features"]]
    if "trees" in described:
        own = {name: arrays[described["trees"][name]] for name in _TREES}
        trees = TreeHead(**own, single=bool(described["single"]))
        trees.check(len(features.mean))
        return features, trees
    bandwidth = float(described["bandwidth"])
    if not 0 <= bandwidth < np.inf:
        raise ValueError("its bandwidths must not be negative")
    head = {name: _named(arrays, described["head"].get(name)) for name in _HEAD}
    return features, Head(**head, bandwidth=bandwidth)


def _from_first_schema(content: JsonObject, arrays: dict[str, AnyArray]) -> JsonObject:
    """Return the content of a file of schema 1, where arrays have the number of a part in their names."""
    maps, parts = [], []

    def name_of(name: str, number: int | None = None) -> str | None:
        full = name if number is None else f"{name}-{number}"
        return full if full in arrays else None

    for number, described in enumerate(content["parts"]):
        W: JsonValue = name_of("W", number)
        if name_of(_FIRST_LIFTED[0], number):
            W = {
                "lifted": [f"{name}-{number}" for name in _FIRST_LIFTED],
                "n_features": int(arrays[f"n_features-{number}"]),
            }
        maps.append(
            {
                "W": W,
                "mean": f"mean-{number}",
                "columns": name_of("columns", number),
                "scale": described["scale"],
                "unit": described["unit"],
                "relu": False,
                "before": None,
            }
        )
        part: JsonObject = {"features": number}
        if "single" in described:
            part |= {"trees": {name: f"{name}-{number}" for name in _TREES}}
            part |= {"single": described["single"]}
        else:
            part |= {"head": {name: name_of(name, number) for name in _FIRST_HEAD}}
            part |= {"bandwidth": described["bandwidth"]}
        parts.append(part)
    fields = {"means": name_of("means"), "medians": name_of("medians"), "codes": "codes"}
    vectors = {name: content.get(name) for name in ("weights", "shift", "offsets")}
    return content | fields | {"maps": maps, "parts": parts, "floor": None} | vectors
