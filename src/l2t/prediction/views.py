"""Views: feature spaces for the rows of a target, none of which depends on its labels.

==================  ========================================================================================
original            the rows as they are; in all other views rows have norm 1, unless there are few columns
plain               the rows in at most 200 principal coordinates of source and target
classes             the metric of the known classes (`l2t.algorithms.classes`)
network             the hidden layer of networks trained on the known classes, and the metric of the known
                    classes in it
+spectrum           each of these, followed by the spectrum of the target (`l2t.algorithms.spectrum`)
whitened            directions in which the rows of a known class have unit variance, and the means of the
                    known classes are uncorrelated: the two-covariance model of speaker recognition (PLDA),
                    which is the prior of a mixture of Gaussians; also of the hidden layer
==================  ========================================================================================
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from l2t.algorithms.classes import geometry
from l2t.algorithms.spectrum import MAX_ROWS, spectrum_factor
from l2t.classifiers.feature_map import Evaluation, FeatureMap
from l2t.domains import KnownClasses
from l2t.domains.draw import rank_in_class
from l2t.exceptions import InvalidInputError
from l2t.numerics import leading_eigenpairs, principal_axes
from l2t.numerics.network import train_hidden_layer
from l2t.typing import AnyArray, Array, Indices

ORIGINAL, PLAIN, CLASSES, NETWORK = "original", "plain", "classes", "network"
WHITENED = "whitened"
SPECTRUM, SUFFIX = "spectrum", "+spectrum"
#: Views with rows of norm 1, in which linear and graph classifiers are trained.
CENTRED = (PLAIN, SPECTRUM, CLASSES, CLASSES + SUFFIX, NETWORK, NETWORK + SUFFIX)
#: Views with a prior for a mixture of Gaussians.
GAUSSIAN = (WHITENED, f"{WHITENED} {NETWORK}")
#: Views that do not depend on known classes.
OWN = (PLAIN, SPECTRUM)
#: Maximum number of principal coordinates; and the weight of the target's covariance beside the source's, so
#: that a target far away keeps its own directions.
MAX_COORDINATES = 200
TARGET_WEIGHT = 0.5
#: Maximum number of rows of the known classes, drawn evenly from them.
MAX_KNOWN_ROWS = 3000
#: Maximum number of rows of the target.
MAX_TARGET_ROWS = 3000
#: Maximum number of coordinates of the hidden layers of several networks.
MAX_HIDDEN = 256
#: Number of networks for the rows of a target; a play has one.
N_NETWORKS = 3
#: From so many columns on, rows have norm 1. With fewer the norm of a row carries much of the information: on
#: iris, with four columns, accuracy falls from 0.92 to 0.81 without it.
FEW_COLUMNS = 10
#: Regularisation of covariances by dimensions per class.
SHRINKAGE = 0.1


class View(NamedTuple):
    """A feature map, and for a mixture of Gaussians the prior variances of class means in it."""

    features: FeatureMap
    variances: Array | None = None


def fit_views(
    known: KnownClasses, X: AnyArray, *, n_networks: int = 1, random_state: int = 0
) -> dict[str, View]:
    """Fit all views to known classes and the rows of a target.

    Parameters
    ----------
    known : KnownClasses
        The known classes, without rows of the target. With fewer than two there are only `OWN` views.
    X : array of shape (n, m)
        The rows of the target.
    n_networks : int, default=1
        The number of networks, whose hidden layers are joined.
    random_state : int, default=0
        The seed of networks and of the rows that are drawn.

    Returns
    -------
    dict of str to View
    """
    rows, codes = _some_rows(known, random_state)
    if len(X) > MAX_TARGET_ROWS:
        X = X[np.random.default_rng(random_state).permutation(len(X))[:MAX_TARGET_ROWS]]
    trunk = _coordinates(rows, X)
    of_source, of_target = Evaluation(rows), Evaluation(X)
    target = of_target(trunk)
    unit = X.shape[1] >= FEW_COLUMNS
    views = {ORIGINAL: View(FeatureMap.of(X, None))}
    views |= _centred_views(PLAIN, trunk, target, None, unit=unit)
    views[SPECTRUM] = views.pop(PLAIN + SUFFIX)
    if known.n_classes < 2:
        return views
    source = of_source(trunk)
    views |= _centred_views(CLASSES, trunk, target, geometry(source, codes), unit=unit)
    views[WHITENED] = _whitened(trunk, source, codes, target, unit=unit)
    hidden = _hidden(trunk, source, codes, n_networks, random_state)
    inner, outer = of_source(hidden), of_target(hidden)
    views |= _centred_views(
        NETWORK, hidden, outer, geometry(inner - inner.mean(axis=0), codes), unit=unit
    )
    views[f"{WHITENED} {NETWORK}"] = _whitened(hidden, inner, codes, outer, unit=unit)
    return views


def _some_rows(known: KnownClasses, random_state: int) -> tuple[AnyArray, Indices]:
    """Return the rows of known classes with their codes, evenly drawn from large classes."""
    if len(known) <= MAX_KNOWN_ROWS:
        return known.X, known.codes
    order = np.random.default_rng(random_state).permutation(len(known))
    rank = rank_in_class(known.codes[order])
    drawn = np.sort(order[np.argsort(rank, kind="stable")][:MAX_KNOWN_ROWS])
    return known.X[drawn], np.unique(known.codes[drawn], return_inverse=True)[1]


def _coordinates(rows: AnyArray, X: AnyArray) -> FeatureMap:
    """Return principal coordinates of known rows and target rows together, of unit variance in the mean.

    They have positive third moments, so that they do not depend on the basis of the features.
    """
    origin = rows if len(rows) else X
    mean = origin.mean(axis=0, dtype=np.float64)
    parts = [origin - mean, X - X.mean(axis=0, dtype=np.float64)]
    sizes = [max(float(np.linalg.norm(part)), np.finfo(float).tiny) for part in parts]
    weights = (1.0, np.sqrt(TARGET_WEIGHT))
    stacked = np.concatenate(
        [part * (weight / size) for part, size, weight in zip(parts, sizes, weights, strict=True)]
    )
    W = _row_space(stacked, MAX_COORDINATES)
    if not W.shape[1]:  # no row differs from others
        return FeatureMap(None, mean)
    W *= np.where(np.sum((stacked @ W) ** 3, axis=0) < 0, -1.0, 1.0)
    scale = float(np.sqrt(np.mean((parts[0] @ W) ** 2)))
    return FeatureMap(W, mean @ W, scale if scale > 0 else 1.0)


def _row_space(A: Array, k: int) -> Array:
    """Return the k leading right singular vectors of A as columns; fewer if its rank is lower."""
    n, m = A.shape
    if m <= n:
        values, vectors = leading_eigenpairs(A.T @ A, min(k, m))
        return np.asarray(vectors[:, values > 1e-12 * values[0]])
    values, vectors = leading_eigenpairs(A @ A.T, min(k, n))
    kept = values > 1e-12 * values[0]
    return np.asarray(A.T @ (vectors[:, kept] / np.sqrt(values[kept])))


def _centred_views(
    name: str, before: FeatureMap, Z: Array, metric: Array | None, *, unit: bool
) -> dict[str, View]:
    """Return the view of a metric, and that of the target's spectrum after it."""
    placed = Z if metric is None else Z @ metric
    some = placed
    if len(placed) > MAX_ROWS:
        some = placed[np.random.default_rng(0).permutation(len(placed))[:MAX_ROWS]]
    try:
        spectrum = spectrum_factor(some)
    except InvalidInputError:  # no row differs from others
        spectrum = np.eye(placed.shape[1])
    factors = {name: metric, name + SUFFIX: spectrum if metric is None else metric @ spectrum}
    return {
        each: View(FeatureMap.of(Z, W, unit=unit, before=before)) for each, W in factors.items()
    }


def _hidden(
    trunk: FeatureMap, source: Array, codes: Indices, n_networks: int, random_state: int
) -> FeatureMap:
    """Return the hidden layer of networks trained on the known classes."""
    layers = [
        train_hidden_layer(source, codes, random_state=10 * random_state + number)
        for number in range(n_networks)
    ]
    weights = np.hstack([layer.weights for layer in layers])
    bias = np.concatenate([layer.bias for layer in layers])
    hidden = FeatureMap(weights, -bias, relu=True, before=trunk)
    if len(bias) <= MAX_HIDDEN:
        return hidden
    inner = hidden.after(source)
    axes = principal_axes(inner, MAX_HIDDEN)
    return FeatureMap(axes, inner.mean(axis=0) @ axes, before=hidden)


def _whitened(
    before: FeatureMap, source: Array, codes: Indices, target: Array, *, unit: bool
) -> View:
    """Return the view in which a known class has unit covariance, with the variances of class means."""
    sizes = np.bincount(codes).astype(float)
    r, n_classes = source.shape[1], len(sizes)
    means = np.zeros((n_classes, r))
    np.add.at(means, codes, source)
    means /= sizes[:, None]
    rest, spread = source - means[codes], means - means.mean(axis=0)
    within = rest.T @ rest / max(len(source) - n_classes, 1)
    between = spread.T @ spread / max(n_classes - 1, 1)
    ridge = SHRINKAGE * np.sqrt(r / n_classes) * np.trace(within) / r
    values, vectors = np.linalg.eigh(within + max(ridge, np.finfo(float).tiny) * np.eye(r))
    whitening = (vectors / np.sqrt(values)) @ vectors.T
    # The mean of a class of n rows varies by within / n more than the class does.
    seen = whitening @ (between - within * np.mean(1.0 / sizes)) @ whitening
    variances, axes = np.linalg.eigh(0.5 * (seen + seen.T))
    variances = np.maximum(variances, 0.0)
    variances += SHRINKAGE * r / n_classes * variances.mean() + 1e-6
    W = whitening @ axes
    # The norm that a row of a random class should have.
    norm = float(np.sqrt(np.sum(1.0 + variances)))
    mean = target.mean(axis=0) @ W
    return View(FeatureMap(W, mean, norm, unit, before=before), variances / norm**2)
