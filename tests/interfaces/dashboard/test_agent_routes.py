"""The agent through the JSON routes: suggestions and outcomes are in the store, as from everywhere else."""

from __future__ import annotations

import pytest

import l2t


@pytest.fixture
def agent(own_store):
    return l2t.Agent(own_store)


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


@pytest.mark.integration
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
    assert listed["uses_source"] == (found["choice"] not in ("identity", "spectrum"))
    assert listed["interval"] == found["interval"]
    assert (listed["run"], listed["outcome"]) == (None, None)


def test_open_suggestions_come_first_and_then_the_newest(visitor, agent, pair):
    ids = [agent.ask(pair, n_labels).id for n_labels in (3, 15, 30)]
    reply = visitor.get("/api/suggestions", params={"limit": 2}).json()
    assert [each["id"] for each in reply["items"]] == ids[:0:-1]
    total = reply["total"]
    run = tell(visitor, ids[2], 0.5, 0.6).json()["run"]
    reply = visitor.get("/api/suggestions").json()
    assert reply["total"] == total
    *still_open, reported = [each for each in reply["items"] if each["id"] in ids]
    assert [each["id"] for each in still_open] == ids[1::-1]
    assert {each["outcome"] for each in still_open} == {None}
    assert (reported["id"], reported["run"]) == (ids[2], run)
    assert reported["outcome"] == {
        "n_labels": 30,
        "accuracy_before": 0.5,
        "accuracy_after": 0.6,
        "improvement_ratio": pytest.approx(1.2),
    }


def test_what_is_told_is_an_experience(visitor, own_store, agent, pair):
    suggestion = agent.ask(pair, 15)
    reply = tell(visitor, suggestion.id, 0.5, 0.6).json()
    assert reply["improvement_ratio"] == pytest.approx(1.2)
    assert (reply["predicted"], reply["n_labels"]) == (suggestion.predicted, 15)
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
    assert suggestion.id in {each.id for each in agent.list(open_only=True)}


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
