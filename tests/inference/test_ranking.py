"""Sources by what is predicted of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from l2t import Domain, DomainPair, infer, rank_sources
from l2t.exceptions import InvalidInputError
from l2t.reflection import ReflectionFunction
from l2t.reflection.plan import Plan

#: The nearer the domains, the better.
NEAR = ReflectionFunction(np.full(33, 0.03), b=0.5)


@pytest.fixture
def target(rng):
    return Domain(rng.normal(size=(40, 4)), name="target")


@pytest.fixture
def sources(rng):
    shifts = {"far": 6.0, "near": 0.0, "between": 1.5}
    return [Domain(rng.normal(size=(50, 4)) + shift, name=name) for name, shift in shifts.items()]


def test_the_nearest_comes_first(target, sources):
    # All components and no step: none can hide the shift.
    ranked = rank_sources(target, sources, NEAR, n_components=4, n_iter=0)
    assert [each.source.name for each in ranked] == ["near", "between", "far"]
    assert [each.index for each in ranked] == [1, 2, 0]
    assert ranked[0].predicted > ranked[1].predicted > ranked[2].predicted
    for each in ranked:
        assert each.source is sources[each.index]


def test_each_is_what_infer_finds(target, sources):
    options = {"n_labels": 3, "plan": Plan("sphere", 2, 1), "starts": ("gfk",), "random_state": 2}
    for each in rank_sources(target, sources, NEAR, **options):
        alone = infer(DomainPair(each.source, target), NEAR, **options)
        np.testing.assert_array_equal(each.inference.W, alone.W)
        assert each.predicted == each.inference.predicted == alone.predicted
        assert each.inference.plan == Plan("sphere", 2, 1)
        assert each.inference.n_labels == 3
        assert [c.name for c in each.inference.candidates] == ["pca", "gfk"]


def test_equals_keep_their_order(target, sources):
    ranked = rank_sources(target, [sources[1]] * 3, NEAR, n_iter=0)
    assert [each.index for each in ranked] == [0, 1, 2]


def test_sources_may_come_one_by_one(target, sources):
    ranked = rank_sources(target, (each for each in sources), NEAR, n_iter=0)
    assert [each.index for each in ranked] == [1, 2, 0]


def test_what_it_says_of_itself(target, sources):
    (only,) = rank_sources(target, sources[1:2], NEAR, n_iter=0)
    assert repr(only) == (
        f"RankedSource('near', predicted {only.predicted:.3f}, {only.inference.verdict})"
    )


def test_sources_that_cannot_be(target, sources):
    sentence = "sources must be a list of one or more domains"
    for bad in ([], sources[0]):
        with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
            rank_sources(target, bad, NEAR)
    with pytest.raises(InvalidInputError, match=r"^source must be a Domain, got str$"):
        rank_sources(target, ["photos"], NEAR)
    with pytest.raises(InvalidInputError, match=r"^target must be a Domain, got ndarray$"):
        rank_sources(target.X, sources, NEAR)
    sentence = "source and target must have the same features, got 3 and 4 columns"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
        rank_sources(target, [Domain(np.eye(3))], NEAR)
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_steps'"):
        rank_sources(target, sources, NEAR, n_steps=3)
