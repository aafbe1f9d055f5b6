"""Small real pairs, and an agent on an empty store."""

from __future__ import annotations

import pytest

from l2t import Agent, Domain, DomainPair, PairSampler, normalize, open_store
from l2t.domains import digits, mnist


@pytest.fixture(scope="session")
def pairs() -> list[DomainPair]:
    """Six real pairs of 60 and 60 rows, with the labels of their targets."""
    domains = normalize(digits()), normalize(mnist())
    return list(PairSampler(*domains, 6, max_per_class=20, random_state=3))


@pytest.fixture(scope="session")
def unlabelled(pairs) -> list[DomainPair]:
    return [DomainPair(pair.source, Domain(pair.target.X, name=pair.target.name)) for pair in pairs]


@pytest.fixture
def store():
    with open_store("memory://") as opened:
        yield opened


@pytest.fixture
def agent(store) -> Agent:
    return Agent(store)
