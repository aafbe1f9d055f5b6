"""What is timed side by side gives the same result, or is not told."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.exceptions import L2TError
from l2t.speed import Comparison, best_of, compare_speed, comparison, side_by_side


def test_each_part_is_compared_once():
    found = list(compare_speed(rows=30, features=40))
    assert [(each.what, each.against) for each in found] == [
        ("pair statistics", "plain numpy"),
        ("pair statistics", "the floor"),
        ("objective, gradient", "plain numpy"),
        ("objective, gradient", "the floor"),
        ("sparse codes", "a Lasso for each row"),
        ("whole inference", "all base algorithms"),
    ]
    assert all(each.seconds > 0 and each.other_seconds > 0 for each in found)


def test_a_ratio_above_1_means_that_l2t_is_faster():
    assert Comparison("", "", 2.0, 3.0).ratio == 1.5


def test_times_of_other_results_are_not_told(monkeypatch):
    plain = comparison.plain_statistics

    def wrong(*arguments):
        d, Q, tau = plain(*arguments)
        return d, Q * (1 + 1e-6), tau

    monkeypatch.setattr(comparison, "plain_statistics", wrong)
    with pytest.raises(L2TError, match="Q: the fast and the plain form do not agree"):
        next(compare_speed(rows=30, features=40))


def test_the_shortest_time_counts(monkeypatch):
    clock = iter([0.0, 3.0, 10.0, 11.0, 20.0, 22.0])
    monkeypatch.setattr("l2t.speed.timing.time.perf_counter", lambda: next(clock))
    assert best_of(lambda: "done", 3) == (1.0, "done")
    ticks = iter(np.cumsum([0.0, 4.0, 0.0, 7.0, 0.0, 3.0, 0.0, 9.0]))
    monkeypatch.setattr("l2t.speed.timing.time.process_time", lambda: next(ticks))
    assert side_by_side([lambda: None, lambda: None], turns=2, runs=1) == [3.0, 7.0]
