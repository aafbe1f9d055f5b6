"""Chains: one W for algorithms one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import l2t
from l2t import Domain, DomainPair
from l2t.algorithms import GFK, Chain, Classes, make
from l2t.domains import KnownClasses, digits, mnist, normalize
from l2t.exceptions import InvalidInputError, UnknownAlgorithmError


def test_a_chain_is_the_second_algorithm_on_the_rows_of_the_first(pair):
    T = Classes().fit(pair).W
    inner = DomainPair(
        Domain(pair.source.X @ T, pair.source.y), Domain(pair.target.X @ T, pair.target.y)
    )
    second = GFK(n_components=3).fit(inner).W
    np.testing.assert_allclose(make("classes > gfk", n_components=3).fit(pair).W, T @ second)


def test_a_chain_of_three_with_its_own_way_for_source_rows(pair):
    found = make("Classes > sa>GFK", n_components=4).fit(pair)
    assert found.algorithm == "classes > sa > gfk"
    assert found.W.shape == found.source_W.shape
    assert not np.allclose(found.W, found.source_W)


def test_known_classes_reach_the_first_step(pair, rng):
    others = KnownClasses([Domain(rng.normal(size=(40, 10)), np.arange(40) % 4)])
    chain = make("classes > gfk", n_components=3)
    with_others = Chain(chain.steps, known=others).fit(pair).W
    assert not np.allclose(with_others, chain.fit(pair).W)


def coral_then_classes(pair, known):
    """Return W of "coral > classes", computed by hand, with some known classes for the second step."""
    first = make("coral").fit(pair)
    inner = DomainPair(
        Domain(pair.source.X @ first.source_W, pair.source.y), Domain(pair.target.X @ first.W)
    )
    return first.W @ Classes(known=known.mapped(first.source_W)).fit(inner).W


def test_target_rows_in_the_source_stay_excluded_in_later_steps(pair):
    rows = np.concatenate([pair.source.X, pair.target.X])
    labels = np.concatenate([np.arange(len(pair.source)) % 4, 4 + np.arange(len(pair.target)) % 3])
    both = DomainPair(Domain(rows, labels), Domain(pair.target.X))
    known = KnownClasses([both.source]).without(both.target)
    assert known.n_classes == 4
    chain = make("coral > classes")
    np.testing.assert_allclose(chain.fit(both).W, coral_then_classes(both, known))


def test_known_classes_reach_later_steps(pair, rng):
    others = KnownClasses([Domain(rng.normal(size=(40, 10)), np.arange(40) % 4)])
    chain = make("coral > classes")
    with_others = Chain(chain.steps, known=others).fit(pair).W
    np.testing.assert_allclose(with_others, coral_then_classes(pair, others))


def test_parameters_reach_those_that_take_them():
    chain = make("classes > gfk", n_components=7, random_state=3)
    assert chain.params == {
        "1 classes": {"random_state": 3},
        "2 gfk": {"n_components": 7, "random_state": 3},
    }
    assert chain.name == "classes > gfk"
    assert not chain.needs_features
    assert make("cmf > gfk").needs_features


def test_what_is_no_chain_is_an_error():
    with pytest.raises(
        InvalidInputError, match="no algorithm of the chain gfk > sa accepts colour"
    ):
        make("gfk > sa", colour="red")
    with pytest.raises(InvalidInputError, match="a chain must have 2 to 3 algorithms, got 4"):
        make("gfk > sa > gfk > sa")
    with pytest.raises(UnknownAlgorithmError, match="there is no algorithm 'nothing'"):
        make("gfk > nothing")


def test_a_chain_is_rehearsed_collected_and_chosen_like_any_other():
    drawn = l2t.PairSampler(normalize(digits()), normalize(mnist()), 1, n_classes=5)[0]
    found = l2t.infer(drawn, candidates=["classes > gfk"], n_rehearsals=2)
    assert found.candidates["classes > gfk"].rehearsed is not None
    store = l2t.open_store("memory://")
    l2t.collect([drawn], store, algorithms=["classes > gfk"], label_counts=(5,))
    (experience,) = store.experiences()
    assert (experience.algorithm, experience.status) == ("classes > gfk", "done")
