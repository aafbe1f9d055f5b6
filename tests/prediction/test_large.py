"""Targets of very many rows: landmarks are fitted to, and the model is applied to all rows."""

from __future__ import annotations

import numpy as np
import pytest

import l2t
from l2t import Domain
from l2t.domains.draw import LANDMARKS, content_order

pytestmark = pytest.mark.integration

N, M = LANDMARKS + 2_000, 8


@pytest.fixture(scope="module")
def kinds():
    """Six source classes and three others with five labels each, in a target of very many rows."""
    rng = np.random.default_rng(5)
    centres = 3 * rng.normal(size=(9, M))
    ys, yt = np.repeat(np.arange(6), 40), rng.integers(6, 9, N)
    few = np.isin(np.arange(N), [np.flatnonzero(yt == c)[-5:] for c in (6, 7, 8)])
    source = Domain((centres[ys] + rng.normal(size=(240, M))).astype(np.float32), ys)
    X = (centres[yt] + rng.normal(size=(N, M))).astype(np.float32)
    return source, Domain(X, yt, labeled=few)


@pytest.fixture(scope="module")
def found(kinds):
    return l2t.predict(*kinds)


def test_every_row_is_predicted(kinds, found):
    _, target = kinds
    assert found.probabilities.shape == (N, 3)
    np.testing.assert_array_equal(found.given, target.labeled)
    assert np.mean(found.labels == target.y) > 0.97
    np.testing.assert_allclose(found.probabilities, found.model.predict_proba(target.X))
    assert len(set(found.suggest(4).tolist())) == 4


def test_which_rows_are_labelled_changes_no_factor(kinds, found):
    source, target = kinds
    mask = np.roll(target.labeled, 1)
    other = Domain(target.X, target.y, labeled=mask)
    again = l2t.infer(other, sources=[source], shared=False).candidates
    for name, candidate in found.inference.candidates.items():
        np.testing.assert_array_equal(candidate.W, again[name].W)


def test_rows_of_the_target_are_not_known_landmarks_or_not(kinds, found):
    """A source that has target rows under other labels is as good as one without them."""
    source, target = kinds
    outside = np.setdiff1d(np.arange(N), content_order(target)[:LANDMARKS])[:50]
    leaked = Domain(
        np.concatenate([source.X, 2 * target.X[outside]]),
        np.concatenate([source.y, target.y[outside] + 100]),
    )
    with_them = l2t.infer(target, sources=[leaked], shared=False)
    np.testing.assert_allclose(
        with_them.candidates["classes"].W,
        found.inference.candidates["classes"].W,
        atol=1e-6,
    )


def test_a_memory_map_is_not_copied(kinds, found, tmp_path):
    source, target = kinds
    np.save(tmp_path / "X.npy", target.X)
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    mapped = Domain(X, target.y, labeled=target.labeled)
    assert np.shares_memory(mapped.X, X)
    np.testing.assert_array_equal(l2t.predict(source, mapped).probabilities, found.probabilities)
