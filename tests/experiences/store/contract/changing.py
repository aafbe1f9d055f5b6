"""What is deleted, carried to another store or changed meanwhile leaves a store sound."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from l2t.exceptions import InvalidInputError, UnknownRunError
from l2t.experiences import CollectionProgress, Merged
from tests.experiences.store.contract.runs import (
    START,
    Open,
    assert_raises,
    assert_same_run,
    random_run,
)

__all__ = [
    "check_collections_are_kept",
    "check_delete_takes_what_nothing_needs",
    "check_merge",
    "check_reading_while_writing",
    "check_rehearsals_are_kept_apart_from_runs",
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


def check_merge(open: Open) -> None:
    """A merge copies what is new, and a second one changes nothing."""
    runs = [random_run(number, status="failed" if number == 2 else "done") for number in range(7)]
    with open() as store, open() as other:
        for run in runs[:5]:
            store.add(run)
        for run in runs[3:]:
            other.add(run)
        assert other.merge(store) == Merged(3, 0, ())
        assert other.merge(store) == Merged(0, 0, ())
        assert other.keys() == {run.key for run in runs}
        for run in runs:
            assert_same_run(other.run(run.key), run)
        assert other.check() == []
        assert store.merge(other) == Merged(2, 0, ())
        assert store.keys() == other.keys()


def check_collections_are_kept(open: Open) -> None:
    """The progress of a collection replaces what was kept of it, and a merge copies it."""
    first = CollectionProgress("a", "here", 1, START, START, total=9)
    second = CollectionProgress("b", "there", 2, START + timedelta(seconds=1), START)
    later = replace(first, done=3, updated_at=START + timedelta(seconds=2), ended_at=START)
    with open() as store, open() as other:
        for progress in (first, second, later):
            store.note_collection(progress)
        assert store.collections() == [second, later]
        assert store.collections(limit=1) == [second]
        other.merge(store)
        assert other.collections() == [second, later]


def check_rehearsals_are_kept_apart_from_runs(open: Open) -> None:
    """A rehearsal is kept once by its work, is no run, and a merge copies it."""
    work = {"known": "abc", "algorithm": "classes", "params": {"power": 0.1}, "n_plays": 8}
    outcome = [[0.1 + 0.2, None], [1 / 3, 1.0]]
    with open() as store, open() as other:
        assert store.rehearsal(work) is None
        assert store.add_rehearsal(work, outcome)
        assert not store.add_rehearsal(dict(reversed(work.items())), "something else")
        assert store.rehearsal(work) == outcome
        assert store.add_rehearsal(work | {"n_plays": 4}, "it failed")
        assert (store.count(), store.keys(), store.check()) == (0, set(), [])
        assert other.merge(store) == Merged(0, 0, ())
        assert other.rehearsal(work) == outcome
        assert other.rehearsal(work | {"n_plays": 4}) == "it failed"
