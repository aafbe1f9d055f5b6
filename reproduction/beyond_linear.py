"""Features that are not linear in X, after the class geometry, to compare with the best linear chain.

Each is a second level on ``X W`` of the first, "classes" or "classes+spectrum":

* random features: cosines of random directions, their width the median distance, and the class geometry
  and the target's spectrum once more in them;
* marginalised stacked features: the linear map that restores rows from which features were dropped, in closed
  form, its tanh beside the rows, and class geometry and spectrum once more;
* a graph step: each target row moves half the way to the mean of its mutual neighbours.

They have no W. No target label is read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from l2t import algorithms
from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.inference.candidates import fit_candidates
from l2t.numerics import mutual_neighbors, squared_distances
from l2t.typing import Array

__all__ = ["NONLINEAR", "TWICE", "nonlinear_features"]

LINEAR = "classes+spectrum"
#: Random features, and rows that their width is taken from.
N_FEATURES = 512
WIDTH_ROWS = 400
#: Which part of the features is dropped, and the ridge, as a share of the mean variance.
DROPPED = 0.5
RIDGE = 1e-5
#: Neighbours of a graph step, and how far it goes.
NEIGHBORS = 10
STEP = 0.5

#: Two levels that are linear: what the others must be better than.
TWICE = ("classes > classes+spectrum", "classes > stacked without tanh > classes+spectrum")
NONLINEAR = (
    "classes > random features > classes+spectrum",
    "classes > stacked features > classes+spectrum",
    "classes+spectrum > graph step",
    "classes > graph step",
)


def nonlinear_features(target: Domain, known: KnownClasses) -> dict[str, Array]:
    """Return the target's rows in each of `TWICE` and `NONLINEAR`."""
    first = {name: _linear(name, target.X, known) for name in ("classes", LINEAR)}
    ours = np.asarray(known.X @ first["classes"], dtype=np.float64)
    theirs = np.asarray(target.X @ first["classes"], dtype=np.float64)
    found = []
    for level in (
        _the_same,
        partial(_stacked_features, bend=lambda x: x),
        _random_features,
        _stacked_features,
    ):
        phi_known, phi_target = level(ours, theirs)
        again = KnownClasses([Domain(phi_known, known.codes)])
        found.append(phi_target @ _linear(LINEAR, phi_target, again))
    found += [_graph_step(target.X @ first[name]) for name in (LINEAR, "classes")]
    return dict(zip((*TWICE, *NONLINEAR), found, strict=True))


def _linear(name: str, X: Array, known: KnownClasses) -> Array:
    """Return the W of an algorithm that uses the known classes."""
    pair = DomainPair(Domain(known.X[:300]), Domain(X))
    factors, failed = fit_candidates({name: algorithms.make(name)}, pair, known, 0)
    if failed:
        raise ValueError(failed[name])
    return np.asarray(factors[name])


def _the_same(ours: Array, theirs: Array) -> tuple[Array, Array]:
    return ours, theirs


def _random_features(ours: Array, theirs: Array) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    some = rng.permutation(len(theirs))[:WIDTH_ROWS]
    width = np.sqrt(np.median(squared_distances(theirs[some])))
    directions = rng.normal(size=(ours.shape[1], N_FEATURES)) / max(float(width), 1e-12)
    phases = rng.uniform(0, 2 * np.pi, N_FEATURES)
    return np.cos(ours @ directions + phases), np.cos(theirs @ directions + phases)


def _stacked_features(
    ours: Array, theirs: Array, bend: Callable[[Array], Array] = np.tanh
) -> tuple[Array, Array]:
    both = np.concatenate([ours, theirs])
    centre = both.mean(axis=0)
    scatter = (both - centre).T @ (both - centre)
    kept = 1.0 - DROPPED
    corrupted = scatter * kept**2
    np.fill_diagonal(corrupted, np.diag(scatter) * kept)
    corrupted[np.diag_indices_from(corrupted)] += RIDGE * np.trace(scatter) / len(scatter)
    restore = np.linalg.solve(corrupted, scatter * kept)

    def features(Z: Array) -> Array:
        restored = (Z - centre) @ restore
        scale = max(float(restored.std()), 1e-12)
        return np.hstack([Z - centre, scale * bend(restored / scale)])

    return features(ours), features(theirs)


def _graph_step(Z: Array) -> Array:
    Z = np.asarray(Z, dtype=np.float64)
    D = squared_distances(Z)
    near = mutual_neighbors(D, min(NEIGHBORS, len(Z) - 1)).astype(np.float64)
    np.fill_diagonal(near, 0.0)
    size = near.sum(axis=1, keepdims=True)
    means = np.where(size > 0, near @ Z / np.maximum(size, 1.0), Z)
    return np.asarray((1.0 - STEP) * Z + STEP * means)
