"""Sources by what each adds over having none."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, rank_sources
from l2t.algorithms import Classes
from l2t.exceptions import InvalidInputError


@pytest.fixture(scope="module")
def domains():
    """Classes in the first axes and a large nuisance in the last: known classes of this kind help."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(12), 25)
    X = rng.normal(size=(12, 10))[codes] + 0.8 * rng.normal(size=(300, 10))
    X[:, -1] = 8.0 * rng.normal(size=300)
    target = Domain(X[codes >= 9], name="target")
    helpful = Domain(X[codes < 9], codes[codes < 9], name="helpful")
    noise = Domain(rng.normal(size=(225, 10)), codes[codes < 9], name="noise")
    bare = Domain(X[codes < 9], name="no labels")
    return target, [noise, bare, helpful]


def test_the_source_that_adds_most_comes_first(domains):
    target, sources = domains
    ranked = rank_sources(target, sources, n_labels=3)
    assert ranked[0].source.name == "helpful"
    assert ranked[0].adds > 1.05
    assert [each.index for each in ranked] == [2, 0, 1]
    for each in ranked[1:]:  # what adds nothing says so, and keeps its place
        assert each.adds == 1.0
    assert repr(ranked[0]).startswith("RankedSource('helpful', ")


class TargetAlone(Classes):
    """A plug-in that declares not to use the source."""

    name = "target alone"
    uses_source = False


def test_a_plugin_that_uses_no_source_adds_nothing(domains):
    target, (*_, helpful) = domains
    (ranked,) = rank_sources(target, [helpful], n_labels=3, candidates=[TargetAlone()])
    assert ranked.inference.choice == "target alone"
    assert ranked.predicted > ranked.adds == 1.0


def test_sources_that_cannot_be(domains):
    target, sources = domains
    for bad in ([], sources[0]):
        with pytest.raises(
            InvalidInputError, match="sources must be a list of one or more domains"
        ):
            rank_sources(target, bad)
    with pytest.raises(InvalidInputError, match="source must be a Domain, got str"):
        rank_sources(target, ["photos"])
    with pytest.raises(
        InvalidInputError, match="must have the same features, got 3 and 10 columns"
    ):
        rank_sources(target, [Domain(np.eye(3))])
