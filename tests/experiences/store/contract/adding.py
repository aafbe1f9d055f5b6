"""What is added to a store is there, once and whole."""

from __future__ import annotations

import dataclasses
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np

from l2t.domains import Domain, DomainPair
from l2t.exceptions import InvalidInputError, StoreError
from l2t.experiences.store import pack
from tests.experiences.store.contract.runs import Open, assert_raises, assert_same_run, random_run

__all__ = [
    "check_closed_store_opens_again",
    "check_each_run_is_kept_once",
    "check_failed_run_is_an_experience",
    "check_names_belong_to_runs",
    "check_new_store_is_empty",
    "check_pickled_store_is_the_same",
    "check_run_comes_back_whole",
    "check_runs_are_kept_together",
    "check_threads",
    "check_what_cannot_be_kept_changes_nothing",
]


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
        assert store.check() == []


def check_each_run_is_kept_once(open: Open) -> None:
    """A second run of the same key is not taken, whatever else it says."""
    first, second = random_run(1), random_run(1, host="elsewhere", W=np.ones((4, 2)))
    with open() as store:
        assert store.add(first) is True
        assert store.add(second) is False
        assert store.count() == 2
        assert_same_run(store.run(first.key), first)
        assert store.check() == []  # the arrays of the second are not there either


def check_runs_are_kept_together(open: Open) -> None:
    """Packed runs are added all at once, without those that are there, and none when one fails."""
    runs = [random_run(number, n_domains=1) for number in range(6)]
    packed = pickle.loads(pickle.dumps(pack(runs)))  # as from another process
    last = runs[-1].key
    spoilt = [score | {"improvement_ratio": None} for score in packed.scores[last]]
    broken = dataclasses.replace(packed, scores={**packed.scores, last: spoilt})
    with open() as store:
        assert_raises(StoreError, partial(store.add_packed, broken), "a score without a ratio")
        assert (store.count(), store.check()) == (0, [])
        store.add(random_run(2, n_domains=1, W=np.ones((4, 2))))
        assert store.add_packed(packed) == {run.key for run in runs} - {runs[2].key}
        assert store.add_packed(packed) == set()
        for run in runs[:2] + runs[3:]:
            assert_same_run(store.run(run.key), run)
        np.testing.assert_array_equal(store.run(runs[2].key).W, np.ones((4, 2)))
        assert store.count() == 12
        assert store.check() == []


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
            assert_raises(InvalidInputError, partial(store.add, each), what)
        assert store.count() == 0
        assert store.check() == []


def check_threads(open: Open) -> None:
    """Eight threads add the same runs at once, alone and together: each is taken from one of them."""
    with open() as store, ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda n: store.add(random_run(n % 10)), range(40)))
        assert sum(taken) == 10
        packs = [pack(random_run(20 + (n + k) % 10) for k in range(4)) for n in range(20)]
        added = [key for keys in pool.map(store.add_packed, packs) for key in keys]
        assert sorted(added) == sorted({random_run(20 + n).key for n in range(10)})
        assert store.count() == 40
        assert store.check() == []


def check_pickled_store_is_the_same(open: Open) -> None:
    """A store travels as its URL; one in memory says that it cannot."""
    with open() as store:
        store.add(random_run(0))
        if store.url == "memory://":
            assert_raises(StoreError, lambda: pickle.dumps(store), "pickling a store in memory")
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
