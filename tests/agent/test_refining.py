"""The function goes on learning; who is better on held-out pairs takes over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from l2t import Agent
from l2t.agent.refining import prediction_error
from l2t.exceptions import InvalidInputError, StoreCorruptError
from l2t.reflection import ReflectionFunction
from l2t.reflection.files import from_json
from l2t.reflection.lesson import held_out


@pytest.fixture(scope="module")
def truth() -> ReflectionFunction:
    """What ratios really depend on, in this world."""
    beta = np.zeros(33)
    beta[16] = 2.0
    return ReflectionFunction(beta, b=0.6)


def test_error_is_the_mean_log_ratio(agent, store, unlabelled, truth):
    W = np.eye(64, 5)
    agent.observe(unlabelled[0], W, 0.5, 0.6, 15)
    agent.observe(unlabelled[0], W, 0.5, 0.9, 120)  # so many labels do not count
    given = list(store.experiences())
    assert prediction_error(None, given) == pytest.approx(np.log(1.2))
    predicted = truth.predict(given[0].statistics, 15)
    assert prediction_error(truth, given) == pytest.approx(abs(np.log(predicted / 1.2)))


@pytest.mark.usefixtures("quick")
def test_from_nothing_to_a_function(store, unlabelled, truth, tell_truth):
    agent = Agent(store, reflection=None, refine_every=10)
    tell_truth(agent, unlabelled[:40], truth)
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
    tell_truth(rest, unlabelled[40:], truth, seed=5)
    new = [each for each in store.experiences() if each.run_key not in before]
    assert prediction_error(agent.reflection, new) < 0.5 * prediction_error(None, new)


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_no_version_in_use_is_worse_than_the_one_before(store, unlabelled, truth, tell_truth):
    agent = Agent(store, reflection="default", refine_every=6)
    tell_truth(agent, unlabelled, truth)
    judged = [version for version in agent.versions() if version.error is not None]
    assert judged
    for version in judged:
        assert version.took_over == (version.error < version.incumbent_error)
    in_use = [version for version in agent.versions() if version.took_over][-1]
    assert agent.version == in_use.number


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_an_agent_follows_when_the_world_changes(store, unlabelled, truth, tell_truth):
    agent = Agent(store, reflection=None, refine_every=6)
    tell_truth(agent, unlabelled[:30], truth)
    before = agent.reflection
    changed = replace(truth, b=1.2)
    tell_truth(agent, unlabelled[30:], changed, seed=1)
    tell_truth(agent, unlabelled, changed, seed=2)
    new = list(store.experiences(limit=30, descending=True))
    assert prediction_error(agent.reflection, new) < 0.3 * prediction_error(before, new)


def test_too_little_is_left_for_later(agent, store, unlabelled, truth, tell_truth):
    learned = [p for p in unlabelled if not held_out(p.target.fingerprint)]
    tell_truth(agent, learned[:8], truth)
    assert agent.refine() is None, "nobody can judge"
    assert len(store.unused_runs(100)) == 8


@pytest.mark.slow
def test_going_back(agent, store, unlabelled, truth, tell_truth):
    tell_truth(agent, unlabelled[:30], truth)
    refined = agent.refine()
    assert refined.number == 2
    again = agent.go_back(1)
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
        agent.go_back(9)


@pytest.mark.slow
def test_all_is_learned_from_anew_when_runs_have_doubled(agent, unlabelled, truth, tell_truth):
    tell_truth(agent, unlabelled, truth)
    version = agent.refine()
    assert from_json(version.content).training["learned_anew_at"] == version.n_runs


@pytest.mark.slow
def test_in_the_background(store, default, unlabelled, truth, tell_truth):
    with Agent(store, reflection=default, refine_every=15, background=True) as agent:
        tell_truth(agent, unlabelled[:39], truth)
        agent.wait()  # for the look at what is new that began before the last was told
        tell_truth(agent, unlabelled[39:40], truth)
        agent.wait()
        assert len(agent.versions()) > 1
    assert store.check() == []


def test_what_goes_wrong_in_the_background_is_told(store, default, unlabelled, monkeypatch):
    def broken(*_, **__):
        raise StoreCorruptError("no power")

    monkeypatch.setattr("l2t.agent.agent.refine", broken)
    agent = Agent(store, reflection=default, refine_every=1, background=True)
    agent.observe(unlabelled[0], np.eye(64, 3), 0.5, 0.5, 3)
    with pytest.raises(StoreCorruptError, match="no power"):
        agent.wait()
    agent.close()
