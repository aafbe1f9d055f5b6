"""The Bayesian mixture of Gaussians against closed forms."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax
from scipy.stats import multivariate_normal

from l2t.classifiers.mixture import PRIOR_ROWS, fit_mixture


def scores(mixture, Z):
    return Z @ mixture.linear + Z**2 @ mixture.squares + mixture.constant


def rows(n=30, r=4, seed=0):
    Z = np.random.default_rng(seed).normal(size=(n, r))
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def test_with_all_labels_it_is_the_posterior_of_a_conjugate_model():
    Z, codes, variances = rows(), np.arange(30) % 3, np.array([0.2, 0.1, 0.05, 0.01])
    mixture = fit_mixture(Z, np.arange(30), codes, 3, variances)
    unit = (1.0 - variances.sum()) / 4  # the variance of a class
    new = rows(10, seed=1)
    expected = np.empty((10, 3))
    for c in range(3):
        n, mean = 10, Z[codes == c].mean(axis=0)
        precision = 1.0 / variances + n / unit
        posterior_mean, posterior_variance = (n * mean / unit) / precision, 1.0 / precision
        log_prior = np.log((PRIOR_ROWS + 10) / (3 * PRIOR_ROWS + 30))
        expected[:, c] = log_prior + multivariate_normal.logpdf(
            new, posterior_mean, np.diag(posterior_variance + unit)
        )
    np.testing.assert_allclose(
        softmax(scores(mixture, new), axis=1), softmax(expected, axis=1), atol=1e-12
    )


def test_the_unit_of_the_rows_does_not_matter():
    Z, codes, variances = rows(), np.arange(9) % 3, np.full(4, 0.1)
    one = fit_mixture(Z, np.arange(9), codes, 3, variances)
    other = fit_mixture(7.0 * Z, np.arange(9), codes, 3, variances)
    np.testing.assert_allclose(scores(one, Z), scores(other, 7.0 * Z), atol=1e-9)


def test_the_order_of_rows_and_of_classes_does_not_matter():
    Z, codes = rows(), np.arange(9) % 3
    mixture = fit_mixture(Z, np.arange(9), codes, 3)
    order = np.random.default_rng(0).permutation(30)
    place = np.argsort(order)
    moved = fit_mixture(Z[order], place[:9], 2 - codes, 3)
    np.testing.assert_allclose(scores(moved, Z)[:, ::-1], scores(mixture, Z), atol=1e-9)


def test_unlabelled_rows_find_the_means_of_unbalanced_classes():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], [160, 20])
    Z = np.array([[2.5, 0.0], [-2.5, 0.0]])[codes] + rng.normal(size=(180, 2))
    # The labelled rows are untypical: between the classes, and far to different sides.
    at = np.array([int(np.argmax(Z[:160, 1] - Z[:160, 0])), 160 + int(np.argmin(Z[160:, 1]))])
    few = fit_mixture(Z[at], np.arange(2), np.array([0, 1]), 2, np.array([0.4, 0.1]))
    many = fit_mixture(Z, at, np.array([0, 1]), 2, np.array([0.4, 0.1]))
    right = [np.mean(scores(mixture, Z).argmax(axis=1) == codes) for mixture in (few, many)]
    assert right[1] > 0.97
    assert right[1] > right[0]
