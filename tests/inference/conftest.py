"""Pairs and a reflection function for the search."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair, PairSampler, normalize
from l2t.domains import digits, mnist
from l2t.reflection import ReflectionFunction


@pytest.fixture(scope="session")
def reflection() -> ReflectionFunction:
    """A function written by hand, with all three terms."""
    return ReflectionFunction(np.linspace(0.2, 1.0, 33) / 33, lambda_=0.5, mu=0.5, b=0.3)


@pytest.fixture(scope="session")
def digit_pairs() -> list[DomainPair]:
    """Three real pairs of 60 and 60 rows, float32."""
    sampler = PairSampler(normalize(digits()), normalize(mnist()), 3, max_per_class=20)
    return [sampler[i] for i in range(3)]


@pytest.fixture
def labelled(pair: DomainPair) -> DomainPair:
    """The pair with labels for 15 target rows."""
    target = pair.target
    mask = np.arange(len(target)) < 15
    return DomainPair(pair.source, Domain(target.X, target.y, labeled=mask, name="target"))
