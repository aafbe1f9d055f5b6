"""A model: features of the target, a trained classifier and calibrated probabilities, as plain arrays."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import log_softmax, logsumexp, softmax

from l2t.domains.domain import columns_in_order, feature_rows
from l2t.domains.encoding import TableEncoder, is_frame
from l2t.domains.files.arrays import archive
from l2t.domains.files.disk import reading, replacing, writing
from l2t.domains.label_codec import decode_labels, encode_labels
from l2t.exceptions import FileFormatError, InvalidInputError
from l2t.numerics import in_threads, unit_rows
from l2t.numerics.gram import Lifted
from l2t.prediction.classifiers import Head
from l2t.prediction.trees import TreeHead
from l2t.typing import AnyArray, Array, Indices, Mask
from l2t.validation import check_memory

if TYPE_CHECKING:
    from l2t.prediction.streaming import DatasetPrediction

#: The version of the file format; any other is rejected.
SCHEMA = 1
#: Rows per block of a prediction.
BLOCK = 8192
#: Maximum number of values in a block of a sparse matrix, if it were dense.
BLOCK_VALUES = 2**25
#: Maximum number of rows that probabilities are calibrated on.
MAX_CALIBRATION_ROWS = 5000
_ARRAYS = ("columns", "mean", "W", "coef", "intercept", "rows", "shares")
_NUMBERS = ("scale", "unit", "bandwidth")
_TREES = ("feature", "threshold", "left", "right", "value", "roots", "column", "baseline")
_ENCODER = "encoder-"  # before the names of the arrays of the encoder
#: A `Lifted` W: its sparse rows, and V.
_LIFTED = ("lifted_data", "lifted_indices", "lifted_indptr", "lifted_V")


@dataclass(frozen=True, eq=False)
class Features:
    """The features for a classifier: ``(X W - mean) / scale``, with rows divided by their norm if `unit`.

    W is an array, a `Lifted` factor, or None for the identity. X is first divided by `columns`, if given.
    """

    W: Any
    mean: Array
    scale: float
    unit: bool = False
    columns: Array | None = None

    @classmethod
    def of(cls, X: AnyArray, W: AnyArray | None, *, unit: bool = False) -> Features:
        """Return features that have mean zero and mean squared norm 1 on target rows X."""
        Z = np.asarray(X if W is None else X @ W, dtype=np.float64)
        mean = Z.mean(axis=0)
        scale = float(np.sqrt(np.mean(np.sum((Z - mean) ** 2, axis=1))))
        return cls(W, mean, scale if scale > 0 else 1.0, unit)

    def __call__(self, X: Any) -> Array:
        """Return the features of rows X."""
        if self.columns is not None:
            X = (X.toarray() if sparse.issparse(X) else X) / self.columns
        Z = X if self.W is None else X @ self.W
        Z = (np.asarray(Z.toarray() if sparse.issparse(Z) else Z) - self.mean) / self.scale
        return unit_rows(Z) if self.unit else np.asarray(Z)


@dataclass(frozen=True, eq=False)
class EstimatorHead:
    """A trained classifier of scikit-learn."""

    estimator: Any

    def scores(self, Z: Array) -> Array:
        """Return log probabilities; without them the decision function, or else 1 for the predicted class."""
        if hasattr(self.estimator, "predict_proba"):
            P = np.maximum(self.estimator.predict_proba(Z), np.finfo(float).tiny)
            return np.asarray(np.log(P))
        if hasattr(self.estimator, "decision_function"):
            found = np.asarray(self.estimator.decision_function(Z))
            return np.stack([-found, found], axis=1) / 2 if found.ndim == 1 else found
        same = self.estimator.predict(Z)[:, None] == self.estimator.classes_
        return np.asarray(same, dtype=float)


Part = tuple[Features, Head | TreeHead | EstimatorHead]


@dataclass(frozen=True, eq=False)
class Model:
    """A trained model, which classifies rows of the target and further rows like them.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes of the target.
    feature_names : tuple of str or None
        The names of the columns; None if they have none.
    parts : tuple of (Features, Head, TreeHead or EstimatorHead)
        Features and the classifier trained on them; probabilities of several are averaged.
    temperature : float, default=1.0
        Scores are divided by it, so that the mean probability is the expected accuracy.
    name : str, default=""
        The features and classifiers, for display.
    means, medians : array of shape (n_features,) or None, default=None
        Those of the target's columns, which `l2t apply --impute` fills missing cells of further rows with.
    encoder : TableEncoder or None, default=None
        What makes the features of the columns of a table; None if the columns are the features.
    weights : tuple of float or None, default=None
        The weights of the parts in the average; None if they are equal.
    """

    classes_: AnyArray
    feature_names: tuple[str, ...] | None
    parts: tuple[Part, ...]
    temperature: float = 1.0
    name: str = ""
    means: Array | None = None
    medians: Array | None = None
    encoder: TableEncoder | None = None
    weights: tuple[float, ...] | None = None

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        features = self.parts[0][0]
        return len(features.mean) if features.W is None else int(features.W.shape[0])

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each row.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Domain of shape (n, n_features)
            The rows. A frame must have the columns that the model was trained with, in any order; their cells
            may be missing, and categories unknown, if the model has an encoder.

        Returns
        -------
        array of shape (n,)
        """
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class for each row, in the order of `classes_`.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Domain of shape (n, n_features)
            The rows, as for `predict`.

        Returns
        -------
        array of shape (n, n_classes)
        """
        return np.asarray(softmax(self.decision_function(X) / self.temperature, axis=1))

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the classes before calibration: logarithms of the averaged probabilities.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Domain of shape (n, n_features)
            The rows, as for `predict`.

        Returns
        -------
        array of shape (n, n_classes)
        """
        if self.encoder is not None and is_frame(X):
            X = self.encoder.transform(X)
        rows = feature_rows(columns_in_order(X, self.feature_names), self.n_features)
        step = BLOCK
        if sparse.issparse(rows):  # features may be dense
            step = min(max(BLOCK_VALUES // rows.shape[1], 1), BLOCK)
        starts = range(0, rows.shape[0], step)
        found = in_threads(lambda at: self._scores(rows[at : at + step]), starts)
        return np.concatenate(found) if found else np.empty((0, len(self.classes_)))

    def _scores(self, rows: Any) -> Array:
        scores = [head.scores(features(rows)) for features, head in self.parts]
        logs = [log_softmax(each, axis=1) for each in scores]
        if self.weights is None:
            return np.asarray(logsumexp(logs, axis=0))
        return np.asarray(logsumexp(logs, axis=0, b=np.array(self.weights)[:, None, None]))

    def calibrated(self, scores: Array, accuracy: float) -> Model:
        """Return the model whose temperature makes the mean probability at these scores the accuracy."""
        chance = 1.0 / scores.shape[1]
        if chance == 1.0 or not len(scores):
            return self
        wanted = chance + (1.0 - chance) * np.clip(
            (accuracy - chance) / (1.0 - chance), 0.02, 0.999
        )

        def excess(log_temperature: float) -> float:
            P = softmax(scores / np.exp(log_temperature), axis=1)
            return float(P.max(axis=1).mean() - wanted)

        ends = -12.0, 12.0
        if excess(ends[0]) <= 0 or excess(ends[1]) >= 0:  # all scores are equal
            return self
        return replace(self, temperature=float(np.exp(brentq(excess, *ends, xtol=1e-3))))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the model to one file: a zip of npy arrays, one of which is JSON.

        Parameters
        ----------
        path : str or path
            The file, which is replaced if it exists.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InvalidInputError
            The classifier is an estimator of scikit-learn.
        """
        codes, classes = encode_labels(self.classes_, "classes")
        arrays: dict[str, Any] = {"codes": codes, "means": self.means, "medians": self.medians}
        parts = []
        for i, (features, head) in enumerate(self.parts):
            if isinstance(head, EstimatorHead):
                raise InvalidInputError(
                    f"a model with an estimator cannot be saved, got {type(head.estimator).__name__}; use "
                    "classifier='auto' or one of l2t.prediction.CLASSIFIERS"
                )
            if isinstance(head, TreeHead):
                arrays |= {f"{name}-{i}": getattr(head, name) for name in _TREES}
                arrays |= {f"{name}-{i}": vars(features)[name] for name in ("columns", "mean", "W")}
                parts.append(
                    {"scale": features.scale, "unit": features.unit, "single": head.single}
                )
                continue
            values = vars(features) | vars(head)
            if isinstance(features.W, Lifted):  # as an array it may have 1,000 times as many values
                csr = sparse.csr_array(features.W.rows)
                factor = csr.data, csr.indices, csr.indptr, features.W.V
                arrays |= dict(zip((f"{name}-{i}" for name in _LIFTED), factor, strict=True))
                arrays |= {f"n_features-{i}": np.array(csr.shape[1])}
                values["W"] = None
            arrays |= {f"{name}-{i}": values[name] for name in _ARRAYS}
            parts.append({name: values[name] for name in _NUMBERS})
        arrays = {name: each for name, each in arrays.items() if each is not None}
        content = {"schema": SCHEMA, "classes": classes, "feature_names": self.feature_names}
        content |= {"temperature": self.temperature, "name": self.name, "parts": parts}
        content |= {"weights": self.weights}
        if self.encoder is not None:
            content["encoder"], encoded = self.encoder.to_parts()
            arrays |= {f"{_ENCODER}{name}": values for name, values in encoded.items()}
        with writing(where := Path(path)), replacing(where) as file:
            np.savez(file, json=np.array(json.dumps(content, allow_nan=False)), **arrays)
        return where

    def predict_dataset(
        self, data: str | os.PathLike[str], output: str | os.PathLike[str], **options: Any
    ) -> DatasetPrediction:
        """Predict the rows of a parquet data set of any size, and write them as another one.

        Parameters
        ----------
        data, output : str or path
            The file, folder or URL to read, and to write.
        **options
            The options of `l2t.prediction.predict_dataset`, such as `n_jobs` or `cluster`.

        Returns
        -------
        DatasetPrediction
            The number of rows in each class, and of files.
        """
        from l2t.prediction.streaming import predict_dataset

        return predict_dataset(self, data, output, **options)

    def predict_frame(self, frame: Any) -> Any:
        """Return a frame of pandas or Dask with two more columns, ``predicted`` and ``probability``.

        Parameters
        ----------
        frame : pandas or Dask DataFrame
            The rows, as for `predict`, and any other columns. That of Dask is computed when it is asked for.

        Returns
        -------
        pandas or Dask DataFrame
        """
        from l2t.prediction.streaming import predict_frame

        return predict_frame(self, frame)


def calibration_rows(free: Mask, random_state: int) -> Indices:
    """Return random rows, of those that are free, to calibrate probabilities on."""
    rows = np.random.default_rng(random_state).permutation(np.flatnonzero(free))
    return np.sort(rows[:MAX_CALIBRATION_ROWS])


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
            check_memory("the model", sum(each.file_size for each in file.zip.filelist))
            content = json.loads(str(file["json"]))
            arrays: dict[str, Any] = {name: file[name] for name in file.files if name != "json"}
        if content["schema"] != SCHEMA:
            raise ValueError(f"its schema is {content['schema']!r:.40}, not {SCHEMA}")
        return _from_file(content, arrays)


def _from_file(content: dict[str, Any], arrays: dict[str, Any]) -> Model:
    """Return the model from the content of a file; raise a ValueError if that is invalid."""
    names, temperature = content["feature_names"], float(content["temperature"])
    finite = all(np.isfinite(each).all() for each in (temperature, *arrays.values()))
    if not finite or temperature <= 0:
        raise ValueError("its arrays must be finite, and its temperature positive")
    named = None if names is None else tuple(map(str, names))
    classes = decode_labels(arrays["codes"], content["classes"])
    parts = tuple(_part(each, arrays, i) for i, each in enumerate(content["parts"]))
    fills = arrays.get("means"), arrays.get("medians")
    encoder = None
    if "encoder" in content:
        own = {
            name.removeprefix(_ENCODER): values
            for name, values in arrays.items()
            if name.startswith(_ENCODER)
        }
        encoder = TableEncoder.from_parts(content["encoder"], own)
        if encoder.feature_names != named:
            raise ValueError("its columns do not fit its features")
    given = content.get("weights")
    weights = None if given is None else tuple(map(float, given))
    if weights is not None and (
        len(weights) != len(parts) or not all(0 <= w <= 1 for w in weights)
    ):
        raise ValueError("its weights do not fit its parts")
    name = str(content["name"])
    model = Model(classes, named, parts, temperature, name, *fills, encoder, weights)
    # Parts of different shapes cannot score a row.
    scores = model.decision_function(np.zeros((1, model.n_features)))
    lengths = {len(each) for each in (named, *fills) if each is not None}
    if scores.shape != (1, len(classes)) or lengths - {model.n_features}:
        raise ValueError("its parts do not fit together")
    return model


def _part(content: dict[str, Any], arrays: dict[str, Any], number: int) -> Part:
    scale, bandwidth = float(content["scale"]), float(content.get("bandwidth", 0.0))
    if not (0 < scale < np.inf and 0 <= bandwidth < np.inf):
        raise ValueError("its scales must be positive")
    own = {name: arrays.get(f"{name}-{number}") for name in _ARRAYS}
    mean, columns = arrays[f"mean-{number}"], own["columns"]
    if "single" in content:
        trees = TreeHead(
            **{name: arrays[f"{name}-{number}"] for name in _TREES}, single=bool(content["single"])
        )
        trees.check(len(mean))
        return Features(own["W"], mean, scale, bool(content["unit"]), columns), trees
    head = Head(own["coef"], own["intercept"], own["rows"], own["shares"], bandwidth)
    W = own["W"] if f"{_LIFTED[0]}-{number}" not in arrays else _lifted(arrays, number)
    return Features(W, mean, scale, bool(content["unit"]), columns), head


def _lifted(arrays: dict[str, Any], number: int) -> Lifted:
    """Return a `Lifted` W from the arrays of a file; raise a ValueError if its sparse rows are invalid."""
    data, indices, indptr, V = (arrays[f"{name}-{number}"] for name in _LIFTED)
    shape = len(V), int(arrays[f"n_features-{number}"])
    rows = sparse.csr_array((data, indices, indptr), shape=shape)
    rows.check_format(full_check=True)  # scipy crashes on indices out of bounds
    return Lifted(rows, V)
