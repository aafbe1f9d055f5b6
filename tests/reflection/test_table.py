"""Experiences as arrays: everything in its place, in memory or on disk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from l2t.reflection import table as module
from l2t.reflection.table import Table
from l2t.statistics import KernelBank


@pytest.fixture(params=["memory", "disk", "both"])
def kept(request, monkeypatch):
    """Small blocks, and where they are kept."""
    block = 4 * 8 * 5 * 7  # bytes of four runs
    monkeypatch.setattr(module, "ROWS", 4)
    monkeypatch.setattr(
        module, "IN_MEMORY", {"memory": 2**30, "disk": 0, "both": 2 * block}[request.param]
    )
    return request.param


def whole(table):
    """Return d, Q and tau of all runs."""
    blocks = list(table.blocks())
    assert [block.first for block in blocks] == np.cumsum([0, *map(len, blocks[:-1])]).tolist()
    return [
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("d", "Q", "tau")
    ]


def runs_of(experiences):
    return list({each.run_key: each for each in experiences}.values())


def test_a_row_a_run_and_a_ratio_an_experience(world, kept):
    experiences = world.experiences(7)
    table = Table(experiences)
    runs = runs_of(experiences)
    assert (len(table), table.n_runs) == (42, 14)
    assert table.keys == [each.run_key for each in runs]
    assert table.algorithms == [each.algorithm for each in runs]
    assert table.pair.tolist() == [i // 2 for i in range(14)]
    assert [table.keys[i] for i in table.run] == [each.run_key for each in experiences]
    assert table.n_labels.tolist() == [each.n_labels for each in experiences]
    assert table.ratio.tolist() == [each.improvement_ratio for each in experiences]
    for name, values in zip(("d", "Q", "tau"), whole(table), strict=True):
        np.testing.assert_array_equal(values, [getattr(each.statistics, name) for each in runs])
    on_disk = [isinstance(block.Q, np.memmap) for block in table.blocks()]
    assert on_disk == [i >= {"memory": 4, "disk": 0, "both": 2}[kept] for i in range(4)]


def test_mixed_experiences_find_their_run(world, kept, rng):
    experiences = world.experiences(7)
    mixed = [experiences[i] for i in rng.permutation(len(experiences))]
    table = Table(mixed)
    assert [table.keys[i] for i in table.run] == [each.run_key for each in mixed]
    d = whole(table)[0]
    np.testing.assert_array_equal(d, [each.statistics.d for each in runs_of(mixed)])


def test_some_runs(world, kept):
    table = Table(world.experiences(7))
    runs = np.array([1, 2, 6, 7, 13])
    part = table.take(runs)
    assert part.keys == [table.keys[i] for i in runs]
    assert part.pair.tolist() == table.pair[runs].tolist()
    assert len(part) == 15
    of_part = np.isin(table.run, runs)
    np.testing.assert_array_equal(part.ratio, table.ratio[of_part])
    np.testing.assert_array_equal(runs[part.run], table.run[of_part])
    for mine, all_of_them in zip(whole(part), whole(table), strict=True):
        np.testing.assert_array_equal(mine, all_of_them[runs])
    assert part.kernels == table.kernels


def test_two_readers_at_once(world, kept):
    table = Table(world.experiences(7))
    for one, two in zip(table.blocks(), table.blocks(), strict=True):
        np.testing.assert_array_equal(one.Q, two.Q)


def test_the_diagonal_alone(world, kept):
    experiences = world.experiences(3)
    Q = whole(Table(experiences, q_mode="diag"))[1]
    expected = [np.diag(np.diag(each.statistics.Q)) for each in runs_of(experiences)]
    np.testing.assert_array_equal(Q, expected)


def test_a_part_of_the_bank(world, kept):
    experiences = world.experiences(3)
    part = KernelBank(-1, 1, 1)
    d, Q, tau = whole(Table(experiences, kernels=part))
    for i, each in enumerate(runs_of(experiences)):
        np.testing.assert_array_equal(d[i], each.statistics.d[1:4])
        np.testing.assert_array_equal(Q[i], each.statistics.Q[1:4, 1:4])
        np.testing.assert_array_equal(tau[i], each.statistics.tau[1:4])


def test_the_same_domains_are_one_pair(world):
    """Whichever run: a pair is its source and its target."""
    first, *_, last = world.experiences(5)
    pairs = Table(
        [
            first,
            replace(last, source=first.source),
            replace(last, run_key="x", source=first.source, target=first.target),
        ]
    ).pair
    assert pairs.tolist() == [0, 1, 0]
