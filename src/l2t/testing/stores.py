"""The contract of an experience store, as checks on small random runs.

Each check takes a function that opens a new, empty store, and raises AssertionError where the contract is
broken. They need no test framework; with pytest::

    @pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
    def test_contract(check):
        check(lambda: open_store("memory://"))
"""

from __future__ import annotations

import dataclasses
import math
import pickle
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from l2t.domains import Domain, DomainPair
from l2t.exceptions import InvalidInputError, L2TError, StoreError, UnknownRunError
from l2t.experiences.experience import Experience, Run, Score
from l2t.experiences.store import ExperienceStore
from l2t.statistics import KernelBank, PairStatistics

__all__ = ["STORE_CHECKS", "assert_same_run", "check_store", "random_run"]

Open = Callable[[], ExperienceStore]
START = datetime(2030, 1, 1, tzinfo=UTC)


def check_store(open: Open, *, skip: Iterable[str] = ()) -> None:
    """Run every check of the contract; `skip` names those that do not apply, with good reason."""
    left_out = set(skip)
    unknown = left_out - {check.__name__ for check in STORE_CHECKS}
    if unknown:
        raise InvalidInputError(f"skip must name checks, got {', '.join(sorted(unknown))}")
    for check in STORE_CHECKS:
        if check.__name__ not in left_out:
            check(open)


def random_run(number: int = 0, *, n_domains: int = 3, rows: int = 12, **changes: Any) -> Run:
    """Return a small run; another number is another run, on one of a few pairs.

    Parameters
    ----------
    number : int
        Which one; the same number gives the same content.
    n_domains : int
        How many pairs the runs take turns on.
    rows : int
        Rows of a domain.
    **changes
        Other values for fields of the `Run`.
    """
    rng = np.random.default_rng([number, 1])
    which = number % n_domains
    content = np.random.default_rng(which)
    sides = [
        Domain(content.normal(size=(rows, 4)), np.arange(rows) % 3, name=f"{side}{which}")
        for side in ("source", "target")
    ]
    bank = KernelBank(-1, 1, 0.5)
    K = len(bank)
    values: dict[str, Any] = {
        "pair": DomainPair(*sides),
        "algorithm": ("gfk", "tca", "itl")[number % 3],
        "params": {"n_components": 2, "tolerance": 1e-9},
        "random_state": number,
        "protocol": {"label_counts": [3, 15], "classifier": "1-NN"},
        "status": "done",
        "W": rng.normal(size=(4, 2)),
        "statistics": PairStatistics(
            rng.random(K), rng.random((K, K)), rng.random(K), bank, n_neighbors=5
        ),
        "scores": tuple(
            Score(count, 0.5, 0.01, 0.5 * ratio, 0.02, float(ratio))
            for count, ratio in zip((3, 15), rng.uniform(0.5, 1.5, 2), strict=True)
        ),
        "duration": float(rng.random()),
        "version": "0.0",
        "host": "here",
        "created_at": START + timedelta(microseconds=number * 1001),
    }
    if changes.get("status") == "failed":
        values |= {"W": None, "statistics": None, "scores": (), "reason": "no reason given"}
    return Run(**values | changes)


def assert_same_run(found: Run, run: Run) -> None:
    """Assert that two runs are the same in every field."""
    assert found.key == run.key
    assert found.pair == run.pair
    for side in ("source", "target"):
        ours, theirs = getattr(found.pair, side), getattr(run.pair, side)
        assert (ours.name, ours.feature_names) == (theirs.name, theirs.feature_names), side
    assert (found.W is None) == (run.W is None)
    if found.W is not None and run.W is not None:
        assert found.W.dtype == run.W.dtype, found.W.dtype
        np.testing.assert_array_equal(found.W, run.W)
    _same_statistics(found.statistics, run.statistics)
    for field in dataclasses.fields(Run):
        if field.name not in ("pair", "W", "statistics"):
            assert getattr(found, field.name) == getattr(run, field.name), field.name


def check_new_store_is_empty(open: Open) -> None:
    """A new store has nothing, is sound, and tells its version."""
    with open() as store:
        assert store.count() == 0
        assert store.keys() == set()
        assert list(store.experiences()) == []
        assert store.check() == []
        assert store.version
        assert "ExperienceStore" in repr(store)


def check_run_comes_back_whole(open: Open) -> None:
    """Domains, W, statistics, scores and all that explains a run are as they were."""
    with open() as store:
        for number in range(3):
            assert store.add(random_run(number)) is True
        for number in range(3):
            run = random_run(number)
            assert_same_run(store.run(run.key), run)
            np.testing.assert_array_equal(store.W(run.key), run.W)
        assert store.check() == []


def check_experiences_tell_the_run(open: Open) -> None:
    """Each number of labels is an experience, with the fields of its run."""
    run = random_run(4)
    with open() as store:
        store.add(run)
        found = list(store.experiences())
        assert [each.n_labels for each in found] == [3, 15]
        for each, score in zip(found, run.scores, strict=True):
            for field in dataclasses.fields(Score):
                assert getattr(each, field.name) == getattr(score, field.name)
            for name in ("algorithm", "params", "protocol", "random_state", "created_at"):
                assert getattr(each, name) == getattr(run, name), name
            assert (each.source, each.target) == (
                run.pair.source.fingerprint,
                run.pair.target.fingerprint,
            )
            assert (each.source_name, each.target_name) == ("source1", "target1")
            assert (each.run_key, each.status, each.reason) == (run.key, "done", "")
            _same_statistics(each.statistics, run.statistics)
        assert all(each.statistics is None for each in store.experiences(statistics=False))


def check_each_run_is_kept_once(open: Open) -> None:
    """A second run of the same key is not taken, whatever else it says."""
    first, second = random_run(1), random_run(1, host="elsewhere", W=np.ones((4, 2)))
    with open() as store:
        assert store.add(first) is True
        assert store.add(second) is False
        assert store.count() == 2
        assert_same_run(store.run(first.key), first)
        assert store.check() == []  # the arrays of the second are not there either


def check_failed_run_is_an_experience(open: Open) -> None:
    """A failed run is kept with its reason, and gives one experience without numbers."""
    failed = random_run(2, status="failed", reason="a line\nand \0 another, in ünïcode")
    with open() as store:
        assert store.add(failed)
        assert store.add(random_run(3))
        (found,) = store.experiences(status="failed")
        assert found.n_labels is None
        assert math.isnan(found.improvement_ratio)
        assert math.isnan(found.accuracy_before)
        assert found.statistics is None
        assert found.reason.startswith("a line\nand ")
        assert store.count() == 3
        assert store.run(failed.key).W is None
        _raises(StoreError, lambda: store.W(failed.key), "W of a failed run")


def check_names_belong_to_runs(open: Open) -> None:
    """The same content under two names is kept once, and each run keeps its name."""
    run = random_run(0)
    renamed = dataclasses.replace(
        random_run(0, random_state=9),
        pair=DomainPair(Domain(run.pair.source.X, run.pair.source.y, name="b"), run.pair.target),
    )
    with open() as store:
        store.add(run)
        store.add(renamed)
        assert [each.source_name for each in store.experiences(n_labels=3, order="algorithm")] == [
            "source0",
            "b",
        ]
        assert store.run(renamed.key).pair.source.name == "b"
        assert store.check() == []


def check_keys_of_many(open: Open) -> None:
    """`keys` tells which of thousands of keys are there."""
    with open() as store:
        there = {random_run(number).key for number in range(5)}
        for number in range(5):
            store.add(random_run(number))
        asked = [*there, *(f"{number:064x}" for number in range(40_000))]
        assert store.keys(asked) == there
        assert store.keys([]) == set()
        assert store.keys() == there


def check_filters(open: Open) -> None:
    """Every filter, alone and with others, gives what looking at each experience gives."""
    with open() as store:
        runs = [random_run(n, status="failed" if n % 7 == 6 else "done") for n in range(24)]
        for run in runs:
            store.add(run)
        everything = list(store.experiences())
        assert len(everything) == store.count() == 24 * 2 - 3
        fingerprint = runs[1].pair.source.fingerprint
        middle = runs[12].created_at
        cases: list[tuple[dict[str, Any], Callable[[Experience], bool]]] = [
            ({"algorithm": "gfk"}, lambda e: e.algorithm == "gfk"),
            ({"algorithm": ("gfk", "tca")}, lambda e: e.algorithm in ("gfk", "tca")),
            ({"domain": "target2"}, lambda e: e.target_name == "target2"),
            ({"domain": fingerprint}, lambda e: e.source == fingerprint),
            ({"n_labels": 15}, lambda e: e.n_labels == 15),
            ({"n_labels": [3, 15]}, lambda e: e.n_labels is not None),
            ({"status": "failed"}, lambda e: e.status == "failed"),
            ({"status": "done"}, lambda e: e.status == "done"),
            ({"since": middle}, lambda e: e.created_at >= middle),
            ({"until": middle}, lambda e: e.created_at < middle),
            ({"key": runs[5].key}, lambda e: e.run_key == runs[5].key),
            ({"algorithm": "none"}, lambda e: False),
            (
                {"algorithm": "itl", "n_labels": 3, "status": "done", "since": middle},
                lambda e: e.algorithm == "itl" and e.n_labels == 3 and e.created_at >= middle,
            ),
        ]
        for filters, holds in cases:
            wanted = [_place(each) for each in everything if holds(each)]
            assert [_place(each) for each in store.experiences(**filters)] == wanted, filters
            assert store.count(**filters) == len(wanted), filters


def check_order_and_pages(open: Open) -> None:
    """The order is by time, key and number of labels; pages join without gap or overlap."""
    with open() as store:
        for number in range(12):
            store.add(random_run(number, created_at=START + timedelta(seconds=number // 4)))
        store.add(random_run(12, status="failed"))
        whole = [_place(each) for each in store.experiences()]
        assert whole == sorted(whole)
        assert [_place(each) for each in store.experiences(descending=True)] == whole[::-1]
        for order in ("created_at", "improvement_ratio", "n_labels", "algorithm", "duration"):
            for descending in (False, True):
                every = list(store.experiences(order=order, descending=descending))
                assert sorted(map(_place, every)) == whole
                values = [getattr(each, order) or 0 for each in every]
                known = [value for value in values if value == value]
                assert known == sorted(known, reverse=descending), order
                pages: list[Experience] = []
                for offset in range(0, 28, 4):
                    pages += store.experiences(
                        order=order, descending=descending, limit=4, offset=offset
                    )
                assert list(map(_place, pages)) == list(map(_place, every)), order
        assert list(store.experiences(limit=0)) == []
        assert list(store.experiences(offset=100)) == []


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
        _raises(UnknownRunError, lambda: store.run(runs[3].key), "a deleted run")
        assert store.delete(since=START) == 3
        assert (store.count(), store.keys(), store.check()) == (0, set(), [])
        assert store.add(runs[0])
        assert_same_run(store.run(runs[0].key), runs[0])
        _raises(InvalidInputError, store.delete, "delete without a filter")


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


def check_threads(open: Open) -> None:
    """Eight threads add the same runs at once: each is taken from one of them."""
    with open() as store, ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda n: store.add(random_run(n % 10)), range(40)))
        assert sum(taken) == 10
        assert store.count() == 20
        assert store.check() == []


def check_pickled_store_is_the_same(open: Open) -> None:
    """A store travels as its URL; one in memory says that it cannot."""
    with open() as store:
        store.add(random_run(0))
        if store.url == "memory://":
            _raises(StoreError, lambda: pickle.dumps(store), "pickling a store in memory")
            return
        with pickle.loads(pickle.dumps(store)) as copy:
            assert copy.url == store.url
            assert copy.count() == 2
            copy.add(random_run(1))
        assert store.count() == 4


def check_closed_store_opens_again(open: Open) -> None:
    """Closing twice does no harm."""
    with open() as store:
        store.close()
        store.close()


def check_what_cannot_be_kept_changes_nothing(open: Open) -> None:
    """A run that cannot come back as it is is refused with a sentence, and leaves nothing behind."""
    run = random_run(0)
    strange = Domain(run.pair.source.X, np.array([object()] * 12, dtype=object))
    score = run.scores[0]
    bad: dict[str, Any] = {
        "labels of no plain type": random_run(pair=DomainPair(strange, run.pair.target)),
        "params that are no JSON": random_run(params={"kernel": print}),
        "params with NaN": random_run(params={"tolerance": math.nan}),
        "a W of objects": random_run(W=np.array([[None]])),
        "two scores of one count": random_run(scores=(score, score)),
        "a score of NaN": random_run(
            scores=(dataclasses.replace(score, improvement_ratio=math.nan),)
        ),
        "a time without zone": random_run(created_at=datetime(2030, 1, 1)),
        "something that is no run": "run",
    }
    with open() as store:
        for what, each in bad.items():
            _raises(InvalidInputError, partial(store.add, each), what)
        assert store.count() == 0
        assert store.check() == []


def check_bad_questions(open: Open) -> None:
    """What cannot be asked is refused when it is asked, not when the answer is read."""
    with open() as store:
        questions: list[dict[str, Any]] = [
            {"order": "taste"},
            {"limit": -1},
            {"offset": 1.5},
            {"status": "odd"},
            {"n_labels": "3"},
            {"algorithm": 3},
            {"since": datetime(2030, 1, 1)},
        ]
        for question in questions:
            _raises(InvalidInputError, partial(store.experiences, **question), f"{question}")
        _raises(UnknownRunError, lambda: store.run("0" * 64), "an unknown run")
        _raises(UnknownRunError, lambda: store.W("0" * 64), "W of an unknown run")


STORE_CHECKS: tuple[Callable[[Open], None], ...] = (
    check_new_store_is_empty,
    check_run_comes_back_whole,
    check_experiences_tell_the_run,
    check_each_run_is_kept_once,
    check_failed_run_is_an_experience,
    check_names_belong_to_runs,
    check_keys_of_many,
    check_filters,
    check_order_and_pages,
    check_reading_while_writing,
    check_delete_takes_what_nothing_needs,
    check_export_and_merge,
    check_threads,
    check_pickled_store_is_the_same,
    check_closed_store_opens_again,
    check_what_cannot_be_kept_changes_nothing,
    check_bad_questions,
)


def _place(each: Experience) -> tuple[datetime, str, int]:
    return each.created_at, each.run_key, each.n_labels or 0


def _same_statistics(found: PairStatistics | None, given: PairStatistics | None) -> None:
    assert (found is None) == (given is None)
    if found is not None and given is not None:
        assert (found.kernels, found.n_neighbors) == (given.kernels, given.n_neighbors)
        for name in ("d", "Q", "tau"):
            np.testing.assert_array_equal(getattr(found, name), getattr(given, name))


def _raises(kind: type[L2TError], action: Callable[[], object], what: str) -> None:
    try:
        action()
    except kind as error:
        assert str(error), f"the error for {what} is empty"
    else:
        raise AssertionError(f"{what} must raise {kind.__name__}")
