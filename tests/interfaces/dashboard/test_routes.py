"""What the JSON routes say agrees with the store."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import l2t
from l2t.experiences import CollectionProgress
from l2t.interfaces.dashboard.functions import LEARNED_HERE, Functions
from l2t.paper.files import shipped

PAGES = (
    "/",
    "/sources",
    "/experiences",
    "/experiences/compare",
    "/learned",
    "/collections",
    "/agent",
)


def get(client, path, **query):
    answer = client.get(path, params=query or None)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("page", [*PAGES, "/api"])
def test_pages_are_there_and_need_nothing_from_elsewhere(client, page):
    answer = client.get(page)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    for elsewhere in ("http://", "https://", "//cdn"):
        assert elsewhere not in answer.text


def test_every_script_and_style_of_a_page_is_there(client, done_key):
    for page in (*PAGES, f"/experiences/{done_key}"):
        for part in client.get(page).text.split('"'):
            if part.startswith("/static/"):
                assert client.get(part).status_code == 200, part


def test_totals(client, store):
    reply = get(client, "/api/totals")
    assert reply["experiences"] == store.count()
    assert (reply["runs"], reply["failed"], reply["pairs"]) == (30, 3, 12)


def test_distributions_cover_all_that_was_done(client, store):
    reply = get(client, "/api/distributions")
    assert sum(each["count"] for each in reply) == store.count(status="done")
    for each in reply:
        assert sorted(each["quantiles"]) == each["quantiles"]
        assert sum(each["counts"]) == each["count"]


def test_gains_by_family_and_by_name(client, store):
    families = get(client, "/api/gains", algorithm="gfk")
    assert (families["sources"], families["targets"]) == (["photos"], ["sketches"])
    assert (families["n_labels"], families["algorithms"]) == (15, ["gfk", "stl", "tca"])
    some = store.experiences(status="done", algorithm="gfk", n_labels=15)
    ratios = np.array([each.improvement_ratio for each in some])
    (cell,) = families["cells"][0]
    assert cell["mean"] == pytest.approx(ratios.mean())
    assert cell["error"] == pytest.approx(ratios.std(ddof=1) / 3)
    assert cell["count"] == len(ratios) == 9
    assert cell["clear"] == (abs(ratios.mean() - 1) > 2 * cell["error"])
    names = get(client, "/api/gains", by="name", n_labels=3)
    assert len(names["sources"]) == len(names["targets"]) == 3
    assert {each["count"] for row in names["cells"] for each in row} == {1}
    assert not any(each["clear"] for row in names["cells"] for each in row), "one task says little"
    assert get(client, "/api/gains", algorithm="none")["sources"] == []


def test_runs_are_rows_with_scores_inside(client, store):
    found = get(client, "/api/runs", order="improvement_ratio", limit=200)
    assert found["total"] == len(found["items"]) == 30
    done = [each for each in found["items"] if each["status"] == "done"]
    means = [np.mean([score["improvement_ratio"] for score in each["scores"]]) for each in done]
    assert means == sorted(means, reverse=True)
    score = done[0]["scores"][0]
    shares = [
        score[f"standard_error_{side}"] / score[f"accuracy_{side}"] for side in ("before", "after")
    ]
    assert score["ratio_error"] == pytest.approx(score["improvement_ratio"] * np.hypot(*shares))
    assert [each["n_labels"] for each in done[0]["scores"]] == [3, 15, 30]
    some = get(client, "/api/runs", algorithm="gfk", n_labels=15, limit=4, offset=6)
    assert (some["total"], len(some["items"])) == (9, 3)
    assert {len(each["scores"]) for each in some["items"]} == {1}
    assert get(client, "/api/runs", status="failed")["items"][0]["scores"] == []


def test_the_forecast_was_right_about_kinds_that_it_had_not_seen(client):
    kinds = get(client, "/api/forecast")["kinds"]
    assert len(kinds) >= 5
    assert all(0.9 <= each["covered"] <= 1.0 for each in kinds), "the worst decides the interval"


def test_experiences_are_filtered_sorted_and_paged(client, store):
    first = get(client, "/api/experiences", order="improvement_ratio", limit=5, status="done")
    ratios = [each["improvement_ratio"] for each in first["items"]]
    best = sorted((e.improvement_ratio for e in store.experiences(status="done")), reverse=True)
    assert ratios == best[:5]
    assert first["total"] == len(best)
    second = get(
        client, "/api/experiences", order="improvement_ratio", limit=5, offset=5, status="done"
    )
    assert [each["improvement_ratio"] for each in second["items"]] == best[5:10]
    some = get(client, "/api/experiences?algorithm=gfk&algorithm=tca&n_labels=15&limit=500")
    assert {each["algorithm"] for each in some["items"]} == {"gfk", "tca"}
    assert {each["n_labels"] for each in some["items"]} == {15}
    assert some["total"] == len(some["items"]) == 18
    one = get(client, "/api/experiences", domain="photos[1]", limit=500)
    assert {each["source"] for each in one["items"]} == {"photos[1]"}
    assert get(client, "/api/experiences", since="2100-01-01T00:00:00")["total"] == 0
    failed = get(client, "/api/experiences", status="failed")["items"]
    assert {each["improvement_ratio"] for each in failed} == {None}
    assert all("labels in the source" in each["reason"] for each in failed)


def test_the_selection_as_csv(client, store, done_key):
    answer = client.get("/api/experiences.csv", params={"run": done_key, "order": "n_labels"})
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["n_labels"] for row in rows] == ["30", "15", "3"]
    assert {row["run"] for row in rows} == {done_key}
    everything = client.get("/api/experiences.csv").text
    assert len(everything.splitlines()) == 1 + store.count()


def test_no_cell_of_the_csv_is_a_formula(visiting, pair):
    hostile = l2t.DomainPair(
        l2t.Domain(pair.source.X, name="=HYPERLINK(1)"), replace(pair.target, name="@SUM(A1)")
    )
    with l2t.open_store("memory://") as store, visiting(store) as client:
        l2t.collect([hostile], store, algorithms=["itl"], progress=False)
        (row,) = csv.DictReader(io.StringIO(client.get("/api/experiences.csv").text))
    assert (row["source"], row["target"]) == ("'=HYPERLINK(1)", "'@SUM(A1)")


def test_other_scores_are_shown_beside_those_of_the_target(visiting):
    """They are never mixed in charts, which are over numbers of labels."""
    rng = np.random.default_rng(0)
    sides = (l2t.Domain(rng.normal(size=(60, 3)), list("abc") * 20) for _ in range(2))
    with l2t.open_store("memory://") as store, visiting(store) as client:
        options = {"algorithms": ["gfk"], "label_counts": (3, 15), "progress": False}
        l2t.collect([l2t.DomainPair(*sides)], store, **options)
        (run,) = get(client, "/api/runs")["items"]
        kinds = [(score["trained_on"], score["n_labels"]) for score in run["scores"]]
        assert kinds == [("target", 3), ("target", 15), ("source", 0), ("both", 3), ("both", 15)]
        (some,) = get(client, "/api/runs", trained_on="source")["items"]
        assert [(each["n_labels"], each["ratio_error"]) for each in some["scores"]] == [(0, None)]
        whole = get(client, f"/api/runs/{run['run']}")
        assert [score["trained_on"] for score in whole["scores"]] == ["target"] * 2
        assert [score["n_labels"] for score in whole["other_scores"]] == [0, 3, 15]
        assert get(client, "/api/facets")["label_counts"] == [0, 3, 15]
        assert sum(each["count"] for each in get(client, "/api/distributions")) == 2
        assert get(client, "/api/experiences", trained_on="both")["total"] == 2
        text = client.get("/api/experiences.csv", params={"n_labels": 0}).text
        (row,) = csv.DictReader(io.StringIO(text))
        assert row["trained_on"] == "source"


def test_one_run_in_full(client, store, done_key, failed_key):
    reply, run = get(client, f"/api/runs/{done_key}"), store.run(done_key)
    assert reply["W_shape"] == list(run.W.shape)
    assert reply["params"] == dict(run.params)
    assert [score["n_labels"] for score in reply["scores"]] == [3, 15, 30]
    assert reply["statistics"]["d"] == pytest.approx(run.statistics.d)
    assert reply["statistics"]["deviation"] == pytest.approx(np.sqrt(np.diag(run.statistics.Q)))
    assert reply["source"]["id"] == f"store:{run.pair.source.fingerprint}"
    loaded = np.load(io.BytesIO(client.get(f"/api/runs/{done_key}/W.npy").content))
    np.testing.assert_array_equal(loaded, run.W)
    failed = get(client, f"/api/runs/{failed_key}")
    assert (failed["W_shape"], failed["statistics"], failed["scores"]) == (None, None, [])
    assert "has no W" in client.get(f"/api/runs/{failed_key}/W.npy").json()["error"]
    missing = client.get(f"/api/runs/{'0' * 64}")
    assert missing.status_code == 404
    assert missing.json()["error"].count("no run has the key") == 1


def test_a_picture_has_every_row_in_its_square(client, done_key, failed_key):
    seen = get(client, f"/api/runs/{done_key}/picture")
    for when in ("before", "after"):
        for side in ("source", "target"):
            assert len(seen[when][side]) == len(seen[side]["codes"]) == 60
            assert np.abs(seen[when][side]).max() <= 1
    assert len(seen["target"]["classes"]) == 3
    assert get(client, f"/api/runs/{failed_key}/picture")["after"] is None


def test_a_row_far_away_does_not_hide_the_others(visiting, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 5))
    X[0] *= 1e6
    pair = l2t.DomainPair(l2t.Domain(X, np.arange(40) % 2), l2t.Domain(X[1:], np.arange(39) % 2))
    with l2t.open_store(tmp_path / "far.db") as store:
        l2t.collect([pair], store, algorithms=["gfk"], label_counts=(3,), n_draws=2, progress=False)
        with visiting(store) as client:
            seen = get(client, f"/api/runs/{next(iter(store.keys()))}/picture")
    assert np.std(seen["before"]["target"], axis=0).min() > 0.05


def test_reflection_functions(client):
    listed = {each["name"]: each for each in get(client, "/api/reflections")}
    assert set(listed) == {"default"}
    assert {name for name, each in listed.items() if each["latest"]} == {"default"}
    default = listed["default"]
    assert 0 < default["held_out_rank_correlation"] < 1
    function = l2t.load_reflection("default")
    reply = get(client, "/api/reflections/default")
    assert reply["beta"] == pytest.approx(function.kernel_weights)
    assert (reply["lambda_"], reply["mu"], reply["b"]) == (None, None, function.b)
    error = client.get("/api/reflections/none").json()["error"]
    assert error == "name must be one of default, got 'none'"


def test_an_assessment_is_that_of_the_library(client, store):
    reply = get(client, "/api/reflections/default/assessment")
    function = l2t.load_reflection("default")
    r = function.n_neighbors
    expected = l2t.paper.assess(
        function, l2t.paper.recompute_statistics(store.experiences(), store, n_neighbors=r)
    )
    assert reply["n_runs"] == 27
    assert reply["rmse"] == pytest.approx(expected.rmse)
    assert reply["rank_correlation"] == pytest.approx(expected.rank_correlation)
    assert sum(reply["terms"].values()) == pytest.approx(sum(expected.terms.values()))
    coverage = {each["n_labels"]: (each["share"], each["count"]) for each in reply["coverage"]}
    assert coverage == expected.coverage
    assert not reply["perhaps_seen"]


def test_a_function_with_other_neighbours_is_assessed_on_some_runs(
    visiting, store, tmp_path, monkeypatch
):
    monkeypatch.setattr("l2t.interfaces.dashboard.routes.reflections._MAX_RECOMPUTED", 4)
    function = replace(l2t.load_reflection("default"), n_neighbors=7)
    function.save(tmp_path / "seven.json")
    with visiting(store, reflections=(tmp_path / "seven.json",)) as client:
        reply = get(client, "/api/reflections/seven/assessment")
    assert reply["n_runs"] == 4
    run = store.run(reply["points"][0]["run_key"])
    statistics = l2t.pair_statistics(run.pair, run.W, n_neighbors=7)
    expected = function.ratio(function.inverse(statistics))
    assert reply["points"][0]["predicted"] == pytest.approx(expected)


def test_files_of_functions_are_shown_and_told_apart(visiting, store, tmp_path):
    learned = l2t.learn(store.experiences(), gamma=1e-4, huber=0.1, n_starts=1)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        learned.save(tmp_path / folder / "mine.json")
    paths = tuple(tmp_path / folder / "mine.json" for folder in ("a", "b"))
    with visiting(store, reflections=paths) as client:
        names = {each["name"]: each for each in get(client, "/api/reflections")}
        assert list(names) == [*shipped(), "mine", "mine 2"]
        assert names["mine"]["origin"] == "file mine.json"
        reply = get(client, "/api/reflections/mine/assessment")
        assert reply["perhaps_seen"]
        assert {each["n_labels"] for each in reply["coverage"]} == {3, 15, 30}


def test_collections_tell_what_runs_and_what_fails(client, store, tmp_path):
    reply = get(client, "/api/collections", minutes=1440)
    assert [each["state"] for each in reply["collections"]] == ["finished", "finished"]
    assert sum(each["done"] + each["failed"] for each in reply["minutes"]) == 30
    (failure,) = reply["failures"]
    assert (failure["algorithm"], failure["count"]) == ("itl", 3)
    assert "labels in the source" in failure["reason"]


def test_states_of_collections(visiting, tmp_path):
    now = datetime.now(UTC)
    host = os.uname().nodename
    running = CollectionProgress(
        "1" * 32, host, os.getpid(), now - timedelta(seconds=60), now, total=100, done=28, failed=2
    )
    others = {
        "2": {"pid": 2**22 - 7, "started_at": now - timedelta(seconds=70)},
        "3": {"host": "elsewhere", "started_at": now - timedelta(seconds=80)},
        "4": {
            "host": "elsewhere",
            "started_at": now - timedelta(hours=2),
            "updated_at": now - timedelta(hours=1),
        },
        "5": {
            "started_at": now - timedelta(hours=3),
            "ended_at": now,
            "outcome": "stopped by KeyboardInterrupt:",
        },
    }
    with l2t.open_store(tmp_path / "a.db") as store:
        store.note_collection(running)
        for number, changes in others.items():
            store.note_collection(replace(running, id=number * 32, **changes))
        with visiting(store) as client:
            found = {each["id"][0]: each for each in get(client, "/api/collections")["collections"]}
    assert {id: each["state"] for id, each in found.items()} == {
        "1": "running",
        "2": "silent",
        "3": "running",
        "4": "silent",
        "5": "stopped",
    }
    assert found["1"]["per_minute"] == pytest.approx(30)
    assert found["1"]["seconds_left"] == pytest.approx(140)
    assert found["4"]["seconds_left"] is None


def test_a_store_in_postgresql(visiting, postgres, store):
    with l2t.open_store(postgres()) as other:
        for key in sorted(store.keys()):
            other.add(store.run(key))
        with visiting(other) as client, visiting(store) as here:
            for path in (
                "totals",
                "distributions",
                "gains?by=name",
                "runs",
                "forecast",
                "facets",
                "domains",
            ):
                assert get(client, f"/api/{path}") == get(here, f"/api/{path}")
            query = {"order": "improvement_ratio", "algorithm": "gfk", "n_labels": 15}
            found = [get(each, "/api/experiences", **query)["items"] for each in (client, here)]
            assert [each["run"] for each in found[0]] == [each["run"] for each in found[1]]
            assert get(client, "/api/collections", minutes=1440)["failures"][0]["count"] == 3
            assert client.get("/").status_code == 200


def test_an_empty_store_has_pages_and_sentences(visiting):
    with l2t.open_store("memory://") as store, visiting(store) as client:
        for path in ("totals", "distributions", "gains", "facets", "experiences", "domains"):
            get(client, f"/api/{path}")
        assert get(client, "/api/totals")["experiences"] == 0
        none = client.get("/api/reflections/default/assessment")
        assert (none.status_code, "no runs" in none.json()["error"]) == (404, True)
        assert client.post("/api/learning-curves").status_code == 400


def test_answers_follow_the_store(visiting, tmp_path, store, done_key):
    with l2t.open_store(tmp_path / "b.db") as growing, visiting(growing) as client:
        assert get(client, "/api/totals")["runs"] == 0
        growing.add(store.run(done_key))
        assert get(client, "/api/totals")["runs"] == 1
        assert len(get(client, "/api/domains")) == 2
        growing.delete(key=done_key)
        assert get(client, "/api/experiences")["total"] == 0


def test_the_openapi_document_tells_every_route(client):
    document = get(client, "/api/openapi.json")
    assert "/api/runs/{key}" in document["paths"]
    for path, methods in document["paths"].items():
        assert path.startswith("/api/")
        for method, operation in methods.items():
            assert operation["description"], (method, path)
            assert (
                "200" in operation["responses"]
                or "201" in operation["responses"]
                or method != "get"
            )


def test_functions_of_files_have_names_of_their_own(tmp_path):
    for name in (shipped()[0], LEARNED_HERE):
        l2t.load_reflection("default").save(tmp_path / f"{name}.json")
    functions = Functions(sorted(tmp_path.iterdir()))
    assert list(functions.all()) == [*shipped(), f"{shipped()[0]} 2", f"{LEARNED_HERE} 2"]
