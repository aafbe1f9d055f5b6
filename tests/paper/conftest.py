"""A world whose reflection function is known, the experiences that come from it, and pairs to search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from l2t import DomainPair, PairSampler, normalize
from l2t.domains import digits, mnist
from l2t.experiences import Experience
from l2t.paper import ReflectionFunction, learn
from l2t.paper.calibration import LabelCurve
from l2t.statistics import KernelBank, PairStatistics

#: One experience that was done; tests replace what matters to them.
PLAIN = Experience(
    run_key="run",
    source="source",
    target="target",
    source_name="photos",
    target_name="sketches",
    n_classes=3,
    algorithm="gfk",
    params={},
    random_state=0,
    protocol={},
    status="done",
    reason="",
    n_labels=15,
    accuracy_before=0.5,
    standard_error_before=0.01,
    accuracy_after=0.5,
    standard_error_after=0.01,
    improvement_ratio=1.0,
    statistics=None,
    duration=0.1,
    version="",
    host="",
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


@dataclass(frozen=True)
class World:
    """Where ratios are ``f / factor(n) * exp(noise)`` with an f that we know."""

    kernels: KernelBank = field(default_factory=lambda: KernelBank(-2, 2, 1))
    lambda_: float = 2.0
    mu: float = 0.5
    b: float = 0.5
    q_mode: Any = "full"
    c: float = 0.0
    counts: tuple[int, ...] = (3, 15, 60)
    noise: float = 0.02

    @property
    def truth(self) -> ReflectionFunction:
        K = len(self.kernels)
        return ReflectionFunction(
            np.linspace(0.4, 0.0, K),
            self.lambda_,
            self.mu,
            self.b,
            kernels=self.kernels,
            q_mode=self.q_mode,
            c=self.c,
            label_range=(min(self.counts), max(self.counts)),
        )

    def statistics(self, rng: np.random.Generator) -> PairStatistics:
        """Return d >= 0, a positive semidefinite Q and tau > 0, much alike in neighbouring kernels."""
        K = len(self.kernels)
        x = np.linspace(-1, 1, K)
        shape = np.exp(-((x - rng.uniform(-1, 1)) ** 2) / 0.5)
        d = rng.uniform(0, 0.6) * shape + rng.uniform(0, 0.02, K)
        A = rng.uniform(0.1, 0.8) * (shape[:, None] + 0.3 * rng.normal(size=(K, 3)))
        tau = np.exp(rng.normal(1.5, 0.6)) * np.exp(0.5 * x) * rng.uniform(0.8, 1.2, K)
        return PairStatistics(d, A @ A.T / 3, tau, self.kernels, 5)

    def ratio(
        self, statistics: PairStatistics, n_labels: int, rng: np.random.Generator | None = None
    ) -> float:
        """Return the ratio that is measured at a number of labels; without noise if there is no rng."""
        curve = LabelCurve(self.c, min(self.counts), max(self.counts))
        shift = self.noise * rng.normal() if rng is not None else 0.0
        level = 1.0 / self.truth.inverse(statistics)
        return float(level / curve.factor(n_labels) * np.exp(shift))

    def experiences(
        self, n_pairs: int, *, seed: int = 0, per_pair: int = 2, name: str = ""
    ) -> list[Experience]:
        """Return experiences of runs on some pairs, at every label count."""
        return list(self.stream(n_pairs, seed=seed, per_pair=per_pair, name=name))

    def stream(
        self, n_pairs: int, *, seed: int = 0, per_pair: int = 2, name: str = ""
    ) -> Iterator[Experience]:
        rng = np.random.default_rng(seed)
        for pair in range(n_pairs):
            for algorithm in range(per_pair):
                statistics = self.statistics(rng)
                for count in self.counts:
                    yield replace(
                        PLAIN,
                        run_key=f"{name}{seed}/{pair}/{algorithm}",
                        source=f"{name}{seed}/source {pair}",
                        target=f"{name}{seed}/target {pair}",
                        algorithm=("gfk", "tca", "itl")[algorithm % 3],
                        n_labels=count,
                        improvement_ratio=self.ratio(statistics, count, rng),
                        statistics=statistics,
                    )


#: Settings that leave nothing to choose, where a test is about something else.
QUICK: dict[str, Any] = {
    "gamma": 1e-5,
    "huber": 0.1,
    "n_starts": 2,
    "max_labels": None,
    "best": 1.0,
}


@pytest.fixture(scope="session")
def world() -> World:
    return World()


@pytest.fixture(scope="session")
def plain() -> Experience:
    """One experience that was done."""
    return PLAIN


@pytest.fixture(scope="session")
def quick() -> dict[str, Any]:
    """Settings that leave nothing to choose, where a test is about something else."""
    return QUICK


@pytest.fixture(scope="session")
def learned(world: World) -> ReflectionFunction:
    """A function learned from 60 pairs."""
    return learn(world.experiences(60), **QUICK)


@pytest.fixture(scope="session")
def reflection() -> ReflectionFunction:
    """A function written by hand, with all three terms."""
    return ReflectionFunction(np.linspace(0.2, 1.0, 33) / 33, lambda_=0.5, mu=0.5, b=0.3)


@pytest.fixture(scope="session")
def digit_pairs() -> list[DomainPair]:
    """Three real pairs of 60 and 60 rows, float32."""
    sampler = PairSampler(normalize(digits()), normalize(mnist()), 3, max_per_class=20)
    return [sampler[i] for i in range(3)]
