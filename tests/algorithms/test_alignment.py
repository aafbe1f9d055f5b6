"""CORAL and subspace alignment: what they make of the source, in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair
from l2t.algorithms import CORAL, SubspaceAlignment
from l2t.exceptions import InvalidInputError
from l2t.numerics import principal_axes, squared_distances


@pytest.fixture
def shifted(rng):
    mixed = rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5))
    return DomainPair(Domain(mixed + 3.0), Domain(rng.normal(size=(60, 5)) * [1, 2, 3, 4, 5]))


def test_coral_gives_the_source_the_covariance_of_the_target(shifted):
    factors = CORAL().fit(shifted)
    ridge = 0.5 * sum(each.X.var(axis=0).mean() for each in (shifted.source, shifted.target))
    Cs, Ct = (np.cov(each.X.T) + ridge * np.eye(5) for each in (shifted.source, shifted.target))
    A = factors.source_W @ factors.W.T
    np.testing.assert_allclose(A.T @ Cs @ A, Ct, rtol=1e-9, atol=1e-9)


def test_coral_keeps_the_distances_of_the_target(shifted):
    X = shifted.target.X
    Z = CORAL().fit(shifted).transform(X)
    np.testing.assert_allclose(squared_distances(Z), squared_distances(X), atol=1e-9)


def test_coral_leaves_equal_covariances_alone(rng):
    X = rng.normal(size=(50, 4))
    factors = CORAL().fit(DomainPair(Domain(X), Domain(X + 2.0)))
    np.testing.assert_allclose(factors.source_W, factors.W, atol=1e-9)


def test_subspace_alignment_turns_the_axes_of_the_source_onto_those_of_the_target(shifted):
    factors = SubspaceAlignment(n_components=2).fit(shifted)
    Ps, Pt = (principal_axes(each.X, 2) for each in (shifted.source, shifted.target))
    np.testing.assert_allclose(factors.W @ factors.W.T, Pt @ Pt.T, atol=1e-9)
    np.testing.assert_allclose(factors.source_W @ factors.W.T, Ps @ Ps.T @ Pt @ Pt.T, atol=1e-9)


def test_subspace_alignment_of_a_domain_with_itself_is_its_projection(rng):
    X = rng.normal(size=(50, 4))
    factors = SubspaceAlignment(n_components=2).fit(DomainPair(Domain(X), Domain(X)))
    np.testing.assert_allclose(factors.source_W, factors.W, atol=1e-9)


def test_coral_needs_rows_that_differ():
    flat = Domain(np.ones((3, 2)))
    with pytest.raises(InvalidInputError, match="coral needs rows that differ"):
        CORAL().fit(DomainPair(flat, flat))
