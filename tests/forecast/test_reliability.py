"""Intervals that hold, by simulation, and what is unfamiliar."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.forecast.reliability import LEVELS, ErrorQuantiles, Familiarity, Reliability


@pytest.mark.parametrize("n_pairs", [3, 5, 8, 9, 20, 50, 200])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_an_interval_holds_what_it_promises_or_is_infinite(n_pairs, level):
    """Coverage over many calibrations and one new pair each, with heavy tails."""
    rng = np.random.default_rng(0)
    held = []
    for _ in range(2000):
        *errors, new = np.abs(rng.standard_t(3, size=n_pairs + 1))
        held.append(new <= Reliability({"a": ErrorQuantiles.of(errors, n_pairs)}).half_width(level))
    assert np.mean(held) >= level - 3 * np.sqrt(level * (1 - level) / len(held))
    if n_pairs < level / (1 - level) - 1e-9:
        assert np.all(held)


def test_too_few_pairs_are_infinite():
    kind = ErrorQuantiles.of(np.ones(8), 8)
    assert kind.half_width(0.9) == np.inf
    assert kind.half_width(0.8) == 1.0
    assert Reliability({}).half_width(0.5) == np.inf


def test_the_worst_kind_decides():
    kinds = {
        "easy": ErrorQuantiles.of(np.full(100, 1.0), 100),
        "hard": ErrorQuantiles.of(np.full(100, 3.0), 100),
    }
    assert Reliability(kinds).half_width(0.9) == 3.0


def test_levels_rise():
    assert (np.diff(LEVELS) > 0).all()


def test_distance_is_free_of_scale_and_one_in_a_hundred_is_beyond(rng):
    meta = rng.normal(size=(2000, 4)) @ rng.normal(size=(4, 4)) + 3.0
    found = Familiarity.of(meta)
    beyond = np.mean([found.distance(row) > 1 for row in meta])
    assert 0.005 <= beyond <= 0.015
    scaled = Familiarity.of(meta * [1, 10, 100, 1000])
    assert scaled.distance(meta[0] * [1, 10, 100, 1000]) == pytest.approx(found.distance(meta[0]))
    assert found.distance(meta.mean(axis=0)) == pytest.approx(0.0, abs=1e-6)
    assert found.distance(meta.mean(axis=0) + 100 * meta.std(axis=0)) > 10
