"""What is deleted, carried to another store or changed meanwhile leaves a store sound."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path

from l2t.exceptions import InvalidInputError, UnknownRunError
from l2t.testing.stores.runs import START, Open, assert_raises, assert_same_run, random_run

__all__ = [
    "check_delete_takes_what_nothing_needs",
    "check_export_and_merge",
    "check_reading_while_writing",
]


def check_reading_while_writing(open: Open) -> None:
    """Runs can be added and deleted while experiences are gone through."""
    with open() as store:
        for number in range(4):
            store.add(random_run(number))
        seen = []
        for each in store.experiences():
            seen.append(each.run_key)
            store.add(random_run(10 + len(seen), created_at=START - timedelta(days=1)))
            store.delete(key=random_run(0).key)
        assert len(set(seen)) == 4
        assert store.check() == []


def check_delete_takes_what_nothing_needs(open: Open) -> None:
    """Deleting leaves no array or domain behind, and takes none that another run needs."""
    with open() as store:
        runs = [random_run(number) for number in range(6)]
        for run in runs:
            store.add(run)
        assert store.delete(key="f" * 64) == 0
        assert store.delete(key=[runs[0].key, runs[1].key]) == 2
        assert store.check() == []
        assert_same_run(store.run(runs[3].key), runs[3])  # on the same domains as the first
        assert store.delete(domain="source0", n_labels=3) == 1  # whole, though one count was named
        assert store.check() == []
        assert_raises(UnknownRunError, lambda: store.run(runs[3].key), "a deleted run")
        assert store.delete(since=START) == 3
        assert (store.count(), store.keys(), store.check()) == (0, set(), [])
        assert store.add(runs[0])
        assert_same_run(store.run(runs[0].key), runs[0])
        assert_raises(InvalidInputError, store.delete, "delete without a filter")


def check_export_and_merge(open: Open) -> None:
    """One file carries everything, merges without duplicates, and a second time changes nothing."""
    runs = [random_run(number, status="failed" if number == 2 else "done") for number in range(7)]
    with tempfile.TemporaryDirectory() as folder, open() as store, open() as other:
        first, second = Path(folder) / "first.zip", Path(folder) / "second.zip"
        for run in runs[:5]:
            store.add(run)
        for run in runs[3:]:
            other.add(run)
        store.export(first)
        assert other.merge(first) == 3
        assert other.merge(first) == 0
        assert other.keys() == {run.key for run in runs}
        for run in runs:
            assert_same_run(other.run(run.key), run)
        assert other.check() == []
        other.export(first)
        assert store.merge(first) == 2
        store.export(second)
        assert first.read_bytes() == second.read_bytes()  # the same runs, whatever their history
