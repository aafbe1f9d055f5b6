"""What the agent tries out beside the best candidate."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from l2t import Agent, Domain, DomainPair, algorithms, infer, open_store
from l2t.agent.suggestion import explore

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("probability", "chosen"), [(0.0, 6), (1.0, 0)])
def test_the_chance_of_trying_something_else(store, unlabelled, probability, chosen):
    agent = Agent(store, explore=probability)
    asked = [agent.ask(pair, 3) for pair in unlabelled[:6]]
    assert sum(each.choice == each.inference.choice for each in asked) == chosen
    assert "identity" not in {each.choice for each in asked[chosen:]}
    for each in asked[chosen:]:
        assert each.reason.startswith(f"{each.choice} is tried for exploration; otherwise: ")
        assert each.verdict == "transfer"


def test_a_chance_of_a_half(unlabelled):
    found = infer(unlabelled[0], n_labels=3, n_rehearsals=2)
    tried = [explore(unlabelled[0], found, 0.5, seed, n_rehearsals=2) for seed in range(24)]
    assert 5 <= sum(each.name == found.choice for each in tried) <= 19


def test_what_is_tried_is_fitted_and_has_an_expectation(unlabelled):
    """Base algorithms are among it, which are no candidates by default."""
    pair = unlabelled[0]
    found = infer(pair, n_labels=3, n_rehearsals=2)
    options = {"n_labels": 3, "n_rehearsals": 2}
    tried = [explore(pair, found, 1.0, seed, **options) for seed in range(12)]
    assert {each.name for each in tried} & set(algorithms.PAPER)
    for seed, each in enumerate(tried):
        assert each.W.shape[0] == pair.n_features
        assert each.interval[0] < each.predicted < each.interval[1]
        again = explore(pair, found, 1.0, seed, **options)
        np.testing.assert_array_equal(again.W, each.W)


def test_algorithms_for_shared_classes_are_not_drawn(unlabelled, monkeypatch):
    drawn = []

    def record(pair, candidates=(), **_):
        drawn.extend(candidates)
        return SimpleNamespace(candidates={"none": SimpleNamespace(W=None)})

    monkeypatch.setattr("l2t.agent.suggestion.infer", record)
    found = SimpleNamespace(choice="identity", candidates={"identity": "the choice"})
    assert explore(unlabelled[0], found, 1.0, 0) == "the choice", "no other candidate can be run"
    expected = set(algorithms.names()) - {"identity", *algorithms.SHARED}
    assert set(drawn) == expected


def test_an_algorithm_that_cannot_be_run_is_passed_over(unlabelled):
    pair = unlabelled[0]
    bare = DomainPair(
        Domain(pair.source.X), pair.target
    )  # ITL and classes need labels of the source
    found = infer(bare, n_labels=3)
    names = {explore(bare, found, 1.0, seed).name for seed in range(12)}
    assert not names & {"itl", "classes", "classes+spectrum"}
    with open_store("memory://") as store:
        assert Agent(store, explore=1.0).ask(bare, 3).choice in algorithms.names()
