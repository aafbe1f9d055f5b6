"""Experiences as arrays: everything in its place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from l2t.paper.table import RunTable
from l2t.statistics import KernelBank


def whole(table):
    """Return d, Q and tau of all runs."""
    return [table.d, table.Q, table.tau]


def runs_of(experiences):
    return list({each.run_key: each for each in experiences}.values())


def test_a_row_a_run_and_a_ratio_an_experience(world):
    experiences = world.experiences(7)
    table = RunTable(experiences)
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


def test_mixed_experiences_find_their_run(world, rng):
    experiences = world.experiences(7)
    mixed = [experiences[i] for i in rng.permutation(len(experiences))]
    table = RunTable(mixed)
    assert [table.keys[i] for i in table.run] == [each.run_key for each in mixed]
    d = whole(table)[0]
    np.testing.assert_array_equal(d, [each.statistics.d for each in runs_of(mixed)])


def test_some_runs(world):
    table = RunTable(world.experiences(7))
    runs = np.array([1, 2, 6, 7, 13])
    part = table.take(runs)
    assert part.keys == [table.keys[i] for i in runs]
    assert part.pair.tolist() == table.pair[runs].tolist()
    assert part.target.tolist() == table.target[runs].tolist()
    assert len(part) == 15
    of_part = np.isin(table.run, runs)
    np.testing.assert_array_equal(part.ratio, table.ratio[of_part])
    np.testing.assert_array_equal(runs[part.run], table.run[of_part])
    for mine, all_of_them in zip(whole(part), whole(table), strict=True):
        np.testing.assert_array_equal(mine, all_of_them[runs])
    assert part.kernels == table.kernels


def test_the_diagonal_alone(world):
    experiences = world.experiences(3)
    Q = whole(RunTable(experiences, q_mode="diag"))[1]
    expected = [np.diag(np.diag(each.statistics.Q)) for each in runs_of(experiences)]
    np.testing.assert_array_equal(Q, expected)


def test_a_part_of_the_bank(world):
    experiences = world.experiences(3)
    part = KernelBank(-1, 1, 1)
    d, Q, tau = whole(RunTable(experiences, kernels=part))
    for i, each in enumerate(runs_of(experiences)):
        np.testing.assert_array_equal(d[i], each.statistics.d[1:4])
        np.testing.assert_array_equal(Q[i], each.statistics.Q[1:4, 1:4])
        np.testing.assert_array_equal(tau[i], each.statistics.tau[1:4])


def test_the_same_domains_are_one_pair(world):
    """Whichever run: a pair is its source and its target."""
    first, *_, last = world.experiences(5)
    pairs = RunTable(
        [
            first,
            replace(last, source=first.source),
            replace(last, run_key="x", source=first.source, target=first.target),
        ]
    ).pair
    assert pairs.tolist() == [0, 1, 0]
