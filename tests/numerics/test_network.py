"""The network whose hidden layer is a view."""

from __future__ import annotations

import numpy as np

from l2t.numerics.network import _gradients, train_hidden_layer


def loss(params, x, y, kept):
    weights, bias, out, offset = params
    scores = np.maximum(x @ weights + bias, 0.0) * kept @ out + offset
    return -np.mean(
        np.sum(y * (scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))), axis=1)
    )


def test_gradients_are_those_of_the_mean_cross_entropy():
    rng = np.random.default_rng(0)
    params = [rng.normal(size=shape) for shape in ((4, 6), (6,), (6, 3), (3,))]
    x, y = rng.normal(size=(8, 4)), rng.dirichlet(np.ones(3), size=8)
    kept = (rng.random((8, 6)) > 0.3) / 0.7
    step = 1e-6
    for param, gradient in zip(params, _gradients(params, x, y, kept), strict=True):
        numeric = np.empty_like(param)
        for place in np.ndindex(param.shape):
            before = param[place]
            ends = []
            for sign in (1, -1):
                param[place] = before + sign * step
                ends.append(loss(params, x, y, kept))
            param[place] = before
            numeric[place] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(gradient, numeric, atol=1e-6)


def test_the_hidden_layer_separates_classes_that_no_linear_map_does():
    """Classes of the exclusive or, beside noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    codes = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    layer = train_hidden_layer(X, codes)
    H = np.maximum(X @ layer.weights + layer.bias, 0.0)

    def separation(Z):
        means = np.array([Z[codes == c].mean(axis=0) for c in (0, 1)])
        rest = Z - means[codes]
        S = rest.T @ rest / len(Z) + 0.1 * np.trace(rest.T @ rest) / rest.size * np.eye(Z.shape[1])
        return float((means[0] - means[1]) @ np.linalg.solve(S, means[0] - means[1]))

    assert separation(H) > 10 * separation(X)


def test_the_same_seed_gives_the_same_layer():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(50, 4)), np.arange(50) % 3
    one, same, other = (train_hidden_layer(X, codes, random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.weights, same.weights)
    assert np.abs(one.weights - other.weights).max() > 0.1
