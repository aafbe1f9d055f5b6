"""Ask, tell and list, as people do."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import l2t
from l2t import Agent, Domain, DomainPair, infer, open_store
from l2t.domains import KnownClasses
from l2t.exceptions import InvalidInputError, UnknownSuggestionError
from l2t.forecast import Forecast, refine


def remember(store, pairs) -> None:
    """Add an experience of each pair, with the labels of its target."""
    l2t.collect(pairs, store, algorithms=["identity"], label_counts=(15,), progress=False)


def test_a_suggestion_is_what_infer_finds(agent, store, unlabelled):
    pair = unlabelled[0]
    stages = []
    suggestion = agent.ask(pair, 15, callback=stages.append)
    found = infer(pair, n_labels=15)
    np.testing.assert_array_equal(suggestion.W, found.W)
    assert (suggestion.predicted, suggestion.interval) == (found.predicted, found.interval)
    assert (suggestion.verdict, suggestion.reason) == (found.verdict, found.reason)
    assert (suggestion.n_labels, suggestion.choice) == (15, found.choice)
    np.testing.assert_array_equal(suggestion.transform(pair.target), found.transform(pair.target))
    assert suggestion.inference.choice == found.choice
    assert stages == ["known", "rehearsing", "fitting", "choosing"]
    (listed,) = agent.list()
    assert (listed.id, listed.run, listed.algorithm) == (suggestion.id, None, found.choice)
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


def test_what_is_told_is_an_experience(agent, store, unlabelled):
    suggestion = agent.ask(unlabelled[0], 15)
    run = agent.tell(suggestion, 0.5, 0.6)
    (reported,) = store.experiences(origin="reported")
    assert store.suggestion(suggestion.id).run == run.key == reported.run_key
    assert (reported.algorithm, reported.n_labels) == (suggestion.choice, 15)
    assert (reported.accuracy_before, reported.accuracy_after) == (0.5, 0.6)
    assert reported.improvement_ratio == pytest.approx(1.2)
    assert reported.accuracy_after == agent.suggestion(suggestion.id).outcome.accuracy_after
    assert reported.statistics is not None
    np.testing.assert_array_equal(store.run(reported.run_key).W, suggestion.W)
    assert store.check() == []
    learned = refine(Forecast.default(), store.experiences())
    assert learned.own_pairs == {suggestion.choice: 1}, "learning uses the outcome"


def test_suggestions_are_listed_with_their_outcomes(agent, store, unlabelled):
    assert agent.list() == []
    first, second, third = (agent.ask(unlabelled[0], n_labels) for n_labels in (3, 15, 30))
    assert [record.id for record in agent.list()] == [third.id, second.id, first.id]
    runs = [agent.tell(suggestion, 0.5, 0.6) for suggestion in (third, second)]
    listed = agent.list()
    assert [record.id for record in listed] == [first.id, third.id, second.id], "open ones first"
    assert [record.run for record in listed] == [None, *(run.key for run in runs)]
    assert [record.outcome for record in listed] == [None, *(run.scores[0] for run in runs)]
    assert [record.id for record in agent.list(open_only=True)] == [first.id]
    agent.tell(listed[0], 0.5, 0.7)
    assert agent.list(open_only=True) == []
    with pytest.warns(FutureWarning, match=r"use suggestions\(open_only=True\)"):
        assert store.open_suggestions() == []


def test_statistics_of_large_domains_are_those_of_some_rows(agent, store, unlabelled, monkeypatch):
    pair = unlabelled[0]
    whole, of_some = (None, None)
    for max_rows in (60, 20):
        monkeypatch.setattr("l2t.agent.suggestion.MAX_STATISTICS_ROWS", max_rows)
        run = store.suggested_run(agent.ask(pair, 15).id)
        assert len(run.pair.source) == len(pair.source)
        whole, of_some = of_some, run.statistics.d
    np.testing.assert_array_equal(whole, l2t.pair_statistics(pair, run.W).d)
    assert not np.array_equal(of_some, whole)


def test_the_reflection_function_is_that_of_infer(store, unlabelled):
    function = l2t.load_reflection("default")
    own = replace(
        function.forecast, prior={"spectrum": tuple(-1.0 for _ in function.forecast.shots)}
    )
    changed = dataclasses.replace(function, forecast=own)
    asked = Agent(store, reflection=changed).ask(unlabelled[0], 15)
    expected = infer(unlabelled[0], changed, n_labels=15)
    assert (asked.choice, asked.predicted) == (expected.choice, expected.predicted)
    assert asked.predicted != Agent(store).ask(unlabelled[0], 15).predicted
    bare = dataclasses.replace(function, forecast=None)
    with pytest.raises(InvalidInputError, match="reflection must have a forecast"):
        Agent(store, reflection=bare).ask(unlabelled[0], 15)


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


def test_another_process_can_tell(tmp_path, unlabelled):
    with open_store(tmp_path / "a.db") as store:
        suggestion = Agent(store).ask(unlabelled[0], 3)
    with open_store(tmp_path / "a.db") as store:
        agent = Agent(store)
        again = agent.suggestion(suggestion.id)
        np.testing.assert_array_equal(again.W, suggestion.W)
        assert repr(again) == repr(suggestion)
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
    assert len(agent.list(open_only=True)) == 1, "it can still be reported"


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


def test_what_is_no_suggestion_cannot_be_told(agent, store, pairs):
    remember(store, pairs[:1])
    for unknown in (*store.keys(), "nobody", ""):
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


def test_options_are_checked(store):
    with pytest.raises(InvalidInputError, match="random_state must be a whole number"):
        Agent(store, random_state=-1)
    with pytest.raises(InvalidInputError, match="store must be an ExperienceStore"):
        Agent("experiences.db")


@pytest.mark.integration
@settings(max_examples=12)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.3, 0.6])), max_size=12))
def test_any_order_of_asking_and_telling(unlabelled, steps):
    """Whatever the order, an outcome is reported once, and the first report stays."""
    with open_store("memory://") as store:
        agent = Agent(store)
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
        assert len(agent.list(open_only=True)) == len(asked) - len(reported)
        assert store.check() == []


def test_the_classes_of_labelled_past_targets_are_known(agent, store, pairs, unlabelled):
    first = agent.ask(unlabelled[0], 15)
    remember(store, pairs[1:4])
    known = KnownClasses(pair.target for pair in pairs[1:4])
    second = agent.ask(unlabelled[0], 15)
    found = infer(unlabelled[0], n_labels=15, known=known)
    np.testing.assert_array_equal(second.W, found.W)
    assert second.predicted == found.predicted
    assert not np.array_equal(first.W, second.W)
    # Another agent on the same store knows the same, and this one follows what is new.
    np.testing.assert_array_equal(Agent(store).ask(unlabelled[0], 15).W, second.W)
    remember(store, pairs[5:6])
    third, fresh = agent.ask(unlabelled[0], 15), Agent(store).ask(unlabelled[0], 15)
    np.testing.assert_array_equal(third.W, fresh.W)
    assert not np.array_equal(third.W, second.W)


def test_no_label_of_the_target_is_seen(pairs, unlabelled):
    """Neither before the question, nor from experiences of the same target."""
    answers = []
    for asked, past in (
        (unlabelled[0], pairs[:4]),
        (pairs[0], pairs[:4]),
        (pairs[0], pairs[1:4]),
    ):
        with open_store("memory://") as store:
            remember(store, past)
            answers.append(Agent(store).ask(asked, 15))
    for other in answers[1:]:
        np.testing.assert_array_equal(other.W, answers[0].W)
        assert (other.verdict, other.choice) == (answers[0].verdict, answers[0].choice)


def test_the_newest_targets_are_known(agent, store, pairs, unlabelled, monkeypatch):
    monkeypatch.setattr("l2t.domains.known.MAX_TARGETS", 3)
    remember(store, pairs[1:6])
    known = KnownClasses(pair.target for pair in pairs[3:6])
    assert KnownClasses.of(store).fingerprint == known.fingerprint
    found = infer(unlabelled[0], n_labels=15, known=known)
    np.testing.assert_array_equal(agent.ask(unlabelled[0], 15).W, found.W)


def test_targets_that_say_nothing_are_not_used(agent, store, pairs, unlabelled):
    """A class of one row says nothing, and neither does a target with other features."""
    before = agent.ask(unlabelled[0], 15)
    target = pairs[1].target
    few = Domain(target.X, [0, 1, 2, *[None] * (len(target) - 3)], name="few")
    other = Domain(target.X[:, :20], target.y, name="other")
    for past in (DomainPair(pairs[1].source, few), DomainPair(other, other)):
        agent.tell(agent.ask(past, 3), 0.5, 0.6)
    assert len(list(store.targets())) == 2
    np.testing.assert_array_equal(agent.ask(unlabelled[0], 15).W, before.W)
