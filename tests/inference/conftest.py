"""Pairs and a reflection function for the search."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair, PairSampler, normalize
from l2t.domains import digits, mnist
from l2t.reflection import ReflectionFunction
from l2t.reflection.calibration import PROBABILITIES, Calibration
from l2t.reflection.plan import Plan


@pytest.fixture(scope="session")
def reflection() -> ReflectionFunction:
    """A function written by hand, with all three terms."""
    return ReflectionFunction(np.linspace(0.2, 1.0, 33) / 33, lambda_=0.5, mu=0.5, b=0.3)


@pytest.fixture(scope="session")
def calibrated() -> ReflectionFunction:
    """A function as they are learned: few kernels, a soft plan, and intervals."""
    beta = np.zeros(33)
    beta[[0, 18, 19]] = 0.0006, 0.0017, 0.0049
    spread = np.array([0.1, 0.2, 0.1, 0.05])
    calibration = Calibration(
        n_labels=np.array([0, 3, 15, 60]),
        slope=np.array([1.0, 1.4, 0.9, 0.5]),
        offset=np.array([0.0, -0.3, 0.1, 0.5]),
        quantiles=np.outer(spread, np.linspace(-1.0, 1.2, len(PROBABILITIES))),
        n_pairs=120,
    )
    plans = (3, Plan("soft", None, 1, 1.5)), (15, Plan("soft", None, 1))
    return ReflectionFunction(beta, 4.5e4, 0.55, 0.78, plans=plans, calibration=calibration)


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
