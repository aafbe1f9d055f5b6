"""Suggestions wait until they are completed once, and versions of a function are kept once each."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from l2t.exceptions import InvalidInputError
from l2t.experiences.store import FunctionVersion
from l2t.testing.stores.runs import START, Open, assert_raises, assert_same_run, random_run

__all__ = [
    "check_asked_run_is_completed_once",
    "check_function_versions_are_kept",
    "check_functions_travel",
    "check_next_version_is_won_once",
    "check_runs_are_used_once",
]


def version(number: int, **changes: object) -> FunctionVersion:
    """Return a version that took over."""
    made = START + timedelta(seconds=number, microseconds=7)
    plain = FunctionVersion(
        number, number - 1 or None, "refined", 40, 8, 0.1 / number, 0.2, True, '{"b": 1}', made
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def check_asked_run_is_completed_once(open: Open) -> None:
    """A run that was asked for has no scores until it is completed, which can be done once."""
    done = random_run(1)
    asked = replace(done, status="asked", scores=())
    with open() as store:
        assert not store.complete(done), "nothing waits"
        assert store.keys() == set()
        assert store.add(asked)
        (waiting,) = store.experiences()
        assert (waiting.status, waiting.n_labels) == ("asked", None)
        assert_same_run(store.run(asked.key), asked)
        assert store.unused_runs(10) == []
        assert store.complete(done)
        assert_same_run(store.run(done.key), done)
        assert store.unused_runs(10) == [done.key]
        other = replace(done, scores=done.scores[:1])
        assert not store.complete(other), "it has been completed before"
        assert_same_run(store.run(done.key), done)
        assert_raises(InvalidInputError, lambda: store.complete(asked), "completing nothing")
        assert store.check() == []


def check_function_versions_are_kept(open: Open) -> None:
    """Versions come back as they were, and the last that took over is in use."""
    with open() as store:
        assert (store.function(), store.newest_function(), store.functions()) == (None, None, [])
        kept = [
            version(1, origin="given", error=None, incumbent_error=None),
            version(2),
            version(3, took_over=False),
        ]
        assert all(store.add_function(each) for each in kept)
        assert store.functions() == kept
        assert store.function() == kept[1]
        assert store.newest_function() == kept[2]
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


def check_functions_travel(open: Open) -> None:
    """An export carries versions, which a store without any takes over, with what they used."""
    runs = [random_run(number) for number in range(3)]
    asked = replace(runs[2], status="asked", scores=())
    with tempfile.TemporaryDirectory() as folder, open() as store, open() as new, open() as old:
        for run in runs:
            store.add(run)
        store.add_function(version(1), {"learning": [runs[0].key], "judging": [runs[1].key]})
        file = store.export(Path(folder) / "export.zip")
        assert new.merge(file) == 3
        assert new.functions() == store.functions()
        assert new.unused_runs(10) == [runs[2].key]
        assert new.used_runs("judging", 10) == [runs[1].key]
        old.add(asked)
        old.add_function(version(1, origin="given"))
        assert old.merge(file) == 3  # one of them was only asked for
        assert old.functions() == [version(1, origin="given")]
        assert old.unused_runs(10) == [run.key for run in runs]
        assert_same_run(old.run(asked.key), runs[2])
        assert (new.check(), old.check()) == ([], [])
