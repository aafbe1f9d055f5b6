"""Ask, tell, observe and practise, as people do."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import l2t
from l2t import Agent, Domain, DomainPair, PastTargets, infer, open_store
from l2t.exceptions import InvalidInputError, UnknownSuggestionError
from l2t.reflection.plan import Plan


def test_a_suggestion_is_what_infer_finds(agent, store, default, unlabelled):
    pair = unlabelled[0]
    steps = []
    suggestion = agent.ask(pair, 15, callback=steps.append)
    found = infer(pair, default, n_labels=15)
    np.testing.assert_array_equal(suggestion.W, found.W)
    assert (suggestion.predicted, suggestion.interval) == (found.predicted, found.interval)
    assert (suggestion.verdict, suggestion.reason) == (found.verdict, found.reason)
    assert (suggestion.version, suggestion.n_labels, suggestion.algorithm) == (1, 15, "l2t")
    np.testing.assert_array_equal(suggestion.transform(pair.target), found.transform(pair.target))
    assert str(suggestion.inference.explanation) == str(found.explanation)
    assert [each.value for each in steps if each.iteration is not None] == list(found.history)
    (waiting,) = store.open_suggestions()
    assert (waiting.id, waiting.run) == (suggestion.id, None)
    assert store.count() == 0, "a suggestion is no experience before its outcome is told"
    assert agent.suggestion(suggestion.id).inference is None, "the store keeps the answer alone"


def test_what_is_told_is_an_experience(agent, store, unlabelled):
    suggestion = agent.ask(unlabelled[0], 15)
    run = agent.tell(suggestion, 0.5, 0.6)
    (told,) = store.experiences(origin="told")
    assert store.suggestion(suggestion.id).run == run.key == told.run_key
    assert (told.algorithm, told.n_labels) == ("l2t", 15)
    assert (told.accuracy_before, told.accuracy_after) == (0.5, 0.6)
    assert told.improvement_ratio == pytest.approx(1.2)
    assert told.params["version"] == suggestion.version
    assert told.statistics is not None
    np.testing.assert_array_equal(store.run(told.run_key).W, suggestion.W)
    assert store.check() == []


def test_telling_twice(agent, store, unlabelled):
    suggestion = agent.ask(unlabelled[0], 15)
    agent.tell(suggestion, 0.5, 0.6)
    agent.tell(suggestion.id, 0.5, 0.6)  # the same again changes nothing
    with pytest.raises(
        InvalidInputError, match=r"told before with accuracies 0\.5 and 0\.6, got 0\.5 and 0\.7"
    ):
        agent.tell(suggestion, 0.5, 0.7)
    assert store.count() == 1


def test_deleting_the_run_opens_the_suggestion_again(agent, store, unlabelled):
    suggestion = agent.ask(unlabelled[0], 15)
    store.delete(key=agent.tell(suggestion, 0.5, 0.06).key)
    agent.tell(suggestion, 0.5, 0.6)
    assert [each.accuracy_after for each in store.experiences()] == [0.6]


def test_who_asks_again_tells_again(agent, store, unlabelled):
    first, second = agent.ask(unlabelled[0], 15), agent.ask(unlabelled[0], 15)
    assert first.id != second.id
    assert agent.tell(first, 0.5, 0.6).key != agent.tell(second, 0.5, 0.6).key
    assert store.count(status="done") == 2


def test_another_process_can_tell(tmp_path, default, unlabelled):
    with open_store(tmp_path / "a.db") as store:
        suggestion = Agent(store, reflection=default).ask(unlabelled[0], 3)
    with open_store(tmp_path / "a.db") as store:
        agent = Agent(store, reflection=None)
        again = agent.suggestion(suggestion.id)
        np.testing.assert_array_equal(again.W, suggestion.W)
        assert repr(again) == repr(suggestion)
        assert agent.version == 1, "what the agent began with is in the store"
        agent.tell(suggestion.id, 0.3, 0.4)
        assert store.count(status="done") == 1


@pytest.mark.parametrize(
    ("accuracies", "said"),
    [
        ((1.5, 0.5), "accuracy_before must be a number from 0 to 1, got 1.5"),
        ((0.5, -0.1), "accuracy_after must be a number from 0 to 1, got -0.1"),
        ((0.5, float("nan")), "accuracy_after must be a number from 0 to 1, got nan"),
        (("0.5", 0.5), "accuracy_before must be a number from 0 to 1, got '0.5'"),
        ((True, 0.5), "accuracy_before must be a number from 0 to 1, got True"),
    ],
)
def test_accuracies_are_checked(agent, store, unlabelled, accuracies, said):
    suggestion = agent.ask(unlabelled[0], 3)
    with pytest.raises(InvalidInputError, match=said):
        agent.tell(suggestion, *accuracies)
    assert len(store.open_suggestions()) == 1, "it can still be told"


def test_an_accuracy_of_zero_is_half_an_answer(agent, store, unlabelled):
    agent.tell(agent.ask(unlabelled[0], 15), 0.0, 0.5)
    (told,) = store.experiences(status="done")
    assert told.improvement_ratio == pytest.approx(0.5 * 2 * 30)


def test_the_number_of_labels_is_told_once(agent, store, unlabelled):
    with pytest.raises(InvalidInputError, match=r"made for \(15\), got 30"):
        agent.tell(agent.ask(unlabelled[0], 15), 0.5, 0.6, 30)
    suggestion = agent.ask(unlabelled[0])
    with pytest.raises(
        InvalidInputError, match="n_labels must be a whole number of at least 1, got None"
    ):
        agent.tell(suggestion, 0.5, 0.6)
    agent.tell(suggestion, 0.5, 0.6, 45)
    assert [each.n_labels for each in store.experiences(status="done")] == [45]
    with open_store("memory://") as empty:
        for new in (agent, Agent(empty, reflection=None)):
            with pytest.raises(InvalidInputError, match="n_labels must be a whole number"):
                new.ask(unlabelled[0], 0)
    assert agent.ask(unlabelled[0], np.int64(15)).n_labels == 15


def test_what_is_no_suggestion_cannot_be_told(agent, pairs):
    run = agent.observe(pairs[0], "gfk", n_labels=3)
    for unknown in (run.key, "nobody", ""):
        with pytest.raises(UnknownSuggestionError, match="no suggestion has an id that begins"):
            agent.tell(unknown, 0.5, 0.6)
        with pytest.raises(UnknownSuggestionError, match="no suggestion has an id that begins"):
            agent.suggestion(unknown)


def test_labelled_rows_vote(agent, pairs):
    target = pairs[0].target
    mask = np.arange(len(target)) % 3 == 0
    labelled = Domain(target.X, target.y, labeled=mask, name="target")
    suggestion = agent.ask(DomainPair(pairs[0].source, labelled))
    assert suggestion.n_labels == mask.sum()
    assert "triples" in suggestion.reason


@pytest.mark.slow
def test_from_nothing_base_algorithms_take_turns(store, unlabelled):
    agent = Agent(store, reflection=None, refine_every=10**6)
    suggestions = [agent.ask(pair, 3) for pair in unlabelled[:12]]
    assert {each.version for each in suggestions} == {0}
    assert {each.predicted for each in suggestions} == {None}
    names = [each.algorithm for each in suggestions]
    assert set(names) <= set(l2t.algorithms.names())
    assert len(set(names)) >= 4
    assert [agent.ask(pair, 3).algorithm for pair in unlabelled[:12]] == names
    assert (agent.reflection, agent.version, agent.versions()) == (None, 0, [])


def test_observing_measures_as_collecting_does(agent, store, pairs):
    run = agent.observe(pairs[0], "gfk", n_labels=(3, 15))
    with open_store("memory://") as other:
        l2t.collect([pairs[0]], other, algorithms=["gfk"], label_counts=(3, 15), progress=False)
        (collected,) = other.keys()
        assert (run.key, run.scores) == (collected, other.run(collected).scores)
    agent.observe(pairs[0], "gfk", n_labels=(3, 15))
    assert store.count() == 2, "the same once more is the same experience"


def test_observing_what_was_measured_elsewhere(agent, store, unlabelled):
    W = np.eye(unlabelled[0].n_features)[:, :5]
    agent.observe(unlabelled[0], W, 0.5, 0.55, 15, name="first five")
    agent.observe(unlabelled[0], W, 0.5, 0.60, 15, name="first five")  # another measurement
    found = list(store.experiences())
    assert [each.algorithm for each in found] == ["first five"] * 2
    assert sorted(each.improvement_ratio for each in found) == pytest.approx([1.1, 1.2])
    with pytest.raises(InvalidInputError, match="must be given both or neither"):
        agent.observe(unlabelled[0], W, 0.5, n_labels=15)
    with pytest.raises(InvalidInputError, match="W must have one row a feature"):
        agent.observe(unlabelled[0], W[:3], 0.5, 0.5, 15)


def test_practice(store, pairs, default):
    few, many = Plan("soft", None, 0, 1.0), Plan("soft", None, 0, 2.0)
    planned = dataclasses.replace(default, plans=((15, few), (60, many)))
    agent = Agent(store, reflection=planned)
    runs = agent.practise(pairs[:2], label_counts=(3, 15, 60))
    # 3 and 15 labels are searched alike, and share a W; 45 rows leave no room for 60 labels.
    assert [run.status for run in runs] == ["done", "failed"] * 2
    assert {run.algorithm for run in runs} == {"l2t"}
    found = infer(l2t.inference.trials.without_labels(pairs[0]), planned, n_labels=3)
    np.testing.assert_array_equal(runs[0].W, found.W)
    assert [score.n_labels for score in runs[0].scores] == [3, 15]
    with (
        open_store("memory://") as empty,
        pytest.raises(InvalidInputError, match="has learned nothing yet"),
    ):
        Agent(empty, reflection=None).practise(pairs[:1])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"refine_every": 0}, "refine_every must be a whole number of at least 1, got 0"),
        ({"explore": 1.5}, "explore must be a number from 0 to 1 or 'upper', got 1.5"),
        ({"explore": "lower"}, "explore must be a number from 0 to 1"),
        ({"explore": True}, "explore must be a number from 0 to 1"),
        ({"random_state": -1}, "random_state must be a whole number of at least 0, got -1"),
        ({"reflection": 5}, "reflection must be a ReflectionFunction, a name, a path or None"),
    ],
)
def test_options_are_checked(store, options, said):
    with pytest.raises(InvalidInputError, match=said):
        Agent(store, **options)
    with pytest.raises(InvalidInputError, match="store must be an ExperienceStore"):
        Agent("experiences.db")


@pytest.mark.slow
@settings(max_examples=12)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.3, 0.6])), max_size=12))
def test_any_order_of_asking_and_telling(default, unlabelled, steps):
    """Whatever the order, a suggestion is told once, and what was told first stays."""
    with open_store("memory://") as store:
        agent = Agent(store, reflection=default, refine_every=10**6)
        asked, told = {}, {}
        for which, accuracy in steps:
            if which not in asked:
                asked[which] = agent.ask(unlabelled[which], 3).id
            elif which not in told or told[which] == accuracy:
                agent.tell(asked[which], 0.5, accuracy)
                told[which] = accuracy
            else:
                with pytest.raises(InvalidInputError, match="must be told once"):
                    agent.tell(asked[which], 0.5, accuracy)
        done = {each.run_key: each.accuracy_after for each in store.experiences()}
        became = {store.suggestion(asked[which]).run: told[which] for which in told}
        assert done == became
        assert len(store.open_suggestions()) == len(asked) - len(told)
        assert store.check() == []


def test_labelled_targets_of_the_past_are_where_the_search_begins(
    agent, store, default, pairs, unlabelled
):
    first = agent.ask(unlabelled[0], 15)
    for pair in pairs[1:4]:
        agent.observe(pair, np.eye(pair.n_features)[:, :5], 0.5, 0.6, 15)
    past = PastTargets(pair.target for pair in pairs[1:4])
    second = agent.ask(unlabelled[0], 15)
    found = infer(unlabelled[0], default, n_labels=15, past=past)
    np.testing.assert_allclose(second.W, found.W, atol=1e-10)
    assert not np.allclose(first.W, second.W)
    assert store.suggested_run(first.id).params["past_classes"] == 0
    assert store.suggested_run(second.id).params["past_classes"] == past.n_classes
    # Another agent on the same store knows the same, and one that goes on follows.
    np.testing.assert_allclose(Agent(store).ask(unlabelled[0], 15).W, second.W, atol=1e-10)
    agent.observe(pairs[5], np.eye(64)[:, :5], 0.5, 0.6, 15)
    third, fresh = agent.ask(unlabelled[0], 15), Agent(store).ask(unlabelled[0], 15)
    np.testing.assert_allclose(third.W, fresh.W, atol=1e-10)
    assert not np.allclose(third.W, second.W)


def test_no_label_of_the_target_is_seen(default, pairs, unlabelled):
    """Not before it is asked, and not from what was told of the same target."""
    told = [pairs[0], *pairs[1:4]]
    for reflection, explore in ((default, 0.0), (default, 1.0), (None, 0.0)):
        answers = []
        for asked, labels in ((unlabelled[0], told), (pairs[0], told), (pairs[0], told[1:])):
            with open_store("memory://") as store:
                agent = Agent(store, reflection=reflection, refine_every=10**6, explore=explore)
                for pair in labels:
                    agent.observe(pair, np.eye(pair.n_features)[:, :5], 0.5, 0.6, 15)
                answers.append(agent.ask(asked, 15))
        for other in answers[1:]:
            np.testing.assert_allclose(other.W, answers[0].W, atol=1e-8)
            assert (other.verdict, other.algorithm) == (answers[0].verdict, answers[0].algorithm)


def test_the_oldest_targets_are_forgotten(agent, pairs, monkeypatch, unlabelled):
    monkeypatch.setattr("l2t.agent.knowledge.REMEMBERED", 3)
    for number, pair in enumerate(pairs[1:12], start=1):
        agent.observe(pair, np.eye(64)[:, :5], 0.5, 0.6, 15)
        kept = [each.target for each in pairs[1 : number + 1]][max(number // 3 - 1, 0) * 3 :]
        past = agent._knowledge.past(64)
        assert past.n_classes == pytest.approx(PastTargets(kept).n_classes)
        np.testing.assert_allclose(past.T, PastTargets(kept).T, atol=1e-8)


def test_with_many_features_there_is_no_past(agent, store, pairs, unlabelled, monkeypatch):
    agent.observe(pairs[1], np.eye(64)[:, :5], 0.5, 0.6, 15)
    assert store.suggested_run(agent.ask(unlabelled[0], 15).id).params["past_classes"] > 0
    monkeypatch.setattr("l2t.agent.knowledge.MOST_FEATURES", 63)
    assert store.suggested_run(agent.ask(unlabelled[0], 15).id).params["past_classes"] == 0


def test_a_past_that_cannot_be_used_is_not(agent, store):
    rng = np.random.default_rng(0)
    # One labelled row a class tells nothing, and a target of other features nothing of this one.
    few = Domain(rng.normal(size=(12, 5)), [0, 1, 2, *[None] * 9])
    other = Domain(rng.normal(size=(12, 7)), np.arange(12) % 3)
    for target in (few, other):
        source = Domain(rng.normal(size=(9, target.n_features)), np.arange(9) % 3)
        agent.observe(DomainPair(source, target), np.eye(target.n_features)[:, :2], 0.5, 0.6, 3)
    asked = DomainPair(Domain(rng.normal(size=(9, 5))), Domain(rng.normal(size=(12, 5))))
    assert store.suggested_run(agent.ask(asked, 3).id).params["past_classes"] == 0
