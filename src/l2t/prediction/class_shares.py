"""Class shares of a target that differ from those of the source, estimated without target labels.

If only the shares differ, probabilities p of a classifier that is trained on a source with shares s become
``p_c t_c / s_c``, normalised. The shares t of the target are found by expectation maximisation (Saerens et
al. 2002), with as many rows that have the source's shares as there are target rows: without them, it finds
shares where there are none. Nothing is changed unless held-out rows of the source show that the classes can
be separated, and the classifiers agree on the shares. The two bounds were chosen on tables with and without
other shares (docs/results/tables.md).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from l2t.typing import Array, Indices

#: The least singular value of the matrix of predicted by true classes, and the largest mean difference (total
#: variation) between the shares that single classifiers find.
LEAST_CONDITION = 0.3
MAX_DISAGREEMENT = 0.2
#: Smaller changes of shares (total variation) are not made.
LEAST_CHANGE = 0.02
N_STEPS = 100
#: Temperatures of the calibration on the source, as logarithms.
TEMPERATURES = (-0.7, 3.0)


def shifted_scores(held_out: Array, truth: Indices, target: Array) -> tuple[Array, Array] | None:
    """Return what is added to log probabilities, and the shares; None if the source's shares are kept.

    Parameters
    ----------
    held_out : array of shape (n_classifiers, n, n_classes)
        Probabilities of source rows by classifiers that were trained without them.
    truth : int array of shape (n,)
        Their classes.
    target : array of shape (n_classifiers, m, n_classes)
        Probabilities of target rows.
    """
    n_classes = held_out.shape[2]
    counts = np.bincount(truth, minlength=n_classes)
    if not counts.all() or not target.shape[1]:
        return None
    source = counts / counts.sum()
    scores = np.log(held_out.mean(axis=0))
    if _condition(scores.argmax(axis=1), truth, n_classes) < LEAST_CONDITION:
        return None
    temperature = _temperature(scores, truth)
    single = [target_shares(_calibrated(P, temperature), source) for P in target]
    differences = [np.abs(a - b).sum() / 2.0 for a, b in combinations(single, 2)]
    if np.mean(differences) > MAX_DISAGREEMENT:
        return None
    average = _calibrated(target.mean(axis=0), temperature)
    shares = target_shares(average, source, float(len(average)))
    if np.abs(shares - source).sum() / 2.0 < LEAST_CHANGE:
        return None
    return temperature * np.log(shares / source), shares


def target_shares(P: Array, source: Array, prior_rows: float = 0.0) -> Array:
    """Return the class shares of rows with probabilities P by a classifier of a source with other shares.

    Some `prior_rows` are added that have the shares of the source.

    >>> P = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.9]])
    >>> target_shares(P, np.array([0.5, 0.5])).round(2)
    array([0.81, 0.19])
    """
    shares = source
    for _ in range(N_STEPS):
        weighted = P * (shares / source)
        weighted /= weighted.sum(axis=1, keepdims=True)
        shares = (weighted.sum(axis=0) + prior_rows * source) / (len(P) + prior_rows)
    return np.asarray(np.maximum(shares, np.finfo(float).tiny))


def _condition(predicted: Indices, truth: Indices, n_classes: int) -> float:
    """Return the least singular value of the shares of predicted classes in each true class."""
    confusion = np.zeros((n_classes, n_classes))
    np.add.at(confusion, (predicted, truth), 1.0)
    confusion /= confusion.sum(axis=0)
    return float(np.linalg.svd(confusion, compute_uv=False)[-1])


def _calibrated(P: Array, temperature: float) -> Array:
    return np.asarray(softmax(np.log(P) / temperature, axis=1))


def _temperature(scores: Array, truth: Indices) -> float:
    """Return the temperature at which the scores explain the classes best."""
    rows = np.arange(len(truth))

    def loss(log_temperature: float) -> float:
        logs = log_softmax(scores / np.exp(log_temperature), axis=1)
        return float(-logs[rows, truth].mean())

    return float(np.exp(minimize_scalar(loss, bounds=TEMPERATURES, method="bounded").x))
