"""Class geometry follows its formula, and sees what tells classes apart."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair
from l2t.algorithms import Classes, ClassesSpectrum, Identity, identity
from l2t.algorithms.classes import class_geometry
from l2t.domains import KnownClasses
from l2t.exceptions import InvalidInputError
from l2t.numerics import squared_distances


def labelled(seed, m=12, n=30, n_classes=3):
    """Classes along the first axes, with a large nuisance along the last one."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    X = 0.3 * rng.normal(size=(n, m))
    X[:, -1] += 5.0 * rng.normal(size=n)
    X[np.arange(n), codes] += 2.0
    return Domain(X, codes)


def power(S, exponent, ridge):
    values, vectors = np.linalg.eigh(S)
    return vectors @ np.diag((values / values.mean() + ridge) ** exponent) @ vectors.T


def test_it_follows_its_formula():
    domains = [labelled(0), labelled(1, n=40)]
    m, C = 12, 6
    blocks = [d.X[d.codes == c] for d in domains for c in range(3)]
    rows = np.concatenate([block - block.mean(axis=0) for block in blocks])
    means = np.array([block.mean(axis=0) for block in blocks])
    A = power(np.cov(rows.T, bias=True), -0.5, np.sqrt(m / C))
    T = A @ power(A @ np.cov(means.T, bias=True) @ A, 0.5, m / C)
    found = class_geometry(KnownClasses(domains), domains[0].X)
    np.testing.assert_allclose(found @ found.T, T @ T.T * m / np.sum(T**2), atol=1e-9)


def test_weights_are_those_of_repeated_classes():
    """A weight of one half for the classes of one origin is the formula with weighted scatters."""
    first, second = labelled(0), labelled(1)

    def weighted(weight):
        known = KnownClasses([first, second])
        known.weights = np.repeat([1.0, weight], 3)
        return class_geometry(known, first.X)

    equal, one, half = weighted(1.0), weighted(0.0), weighted(0.5)
    np.testing.assert_allclose(one, class_geometry(KnownClasses([first]), first.X), atol=1e-10)
    between = np.linalg.norm(half - one), np.linalg.norm(equal - one)
    assert 0 < between[0] < between[1]


def test_nuisances_become_small_and_what_tells_classes_apart_large():
    T = class_geometry(KnownClasses([labelled(seed) for seed in range(8)]), labelled(9).X)
    sizes = np.linalg.norm(T, axis=1)
    assert sizes[-1] < 0.5 * sizes[3:-1].min()
    assert sizes[:3].min() > 1.1 * sizes[3:-1].max()


def test_few_classes_move_it_little():
    def distance(domains):
        T = class_geometry(KnownClasses(domains), labelled(99).X)
        return np.linalg.norm(T - np.eye(12) * np.trace(T) / 12)

    assert distance([labelled(0).take(np.arange(30) % 3 < 2)]) < distance(map(labelled, range(40)))


def test_more_features_than_coordinates_change_little(rng):
    """Of 400 features T is computed in 256 coordinates, and does what T in all of them does."""
    n, m = 900, 400
    codes = np.arange(n) % 60
    spread = 1.0 / (1.0 + np.arange(m))
    X = (rng.normal(size=(60, m))[codes] + rng.normal(size=(n, m))) * spread
    target = (rng.normal(size=(4, m))[np.arange(80) % 4] + rng.normal(size=(80, m))) * spread
    blocks = [X[codes == c] for c in range(60)]
    rows = np.concatenate([block - block.mean(axis=0) for block in blocks])
    means = np.array([block.mean(axis=0) for block in blocks])
    A = power(np.cov(rows.T, bias=True), -0.5, np.sqrt(m / 60))
    exact = A @ power(A @ np.cov(means.T, bias=True) @ A, 0.5, m / 60)
    T = class_geometry(KnownClasses([Domain(X, codes)]), target)
    D, E = (squared_distances(target @ each) for each in (T, exact))
    np.testing.assert_allclose(D / D.mean(), E / E.mean(), atol=2e-3)


def test_very_many_features_keep_the_distances_of_the_target(rng, monkeypatch):
    source, target = labelled(0, m=60), Domain(rng.normal(size=(20, 60)))
    pair = DomainPair(source, target)
    square = [each.fit(pair).W for each in (Classes(), ClassesSpectrum())]
    monkeypatch.setattr("l2t.algorithms.classes.DENSE_FEATURES", 50)
    narrow = [each.fit(pair).W for each in (Classes(), ClassesSpectrum())]
    assert narrow[0].shape[1] < 60
    for W, V in zip(square, narrow, strict=True):
        D, E = (squared_distances(target.X @ each) for each in (W, V))
        np.testing.assert_allclose(D / D.mean(), E / E.mean(), atol=1e-8)


def test_the_identity_of_very_many_features_is_sparse(pair, monkeypatch):
    monkeypatch.setattr(identity, "DENSE_FEATURES", 5)
    factors = Identity().fit(pair)
    assert factors.W.nnz == 10
    np.testing.assert_array_equal(factors.transform(pair.target), pair.target.X)


def test_a_source_without_labels_is_an_error(pair):
    bare = DomainPair(Domain(pair.source.X), pair.target)
    for algorithm in (Classes(), ClassesSpectrum()):
        with pytest.raises(InvalidInputError, match="needs a source with labels"):
            algorithm.fit(bare)


def test_rows_of_the_target_are_left_out(pair):
    """A source that holds the target, with labels: the same T as without it, and as with other labels."""
    both = np.concatenate([pair.source.X, 3.0 * pair.target.X])
    plain = Classes().fit(pair).W
    for labels in (pair.target.y, pair.target.y[::-1]):
        source = Domain(both, np.concatenate([pair.source.y, labels]))
        np.testing.assert_array_equal(Classes().fit(DomainPair(source, pair.target)).W, plain)
