"""Summaries agree with what the experiences themselves say, on every database."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import text
from sqlalchemy.dialects import sqlite

from l2t.experiences.store import open_store
from tests.experiences.store.contract import random_run
from tests.experiences.store.contract.runs import START

RUNS = [random_run(n, status="failed" if n % 10 == 9 else "done") for n in range(60)]


@pytest.fixture(scope="module", params=["memory", "sqlite", "postgresql"])
def store(request, tmp_path_factory):
    url = {
        "memory": lambda: "memory://",
        "sqlite": lambda: f"sqlite:///{tmp_path_factory.mktemp('store')}/a.db",
        "postgresql": lambda: request.getfixturevalue("postgres")(),
    }[request.param]()
    with open_store(url) as opened:
        for run in RUNS:
            opened.add(run)
        yield opened


def test_totals(store):
    totals = store.summaries.totals()
    assert totals == {
        "runs": 60,
        "failed": 6,
        "experiences": store.count(),
        "pairs": 3,
        "domains": 6,
        "algorithms": 3,
        "first": RUNS[0].created_at,
        "last": RUNS[-1].created_at,
    }


def test_distributions_are_those_of_the_ratios(store):
    found = store.summaries.distributions()
    assert [(each["algorithm"], each["n_labels"]) for each in found] == sorted(
        (algorithm, count) for algorithm in ("gfk", "itl", "tca") for count in (3, 15)
    )
    for each in found:
        ratios = [
            score.improvement_ratio
            for run in RUNS
            if run.algorithm == each["algorithm"]
            for score in run.scores
            if score.n_labels == each["n_labels"]
        ]
        assert each["count"] == len(ratios) == sum(each["counts"])
        assert each["mean"] == pytest.approx(np.mean(ratios))
        assert each["better"] == pytest.approx(np.mean(np.array(ratios) > 1))
        exact = np.quantile(ratios, (0.05, 0.25, 0.5, 0.75, 0.95), method="inverted_cdf")
        assert np.abs(np.array(each["quantiles"]) - exact).max() <= 0.0005 + 1e-9
        for ratio in ratios:
            assert np.abs(np.array(each["bins"]) - ratio).min() <= 0.0055 + 1e-9


def test_gains_are_sums_over_tasks_of_one_algorithm_and_number_of_labels(store):
    gains = {(each["source"], each["target"]): each for each in store.summaries.gains("gfk", 15)}
    assert set(gains) <= {(f"source{n}", f"target{n}") for n in range(3)}
    for (source, _), each in gains.items():
        ratios = np.array(
            [
                score.improvement_ratio
                for run in RUNS
                if (run.pair.source.name, run.algorithm) == (source, "gfk")
                for score in run.scores
                if score.n_labels == 15
            ]
        )
        assert each["count"] == len(ratios)
        assert each["total"] == pytest.approx(ratios.sum())
        assert each["squares"] == pytest.approx((ratios**2).sum())
    assert gains
    assert store.summaries.gains("gfk", 4) == []


def test_a_page_of_runs(store):
    everything = {"limit": 100, "offset": 0, "order": "created_at", "descending": True}
    keys, total = store.page_of_runs(**everything)
    assert total == len(keys) == len(RUNS)
    assert set(keys) == store.keys()
    by_ratio = everything | {"order": "improvement_ratio", "status": "done"}
    keys, total = store.page_of_runs(**by_ratio)
    means = {
        run.key: np.mean([score.improvement_ratio for score in run.scores])
        for run in RUNS
        if run.status == "done"
    }
    found = [means[key] for key in keys]
    assert total == len(means)
    assert found == sorted(found, reverse=True)
    some, total = store.page_of_runs(**by_ratio | {"limit": 2, "offset": 1, "n_labels": 15})
    assert (len(some), total) == (2, len(means))


@pytest.mark.parametrize("descending", [False, True])
def test_sqlite_reads_a_page_in_order_of_time_without_sorting(store, descending, monkeypatch):
    if store._database.address.kind == "postgresql":
        pytest.skip("the plan is one of SQLite")
    asked, rows = [], store._database.rows
    monkeypatch.setattr(store._database, "rows", lambda query: asked.append(query) or rows(query))
    list(store.experiences(limit=5, offset=20, descending=descending))
    sql = asked[0].compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
    plan = [row.detail for row in rows(text(f"EXPLAIN QUERY PLAN {sql}"))]
    assert any("COVERING INDEX ix_l2t_runs_time" in step for step in plan)
    assert not any("TEMP B-TREE" in step for step in plan), plan


def test_what_there_is_to_filter_by(store):
    names = [f"{side}{number}" for side in ("source", "target") for number in range(3)]
    assert store.summaries.facets() == (["gfk", "itl", "tca"], [3, 15], names)


def test_failures_by_reason(store):
    found = store.summaries.failures()
    assert sum(each["count"] for each in found) == 6
    assert {each["reason"] for each in found} == {"no reason given"}


def test_runs_by_minute(store):
    minutes = store.summaries.runs_per_minute(START)
    assert minutes == [(START, 54, 6)]


def test_domains_lead_to_a_run(store):
    found = store.summaries.domains()
    assert [each["name"] for each in found] == sorted(each["name"] for each in found)
    assert {(each["n_rows"], each["n_features"], each["labelled"]) for each in found} == {
        (12, 4, True)
    }
    for each in found:
        (run,) = store.experiences(domain=each["fingerprint"], limit=1)
        assert each["fingerprint"] in (run.source, run.target)


def test_some_runs_are_all_of_them_or_so_many(store):
    done = {run.key for run in RUNS if run.status == "done"}
    assert sorted(store.summaries.some_runs(1000)) == sorted(done)
    assert len(set(store.summaries.some_runs(7))) == 7
    assert set(store.summaries.some_runs(7)) <= done


def test_the_state_changes_with_every_change():
    with open_store("memory://") as store:
        states = [store.summaries.state()]
        for number in range(3):
            store.add(RUNS[number])
            states.append(store.summaries.state())
        store.delete(key=RUNS[2].key)
        states.append(store.summaries.state())
        store.add(RUNS[3])
        states.append(store.summaries.state())
        assert states[4] == states[2]
        assert len(set(states)) == 5


def test_an_empty_store_has_empty_summaries():
    with open_store("memory://") as store:
        assert store.summaries.totals()["runs"] == 0
        assert store.summaries.totals()["first"] is None
        for name in ("distributions", "failures", "domains"):
            assert getattr(store.summaries, name)() == []
