"""Second levels that are not linear."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.domains import Domain, KnownClasses, digits, normalize
from reproduction import beyond_linear
from reproduction.beyond_linear import NONLINEAR, TWICE, nonlinear_features

pytestmark = pytest.mark.reproduction


def test_features_are_those_of_the_target_rows_and_read_no_label():
    rows = normalize(digits())
    known = KnownClasses([rows.take(np.flatnonzero(rows.codes < 6))])
    target = rows.take(np.flatnonzero(rows.codes > 7)[:80])
    found = nonlinear_features(target, known)
    assert tuple(found) == (*TWICE, *NONLINEAR)
    other = nonlinear_features(Domain(target.X), known)
    for name, Z in found.items():
        assert len(Z) == len(target)
        assert np.isfinite(Z).all()
        np.testing.assert_array_equal(Z, other[name])


def test_stacked_features_restore_what_can_be_restored(rng):
    shared = rng.normal(size=(400, 1))
    Z = shared + 0.01 * rng.normal(size=(400, 8))  # each column differs from the others
    ours, theirs = beyond_linear._stacked_features(Z[:300], Z[300:], bend=lambda x: x)
    assert theirs.shape == (100, 16)
    for restored, original in zip(theirs.T[8:], theirs.T[:8], strict=True):
        assert np.corrcoef(restored, original)[0, 1] > 0.99
    assert not np.allclose(beyond_linear._stacked_features(Z[:300], Z[300:])[0], ours)


def test_a_graph_step_brings_neighbours_together(rng):
    Z = np.repeat(np.eye(3) * 10, 20, axis=0) + rng.normal(size=(60, 3))
    moved = beyond_linear._graph_step(Z)
    spread = [each.reshape(3, 20, 3).std(axis=1).mean() for each in (Z, moved)]
    assert spread[1] < 0.8 * spread[0]
    np.testing.assert_allclose(moved.mean(axis=0), Z.mean(axis=0), atol=0.3)
