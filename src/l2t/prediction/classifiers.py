"""Classifiers: what turns few labelled rows, and many that are not, into classes.

Each one sees all target rows Z and the codes of the labelled ones, and leaves arrays behind (`Head`) that
score further rows without it. Rows arrive centred, with a mean squared norm of 1 ("plain"), or divided by
their norm after that ("unit"):

======================  =====  ===========================================================================
name                    rows   scores of a row z
======================  =====  ===========================================================================
nearest neighbour       plain  minus the distance to the nearest labelled row of each class
nearest centroid        plain  minus the distance to the mean of each class
logistic                plain  logistic regression, its C by cross-validation where labels suffice
logistic (centred)      unit   the same
label spreading         unit   shares of the classes around z, spread over the graph of all rows (Zhou 2004)
smoothed logistic       unit   the same, from the labels and what logistic regression makes of the other rows
soft k-means            unit   k-means from the class means, with soft assignments and class shares
balanced k-means        unit   the same with classes of equal size, by Sinkhorn's scaling (PT-MAP; Hu 2021)
======================  =====  ===========================================================================
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve
from scipy.special import softmax

from l2t.numerics import mean_squared_distance, squared_distances
from l2t.typing import Array, Indices

#: Values of C that cross-validation chooses from, and the one without it.
GRID = (1.0, 10.0, 100.0)
C_DEFAULT = 10.0
#: Labels per class, in the smallest class, from which C is cross-validated.
CV_SHOTS = 3
#: Labels that are added to each class when the shares of classes are estimated from few labels.
EVEN_LABELS = 5.0
#: Bandwidth of the graph of label spreading in mean squared distances, and how far labels spread.
SPREAD_WIDTH = 0.05
SPREADING = 0.8
#: Weight of a guess of logistic regression beside a label.
GUESS = 0.3
#: Sharpness of k-means, its steps and how far each one moves.
SHARPNESS = 20.0
STEPS = 20
RATE = 0.3
SCALINGS = 10


@dataclass(frozen=True, eq=False)
class Head:
    """A trained classifier as arrays.

    With `coef`, a row z has the scores ``z coef + intercept``; with `rows`, the shares of the classes among
    the rows around it, or the nearest row of each class where `bandwidth` is 0.
    """

    coef: Array | None = None
    intercept: Array | None = None
    rows: Array | None = None
    shares: Array | None = None
    bandwidth: float = 0.0

    def scores(self, Z: Array) -> Array:
        """Return one score per row and class; their softmax are probabilities."""
        if self.coef is not None and self.intercept is not None:
            return np.asarray(Z @ self.coef + self.intercept)
        assert self.rows is not None
        assert self.shares is not None
        D = squared_distances(Z, self.rows)
        if self.bandwidth == 0:
            classes = self.shares.argmax(axis=1)
            return -np.stack(
                [D[:, classes == code].min(axis=1) for code in range(self.shares.shape[1])], axis=1
            )
        np.subtract(D.min(axis=1, keepdims=True), D, out=D)
        D /= self.bandwidth
        K = np.exp(D, out=D)
        return np.asarray(np.log(np.maximum(K @ self.shares, np.finfo(float).tiny)))


class Task(NamedTuple):
    """Rows Z of a target, the places of the labelled ones, and their classes from 0 to n_classes - 1."""

    Z: Array
    at: Indices
    codes: Indices
    n_classes: int

    @property
    def onehot(self) -> Array:
        """The classes of the labelled rows as a table of 0 and 1."""
        return np.eye(self.n_classes)[self.codes]

    @property
    def means(self) -> Array:
        """The mean labelled row of each class."""
        Y = self.onehot
        return np.asarray(Y.T @ self.Z[self.at] / Y.sum(axis=0)[:, None])


class Classifier(NamedTuple):
    """How to train a classifier, and whether it takes rows divided by their norm."""

    fit: Callable[..., Head]
    unit: bool


def fit_head(
    name: str, task: Task, *, cross_validate: bool = True, guess: Head | None = None
) -> Head:
    """Train a classifier; `guess` is a trained "logistic (centred)", where there is one."""
    if task.n_classes == 1:
        return Head(np.zeros((task.Z.shape[1], 1)), np.zeros(1))
    C = None if cross_validate else C_DEFAULT
    if name in ("logistic", "logistic (centred)"):
        return _logistic(task, C)
    if name == "smoothed logistic":
        return _spread(task, _logistic(task, C) if guess is None else guess)
    return CLASSIFIERS[name].fit(task)


def _around(centres: Array, sharpness: float, offsets: Array | float = 0.0) -> Head:
    """Return the head with scores ``offset - sharpness ||z - centre||²``, up to what classes share."""
    squares = np.einsum("ij,ij->i", centres, centres)
    return Head(2.0 * sharpness * centres.T, offsets - sharpness * squares)


def _logistic(task: Task, C: float | None = None) -> Head:
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
        if C is None and counts.min() >= CV_SHOTS:
            folds = StratifiedKFold(3, shuffle=True, random_state=0)
            right = [
                np.sum(
                    cross_val_predict(model.set_params(C=each), small, task.codes, cv=folds)
                    == task.codes
                )
                for each in GRID
            ]
            model.set_params(C=GRID[int(np.argmax(right))])
        model.fit(small, task.codes)
    coef, intercept = model.coef_.T, model.intercept_
    if task.n_classes == 2:
        coef, intercept = np.hstack([-coef, coef]) / 2, np.array([-intercept[0], intercept[0]]) / 2
    coef = coef if axes is None else axes.T @ coef
    return Head(coef, intercept - centre @ coef)


def _spread(task: Task, guess: Head | None = None) -> Head:
    """Return ``(I - a S)^-1 Y`` on the graph S of all rows; Y are the labels, and guesses of other rows."""
    n = len(task.Z)
    shares = np.zeros((n, task.n_classes))
    if guess is not None:
        shares = GUESS * softmax(guess.scores(task.Z), axis=1)
    width = SPREAD_WIDTH * max(mean_squared_distance(task.Z, task.Z), np.finfo(float).tiny)
    K = np.exp(squared_distances(task.Z) / -width)
    np.fill_diagonal(K, 0.0)
    degree = np.sqrt(np.maximum(K.sum(axis=1), np.finfo(float).tiny))
    K /= degree[:, None]
    K /= degree
    K *= -SPREADING
    K[np.diag_indices(n)] += 1.0
    shares[task.at] = task.onehot * (task.onehot.sum() / task.n_classes / task.onehot.sum(axis=0))
    F = np.maximum(solve(K, shares, assume_a="pos", overwrite_a=True), 0.0)
    sums = F.sum(axis=1, keepdims=True)
    F = np.where(sums > 0, F / np.where(sums > 0, sums, 1.0), 1.0 / task.n_classes)
    return Head(rows=task.Z, shares=F, bandwidth=width)


def _means(task: Task, *, balanced: bool) -> Head:
    centres, offsets = task.means, np.ones(task.n_classes)
    n, fixed = len(task.Z), task.onehot
    for _ in range(STEPS):
        D = squared_distances(task.Z, centres)
        K = np.exp(-SHARPNESS * (D - D.min(axis=1, keepdims=True)))
        for _ in range(SCALINGS if balanced else 0):  # every class has the same mass
            offsets = n / task.n_classes / (K.T @ (1.0 / (K @ offsets)))
        P = K * offsets
        P /= P.sum(axis=1, keepdims=True)
        P[task.at] = fixed
        mass = P.sum(axis=0)
        if not balanced:
            offsets = (mass + 1.0) / (n + task.n_classes)
        centres = centres + RATE * (P.T @ task.Z / mass[:, None] - centres)
    return _around(centres, SHARPNESS, np.log(offsets))


CLASSIFIERS = {
    "nearest neighbour": Classifier(
        lambda task: Head(rows=task.Z[task.at], shares=task.onehot), unit=False
    ),
    "nearest centroid": Classifier(lambda task: _around(task.means, 1.0), unit=False),
    "logistic": Classifier(_logistic, unit=False),
    "logistic (centred)": Classifier(_logistic, unit=True),
    "label spreading": Classifier(_spread, unit=True),
    "smoothed logistic": Classifier(_spread, unit=True),
    "soft k-means": Classifier(partial(_means, balanced=False), unit=True),
    "balanced k-means": Classifier(partial(_means, balanced=True), unit=True),
}
DEFAULT = "logistic (centred)"
#: What assumes that all classes have the same number of rows.
BALANCED = ("balanced k-means",)
