"""Classifiers for a target with few labelled and many unlabelled rows.

Each one is trained on all target rows Z and the codes of the labelled ones, and is kept as arrays (`Head`)
that score further rows. Rows are centred, with a mean squared norm of 1 ("plain"), and then divided by their
norm ("unit"):

======================  =====  ===========================================================================
name                    rows   scores of a row z
======================  =====  ===========================================================================
nearest neighbour       plain  minus the distance to the nearest labelled row of each class
nearest centroid        plain  minus the distance to the mean of each class
logistic                plain  logistic regression; C is cross-validated if each class has 3 labels
logistic (centred)      unit   the same
label spreading         unit   shares of the classes around z, spread over the graph of all rows (Zhou 2004)
smoothed logistic       unit   the same, from the labels and predictions of logistic regression elsewhere
gaussian mixture        unit   a Gaussian per class, with a prior learned from known classes (`mixture`)
soft k-means            unit   k-means from the class means, with soft assignments and class shares
balanced k-means        unit   the same with classes of equal size, by Sinkhorn's scaling (PT-MAP; Hu 2021)
random forest           plain  logarithms of class shares (`trees`)
gradient boosting       plain  sums over boosted trees (`trees`)
======================  =====  ===========================================================================
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax

from l2t.classifiers.mixture import fit_mixture
from l2t.classifiers.trees import ABSENT, TreeHead, fit_boosting, fit_random_forest
from l2t.numerics import mean_squared_distance, squared_distances
from l2t.typing import Array, Indices

#: Values of C for cross-validation, and the value without it (docs/adr/0016).
GRID = (1.0, 10.0, 100.0)
C_DEFAULT = 10.0
#: Labels in the smallest class from which C is cross-validated.
CV_SHOTS = 3
#: Labels added to each class when class frequencies are estimated (docs/adr/0016).
EVEN_LABELS = 5.0
#: Bandwidth of the graph of label spreading in mean squared distances, and its alpha (docs/adr/0016).
SPREAD_WIDTH = 0.05
SPREADING = 0.8
#: Weight of a prediction of logistic regression relative to a label.
GUESS = 0.3
#: Inverse temperature of k-means (docs/adr/0016), its number of steps and step size, and Sinkhorn's
#: iterations per step (Hu 2021).
K_MEANS_SHARPNESS = 20.0
K_MEANS_STEPS = 20
K_MEANS_RATE = 0.3
SCALINGS = 10


@dataclass(frozen=True, eq=False)
class Head:
    """A trained classifier as arrays.

    With `coef`, a row z has the scores ``z coef + z² squares + intercept``. With `rows`, its scores are the
    class shares of the rows around it (Gaussian kernel), or minus the distance to the nearest row of each
    class if `bandwidth` is 0.
    """

    coef: Array | None = None
    intercept: Array | None = None
    rows: Array | None = None
    shares: Array | None = None
    bandwidth: float = 0.0
    squares: Array | None = None

    def scores(self, Z: Array, kernel: Array | None = None) -> Array:
        """Return one score per row and class; their softmax is the probability.

        `kernel` is what the method `kernel` returns for the rows, if that is known.
        """
        if self.coef is not None and self.intercept is not None:
            linear = Z @ self.coef + self.intercept
            return np.asarray(linear if self.squares is None else linear + Z**2 @ self.squares)
        assert self.rows is not None
        assert self.shares is not None
        if self.bandwidth == 0:
            D = squared_distances(Z, self.rows)
            classes = self.shares.argmax(axis=1)
            return -np.stack(
                [
                    D[:, classes == code].min(axis=1, initial=np.inf)
                    for code in range(self.shares.shape[1])
                ],
                axis=1,
            )
        K = self.kernel(Z) if kernel is None else kernel
        return np.asarray(np.log(np.maximum(K @ self.shares, np.finfo(float).tiny)))

    def kernel(self, Z: Array) -> Array:
        """Return the Gaussian kernel of rows with those of the classifier, 1 for the nearest one."""
        assert self.rows is not None
        D = squared_distances(Z, self.rows)
        np.subtract(D.min(axis=1, keepdims=True), D, out=D)
        D /= self.bandwidth
        return np.asarray(np.exp(D, out=D))

    @property
    def kernel_key(self) -> tuple[int, float] | None:
        """What the kernel depends on besides the rows to classify; None if there is no kernel."""
        return (id(self.rows), self.bandwidth) if self.rows is not None and self.bandwidth else None

    def with_classes(self, present: Indices, n_classes: int) -> Head:
        """Return the classifier for `n_classes`, of which its own are those `present`."""
        if self.coef is not None:
            intercept = np.full(n_classes, ABSENT)
            intercept[present] = self.intercept
            coef = _spread_columns(self.coef, present, n_classes)
            squares = None
            if self.squares is not None:
                squares = _spread_columns(self.squares, present, n_classes)
            return replace(self, coef=coef, intercept=intercept, squares=squares)
        assert self.shares is not None
        return replace(self, shares=_spread_columns(self.shares, present, n_classes))


def _spread_columns(A: Array, present: Indices, n_columns: int) -> Array:
    """Return an array with the columns of A at the places `present`, and zeros elsewhere."""
    wide = np.zeros((len(A), n_columns))
    wide[:, present] = A
    return wide


class NeighbourGraph:
    """The graph of label spreading on rows Z, factorised once for any number of labels.

    ``F = (I - a S)^-1 Y``,  ``S = D^-1/2 K D^-1/2``,  K the Gaussian kernel with a zero diagonal, D its row
    sums (Zhou et al. 2004).
    """

    def __init__(self, Z: Array) -> None:
        self.rows = Z
        self.width = SPREAD_WIDTH * max(mean_squared_distance(Z, Z), np.finfo(float).tiny)

    @cached_property
    def _factor(self) -> Any:
        K = np.exp(squared_distances(self.rows) / -self.width)
        np.fill_diagonal(K, 0.0)
        degree = np.sqrt(np.maximum(K.sum(axis=1), np.finfo(float).tiny))
        K /= degree[:, None]
        K /= degree
        K *= -SPREADING
        K[np.diag_indices(len(K))] += 1.0
        return cho_factor(K, lower=True, overwrite_a=True, check_finite=False)

    def spread(self, shares: Array) -> Array:
        """Return class shares of all rows, which sum to 1, from initial ones."""
        F = np.maximum(cho_solve(self._factor, shares, check_finite=False), 0.0)
        sums = F.sum(axis=1, keepdims=True)
        even = 1.0 / shares.shape[1]
        return np.asarray(np.where(sums > 0, F / np.where(sums > 0, sums, 1.0), even))


class TrainingSet(NamedTuple):
    """Rows Z of a target, the indices of the labelled ones, and their classes from 0 to n_classes - 1.

    `graph` is that of the rows, if it is known; `variances` are the prior ones of class means in the
    coordinates of a "whitened" view, for Gaussian mixtures.
    """

    Z: Array
    at: Indices
    codes: Indices
    n_classes: int
    graph: NeighbourGraph | None = None
    variances: Array | None = None

    @property
    def onehot(self) -> Array:
        """The classes of the labelled rows, one-hot encoded."""
        return np.eye(self.n_classes)[self.codes]

    @property
    def means(self) -> Array:
        """The mean labelled row of each class."""
        Y = self.onehot
        return np.asarray(Y.T @ self.Z[self.at] / Y.sum(axis=0)[:, None])


class Classifier(NamedTuple):
    """How to train a classifier, and what it assumes.

    `fit` takes a task, the C of logistic regression (None to cross-validate it), and a "logistic (centred)"
    that was trained already, or None.
    """

    fit: Callable[[TrainingSet, float | None, Head | None], Head | TreeHead]
    #: Whether rows are divided by their norm first.
    unit: bool
    #: Whether unlabelled rows get the class of their neighbours; it errs where neighbourhoods mislead.
    relies_on_neighbours: bool = False


def fit_head(name: str, task: TrainingSet) -> Head | TreeHead:
    """Train a classifier, with a cross-validated C where it has one."""
    if task.n_classes == 1:
        return Head(np.zeros((task.Z.shape[1], 1)), np.zeros(1))
    return CLASSIFIERS[name].fit(task, None, None)


def _centroid_head(centres: Array, sharpness: float, offsets: Array | float = 0.0) -> Head:
    """Return the head with scores ``offset - sharpness ||z - centre||²``, up to a constant per row."""
    squares = np.einsum("ij,ij->i", centres, centres)
    return Head(2.0 * sharpness * centres.T, offsets - sharpness * squares)


def _logistic(task: TrainingSet, C: float | None, _: Head | None = None) -> Head:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    rows = task.Z[task.at]
    centre, axes = rows.mean(axis=0), None
    small = rows - centre
    if rows.shape[1] > len(rows):  # the solution lies in the span of the labelled rows
        U, s, axes = np.linalg.svd(small, full_matrices=False)
        small = U * s
    counts = np.bincount(task.codes)
    shares = (counts + EVEN_LABELS) / (counts + EVEN_LABELS).sum()
    weights = dict(enumerate(shares * len(rows) / counts))
    model = LogisticRegression(C=C or C_DEFAULT, tol=1e-3, max_iter=300, class_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        if C is None and counts.min() >= CV_SHOTS:
            folds = StratifiedKFold(3, shuffle=True, random_state=0)
            right = [
                np.sum(
                    cross_val_predict(model.set_params(C=C), small, task.codes, cv=folds, params={})
                    == task.codes
                )
                for C in GRID
            ]
            model.set_params(C=GRID[int(np.argmax(right))])
        model.fit(small, task.codes)
    coef, intercept = model.coef_.T, model.intercept_
    if task.n_classes == 2:
        coef, intercept = np.hstack([-coef, coef]) / 2, np.array([-intercept[0], intercept[0]]) / 2
    coef = coef if axes is None else axes.T @ coef
    return Head(coef, intercept - centre @ coef)


def _label_spreading(task: TrainingSet, guess: Head | None = None) -> Head:
    """Spread labels over the graph of all rows, from predictions for unlabelled rows if there is a guess."""
    shares = np.zeros((len(task.Z), task.n_classes))
    if guess is not None:
        shares = GUESS * softmax(guess.scores(task.Z), axis=1)
    shares[task.at] = task.onehot * (task.onehot.sum() / task.n_classes / task.onehot.sum(axis=0))
    graph = task.graph or NeighbourGraph(task.Z)
    return Head(rows=task.Z, shares=graph.spread(shares), bandwidth=graph.width)


def _gaussian_mixture(task: TrainingSet) -> Head:
    mixture = fit_mixture(task.Z, task.at, task.codes, task.n_classes, task.variances)
    return Head(mixture.linear, mixture.constant, squares=mixture.squares)


def _smoothed_logistic(task: TrainingSet, C: float | None, guess: Head | None) -> Head:
    return _label_spreading(task, guess or _logistic(task, C))


def _soft_k_means(task: TrainingSet, *, balanced: bool) -> Head:
    centres, offsets = task.means, np.ones(task.n_classes)
    n, fixed = len(task.Z), task.onehot
    for _ in range(K_MEANS_STEPS):
        D = squared_distances(task.Z, centres)
        K = np.exp(-K_MEANS_SHARPNESS * (D - D.min(axis=1, keepdims=True)))
        for _ in range(SCALINGS if balanced else 0):  # every class gets the same mass
            offsets = n / task.n_classes / (K.T @ (1.0 / (K @ offsets)))
        P = K * offsets
        P /= P.sum(axis=1, keepdims=True)
        P[task.at] = fixed
        mass = P.sum(axis=0)
        if not balanced:
            offsets = (mass + 1.0) / (n + task.n_classes)
        centres = centres + K_MEANS_RATE * (P.T @ task.Z / mass[:, None] - centres)
    return _centroid_head(centres, K_MEANS_SHARPNESS, np.log(offsets))


CLASSIFIERS = {
    "nearest neighbour": Classifier(
        lambda task, *_: Head(rows=task.Z[task.at], shares=task.onehot), unit=False
    ),
    "nearest centroid": Classifier(lambda task, *_: _centroid_head(task.means, 1.0), unit=False),
    "logistic": Classifier(_logistic, unit=False),
    "logistic (centred)": Classifier(_logistic, unit=True),
    "label spreading": Classifier(
        lambda task, *_: _label_spreading(task), unit=True, relies_on_neighbours=True
    ),
    "smoothed logistic": Classifier(_smoothed_logistic, unit=True, relies_on_neighbours=True),
    "gaussian mixture": Classifier(
        lambda task, *_: _gaussian_mixture(task), unit=True, relies_on_neighbours=True
    ),
    "soft k-means": Classifier(
        lambda task, *_: _soft_k_means(task, balanced=False), unit=True, relies_on_neighbours=True
    ),
    "balanced k-means": Classifier(
        lambda task, *_: _soft_k_means(task, balanced=True), unit=True, relies_on_neighbours=True
    ),
    "random forest": Classifier(
        lambda task, *_: fit_random_forest(task.Z[task.at], task.codes, task.n_classes),
        unit=False,
    ),
    "gradient boosting": Classifier(
        lambda task, *_: fit_boosting(task.Z[task.at], task.codes, task.n_classes),
        unit=False,
    ),
}
DEFAULT = "logistic (centred)"
