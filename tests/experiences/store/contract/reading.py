"""What a store is asked, it answers whole and in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from l2t.exceptions import InvalidInputError, UnknownRunError
from l2t.experiences.experience import Experience, Score
from tests.experiences.store.contract.runs import (
    START,
    Open,
    assert_raises,
    assert_same_statistics,
    random_run,
)

__all__ = [
    "check_bad_questions",
    "check_experiences_tell_the_run",
    "check_filters",
    "check_keys_of_many",
    "check_order_and_pages",
    "check_targets",
    "check_what_scores_were_trained_on",
]


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
            assert each.n_classes == len(run.pair.target.classes)
            assert (each.run_key, each.status, each.reason) == (run.key, "done", "")
            assert_same_statistics(each.statistics, run.statistics)
        assert all(each.statistics is None for each in store.experiences(statistics=False))


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


def check_targets(open: Open) -> None:
    """The targets of runs that were done come once each, whole, in the order in which they came."""
    with open() as store:
        for number in (4, 2, 1, 5):
            store.add(random_run(number))
        store.add(
            random_run(0, status="failed", reason="so it goes", W=None, statistics=None, scores=())
        )
        targets = list(store.targets())
        expected = [random_run(number).pair.target for number in (4, 2)]
        assert [each.fingerprint for each in targets] == [each.fingerprint for each in expected]
        assert [each.name for each in targets] == ["target1", "target2"]
        assert list(store.targets(n_features=5)) == []
        assert len(list(store.targets(n_features=4))) == 2


def check_filters(open: Open) -> None:
    """Every filter, alone and with others, gives what looking at each experience gives."""
    with open() as store:
        kinds = [{"status": "failed" if n % 7 == 6 else "done"} for n in range(24)]
        kinds[3]["origin"] = kinds[8]["origin"] = "reported"
        runs = [random_run(n, **kind) for n, kind in enumerate(kinds)]
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
            ({"origin": "reported"}, lambda e: e.origin == "reported"),
            ({"origin": "collected"}, lambda e: e.origin == "collected"),
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


def check_what_scores_were_trained_on(open: Open) -> None:
    """A run has scores at one number of labels for each kind of rows that a classifier is trained on."""
    plain, (few, more) = random_run(0), random_run(1).scores
    kinds: list[tuple[Score, Any]] = [(few, "target"), (more, "target"), (few, "both")]
    scores = [dataclasses.replace(score, trained_on=kind) for score, kind in kinds]
    scores.insert(2, dataclasses.replace(few, n_labels=0, trained_on="source"))
    run = random_run(1, scores=tuple(scores))
    with open() as store, open() as copy:
        store.add(plain)
        store.add(run)
        assert store.run(run.key).scores == run.scores
        assert store.check() == []
        found = list(store.experiences(key=run.key))
        assert [(each.trained_on, each.n_labels) for each in found] == [
            ("source", 0),
            ("both", 3),
            ("target", 3),
            ("target", 15),
        ]
        assert store.count(trained_on="target") == 4
        assert store.count(trained_on=["source", "both"]) == 2
        page: Any = {"limit": 5, "offset": 0, "order": "created_at", "descending": False}
        assert store.page_of_runs(**page, trained_on="both") == ([run.key], 1)
        assert store.page_of_runs(**page)[1] == 2
        # Ratios of other classifiers are not mixed with those of the target's own.
        assert sum(each["count"] for each in store.summaries.distributions()) == 4
        assert not store.summaries.gains(run.algorithm, 0)
        copy.merge(store)
        assert copy.run(run.key).scores == run.scores
        twice = random_run(2, scores=(few, few))
        assert_raises(InvalidInputError, lambda: store.add(twice), "two scores of one kind")
        unknown: Any = "test"
        odd = random_run(2, scores=(dataclasses.replace(few, trained_on=unknown),))
        assert_raises(InvalidInputError, lambda: store.add(odd), "another kind")


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


def check_bad_questions(open: Open) -> None:
    """What cannot be asked is refused when it is asked, not when the answer is read."""
    with open() as store:
        questions: list[dict[str, Any]] = [
            {"order": "taste"},
            {"limit": -1},
            {"offset": 1.5},
            {"status": "odd"},
            {"origin": "odd"},
            {"n_labels": "3"},
            {"trained_on": "test"},
            {"algorithm": 3},
            {"since": datetime(2030, 1, 1)},
        ]
        for question in questions:
            assert_raises(InvalidInputError, partial(store.experiences, **question), f"{question}")
        assert_raises(UnknownRunError, lambda: store.run("0" * 64), "an unknown run")


def _place(each: Experience) -> tuple[datetime, str, int]:
    return each.created_at, each.run_key, each.n_labels or 0
