"""STL: a dictionary from the source alone, and codes that are optimal for the target."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair
from l2t.algorithms import STL
from l2t.exceptions import InvalidInputError


def centred(pair):
    mean = pair.source.X.mean(axis=0)
    return pair.source.X - mean, pair.target.X - mean


def test_atoms_have_norm_one_and_codes_are_optimal(pair):
    parts = STL(n_components=6, sparsity=0.2).fit(pair).parts
    B, codes, alpha = parts["dictionary"], parts["codes"], float(parts["target_alpha"][0])
    np.testing.assert_allclose(np.linalg.norm(B, axis=1), 1.0, atol=1e-10)
    G = (centred(pair)[1] - codes @ B) @ B.T
    active = codes != 0
    assert np.abs(G - alpha * np.sign(codes))[active].max() < 1e-5 * alpha
    assert np.abs(G)[~active].max() < alpha * (1 + 1e-5)


def test_the_target_is_not_read_while_the_dictionary_is_learned(pair, rng):
    other = DomainPair(pair.source, Domain(rng.normal(size=(33, 10)) * 7))
    first, second = (STL(n_components=6).fit(each).parts["dictionary"] for each in (pair, other))
    # Signs of atoms are free.
    np.testing.assert_allclose(np.abs(first @ second.T), np.abs(first @ first.T), atol=1e-8)
    np.testing.assert_allclose(first.T @ first, second.T @ second, atol=1e-8)


def test_with_enough_atoms_and_little_sparsity_the_source_is_rebuilt(pair):
    factors = STL(n_components=10, sparsity=1e-6).fit(pair)
    _, target = centred(pair)
    rebuilt = factors.parts["codes"] @ factors.parts["dictionary"]
    assert np.linalg.norm(rebuilt - target) < 1e-3 * np.linalg.norm(target)


def test_more_sparsity_means_fewer_codes(pair):
    shares = [
        np.mean(STL(n_components=8, sparsity=s).fit(pair).parts["codes"] != 0)
        for s in (0.01, 0.1, 0.4)
    ]
    assert shares[0] > shares[1] > shares[2] > 0


def test_a_target_too_small_for_alpha_is_coded_all_the_same(pair):
    """Rows a thousand times smaller than the source: alpha is halved until half have a code."""
    source = pair.source.X
    small = source.mean(axis=0) + 1e-3 * (pair.target.X - pair.target.X.mean(axis=0))
    factors = STL(n_components=6, sparsity=0.3).fit(DomainPair(pair.source, Domain(small)))
    assert factors.parts["target_alpha"][0] < factors.parts["alpha"][0]
    assert (factors.parts["codes"] != 0).any(axis=1).mean() >= 0.5


def test_a_target_outside_the_source_is_refused(rng):
    Xs = np.hstack([rng.normal(size=(10, 3)), np.zeros((10, 3))])
    Xt = np.hstack([np.tile(Xs[:, :3].mean(axis=0), (8, 1)), rng.normal(size=(8, 3))])
    with pytest.raises(InvalidInputError, match="stl needs a target that the source"):
        STL(n_components=2).fit(DomainPair(Domain(Xs), Domain(Xt)))


def test_overcomplete_dictionaries_follow_the_seed(rng):
    pair = DomainPair(Domain(rng.normal(size=(30, 4))), Domain(rng.normal(size=(20, 4))))
    first, again, other = (
        STL(n_components=9, random_state=seed).fit(pair).parts["dictionary"] for seed in (0, 0, 1)
    )
    assert first.shape == (9, 4)
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_more_atoms_than_source_rows_are_clipped(rng):
    pair = DomainPair(Domain(rng.normal(size=(5, 8))), Domain(rng.normal(size=(12, 8))))
    with pytest.warns(UserWarning, match="5 are used"):
        assert STL(n_components=7).fit(pair).W.shape[1] == 5


@pytest.mark.parametrize("params", [{"sparsity": 0}, {"sparsity": 1.1}, {"max_iter": 0}])
def test_parameters_are_checked(pair, params):
    (name,) = params
    with pytest.raises(InvalidInputError, match=f"^{name} must be"):
        STL(**params).fit(pair)
