"""Ask, tell, observe and practise, as people do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import l2t
from l2t import Agent, Domain, DomainPair, infer, open_store
from l2t.domains import KnownClasses
from l2t.exceptions import InvalidInputError, UnknownSuggestionError


def test_a_suggestion_is_what_infer_finds(agent, store, unlabelled):
    pair = unlabelled[0]
    stages = []
    suggestion = agent.ask(pair, 15, callback=stages.append)
    found = infer(pair, n_labels=15)
    np.testing.assert_array_equal(suggestion.W, found.W)
    assert (suggestion.predicted, suggestion.interval) == (found.predicted, found.interval)
    assert (suggestion.verdict, suggestion.reason) == (found.verdict, found.reason)
    assert (suggestion.version, suggestion.n_labels, suggestion.choice) == (1, 15, found.choice)
    np.testing.assert_array_equal(suggestion.transform(pair.target), found.transform(pair.target))
    assert suggestion.inference.choice == found.choice
    assert stages == ["known", "rehearsing", "fitting", "choosing"]
    (waiting,) = store.open_suggestions()
    assert (waiting.id, waiting.run, waiting.algorithm) == (suggestion.id, None, found.choice)
    assert store.count() == 0, "a suggestion is no experience before its outcome is reported"
    assert agent.suggestion(suggestion.id).inference is None, "the store keeps the answer alone"


def test_not_to_transfer_is_a_suggestion_too(agent, unlabelled, monkeypatch):
    monkeypatch.setattr("l2t.inference.candidates.DEFAULT_CANDIDATES", ())
    suggestion = agent.ask(unlabelled[0], 15)
    assert (suggestion.choice, suggestion.verdict) == ("identity", "no-transfer")
    assert (suggestion.predicted, suggestion.interval) == (1.0, (1.0, 1.0))
    X = unlabelled[0].target.X
    np.testing.assert_array_equal(agent.suggestion(suggestion.id).transform(X), X)


def test_very_many_features(agent, store, rng, monkeypatch):
    """The identity is recorded in the span of the rows: same distances, without m x m numbers."""
    monkeypatch.setattr("l2t.inference.candidates.DEFAULT_CANDIDATES", ())
    monkeypatch.setattr("l2t.algorithms.identity.DENSE_FEATURES", 50)
    X = rng.normal(size=(24, 60))
    pair = DomainPair(Domain(X[:12]), Domain(X[12:]))
    suggestion = agent.ask(pair, 3)
    assert suggestion.choice == "identity"
    assert suggestion.W.shape == (60, 23)
    np.testing.assert_array_equal(suggestion.transform(X), X)
    Z = X @ suggestion.W
    np.testing.assert_allclose(Z[0] - Z[1:], (X[0] - X[1:]) @ suggestion.W)
    gaps = np.linalg.norm(X[0] - X[1:], axis=1)
    np.testing.assert_allclose(np.linalg.norm(Z[0] - Z[1:], axis=1), gaps)
    agent.tell(suggestion, 0.5, 0.5)
    assert store.check() == []


def test_statistics_of_large_domains_are_those_of_some_rows(agent, store, unlabelled, monkeypatch):
    monkeypatch.setattr("l2t.agent.suggestion.MAX_ROWS", 20)
    pair = unlabelled[0]
    whole = l2t.pair_statistics(pair, np.eye(64, 5)).d
    run = agent.observe(pair, np.eye(64, 5), 0.5, 0.6, 15)
    assert len(run.pair.source) == len(pair.source)
    assert not np.array_equal(run.statistics.d, whole)
    monkeypatch.setattr("l2t.agent.suggestion.MAX_ROWS", 60)
    run = agent.observe(pair, np.eye(64, 5), 0.5, 0.7, 15)
    np.testing.assert_array_equal(run.statistics.d, whole)


def test_what_is_told_is_an_experience(agent, store, unlabelled):
    suggestion = agent.ask(unlabelled[0], 15)
    run = agent.tell(suggestion, 0.5, 0.6)
    (reported,) = store.experiences(origin="reported")
    assert store.suggestion(suggestion.id).run == run.key == reported.run_key
    assert (reported.algorithm, reported.n_labels) == (suggestion.choice, 15)
    assert (reported.accuracy_before, reported.accuracy_after) == (0.5, 0.6)
    assert reported.improvement_ratio == pytest.approx(1.2)
    assert reported.params["version"] == suggestion.version
    assert reported.statistics is not None
    np.testing.assert_array_equal(store.run(reported.run_key).W, suggestion.W)
    assert store.check() == []


def test_telling_twice(agent, store, unlabelled, proves):
    suggestion = agent.ask(unlabelled[0], 15)
    agent.tell(suggestion, 0.5, 0.6)
    agent.tell(suggestion.id, 0.5, 0.6)  # the same again changes nothing
    with pytest.raises(
        InvalidInputError,
        match=r"with accuracies 0\.5 and 0\.6 at 15 labels, got 0\.5 and 0\.7 at 15",
    ):
        agent.tell(suggestion, 0.5, 0.7)
    assert store.count() == 1
    corrected = agent.tell(suggestion, 0.5, 0.7, correct=True)
    assert store.suggestion(suggestion.id).run == corrected.key
    assert [each.accuracy_after for each in store.experiences()] == [0.7]
    assert agent.tell(suggestion, 0.5, 0.7, correct=True).key == corrected.key
    assert store.check() == []
    proves("A reported outcome can be corrected", 2, "corrections")


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
    ("accuracies", "message"),
    [
        ((1.5, 0.5), "accuracy_before must be a number from 0 to 1, got 1.5"),
        ((0.5, -0.1), "accuracy_after must be a number from 0 to 1, got -0.1"),
        ((0.5, float("nan")), "accuracy_after must be a number from 0 to 1, got nan"),
        (("0.5", 0.5), "accuracy_before must be a number from 0 to 1, got '0.5'"),
        ((True, 0.5), "accuracy_before must be a number from 0 to 1, got True"),
    ],
)
def test_accuracies_are_checked(agent, store, unlabelled, accuracies, message):
    suggestion = agent.ask(unlabelled[0], 3)
    with pytest.raises(InvalidInputError, match=message):
        agent.tell(suggestion, *accuracies)
    assert len(store.open_suggestions()) == 1, "it can still be reported"


def test_an_accuracy_of_zero_is_half_an_answer(agent, store, unlabelled):
    agent.tell(agent.ask(unlabelled[0], 15), 0.0, 0.5)
    (reported,) = store.experiences(status="done")
    assert reported.improvement_ratio == pytest.approx(0.5 * 2 * 45)


def test_the_number_of_labels_may_turn_out_another(agent, store, unlabelled):
    agent.tell(agent.ask(unlabelled[0], 15), 0.5, 0.6, 30)
    suggestion = agent.ask(unlabelled[0])
    assert suggestion.n_labels == 15, "five per class, and three classes"
    agent.tell(suggestion, 0.5, 0.6)
    assert sorted(each.n_labels for each in store.experiences(status="done")) == [15, 30]
    with pytest.raises(
        InvalidInputError, match="n_labels must be a whole number of at least 1, got 0"
    ):
        agent.ask(unlabelled[0], 0)
    assert agent.ask(unlabelled[0], np.int64(15)).n_labels == 15
    assert agent.ask(unlabelled[0], n_classes=5).inference.n_classes == 5


def test_what_is_no_suggestion_cannot_be_told(agent, pairs):
    run = agent.observe(pairs[0], "gfk", n_labels=3)
    for unknown in (run.key, "nobody", ""):
        with pytest.raises(UnknownSuggestionError, match="no suggestion has the id"):
            agent.tell(unknown, 0.5, 0.6)
        with pytest.raises(UnknownSuggestionError, match="no suggestion has the id"):
            agent.suggestion(unknown)


def test_labelled_rows_are_evidence(agent, pairs):
    target = pairs[0].target
    mask = np.arange(len(target)) % 3 == 0
    labelled = Domain(target.X, target.y, labeled=mask, name="target")
    suggestion = agent.ask(DomainPair(pairs[0].source, labelled))
    assert suggestion.n_labels == mask.sum()
    assert suggestion.inference.candidates["spectrum"].evidence.n_rows == mask.sum()


def test_without_a_reflection_function(store, unlabelled):
    agent = Agent(store, reflection=None, refine_every=10**6)
    asked = agent.ask(unlabelled[0], 3)
    assert asked.choice == infer(unlabelled[0], n_labels=3).choice
    assert (asked.version, agent.reflection, agent.version, agent.versions()) == (0, None, 0, [])


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
    with pytest.raises(
        InvalidInputError, match="the matrix of given must have one row per feature"
    ):
        agent.observe(unlabelled[0], W[:3], 0.5, 0.5, 15)


def test_practice(store, pairs, unlabelled):
    agent = Agent(store, refine_every=10**6)
    runs = agent.practise(pairs[:2], label_counts=(3, 15))
    assert {run.status for run in runs} == {"done"}
    assert sorted(score.n_labels for run in runs for score in run.scores) == [3, 3, 15, 15]
    found = infer(unlabelled[0], n_labels=3)
    assert runs[0].algorithm == found.choice
    np.testing.assert_array_equal(runs[0].W, found.W)
    # 60 rows leave no room for 60 labels.
    assert {run.status for run in agent.practise(pairs[2:3], label_counts=(60,))} == {"failed"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"refine_every": 0}, "refine_every must be a whole number of at least 1, got 0"),
        ({"explore": 1.5}, "explore must be a number from 0 to 1, got 1.5"),
        ({"explore": "upper"}, "explore must be a number from 0 to 1, got 'upper'"),
        ({"explore": True}, "explore must be a number from 0 to 1"),
        ({"random_state": -1}, "random_state must be a whole number of at least 0, got -1"),
        ({"reflection": 5}, "reflection must be a ReflectionFunction, a name, a path or None"),
    ],
)
def test_options_are_checked(store, options, message):
    with pytest.raises(InvalidInputError, match=message):
        Agent(store, **options)
    with pytest.raises(InvalidInputError, match="store must be an ExperienceStore"):
        Agent("experiences.db")


@pytest.mark.slow
@settings(max_examples=12)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.3, 0.6])), max_size=12))
def test_any_order_of_asking_and_telling(default, unlabelled, steps):
    """Whatever the order, an outcome is reported once, and the first report stays."""
    with open_store("memory://") as store:
        agent = Agent(store, reflection=default, refine_every=10**6)
        asked, reported = {}, {}
        for which, accuracy in steps:
            if which not in asked:
                asked[which] = agent.ask(unlabelled[which], 3).id
            elif which not in reported or reported[which] == accuracy:
                agent.tell(asked[which], 0.5, accuracy)
                reported[which] = accuracy
            else:
                with pytest.raises(InvalidInputError, match="must be reported once"):
                    agent.tell(asked[which], 0.5, accuracy)
        done = {each.run_key: each.accuracy_after for each in store.experiences()}
        became = {store.suggestion(asked[which]).run: reported[which] for which in reported}
        assert done == became
        assert len(store.open_suggestions()) == len(asked) - len(reported)
        assert store.check() == []


def test_the_classes_of_labelled_past_targets_are_known(agent, store, pairs, unlabelled):
    first = agent.ask(unlabelled[0], 15)
    for pair in pairs[1:4]:
        agent.observe(pair, np.eye(pair.n_features)[:, :5], 0.5, 0.6, 15)
    known = KnownClasses(pair.target for pair in pairs[1:4])
    second = agent.ask(unlabelled[0], 15)
    found = infer(unlabelled[0], n_labels=15, known=known)
    np.testing.assert_array_equal(second.W, found.W)
    assert second.predicted == found.predicted
    assert not np.array_equal(first.W, second.W)
    assert store.suggested_run(first.id).params["known_classes"] == 0
    assert store.suggested_run(second.id).params["known_classes"] == known.n_classes == 9
    # Another agent on the same store knows the same, and this one follows what is new.
    np.testing.assert_array_equal(Agent(store).ask(unlabelled[0], 15).W, second.W)
    agent.observe(pairs[5], np.eye(64)[:, :5], 0.5, 0.6, 15)
    third, fresh = agent.ask(unlabelled[0], 15), Agent(store).ask(unlabelled[0], 15)
    np.testing.assert_array_equal(third.W, fresh.W)
    assert not np.array_equal(third.W, second.W)


def test_no_label_of_the_target_is_seen(pairs, unlabelled):
    """Neither before the question, nor from reports on the same target."""
    reported = [pairs[0], *pairs[1:4]]
    for explore in (0.0, 1.0):
        answers = []
        for asked, labels in (
            (unlabelled[0], reported),
            (pairs[0], reported),
            (pairs[0], reported[1:]),
        ):
            with open_store("memory://") as store:
                agent = Agent(store, refine_every=10**6, explore=explore)
                for pair in labels:
                    agent.observe(pair, np.eye(pair.n_features)[:, :5], 0.5, 0.6, 15)
                answers.append(agent.ask(asked, 15))
        for other in answers[1:]:
            np.testing.assert_array_equal(other.W, answers[0].W)
            assert (other.verdict, other.choice) == (answers[0].verdict, answers[0].choice)


def test_the_newest_targets_are_known(agent, pairs, monkeypatch):
    monkeypatch.setattr("l2t.agent.knowledge.MAX_TARGETS", 3)
    for number, pair in enumerate(pairs[1:6], start=1):
        agent.observe(pair, np.eye(64)[:, :5], 0.5, 0.6, 15)
        newest = [each.target for each in pairs[1 : number + 1]][-3:]
        known = agent._knowledge.classes(64)
        assert known.fingerprint == KnownClasses(newest).fingerprint


def test_targets_that_say_nothing_are_not_used(agent, store):
    rng = np.random.default_rng(0)
    # A class of one row says nothing, and neither does a target with other features.
    few = Domain(rng.normal(size=(12, 5)), [0, 1, 2, *[None] * 9])
    other = Domain(rng.normal(size=(12, 7)), np.arange(12) % 3)
    for target in (few, other):
        source = Domain(rng.normal(size=(9, target.n_features)), np.arange(9) % 3)
        agent.observe(DomainPair(source, target), np.eye(target.n_features)[:, :2], 0.5, 0.6, 3)
    asked = DomainPair(Domain(rng.normal(size=(9, 5))), Domain(rng.normal(size=(12, 5))))
    assert store.suggested_run(agent.ask(asked, 3).id).params["known_classes"] == 0
