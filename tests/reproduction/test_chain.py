"""Chains: one W for algorithms in sequence."""

from __future__ import annotations

import numpy as np
import pytest

import l2t
from l2t import Domain, DomainPair, algorithms
from l2t.algorithms import GFK, Classes, SubspaceAlignment
from l2t.domains import KnownClasses, digits, mnist, normalize
from l2t.exceptions import UnknownAlgorithmError
from l2t.forecast import Forecast, refine
from l2t.testing import check_algorithm
from reproduction.chain import Chain

pytestmark = pytest.mark.reproduction


def classes_then_gfk(random_state=0, n_components=3):
    return Chain((Classes(random_state), GFK(n_components, random_state)))


def test_a_chain_is_the_second_algorithm_on_the_rows_of_the_first(pair):
    T = Classes().fit(pair).W
    inner = DomainPair(
        Domain(pair.source.X @ T, pair.source.y), Domain(pair.target.X @ T, pair.target.y)
    )
    second = GFK(n_components=3).fit(inner).W
    np.testing.assert_allclose(classes_then_gfk().fit(pair).W, T @ second)


def test_a_chain_of_three_with_another_matrix_for_source_rows(pair):
    factors = Chain((Classes(), SubspaceAlignment(4), GFK(4))).fit(pair)
    assert factors.algorithm == "classes > sa > gfk"
    assert factors.W.shape == factors.source_W.shape
    assert not np.allclose(factors.W, factors.source_W)


def test_known_classes_reach_the_first_step(pair, rng):
    others = KnownClasses([Domain(rng.normal(size=(40, 10)), np.arange(40) % 4)])
    chain = classes_then_gfk()
    with_others = Chain(chain.steps, known=others).fit(pair).W
    assert not np.allclose(with_others, chain.fit(pair).W)


def test_a_chain_by_its_name_is_in_the_form_of_stored_runs():
    chain = Chain.of("classes > gfk")
    assert chain.name == "classes > gfk"
    assert chain.params == {
        "1 classes": {"random_state": 0},
        "2 gfk": {"n_components": 20, "random_state": 0},
    }


def test_a_chain_keeps_the_contract_of_algorithms():
    # With no row but the target's own, no class is known.
    check_algorithm(classes_then_gfk, skip=["check_far_apart_and_equal_domains"])


def test_the_package_has_no_chains():
    with pytest.raises(
        UnknownAlgorithmError, match=r"^chains .* removed in 0\.3, because they did"
    ):
        algorithms.make("classes > gfk")


def test_runs_of_chains_in_a_store_can_be_read_and_learned_from():
    """Stores of 0.2 may have them."""
    pairs = l2t.PairSampler(normalize(digits()), normalize(mnist()), 2, n_classes=4)
    with l2t.open_store("memory://") as store:
        l2t.collect(pairs, store, algorithms=[Chain.of("classes > gfk")], label_counts=(4,))
        experiences = list(store.experiences())
        (run, _) = (store.run(each.run_key) for each in experiences)
    assert {(each.algorithm, each.status) for each in experiences} == {("classes > gfk", "done")}
    assert run.params["2 gfk"] == {"n_components": 20, "random_state": 0}
    forecast = refine(Forecast.default(), experiences)
    assert forecast.own_pairs["classes > gfk"] == 2


def test_a_chain_is_rehearsed_like_any_other():
    drawn = l2t.PairSampler(normalize(digits()), normalize(mnist()), 1, n_classes=5)[0]
    found = l2t.infer(drawn, candidates=[Chain.of("classes > gfk")], n_rehearsals=2)
    assert found.candidates["classes > gfk"].rehearsed is not None
