"""Suggestions are kept, and become runs once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial

from l2t.exceptions import UnknownSuggestionError
from l2t.experiences import Merged, SuggestionRecord
from tests.experiences.store.contract.runs import (
    START,
    Open,
    assert_raises,
    assert_same_run,
    random_run,
)

__all__ = [
    "check_suggestion_becomes_one_run",
    "check_suggestion_is_told_by_one",
    "check_suggestions_are_kept",
    "check_suggestions_are_merged",
]


def suggestion(id: str, **changes: object) -> SuggestionRecord:
    """Return a suggestion of run 1 whose outcome is open."""
    plain = SuggestionRecord(
        id, "source1", "target1", "tca", 15, 1.1, 0.9, 1.3, "transfer", "so it is"
    )
    return replace(plain, created_at=START + timedelta(microseconds=7), **changes)


def check_suggestions_are_kept(open: Open) -> None:
    """A suggestion comes back by its id or the beginning of it, with its pair and W, and is no run."""
    first, second = suggestion("0a1b2c3d4e"), suggestion("0a9", low=None, high=None)
    run = random_run(1, scores=(), origin="reported", protocol={}, created_at=first.created_at)
    with open() as store:
        assert store.add_suggestion(first, run)
        assert not store.add_suggestion(first, random_run(2)), "the id is taken"
        assert store.add_suggestion(replace(second, created_at=START), run)
        assert store.suggestion(first.id) == store.suggestion("0a1") == first
        assert_same_run(store.suggested_run(first.id), run)
        assert [record.id for record in store.suggestions()] == [first.id, second.id]
        assert [record.id for record in store.suggestions(open_only=True)] == [first.id, second.id]
        assert (store.count(), store.keys(), list(store.targets())) == (0, set(), [])
        for unknown in ("0a", "1", "", "%", "0a1b2c3d4e5", "nobody"):
            assert_raises(UnknownSuggestionError, partial(store.suggestion, unknown), unknown)
        assert store.check() == []


def check_suggestion_becomes_one_run(open: Open) -> None:
    """A suggestion becomes a run once; deleting the run opens it again, and only what is unused goes."""
    run = random_run(1)
    record = suggestion("0a1b2c3d4e")
    with open() as store:
        store.add_suggestion(record, replace(run, scores=()))
        assert not store.complete_suggestion("ffffffffff", run), "nobody suggested it"
        assert store.keys() == set()
        assert store.complete_suggestion(record.id, run)
        assert_same_run(store.run(run.key), run)
        told = replace(record, run=run.key, outcome=run.scores[0])
        assert store.suggestion(record.id) == told
        older = replace(suggestion("ffffffffff"), created_at=START)
        store.add_suggestion(older, replace(run, scores=()))
        assert store.suggestions() == [older, told], "the open one is first"
        assert store.suggestions(open_only=True) == [older]
        store.delete_suggestion("fff")
        other = random_run(1, random_state=99)
        assert not store.complete_suggestion(record.id, other), "it became a run before"
        assert store.keys() == {run.key}
        store.delete(key=run.key)
        assert store.suggestions() == [record]
        assert store.check() == []
        assert store.complete_suggestion(record.id, run)
        store.delete_suggestion(record.id)
        assert_same_run(store.run(run.key), run)
        assert store.check() == []
        store.delete(key=run.key)
        assert store.check() == []


def check_suggestion_is_told_by_one(open: Open) -> None:
    """Of many who tell the outcome at the same moment, one succeeds."""
    runs = [random_run(1, random_state=100 + number) for number in range(6)]
    with open() as store:
        store.add_suggestion(suggestion("0a1b2c3d4e"), replace(runs[0], scores=()))
        with ThreadPoolExecutor(6) as pool:
            won = list(pool.map(partial(store.complete_suggestion, "0a1b2c3d4e"), runs))
        assert sum(won) == 1, won
        assert store.keys() == {runs[won.index(True)].key}


def check_suggestions_are_merged(open: Open) -> None:
    """A merge copies suggestions, and their outcomes where they are open."""
    run, record, other = random_run(1), suggestion("0a1b2c3d4e"), suggestion("ffffffffff")
    with open() as store, open() as new:
        for each in (record, other):
            store.add_suggestion(each, replace(run, scores=()))
        assert new.merge(store) == Merged(0, 2, ())
        assert new.suggested_run(record.id).pair == run.pair
        store.complete_suggestion(record.id, run)
        assert new.merge(store) == Merged(1, 0, ())
        assert new.suggestion(record.id).run == run.key
        assert new.suggestions(open_only=True) == [other]
        assert new.check() == []
