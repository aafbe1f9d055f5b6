"""Small real pairs, and an agent that learns from few of them."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import (
    Agent,
    Domain,
    DomainPair,
    PairSampler,
    learn,
    load_reflection,
    normalize,
    open_store,
)
from l2t.agent import knowledge
from l2t.domains import digits, mnist
from l2t.forecast.forecast import room_of
from l2t.paper import ReflectionFunction


@pytest.fixture(scope="session")
def pairs() -> list[DomainPair]:
    """Sixty real pairs of 60 and 60 rows, with the labels of their targets."""
    domains = normalize(digits()), normalize(mnist())
    sampler = PairSampler(*domains, 60, max_per_class=20, random_state=3)
    return [sampler[i] for i in range(60)]


@pytest.fixture(scope="session")
def unlabelled(pairs) -> list[DomainPair]:
    return [DomainPair(pair.source, Domain(pair.target.X, name=pair.target.name)) for pair in pairs]


@pytest.fixture
def store():
    with open_store("memory://") as opened:
        yield opened


@pytest.fixture(scope="session")
def default() -> ReflectionFunction:
    return load_reflection("default")


@pytest.fixture
def agent(store, default) -> Agent:
    return Agent(store, reflection=default, refine_every=10**6)


@pytest.fixture
def quick(monkeypatch):
    """Learning with nothing left to choose, where a test is about something else."""

    def quickly(experiences, **options):
        settings = {"gamma": 1e-3, "huber": 0.1, "n_starts": 1, "n_folds": 2}
        return learn(experiences, **options | settings)

    monkeypatch.setattr(knowledge, "learn", quickly)


@pytest.fixture(scope="session")
def tell():
    """A function that observes W's which use a known part of the room for a change."""

    def observe(agent: Agent, pairs, use: float, *, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        for pair in pairs:
            W = rng.normal(size=(pair.n_features, 6)) * rng.uniform(0.1, 2.0, size=6)
            ratio = np.exp(room_of(0.6) * use + 0.01 * rng.normal())
            agent.observe(pair, W, 0.4, 0.4 * ratio, 15)

    return observe
