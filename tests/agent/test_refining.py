"""The function is learned anew; what is better on held-out pairs takes over."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from l2t import Agent, open_store
from l2t.agent.knowledge import prediction_error
from l2t.exceptions import InvalidInputError, StoreCorruptError
from l2t.forecast import Forecast, refine
from l2t.paper.files import from_json
from l2t.paper.training_set import held_out

#: What a W uses of the room for a change, in the world of these tests.
USE = 0.8


def with_prior(function, **prior):
    """Return a function that expects so much of candidates, and believes no rehearsal."""
    forecast = function.forecast
    prior = {name: (use,) * len(forecast.shots) for name, use in prior.items()}
    return replace(function, forecast=structs.replace(forecast, prior=prior, least_room=1e9))


def test_error_is_that_of_expected_log_ratios(agent, default, store, unlabelled):
    agent.observe(unlabelled[0], np.eye(64, 5), 0.5, 0.6, 15)
    agent.observe(unlabelled[1], np.eye(64, 5), 0.5, 0.45, 15)
    given = list(store.experiences())
    plain, rising = (with_prior(default, given=use).forecast for use in (0.0, 0.4))
    errors = [abs(np.log(1.2)), abs(np.log(0.9))]
    assert prediction_error(plain, given) == pytest.approx(np.mean(errors), abs=1e-6)
    errors = [abs(np.log(1.2) - 0.1), abs(np.log(0.9) - 0.1)]
    assert prediction_error(rising, given) == pytest.approx(np.mean(errors), abs=1e-6)


@pytest.mark.usefixtures("quick")
def test_from_nothing_to_a_function(store, unlabelled, tell):
    agent = Agent(store, reflection=None, refine_every=10)
    tell(agent, unlabelled[:40], USE)
    first, *later = agent.versions()
    assert (first.number, first.parent, first.origin, first.took_over) == (1, None, "learned", True)
    assert first.error < first.incumbent_error
    for parent, version in zip([first, *later], later, strict=False):
        assert (version.number, version.parent) == (parent.number + 1, parent.number)
        assert version.n_runs > parent.n_runs
        assert version.took_over == (version.error < version.incumbent_error)
    judging = {each.run_key for each in store.experiences() if held_out(each.target)}
    assert set(store.used_runs("judging", 100)) <= judging
    assert not set(store.used_runs("learning", 100)) & judging
    assert agent.ask(unlabelled[41], 15).version == agent.version > 0
    # What was learned is what was true.
    rest = Agent(store, reflection=None, refine_every=10**6)
    before = store.keys()
    tell(rest, unlabelled[40:], USE, seed=5)
    new = [each for each in store.experiences() if each.run_key not in before]
    default = prediction_error(Forecast.default(), new)
    assert prediction_error(agent.reflection.forecast, new) < 0.5 * default


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_no_version_in_use_is_worse_than_the_one_before(store, unlabelled, tell):
    agent = Agent(store, reflection="default", refine_every=6)
    tell(agent, unlabelled, USE)
    judged = [version for version in agent.versions() if version.error is not None]
    assert judged
    for version in judged:
        assert version.took_over == (version.error < version.incumbent_error)
    in_use = [version for version in agent.versions() if version.took_over][-1]
    assert agent.version == in_use.number


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_an_agent_follows_when_the_world_changes(store, unlabelled, tell):
    agent = Agent(store, reflection=None, refine_every=6)
    tell(agent, unlabelled[:30], USE)
    before = agent.reflection.forecast
    tell(agent, unlabelled[30:], -USE, seed=1)
    tell(agent, unlabelled, -USE, seed=2)
    new = list(store.experiences(limit=30, descending=True))
    after = agent.reflection.forecast
    assert prediction_error(after, new) < 0.5 * prediction_error(before, new)


def test_too_little_is_left_for_later(agent, store, unlabelled, tell):
    learned = [p for p in unlabelled if not held_out(p.target.fingerprint)]
    tell(agent, learned[:8], USE)
    assert agent.refine() is None, "nobody can judge"
    assert len(store.unused_runs(100)) == 8


def test_few_runs_refine_the_forecast_alone(agent, store, default, unlabelled, tell):
    judges = [pair for pair in unlabelled if held_out(pair.target.fingerprint)]
    others = [pair for pair in unlabelled if not held_out(pair.target.fingerprint)]
    for n_known in (4, 8):
        tell(agent, [*judges[:6], *others[n_known - 4 : n_known]], USE, seed=n_known)
        version = agent.refine()
        assert (version.origin, version.took_over) == ("refined", True)
        assert agent.version == version.number
        np.testing.assert_array_equal(agent.reflection.beta, default.beta)
        # The forecast that the agent began with is refined: no run counts twice.
        known = store.experiences(key=store.used_runs("learning", 100))
        assert agent.reflection.forecast.own_pairs["given"] == n_known
        expected = refine(default.forecast, known).prior["given"]
        assert agent.reflection.forecast.prior["given"] == pytest.approx(expected)


def test_from_nothing_few_runs_are_too_few(store, unlabelled, tell):
    judges = [pair for pair in unlabelled if held_out(pair.target.fingerprint)]
    others = [pair for pair in unlabelled if not held_out(pair.target.fingerprint)]
    agent = Agent(store, reflection=None, refine_every=10**6)
    tell(agent, [*judges[:6], *others[:4]], USE)
    assert agent.refine() is None
    assert len(store.unused_runs(100)) == 10


def test_the_forecast_of_the_function_in_use_chooses(store, default, unlabelled):
    hopeful = Agent(store, reflection=default).ask(unlabelled[0], 3)
    assert hopeful.choice != "identity"
    with open_store("memory://") as other:
        wary = with_prior(default, **dict.fromkeys(hopeful.inference.candidates, -1.0))
        assert Agent(other, reflection=wary).ask(unlabelled[0], 3).choice == "identity"


@pytest.mark.slow
def test_going_back(agent, store, unlabelled, tell):
    tell(agent, unlabelled[:30], USE)
    refined = agent.refine()
    assert refined.number == 2
    again = agent.roll_back(1)
    assert (again.number, again.parent, again.origin, again.took_over) == (
        3,
        1,
        "rolled back",
        True,
    )
    assert agent.version == 3
    np.testing.assert_array_equal(agent.reflection.beta, from_json(again.content).beta)
    assert again.content == agent.versions()[0].content
    assert store.unused_runs(100) == [], "what was learned since is not new again"
    with pytest.raises(InvalidInputError, match="version must be one of 1 to 3, got 9"):
        agent.roll_back(9)


@pytest.mark.slow
def test_in_the_background(store, default, unlabelled, tell):
    with Agent(store, reflection=default, refine_every=15, background=True) as agent:
        tell(agent, unlabelled[:39], USE)
        agent.wait()  # for the look at what is new that began before the last report
        tell(agent, unlabelled[39:40], USE)
        agent.wait()
        assert len(agent.versions()) > 1
    assert store.check() == []


def test_what_is_told_during_a_refinement_is_used_by_the_next(
    store, default, unlabelled, monkeypatch, proves
):
    """Without waiting for another report."""
    began, may_end, used = threading.Event(), threading.Event(), []

    def refine(store, **_):
        used.append(len(store.keys()))
        began.set()
        assert may_end.wait(300)

    monkeypatch.setattr("l2t.agent.agent.refine", refine)
    with Agent(store, reflection=default, refine_every=1, background=True) as agent:
        agent.observe(unlabelled[0], np.eye(64, 5), 0.5, 0.6, 15)
        assert began.wait(300)
        agent.observe(unlabelled[1], np.eye(64, 5), 0.5, 0.6, 15)
        may_end.set()
    assert used == [1, 2]
    proves("An outcome reported during a refinement is used by the next", 1, "outcomes")


def test_what_goes_wrong_in_the_background_is_reported(store, default, unlabelled, monkeypatch):
    observed = threading.Event()

    def broken(*_, **__):
        observed.wait(60)
        raise StoreCorruptError("no power")

    monkeypatch.setattr("l2t.agent.agent.refine", broken)
    agent = Agent(store, reflection=default, refine_every=1, background=True)
    agent.observe(unlabelled[0], np.eye(64, 3), 0.5, 0.5, 3)
    observed.set()
    with pytest.raises(StoreCorruptError, match="no power"):
        agent.wait()
    agent.close()
