"""The agent through the JSON routes: suggestions and outcomes are in the store, as from everywhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import create_engine, text

import l2t
from l2t.experiences import FunctionVersion
from l2t.interfaces.dashboard.functions import Functions
from l2t.paper.files import shipped, to_json


@pytest.fixture
def agent(own_store):
    return l2t.Agent(own_store, refine_every=10**6)


@pytest.fixture
def visitor(visiting, own_store):
    with visiting(own_store) as client:
        yield client


@pytest.fixture
def pair(own_store, done_key):
    return own_store.run(done_key).pair


def tell(client, id, before, after, **more):
    reply = {"accuracy_before": before, "accuracy_after": after} | more
    return client.post(f"/api/suggestions/{id}/outcome", json=reply)


@pytest.mark.slow
def test_a_suggestion_stays_in_the_store(visitor, own_store):
    ids = {each["name"]: each["id"] for each in visitor.get("/api/domains").json()}
    wanted = {"source": ids["photos[0]"], "target": ids["sketches[10]"], "n_labels": 15}
    answer = visitor.post("/api/suggestions", json=wanted)
    assert answer.status_code == 202, answer.text
    assert visitor.app.state.context.jobs.get(answer.json()["id"]).ended.wait(300)
    job = visitor.get(f"/api/jobs/{answer.json()['id']}").json()
    assert job["state"] == "done", job["error"]
    found = job["result"]

    suggestion = l2t.Agent(own_store).suggestion(found["suggestion"])
    assert (suggestion.predicted, suggestion.verdict) == (found["predicted"], found["verdict"])
    assert suggestion.choice == found["choice"]
    assert suggestion.version == found["version"] == 1
    stages = [each["name"] for each in job["events"]]
    assert stages == ["known", "rehearsing", "fitting", "choosing"]

    listed = visitor.get("/api/suggestions").json()["items"][0]
    assert (listed["id"], listed["source"], listed["target"]) == (
        suggestion.id,
        "photos[0]",
        "sketches[10]",
    )
    assert (listed["n_labels"], listed["predicted"]) == (15, found["predicted"])
    assert listed["choice"] == found["choice"]
    assert listed["interval"] == found["interval"]


def test_open_suggestions_are_the_newest_first(visitor, agent, pair):
    ids = [agent.ask(pair, n_labels).id for n_labels in (3, 15, 30)]
    reply = visitor.get("/api/suggestions", params={"limit": 2}).json()
    assert [each["id"] for each in reply["items"]] == ids[:0:-1]
    total = reply["total"]
    assert tell(visitor, ids[1], 0.5, 0.6).status_code == 200
    reply = visitor.get("/api/suggestions").json()
    assert reply["total"] == total - 1
    assert ids[1] not in {each["id"] for each in reply["items"]}


def test_what_is_told_is_an_experience(visitor, own_store, agent, pair):
    suggestion = agent.ask(pair, 15)
    reply = tell(visitor, suggestion.id, 0.5, 0.6).json()
    assert reply["improvement_ratio"] == pytest.approx(1.2)
    assert (reply["predicted"], reply["n_labels"]) == (suggestion.predicted, 15)
    assert reply["version_in_use"] == agent.version
    assert own_store.run(reply["run"]).scores[0].improvement_ratio == reply["improvement_ratio"]
    assert tell(visitor, suggestion.id, 0.5, 0.6).status_code == 200, "the same changes nothing"
    again = tell(visitor, suggestion.id, 0.5, 0.7)
    assert again.status_code == 400
    assert "was reported before with accuracies 0.5 and 0.6" in again.json()["error"]


@pytest.mark.parametrize(
    ("before", "after", "status", "message"),
    [
        (61, 0.7, 400, "accuracy_before must be a number from 0 to 1, got 61"),
        (0.5, -0.1, 400, "accuracy_after must be a number from 0 to 1, got -0.1"),
        (0.5, None, 422, "accuracy_after: "),
        (True, 0.5, 422, "accuracy_before: "),
        ("0.5", 0.5, 422, "accuracy_before: "),
    ],
)
def test_numbers_that_are_none(visitor, agent, pair, before, after, status, message):
    suggestion = agent.ask(pair, 15)
    answer = tell(visitor, suggestion.id, before, after)
    assert (answer.status_code, answer.json()["error"].startswith(message)) == (status, True)
    open_ones = visitor.get("/api/suggestions").json()["items"]
    assert suggestion.id in {each["id"] for each in open_ones}


def test_an_outcome_may_be_of_another_number_of_labels(visitor, agent, pair):
    suggestion = agent.ask(pair, 15)
    assert tell(visitor, suggestion.id, 0.5, 0.6, n_labels=20).json()["n_labels"] == 20


def test_what_is_no_suggestion_cannot_be_told(visitor, done_key):
    for id, status in ((done_key, 422), ("0" * 10, 404)):
        assert tell(visitor, id, 0.5, 0.6).status_code == status


def test_a_store_in_memory_cannot_be_asked(visiting):
    with l2t.open_store("memory://") as store, visiting(store) as client:
        wanted = {"source": "store:a", "target": "store:b"}
        answer = client.post("/api/suggestions", json=wanted)
        assert (answer.status_code, "memory://" in answer.json()["error"]) == (400, True)
        assert client.get("/api/versions").json() == []
        nothing = client.post("/api/versions/1/use")
        assert (nothing.status_code, "version must be one of" in nothing.json()["error"]) == (
            400,
            True,
        )


@pytest.mark.slow
def test_versions_are_functions_to_compare_and_to_use(visitor, own_store, agent):
    number = len(agent.versions()) + 1
    content = to_json(l2t.learn(own_store.experiences(status="done"), random_state=0))
    learned = FunctionVersion(number, number - 1, "learned", 27, 9, 0.1, 0.2, True, content)
    assert own_store.add_function(learned)
    later = replace(learned, number=learned.number + 1, took_over=False, origin="refined")
    assert own_store.add_function(later)
    reply = visitor.get("/api/versions").json()
    assert [each["number"] for each in reply] == list(range(1, later.number + 1))
    used = reply[learned.number - 1]
    assert (used["in_use"], used["name"], used["origin"]) == (True, "agent", learned.origin)
    assert (used["error"], used["incumbent_error"]) == (learned.error, learned.incumbent_error)
    assert (used["runs"], used["judged_on"]) == (learned.n_runs, learned.n_judged)
    assert not any(each["in_use"] for each in reply if each is not used)

    functions = {each["name"]: each for each in visitor.get("/api/reflections").json()}
    assert functions["agent"]["latest"], "not the one that did not take over"
    assert (
        functions["agent"]["origin"]
        == f"version {learned.number}: learned from the runs of the store"
    )
    whole = visitor.get("/api/reflections/agent").json()
    np.testing.assert_allclose(whole["beta"], agent.reflection.beta)
    first = visitor.get("/api/reflections/agent, version 1").json()
    assert first["beta"] == visitor.get("/api/reflections/default").json()["beta"]
    assert first["summary"]["learned_at"] is None, "it was given"
    assessed = visitor.get("/api/reflections/agent/assessment").json()
    assert assessed["perhaps_seen"]
    assert not visitor.get("/api/reflections/agent, version 1/assessment").json()["perhaps_seen"]


def test_going_back(visitor, own_store, agent):
    before = agent.versions()
    answer = visitor.post("/api/versions/1/use")
    assert answer.status_code == 201, answer.text
    again = answer.json()
    assert (again["number"], again["parent"], again["origin"]) == (
        len(before) + 1,
        1,
        "rolled back",
    )
    assert again["in_use"]
    assert agent.version == again["number"]
    whole = visitor.get("/api/reflections/agent").json()
    assert whole["beta"] == visitor.get("/api/reflections/default").json()["beta"]
    assert whole["summary"]["origin"] == f"version {again['number']}: version 1, used again"
    for wrong, status in ((again["number"] + 1, 400), (0, 422), (10**30, 422), ("one", 422)):
        assert visitor.post(f"/api/versions/{wrong}/use").status_code == status


def test_each_version_is_parsed_once(own_store, agent):
    first, second = (Functions([], own_store).all()["agent"].function for _ in range(2))
    assert first is second


def test_a_damaged_version_leaves_the_others(visiting, tmp_path, store, done_key):
    with l2t.open_store(tmp_path / "a.db") as damaged:
        agent = l2t.Agent(damaged)
        agent.ask(store.run(done_key).pair, 15)
        agent.roll_back(1)
        engine = create_engine(f"sqlite:///{tmp_path / 'a.db'}")
        with engine.begin() as connection:
            connection.execute(text("UPDATE l2t_functions SET content = '{' WHERE number = 1"))
        engine.dispose()
        with visiting(damaged) as client:
            assert [each["number"] for each in client.get("/api/versions").json()] == [1, 2]
            names = [each["name"] for each in client.get("/api/reflections").json()]
            assert names == [*shipped(), "agent"]


def test_files_do_not_take_the_names_of_the_agent(tmp_path, store):
    for name in ("agent", "agent, version 2"):
        l2t.load_reflection("default").save(tmp_path / f"{name}.json")
    given = Functions(sorted(tmp_path.iterdir()), store).all()
    assert list(given) == [*shipped(), "file agent, version 2", "agent 2"]
