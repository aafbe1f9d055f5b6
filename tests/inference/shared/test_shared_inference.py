"""Shared classes: what is chosen, from which labels, and from which sources."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, infer
from l2t.exceptions import InvalidInputError, UnknownAlgorithmError
from l2t.inference.shared import infer_shared
from l2t.inference.shared.rows import SharedRows, smoothness

NAMES = np.array(["ant", "bee", "cat"])


def rows(rng, n=90, shift=0.0, spread=0.5):
    """Return rows of three classes, and their names."""
    codes = np.arange(n) % 3
    X = 3.0 * np.eye(12)[codes] + spread * rng.normal(size=(n, 12)) + shift
    return X, NAMES[codes]


@pytest.fixture
def source(rng):
    return Domain(*rows(rng), name="good")


def accuracy(found, X, y):
    return np.mean(found.predict(X) == y)


def test_a_shifted_target_is_predicted_without_a_label(source, rng):
    X, y = rows(rng, shift=4.0)
    found = infer_shared(Domain(X), source)
    assert accuracy(found, X, y) > 0.95
    assert (found.trained_on, found.expected) == ("source", None)
    assert found.classes == ("ant", "bee", "cat")
    assert {each.classifier for each in found.members} == {"logistic", "manifold"}
    assert len(found.members) == 10
    assert sum(each.weight for each in found.members) == pytest.approx(1.0)
    assert found.members[0].weight == max(each.weight for each in found.members)
    assert found.choice == found.members[0].candidate
    assert found.members[0].space.W.shape[0] == 12


def test_logistic_regression_is_used_where_neighbours_do_not_tell_classes(rng):
    """Forty features of the class, which are weak one by one, among four hundred of noise."""
    codes = np.arange(600) % 2
    X = rng.normal(size=(600, 440))
    X[:, :40] += np.where(codes, 0.25, -0.25)[:, None]
    source = Domain(X[:300], NAMES[codes[:300]])
    found = infer_shared(Domain(X[300:]), source, candidates=("means",))
    assert {each.classifier for each in found.members} == {"logistic"}
    plain = infer_shared(Domain(X[300:]), source, candidates=("means",), classifiers=("manifold",))
    truth = NAMES[codes[300:]]
    assert accuracy(found, X[300:], truth) > accuracy(plain, X[300:], truth) + 0.1


def test_target_labels_that_are_not_marked_change_nothing(source, rng):
    X, y = rows(rng, shift=1.0)
    bare, labelled = infer_shared(Domain(X), source), infer_shared(Domain(X, y), source)
    np.testing.assert_array_equal(bare.predict_proba(X), labelled.predict_proba(X))


@pytest.mark.parametrize("n_labelled", [3, 30])
def test_marked_labels_never_reach_a_w(source, rng, n_labelled):
    X, y = rows(rng, shift=1.0)
    marked = np.arange(len(X)) < n_labelled
    found = infer_shared(Domain(X, y, labeled=marked), source, candidates=("gfk",))
    other = infer_shared(Domain(X, y[::-1], labeled=marked), source, candidates=("gfk",))
    bare = infer_shared(Domain(X), source, candidates=("gfk",))
    for each in (found, other):
        np.testing.assert_array_equal(each.members[0].space.W, bare.members[0].space.W)


def test_the_target_alone_is_used_where_the_source_misleads(source, rng):
    X, y = rows(rng, n=150)
    wrong = Domain(source.X, np.roll(NAMES, 1)[source.codes], name="wrong")
    found = infer_shared(Domain(X, y, labeled=np.arange(150) < 60), wrong)
    assert found.decision.share < 0.2
    assert found.decision.accuracies["target"] > found.decision.accuracies["source"]
    assert found.expected > 0.9
    assert accuracy(found, X, y) > 0.9


def test_a_source_that_is_right_counts_most_among_few_labels(source, rng):
    X, y = rows(rng, n=150)
    found = infer_shared(Domain(X, y, labeled=np.arange(150) < 6), source)
    assert found.trained_on == "both"
    assert set(found.decision.accuracies) == {"source", "target", "both", "plain source"}
    assert 0.6 < found.decision.share < 1.0


def test_a_class_that_the_target_alone_has_can_be_predicted(source, rng):
    X, y = rows(rng)
    other = np.full((30, 12), -3.0) + 0.3 * rng.normal(size=(30, 12))
    X, y = np.concatenate([X, other]), np.concatenate([y, ["dog"] * 30])
    marked = np.zeros(120, dtype=bool)
    marked[::4] = True
    found = infer_shared(Domain(X, y, labeled=marked), source)
    assert found.classes == (*NAMES, "dog")
    assert accuracy(found, other, np.array(["dog"] * 30)) > 0.8


def test_with_one_label_per_class_eight_rows_half_right_are_added(source, rng):
    X, y = rows(rng)
    few = np.arange(90) < 3
    right = infer_shared(Domain(X, y, labeled=few), source, candidates=("means",))
    assert right.decision.share == pytest.approx(7 / 11)
    assert right.decision.accuracies.keys() == {"source", "plain source"}
    assert right.expected == 0.8  # three of three rows by the vote without target labels
    wrong = Domain(source.X, np.roll(NAMES, 1)[source.codes])
    found = infer_shared(Domain(X, y, labeled=few), wrong, candidates=("means",))
    assert (found.decision.share, found.trained_on) == (pytest.approx(4 / 11), "both")
    assert accuracy(found, X, y) > 0.9


def test_two_labelled_rows_do_not_overrule_a_good_source(rng):
    """The labelled rows are odd ones: a little nearer to the other class than to their own."""
    codes = np.arange(200) % 2
    X = rng.normal(size=(200, 40))
    X[:, :10] += np.where(codes, 1.0, -1.0)[:, None]
    source, y = Domain(X[:100], NAMES[codes[:100]]), NAMES[codes[100:]]
    aim = X[100:].copy()
    aim[:2, :10] = [[0.1], [-0.1]]
    found = infer_shared(Domain(aim, y, labeled=np.arange(100) < 2), source, candidates=("means",))
    assert found.decision.accuracies["source"] == 0.0
    assert np.mean(found.predict(aim[2:]) == y[2:]) > 0.8


def test_with_the_source_alone_labels_only_measure(source, rng):
    X, y = rows(rng, shift=1.0)
    marked = Domain(X, y, labeled=np.arange(90) < 30)
    found = infer_shared(marked, source, candidates=("means",), source_alone=True)
    assert found.trained_on == "source"
    assert found.decision.accuracies["source"] == 1.0
    assert found.expected == 31 / 32  # by Laplace's rule of succession: nothing is certain


def test_the_nearest_source_counts_most(source, rng):
    X, y = rows(rng, shift=0.5)
    far = Domain(3.0 * np.roll(source.X, 1, axis=1), source.y, name="far")
    found = infer_shared(Domain(X), [far, source], candidates=("means",))
    assert found.weights[1] == 1.0 > found.weights[0]
    assert accuracy(found, X, y) > 0.9


def test_a_source_of_noise_gets_no_weight(source, rng):
    X, y = rows(rng, shift=0.5, spread=0.8)
    second = Domain(*rows(rng, shift=-1.0), name="second")
    noise = Domain(rng.normal(size=(90, 12)), NAMES[rng.integers(0, 3, 90)], name="noise")
    found = infer_shared(Domain(X), [noise, source, second], candidates=("means",))
    assert found.weights[0] == 0.0
    assert max(found.weights) == 1.0
    assert accuracy(found, X, y) > 0.9


def test_rows_beyond_those_that_are_fitted_to_are_predicted(source, rng, monkeypatch):
    monkeypatch.setattr("l2t.inference.shared.rows.MAX_SHARED_ROWS", 45)
    X, y = rows(rng, n=300)
    found = infer_shared(Domain(X), source)
    assert len(found.members[0].predicted) == 45
    assert accuracy(found, X, y) > 0.9


def test_which_rows_are_labelled_never_changes_a_w(source, rng, monkeypatch):
    monkeypatch.setattr("l2t.inference.shared.rows.MAX_SHARED_ROWS", 45)
    X, y = rows(rng, n=300)
    marks = (np.zeros(300, bool), np.arange(300) < 60)
    for name in ("gfk", "jda", "coral", "means"):
        bare, marked = (
            SharedRows.of(target, [source], 0).spaces((name,))[0][name]
            for target in (Domain(X, y, labeled=mark) for mark in marks)
        )
        np.testing.assert_array_equal(bare.W, marked.W)
        np.testing.assert_array_equal(bare.source_W, marked.source_W)
        np.testing.assert_array_equal(bare.mean, marked.mean)


def test_many_features_are_reduced_for_the_algorithms(source, rng, monkeypatch):
    monkeypatch.setattr("l2t.inference.shared.rows.MAX_SHARED_DIMENSIONS", 4)
    X, y = rows(rng, shift=1.0)
    found = infer_shared(Domain(X), source, candidates=("gfk",), classifiers=("1-nn",))
    assert found.members[0].space.W.shape[0] == 12
    assert accuracy(found, X, y) > 0.9


def test_a_candidate_that_fails_is_left_out(source, rng):
    X, _ = rows(rng, n=9)
    found = infer_shared(Domain(X), source.take([0, 1]), candidates=("means", "classes"))
    assert found.choice == "means"
    assert {each.candidate for each in found.members} == {"means"}
    assert "a class of two rows or more" in found.failed["classes"]
    with pytest.raises(InvalidInputError, match="candidates must work for these domains"):
        infer_shared(Domain(X), source.take([0, 1]), candidates=("classes",))
    with pytest.raises(InvalidInputError, match="classifiers must be one of 1-nn, logistic"):
        infer_shared(Domain(X), source, candidates=("means",), classifiers=("nothing",))
    with pytest.raises(UnknownAlgorithmError):
        infer_shared(Domain(X), source, candidates=("nothing",))


def test_a_candidate_that_fails_on_the_nearest_source_alone_still_counts(rng):
    """One row is too few for gfk; with the rows of the other source it works."""
    target, names = rows(rng)
    noise = Domain(rng.normal(size=(90, 12)), names)
    found = infer(
        Domain(target), sources=[noise.take([0]), noise], candidates=("gfk",), shared=True
    )
    assert "gfk" in {each.candidate for each in found.shared.members}
    assert "gfk" not in found.shared.failed
    assert found.candidates["gfk"].W is not None


def test_other_classes_are_an_error(source, rng):
    X, _ = rows(rng)
    target = Domain(X, ["dog"] * 90, labeled=np.ones(90, dtype=bool))
    with pytest.raises(InvalidInputError, match="got 3 source classes and 0 shared"):
        infer_shared(target, source)
    with pytest.raises(InvalidInputError, match="sources must have at least two classes"):
        infer_shared(Domain(X), Domain(source.X))


def test_smoothness_is_corrected_for_chance():
    ring = np.array([[1], [0], [3], [2]])
    assert smoothness(ring, np.array([0, 0, 1, 1])) == 1.0
    assert smoothness(ring, np.array([0, 1, 0, 1])) == -1.0
    assert smoothness(ring, np.array([0, 0, 0, 0])) == 0.0
