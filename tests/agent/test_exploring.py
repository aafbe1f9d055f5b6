"""What the agent tries out, and how sure it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from l2t import Agent, Domain, DomainPair, algorithms, open_store, pair_statistics
from l2t.agent.exploring import base_factors, uncertainty, upper_end
from l2t.exceptions import InvalidInputError
from l2t.reflection.loss import Problem
from l2t.reflection.table import Table


@pytest.mark.parametrize(("explore", "own"), [(0.0, 12), (1.0, 0)])
def test_the_chance_of_trying_something_else(store, default, unlabelled, explore, own):
    agent = Agent(store, reflection=default, explore=explore)
    asked = [agent.ask(pair, 3) for pair in unlabelled[:12]]
    assert sum(each.algorithm == "l2t" for each in asked) == own
    assert all(each.predicted is not None and each.version == 1 for each in asked)


def test_a_chance_of_a_half(store, default, unlabelled):
    agent = Agent(store, reflection=default, explore=0.5)
    own = sum(agent.ask(pair, 3).algorithm == "l2t" for pair in unlabelled[:24])
    assert 5 <= own <= 19


def test_upper_takes_what_may_be_best(store, default, unlabelled):
    agent = Agent(store, reflection=default, explore="upper")
    for pair in unlabelled[:3]:
        asked = agent.ask(pair, 15)
        ends = {
            name: upper_end(default, pair_statistics(pair, algorithms.make(name).fit(pair).W), 15)
            for name in ("tca", "gfk")
        }
        with open_store("memory://") as other:
            own = Agent(other, reflection=default).ask(pair, 15)
        ends["l2t"] = upper_end(default, pair_statistics(pair, own.W), 15)
        assert asked.algorithm == max(ends, key=ends.get)


def test_uncertainty_is_the_gradient_in_the_memory(default, unlabelled, store):
    """The gradient of 1/f is that of the learning problem, and more data means less doubt."""
    agent = Agent(store, reflection=default)
    agent.observe(unlabelled[0], np.eye(64, 5), 0.5, 0.55, 15)
    (experience,) = store.experiences()
    lessons = default.lessons
    theta, units = lessons.memory.theta, lessons.units
    problem = Problem(Table([experience]), np.array([0]), np.array([1.0]), units, lessons.settings)

    def inverse(at):
        return problem.predictions(at)[0]

    # 1/f is linear in all but the weights of the kernels, which are small.
    sizes = np.r_[np.full(len(theta) - 4, 1e-9), np.full(4, 1e-3)]
    g = np.array([inverse(theta + h) - inverse(theta - h) for h in np.diag(sizes)]) / (2 * sizes)
    ridge = np.r_[np.full(len(theta) - 1, lessons.settings.gamma), 1e-12]
    information = lessons.memory.weight * (lessons.memory.hessian + np.diag(ridge))
    doubt = np.sqrt(g @ np.linalg.solve(information, g))
    found = uncertainty(default, experience.statistics)
    low, high = np.interp(
        (0.16, 0.84),
        np.r_[0.005, 0.01, np.arange(1, 40) / 40, 0.99, 0.995],
        default.calibration.quantiles[0],
    )
    assert found == pytest.approx(doubt * (high - low) / 2, rel=1e-4)
    more = replace(lessons.memory, weight=4 * lessons.memory.weight)
    surer = replace(default, lessons=replace(lessons, memory=more))
    assert uncertainty(surer, experience.statistics) == pytest.approx(found / 2)
    by_hand = replace(default, lessons=None)
    assert uncertainty(by_hand, experience.statistics) == 0.0


def test_an_algorithm_that_cannot_be_run_is_passed_over(unlabelled):
    pair = unlabelled[0]
    bare = DomainPair(Domain(pair.source.X), pair.target)  # ITL needs labels of the source
    names = {base_factors(bare, np.random.default_rng(seed), 0)[0] for seed in range(30)}
    assert "itl" not in names
    assert len(names) == 7
    constant = DomainPair(Domain(np.ones((5, 3))), Domain(np.ones((5, 3))))
    with pytest.raises(InvalidInputError):
        base_factors(constant, np.random.default_rng(0), 0)
