"""ITL: the information, its bounds, its gradient and what happens at the edges."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair
from l2t.algorithms import ITL
from l2t.algorithms.itl import information, information_objective
from l2t.exceptions import InvalidInputError
from l2t.numerics import squared_distances
from l2t.testing import gradient_error


def entropy(p):
    return -np.sum(p[p > 0] * np.log(p[p > 0]))


def naive_information(D, labels):
    classes = range(labels.max() + 1)
    P = np.exp(-D)
    P /= P.sum(axis=1, keepdims=True)
    posterior = np.array([[row[labels == c].sum() for c in classes] for row in P])
    return entropy(posterior.mean(axis=0)) - np.mean([entropy(p) for p in posterior])


def test_information_is_the_printed_one_with_its_bounds(rng):
    D = rng.uniform(0, 5, size=(20, 15))
    labels = np.arange(15) % 3
    value, _ = information(D, labels)
    assert value == pytest.approx(naive_information(D, labels), abs=1e-12)
    assert 0 <= value <= np.log(3)
    assert information(D, np.zeros(15, dtype=int))[0] == pytest.approx(0.0, abs=1e-12)


def test_information_survives_saturation():
    """Clusters infinitely far apart: every choice is certain, and log C is reached."""
    D = np.where(np.eye(3, dtype=bool), 0.0, 1e6)
    value, slope = information(D, np.arange(3))
    assert value == pytest.approx(np.log(3))
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("lam", [0.0, 1.0, 10.0])
def test_gradient(rng, lam):
    Xs, Xt = rng.normal(size=(12, 5)), rng.normal(size=(9, 5)) + 0.5
    codes, labeled = np.arange(12) % 3, np.arange(0, 12, 2)
    objective = information_objective(Xs, Xt, codes, labeled, lam)
    L = rng.normal(size=(5, 2)) * 0.7
    assert gradient_error(objective, L) < 1e-6
    R = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    assert objective(L @ R)[0] == pytest.approx(objective(L)[0], abs=1e-12)
    Z, ns = np.concatenate([Xs, Xt]) @ L, 12
    D = squared_distances(Z)
    np.fill_diagonal(D, np.inf)
    domain = (np.arange(21) >= ns).astype(int)
    classes = naive_information(D[ns:, labeled], codes[labeled])
    assert objective(L)[0] == pytest.approx(lam * naive_information(D, domain) - classes, abs=1e-12)


def test_separated_domains_have_full_information(rng):
    X = rng.normal(size=(20, 3))
    D = squared_distances(np.concatenate([X, X + 1e3]))
    np.fill_diagonal(D, np.inf)
    assert information(D, np.repeat([0, 1], 20))[0] == pytest.approx(np.log(2))


def test_the_norm_is_kept_and_the_objective_falls(pair):
    factors = ITL(n_components=3).fit(pair)
    trace = factors.diagnostics.objective
    assert trace[-1] < trace[0] - 0.1
    assert np.sum(factors.W**2) == pytest.approx(3.0)


def test_labels_of_the_source_matter_and_only_the_known_ones(pair):
    source = pair.source
    W = ITL(n_components=3).fit(pair).W
    other = DomainPair(Domain(source.X, np.arange(len(source)) // 20), pair.target)
    assert not np.allclose(ITL(n_components=3).fit(other).W, W)
    mask = np.arange(len(source)) % 2 == 0
    known = Domain(source.X, source.y, labeled=mask)
    wrong = Domain(source.X, np.where(mask, source.y, 99), labeled=mask)
    first, second = (
        ITL(n_components=3).fit(DomainPair(each, pair.target)).W for each in (known, wrong)
    )
    np.testing.assert_array_equal(first, second)


def test_one_source_class_mixes_the_domains(pair):
    single = DomainPair(Domain(pair.source.X, ["one"] * len(pair.source)), pair.target)
    factors = ITL(n_components=3).fit(single)
    trace = factors.diagnostics.objective
    assert 0 <= trace[-1] < trace[0] <= np.log(2)


def test_a_source_without_labels_is_refused(pair):
    with pytest.raises(InvalidInputError, match="itl needs labels in the source, got none"):
        ITL().fit(DomainPair(Domain(pair.source.X), pair.target))
    nothing = Domain(pair.source.X, pair.source.y, labeled=np.zeros(len(pair.source), dtype=bool))
    with pytest.raises(InvalidInputError, match="needs labels"):
        ITL().fit(DomainPair(nothing, pair.target))
