"""Splits: what must not stand on both sides does not."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.paper.training_set import held_out, target_splits


def test_a_quarter_of_the_targets_is_held_out():
    share = np.mean([held_out(f"target {i}") for i in range(4000)])
    assert share == pytest.approx(0.25, abs=0.03)
    assert [held_out(f"target {i}") for i in range(8)] == [
        held_out(f"target {i}") for i in range(8)
    ]


@pytest.mark.parametrize("n_targets", [2, 3, 5, 17])
def test_no_target_on_both_sides_and_each_held_out_once(rng, n_targets):
    target = np.r_[np.arange(n_targets), rng.integers(0, n_targets, 40)]
    splits = target_splits(target, 5, rng)
    assert len(splits) == min(5, n_targets)
    for learned, held in splits:
        assert not set(target[learned]) & set(target[held])
        assert learned.any()
        assert held.any()
        assert (learned | held).all()
    np.testing.assert_array_equal(np.sum([held for _, held in splits], axis=0), 1)


def test_folds_are_of_about_one_size(rng):
    sizes = [held.sum() for _, held in target_splits(np.arange(23), 5, rng)]
    assert max(sizes) - min(sizes) <= 1


def test_one_target_has_no_split(rng):
    assert target_splits(np.zeros(10, dtype=np.intp), 5, rng) == []


def test_splits_follow_the_seed():
    target = np.arange(40)
    first, again, other = (target_splits(target, 5, np.random.default_rng(s)) for s in (0, 0, 1))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a[1], b[1]) for a, b in zip(first, other, strict=True))
