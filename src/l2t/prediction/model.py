"""A model: features of the target, a trained classifier and calibrated probabilities, as plain arrays."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import log_softmax, logsumexp, softmax

from l2t.classifiers.classifiers import Head
from l2t.classifiers.feature_map import Evaluation, FeatureMap, change_first
from l2t.classifiers.trees import TreeHead
from l2t.domains.domain import columns_in_order, feature_rows
from l2t.domains.encoding import TableEncoder, is_frame
from l2t.numerics import in_threads
from l2t.prediction.decisions import decide
from l2t.typing import AnyArray, Array, Indices, Mask, Matrix, MatrixLike

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import ClassifierMixin

    from l2t.prediction.streaming import DatasetPrediction

#: Rows per block of a prediction.
BLOCK = 8192
#: Maximum number of values in a block of a sparse matrix, if it were dense.
BLOCK_VALUES = 2**25
#: Maximum number of rows that probabilities are calibrated on.
MAX_CALIBRATION_ROWS = 5000


@dataclass(frozen=True, eq=False)
class EstimatorHead:
    """A trained classifier of scikit-learn."""

    estimator: ClassifierMixin

    def scores(self, Z: Array) -> Array:
        """Return log probabilities; without them the decision function, or else 1 for the predicted class."""
        if hasattr(self.estimator, "predict_proba"):
            P = np.maximum(self.estimator.predict_proba(Z), np.finfo(float).tiny)
            return np.asarray(np.log(P))
        if hasattr(self.estimator, "decision_function"):
            margins = np.asarray(self.estimator.decision_function(Z))
            return np.stack([-margins, margins], axis=1) / 2 if margins.ndim == 1 else margins
        same = self.estimator.predict(Z)[:, None] == self.estimator.classes_
        return np.asarray(same, dtype=float)


Part = tuple[FeatureMap, Head | TreeHead | EstimatorHead]


@dataclass(frozen=True, eq=False)
class Model:
    """A trained model, which classifies rows of the target and further rows like them.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes of the target.
    feature_names : tuple of str or None
        The names of the columns; None if they have none.
    parts : tuple of (FeatureMap, Head, TreeHead or EstimatorHead)
        Features and the classifier trained on them.
    temperature : float, default=1.0
        Scores are divided by it, so that the mean probability is the expected accuracy.
    name : str, default=""
        The features and classifiers, for display.
    means, medians : array of shape (n_features,) or None, default=None
        Those of the target's columns, which `l2t apply --impute` fills missing cells of further rows with.
    encoder : TableEncoder or None, default=None
        What makes the features of the columns of a table; None if the columns are the features.
    weights : tuple of float or None, default=None
        The weights of the parts; None if they are equal.
    floor : float or None, default=None
        If None, the probabilities of the parts are averaged. Otherwise their logarithms, after this number
        was added, are multiplied by the weights and added.
    shift : tuple of float or None, default=None
        What is added to the scores of the classes, for their shares in the target.
    offsets : tuple of float or None, default=None
        What is added to the logarithms of probabilities before the class is decided, for a metric that is not
        the accuracy (`l2t.prediction.decisions`).
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
    floor: float | None = None
    shift: tuple[float, ...] | None = None
    offsets: tuple[float, ...] | None = None

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return self.parts[0][0].n_features

    def predict(self, X: MatrixLike) -> AnyArray:
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
        return np.asarray(self.classes_[self.decide(self.predict_proba(X))])

    def answer(self, X: MatrixLike) -> tuple[Indices, Array]:
        """Return the codes of the predicted classes of rows, and their probabilities."""
        P = self.predict_proba(X)
        codes = self.decide(P)
        return codes, np.take_along_axis(P, codes[:, None], axis=1)[:, 0]

    def decide(self, P: Array) -> Indices:
        """Return the codes of the predicted classes of rows with probabilities P."""
        return decide(P, None if self.offsets is None else np.array(self.offsets))

    def predict_proba(self, X: MatrixLike) -> Array:
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

    def decision_function(self, X: MatrixLike) -> Array:
        """Return the scores of the classes before calibration, whose softmax is the probability.

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
        blocks = in_threads(lambda at: self._scores(rows[at : at + step]), starts)
        return np.concatenate(blocks) if blocks else np.empty((0, len(self.classes_)))

    def _scores(self, rows: Matrix) -> Array:
        evaluate, kernels = Evaluation(rows), dict[tuple[int, float], Array]()
        logs = []
        for features, head in self.parts:
            Z, key = evaluate(features), getattr(head, "kernel_key", None)
            if (
                isinstance(head, Head) and key is not None
            ):  # label spreading, perhaps twice in one view
                if key not in kernels:
                    kernels[key] = head.kernel(Z)
                scores = head.scores(Z, kernels[key])
            else:
                scores = head.scores(Z)
            logs.append(log_softmax(scores, axis=1))
        weights = None if self.weights is None else np.array(self.weights)[:, None, None]
        if self.floor is None:
            scores = logsumexp(logs, axis=0, b=weights)
        else:
            scores = np.sum(weights * np.log(np.exp(logs) + self.floor), axis=0)
        return np.asarray(scores if self.shift is None else scores + np.array(self.shift))

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

    def answering(
        self, X: AnyArray, free: Mask, accuracy: float | None, random_state: int
    ) -> tuple[Model, Array]:
        """Return the model calibrated on rows of its target, and the probabilities of all rows.

        Parameters
        ----------
        X : array of shape (n, n_features)
            The rows.
        free : bool array of shape (n,)
            The rows without a label, on which it is calibrated.
        accuracy : float or None
            The accuracy to expect on them; None to leave the temperature as it is.
        random_state : int
            The seed of the rows that are drawn for calibration.

        Returns
        -------
        (Model, array of shape (n, n_classes))
        """
        model, scores = self, self.decision_function(X)
        rows = calibration_rows(free, random_state)
        if accuracy is not None and len(rows):
            model = self.calibrated(scores[rows], accuracy)
        return model, np.asarray(softmax(scores / model.temperature, axis=1))

    def after(self, features: FeatureMap, rows: Matrix) -> Model:
        """Return the model that takes the rows before a map, such as those of its target.

        Parameters
        ----------
        features : FeatureMap
            The map, whose features this model takes.
        rows : array or sparse matrix of shape (n, n_features)
            Rows of the target before the map, for the values that missing cells are filled with.

        Returns
        -------
        Model
        """
        maps, heads = zip(*self.parts, strict=True)
        changed = change_first(maps, lambda first: replace(first, before=features))
        means, medians = means_and_medians(rows)
        parts = tuple(zip(changed, heads, strict=True))
        return replace(self, parts=parts, means=means, medians=medians)

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
        from l2t.prediction.model_file import write_model  # it imports this module

        write_model(self, where := Path(path))
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

    def predict_frame(self, frame: pd.DataFrame) -> pd.DataFrame:
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


def means_and_medians(rows: Matrix) -> tuple[Array, Array]:
    """Return the mean and the median of each column; sparse rows are not made dense."""
    means = np.asarray(rows.mean(axis=0, dtype=np.float64))
    if not sparse.issparse(rows):
        return means, np.median(rows, axis=0)
    medians, by_column = np.zeros(rows.shape[1]), rows.tocsc()
    often = np.flatnonzero(2 * np.diff(by_column.indptr) >= rows.shape[0])  # that of others is 0
    if len(often):
        medians[often] = np.median(by_column[:, often].toarray(), axis=0)
    return means, medians
