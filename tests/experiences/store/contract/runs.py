"""Small random runs, and what it means that two are the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from l2t.domains import Domain, DomainPair
from l2t.exceptions import L2TError
from l2t.experiences.experience import Run, Score
from l2t.experiences.store import ExperienceStore
from l2t.statistics import KernelBank, PairStatistics

__all__ = [
    "START",
    "Open",
    "assert_raises",
    "assert_same_run",
    "assert_same_statistics",
    "random_run",
]

Open = Callable[[], ExperienceStore]
START = datetime(2030, 1, 1, tzinfo=UTC)


def random_run(number: int = 0, *, n_domains: int = 3, rows: int = 12, **changes: Any) -> Run:
    """Return a small run; another number is another run, on one of a few pairs.

    Parameters
    ----------
    number : int
        Which one; the same number gives the same content.
    n_domains : int
        How many pairs the runs take turns on.
    rows : int
        Rows of a domain.
    **changes
        Other values for fields of the `Run`.
    """
    rng = np.random.default_rng([number, 1])
    which = number % n_domains
    content = np.random.default_rng(which)
    sides = [
        Domain(content.normal(size=(rows, 4)), np.arange(rows) % 3, name=f"{side}{which}")
        for side in ("source", "target")
    ]
    bank = KernelBank(-1, 1, 0.5)
    K = len(bank)
    values: dict[str, Any] = {
        "pair": DomainPair(*sides),
        "algorithm": ("gfk", "tca", "itl")[number % 3],
        "params": {"n_components": 2, "tolerance": 1e-9},
        "random_state": number,
        "protocol": {"label_counts": [3, 15], "classifier": "1-NN"},
        "status": "done",
        "W": rng.normal(size=(4, 2)),
        "statistics": PairStatistics(
            rng.random(K), rng.random((K, K)), rng.random(K), bank, n_neighbors=5
        ),
        "scores": tuple(
            Score(count, 0.5, 0.01, 0.5 * ratio, 0.02, float(ratio))
            for count, ratio in zip((3, 15), rng.uniform(0.5, 1.5, 2), strict=True)
        ),
        "duration": float(rng.random()),
        "version": "0.0",
        "host": "here",
        "created_at": START + timedelta(microseconds=number * 1001),
    }
    if changes.get("status") == "failed":
        values |= {"W": None, "statistics": None, "scores": (), "reason": "no reason given"}
    return Run(**values | changes)


def assert_same_run(found: Run, run: Run) -> None:
    """Assert that two runs are the same in every field."""
    assert found.key == run.key
    assert found.pair == run.pair
    for side in ("source", "target"):
        ours, theirs = getattr(found.pair, side), getattr(run.pair, side)
        assert (ours.name, ours.feature_names) == (theirs.name, theirs.feature_names), side
    assert (found.W is None) == (run.W is None)
    if found.W is not None and run.W is not None:
        assert found.W.dtype == run.W.dtype, found.W.dtype
        np.testing.assert_array_equal(found.W, run.W)
    assert_same_statistics(found.statistics, run.statistics)
    for field in dataclasses.fields(Run):
        if field.name not in ("pair", "W", "statistics"):
            assert getattr(found, field.name) == getattr(run, field.name), field.name


def assert_same_statistics(found: PairStatistics | None, given: PairStatistics | None) -> None:
    """Assert that two runs have the same d, Q and tau, or neither has any."""
    assert (found is None) == (given is None)
    if found is not None and given is not None:
        assert (found.kernels, found.n_neighbors) == (given.kernels, given.n_neighbors)
        for name in ("d", "Q", "tau"):
            np.testing.assert_array_equal(getattr(found, name), getattr(given, name))


def assert_raises(kind: type[L2TError], action: Callable[[], object], what: str) -> None:
    """Assert that an action is refused with a sentence."""
    with pytest.raises(kind) as caught:
        action()
    assert str(caught.value), f"the error for {what} is empty"
