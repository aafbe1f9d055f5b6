"""Runs are packed without a database, each domain and array once, and put in by whoever comes first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sqlalchemy import text

from l2t.domains import Domain
from l2t.experiences.store import open_store, pack
from l2t.experiences.store.rows import class_count
from l2t.experiences.store.writing import put_runs
from tests.experiences.store.contract import assert_same_run, random_run


def runs_of_a_pair(n=8):
    return [random_run(number, n_domains=1) for number in range(n)]


def test_what_runs_share_is_packed_once():
    packed = pack(runs_of_a_pair())
    assert len(packed.runs) == 8
    assert len(packed.domains) == 2
    assert len(packed.arrays) == 2 + 1 + 8 + 8  # X, labels, W and statistics


def test_classes_of_rows_without_a_label_are_not_counted():
    X = np.arange(12.0).reshape(6, 2)
    for target, n_classes in (
        (Domain(X), 0),
        (Domain(X, list("aabbcc")), 3),
        (Domain(X, ["a", "b", -1, -1, -1, -1], labeled=[True, True, *4 * [False]]), 2),
    ):
        assert class_count(target) == n_classes


def test_of_two_runs_with_one_key_the_first_counts():
    first, second = random_run(1), random_run(1, W=np.ones((4, 2)))
    with open_store("memory://") as store:
        assert store.add_packed(pack([first, second])) == {first.key}
        assert_same_run(store.run(first.key), first)
        assert store.check() == []


def test_no_runs_are_no_trouble():
    with open_store("memory://") as store:
        assert store.add_packed(pack([])) == set()


@pytest.mark.parametrize("n_shared", [1, 3])
def test_runs_that_another_puts_in_at_the_same_moment(postgres, n_shared):
    """A writer on PostgreSQL who comes second waits for the first, and keeps only what is still new."""
    theirs = runs_of_a_pair(n_shared)
    ours = [random_run(n, n_domains=1, W=np.full((4, 2), float(n))) for n in range(5)]
    with open_store(postgres()) as store, ThreadPoolExecutor(1) as pool:
        with store._database.writing() as connection:
            put_runs(connection, pack(theirs))
            later = pool.submit(store.add_packed, pack(ours))
            # Each look is a round trip to the server, which gives the other thread its time.
            while not connection.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")):
                assert not later.done(), "the second writer did not wait for the first"
        assert later.result() == {run.key for run in ours[n_shared:]}
        for run in theirs + ours[n_shared:]:
            assert_same_run(store.run(run.key), run)
        assert store.check() == []  # the W of our runs that came too late are not there
