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

import json
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from l2t.algorithms.classes import geometry
from l2t.algorithms.spectrum import MAX_SPECTRUM_ROWS, spectrum_factor
from l2t.classifiers.feature_map import Evaluation, FeatureMap, change_first
from l2t.domains import KnownClasses
from l2t.domains.draw import rank_in_class
from l2t.exceptions import InvalidInputError
from l2t.inference.shared.rows import FEW_COLUMNS
from l2t.numerics import LRUCache, leading_eigenpairs, principal_axes
from l2t.numerics.network import train_hidden_layer
from l2t.typing import AnyArray, Array, Indices

ORIGINAL, PLAIN, CLASSES, NETWORK = "original", "plain", "classes", "network"
WHITENED = "whitened"
SPECTRUM, SUFFIX = "spectrum", "+spectrum"
#: Views with rows of norm 1, in which linear and graph classifiers are trained.
CENTRED = (PLAIN, SPECTRUM, CLASSES, CLASSES + SUFFIX, NETWORK, NETWORK + SUFFIX)
#: Views with a prior for a mixture of Gaussians, by the view with the metric of the same space.
_WHITENED = {CLASSES: WHITENED, NETWORK: f"{WHITENED} {NETWORK}"}
GAUSSIAN = tuple(_WHITENED.values())
#: Views that do not depend on known classes.
OWN = (PLAIN, SPECTRUM)
#: Maximum number of principal coordinates; and the weight of the target's covariance beside the source's, so
#: that a target far away keeps its own directions.
MAX_COORDINATES = 200
TARGET_WEIGHT = 0.5
#: Maximum number of coordinates for target rows outside the span of the known rows.
MAX_FURTHER = 100
#: Maximum number of rows of the known classes, drawn evenly from them.
MAX_KNOWN_ROWS = 3000
#: Maximum number of rows of the target.
MAX_TARGET_ROWS = 3000
#: Maximum number of coordinates of the hidden layers of several networks.
MAX_HIDDEN = 256
#: Number of networks for the rows of a target; a play has one.
N_NETWORKS = 3
#: A smaller norm of target rows outside the span of known rows, relative to their norm, is one of rounding.
ROUNDING = 1e-6
#: Regularisation of covariances by dimensions per class.
SHRINKAGE = 0.1


class View(NamedTuple):
    """A feature map, and for a mixture of Gaussians the prior variances of class means in it."""

    features: FeatureMap
    variances: Array | None = None


class KnownSpace(NamedTuple):
    """A feature space, with what the known classes say about it.

    Attributes
    ----------
    features : FeatureMap
        The map to the space, of r dimensions.
    metric : array of shape (r, r)
        The metric of the known classes.
    whitening : array of shape (r, r)
        The factor that gives a known class about unit covariance, and its class means uncorrelated axes.
    variances : array of shape (r,)
        The variances of class means along these axes.
    """

    features: FeatureMap
    metric: Array
    whitening: Array
    variances: Array

    @classmethod
    def of(cls, features: FeatureMap, Z: Array, codes: Indices) -> KnownSpace:
        """Return the space of the known rows with features Z, sorted by class."""
        return cls(features, geometry(Z - Z.mean(axis=0), codes), *_whitening(Z, codes))

    def views(self, name: str, evaluate: Evaluation, *, unit: bool) -> dict[str, View]:
        """Return the views of a metric, the target's spectrum after it, and whitened rows."""
        Z = evaluate(self.features)
        # The norm that a row of a random class should have.
        norm = float(np.sqrt(np.sum(1.0 + self.variances)))
        mean = Z.mean(axis=0) @ self.whitening
        whitened = FeatureMap(self.whitening, mean, norm, unit, before=self.features)
        return {
            **_centred_views(name, self.features, Z, self.metric, unit=unit),
            _WHITENED[name]: View(whitened, self.variances / norm**2),
        }


#: Spaces of hidden layers that are cached in the process, for the next target of the same source.
N_CACHED_SPACES = 4
_hidden_spaces: LRUCache[KnownSpace] = LRUCache(N_CACHED_SPACES)


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
        The number of networks, whose hidden layers are joined. They do not depend on the target, and are
        cached by the content of the known classes.
    random_state : int, default=0
        The seed of networks and of the rows that are drawn.

    Returns
    -------
    dict of str to View
    """
    if len(X) > MAX_TARGET_ROWS:
        X = X[np.random.default_rng(random_state).permutation(len(X))[:MAX_TARGET_ROWS]]
    evaluate = Evaluation(X)
    unit = X.shape[1] >= FEW_COLUMNS
    drawn = _drawn_rows(known, random_state)
    base, source = _base(known, drawn, X)
    trunk = _principal(base, source, evaluate(base))
    views = {ORIGINAL: View(FeatureMap.of(X, None))}
    views |= _centred_views(PLAIN, trunk, evaluate(trunk), None, unit=unit)
    views[SPECTRUM] = views.pop(PLAIN + SUFFIX)
    if known.n_classes < 2 or not source.shape[1]:
        return views
    codes = np.unique(known.codes[drawn], return_inverse=True)[1]
    hidden = _hidden_spaces.get(
        json.dumps([known.fingerprint, n_networks, random_state]),
        lambda: _hidden(source, codes, n_networks, random_state),
    )
    placed = trunk.after(_padded(source, len(base.mean)))
    views |= KnownSpace.of(trunk, placed, codes).views(CLASSES, evaluate, unit=unit)
    views |= _after(base, hidden, random_state).views(NETWORK, evaluate, unit=unit)
    return views


def _drawn_rows(known: KnownClasses, random_state: int) -> Indices:
    """Return the rows of known classes that are used: all of them, or as many of each class as possible."""
    if len(known) <= MAX_KNOWN_ROWS:
        return np.arange(len(known))
    order = np.random.default_rng(random_state).permutation(len(known))
    rank = rank_in_class(known.codes[order])
    return np.sort(order[np.argsort(rank, kind="stable")][:MAX_KNOWN_ROWS])


def _base(known: KnownClasses, drawn: Indices, X: AnyArray) -> tuple[FeatureMap, Array]:
    """Return the map to principal coordinates of known rows and, outside their span, of target rows.

    The known rows in it are returned as well, without the further coordinates, in which they do not vary.
    """
    mean = X.mean(axis=0, dtype=np.float64)
    outside = X - mean
    axes, source, n_further = np.empty((len(mean), 0)), np.empty((0, 0)), MAX_COORDINATES
    if len(drawn):
        rows = known.X if len(drawn) == len(known) else known.X[drawn]
        mean = rows.mean(axis=0, dtype=np.float64)
        source = known.span.rows[drawn, :MAX_COORDINATES]
        source = source - source.mean(axis=0)
        signs = _signs(source)
        source, axes = source * signs, known.span.basis[:, :MAX_COORDINATES] * signs
        size = np.linalg.norm(outside)
        outside -= (outside @ axes) @ axes.T
        n_further = MAX_FURTHER if np.linalg.norm(outside) > ROUNDING * size else 0
    if n_further:
        further = _row_space(outside, n_further)
        axes = np.hstack([axes, further * _signs(outside @ further)])
    if not axes.shape[1]:  # no row differs from others
        return FeatureMap(None, mean), source
    return FeatureMap(axes, mean @ axes), source


def _principal(base: FeatureMap, source: Array, target: Array) -> FeatureMap:
    """Return the map to principal coordinates of known rows and target rows together.

    Known rows have variance 1 in the mean of them.
    """
    target = target - target.mean(axis=0)
    source = _padded(source, target.shape[1])
    both = np.concatenate([_normalised(source), np.sqrt(TARGET_WEIGHT) * _normalised(target)])
    W = _row_space(both, MAX_COORDINATES)
    if not W.shape[1]:  # no row differs from others
        return base
    W *= _signs(both @ W)
    scale = float(np.sqrt(np.mean(((source if len(source) else target) @ W) ** 2))) or 1.0
    return FeatureMap(W, np.zeros(W.shape[1]), scale, before=base)


def _padded(source: Array, n_coordinates: int) -> Array:
    """Return known rows with zeros as further coordinates."""
    return np.pad(source, ((0, 0), (0, n_coordinates - source.shape[1])))


def _normalised(Z: Array) -> Array:
    """Return a matrix divided by its norm."""
    return Z / (np.linalg.norm(Z) or 1.0)


def _signs(Z: Array) -> Array:
    """Return the signs of axes for which third moments are positive, whatever the basis of the features."""
    return np.where(np.einsum("ij,ij,ij->j", Z, Z, Z) < 0, -1.0, 1.0)


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
    if len(placed) > MAX_SPECTRUM_ROWS:
        some = placed[np.random.default_rng(0).permutation(len(placed))[:MAX_SPECTRUM_ROWS]]
    try:
        spectrum = spectrum_factor(some)
    except InvalidInputError:  # no row differs from others
        spectrum = np.eye(placed.shape[1])
    factors = {name: metric, name + SUFFIX: spectrum if metric is None else metric @ spectrum}
    return {
        name: View(FeatureMap.of(Z, W, unit=unit, before=before)) for name, W in factors.items()
    }


def _hidden(source: Array, codes: Indices, n_networks: int, random_state: int) -> KnownSpace:
    """Return the space of the hidden layers of networks, whose first map takes the known coordinates."""
    scale = float(np.sqrt(np.mean(source**2))) or 1.0
    layers = [
        train_hidden_layer(source / scale, codes, random_state=10 * random_state + number)
        for number in range(n_networks)
    ]
    weights = np.hstack([layer.weights for layer in layers]) / scale
    bias = np.concatenate([layer.bias for layer in layers])
    hidden = FeatureMap(weights, -bias, relu=True)
    Z = hidden(source)
    if len(bias) > MAX_HIDDEN:
        axes = principal_axes(Z, MAX_HIDDEN)
        hidden = FeatureMap(axes, Z.mean(axis=0) @ axes, before=hidden)
        Z = hidden.after(Z)
    return KnownSpace.of(hidden, Z, codes)


def _after(base: FeatureMap, space: KnownSpace, random_state: int) -> KnownSpace:
    """Return a space of hidden layers with a first map that takes the coordinates of `_base`.

    Known rows do not vary in the further coordinates of the target, for which networks have random weights.
    """
    rng = np.random.default_rng(random_state)

    def extended(first: FeatureMap) -> FeatureMap:
        n_known, n_hidden = first.W.shape
        further = rng.normal(size=(len(base.mean) - n_known, n_hidden))
        further *= np.sqrt(np.mean(first.W**2))
        return replace(first, W=np.vstack([first.W, further]), before=base)

    return space._replace(features=change_first([space.features], extended)[0])


def _whitening(source: Array, codes: Indices) -> tuple[Array, Array]:
    """Return the factor after which a known class has unit covariance, and the variances of class means."""
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
    return np.asarray(whitening @ axes), variances
