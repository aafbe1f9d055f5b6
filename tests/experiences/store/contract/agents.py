"""Suggestions become runs once, and versions of a function are kept once each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial

from l2t.exceptions import UnknownSuggestionError
from l2t.experiences import FunctionVersion, Merged, SuggestionRecord
from tests.experiences.store.contract.runs import (
    START,
    Open,
    assert_raises,
    assert_same_run,
    random_run,
)

__all__ = [
    "check_function_versions_are_kept",
    "check_functions_are_merged",
    "check_next_version_is_won_once",
    "check_runs_are_used_once",
    "check_suggestion_becomes_one_run",
    "check_suggestion_is_told_by_one",
    "check_suggestions_are_kept",
    "check_suggestions_are_merged",
    "version",
]


def version(number: int, **changes: object) -> FunctionVersion:
    """Return a version that took over."""
    made = START + timedelta(seconds=number, microseconds=7)
    plain = FunctionVersion(
        number, number - 1 or None, "refined", 40, 8, 0.1 / number, 0.2, True, '{"b": 1}', made
    )
    return replace(plain, **changes)


def suggestion(id: str, **changes: object) -> SuggestionRecord:
    """Return a suggestion of run 1 whose outcome is open."""
    plain = SuggestionRecord(
        id, "source1", "target1", "tca", 15, 1.1, 0.9, 1.3, "transfer", "so it is", 2
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
        assert [each.id for each in store.open_suggestions()] == [first.id, second.id]
        assert len(store.open_suggestions()) == 2
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
        assert store.suggestion(record.id) == replace(record, run=run.key)
        assert (store.open_suggestions(), store.unused_runs(10)) == ([], [run.key])
        other = random_run(1, random_state=99)
        assert not store.complete_suggestion(record.id, other), "it became a run before"
        assert store.keys() == {run.key}
        store.delete(key=run.key)
        assert store.open_suggestions() == [record]
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
        assert new.open_suggestions() == [other]
        assert new.check() == []


def check_function_versions_are_kept(open: Open) -> None:
    """Versions come back as they were, and the last that took over is in use."""
    with open() as store:
        assert (store.function(), store.functions()) == (None, [])
        kept = [
            version(1, origin="given", error=None, incumbent_error=None),
            version(2),
            version(3, took_over=False),
        ]
        assert all(store.add_function(each) for each in kept)
        assert store.functions() == kept
        assert store.function() == kept[1]
        assert store.functions()[-1] == kept[2]
        assert store.function(1) == kept[0]
        assert store.function(7) is None
        for taken in (version(2, error=0.5), version(7)):
            assert not store.add_function(taken)
        assert store.functions() == kept
        assert store.check() == []


def check_runs_are_used_once(open: Open) -> None:
    """Runs are new until a version has used them; a version that comes too late uses nothing."""
    runs = [random_run(number) for number in range(5)]
    keys = [run.key for run in runs]
    with open() as store:
        for run in runs:
            store.add(run)
        store.add(random_run(9, status="failed"))
        assert store.unused_runs(3) == keys[:3]
        assert store.add_function(version(1), {"learning": keys[:2], "judging": keys[2:4]})
        assert store.unused_runs(10) == keys[4:]
        assert not store.add_function(version(1), {"learning": keys[4:]})
        assert store.unused_runs(10) == keys[4:]
        assert store.used_runs("learning", 10) == keys[1::-1]
        assert store.used_runs("judging", 1) == keys[3:4]
        store.delete(key=keys[3])
        assert store.used_runs("judging", 10) == keys[2:3]
        assert store.check() == []


def check_next_version_is_won_once(open: Open) -> None:
    """Of many who have made the next version at the same moment, one keeps it."""
    with open() as store:
        store.add_function(version(1))

        def keep(number: int) -> bool:
            return store.add_function(version(2, n_runs=number))

        with ThreadPoolExecutor(6) as pool:
            won = list(pool.map(keep, range(6)))
        assert sum(won) == 1, won
        assert store.functions() == [version(1), version(2, n_runs=won.index(True))]


def check_functions_are_merged(open: Open) -> None:
    """A merge copies versions with what they used to a store without any, and no others."""
    runs = [random_run(number) for number in range(3)]
    with open() as store, open() as new, open() as old:
        for run in runs:
            store.add(run)
        store.add_function(version(1), {"learning": [runs[0].key], "judging": [runs[1].key]})
        assert new.merge(store).runs == 3
        assert new.functions() == store.functions()
        assert new.unused_runs(10) == [runs[2].key]
        assert new.used_runs("judging", 10) == [runs[1].key]
        old.add_function(version(1, origin="given"))
        assert old.merge(store).runs == 3
        assert old.functions() == [version(1, origin="given")]
        assert old.unused_runs(10) == [run.key for run in runs]
        assert (new.check(), old.check()) == ([], [])
