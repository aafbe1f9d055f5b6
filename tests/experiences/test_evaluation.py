"""1-NN from few labels: the draws, the counts and the accuracies."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from l2t.exceptions import InvalidInputError
from l2t.experiences import evaluate, improvement_ratio
from l2t.experiences.evaluation import _stratified, labeled_draws, rows_to_test


def test_accuracy_is_that_of_a_nearest_neighbour_classifier(rng):
    codes = np.arange(90) % 3
    Z = rng.normal(size=(90, 4)) + codes[:, None]
    measured = evaluate(Z, codes, label_counts=(6, 30), n_draws=4, random_state=5)
    for row, count in enumerate((6, 30)):
        for draw in range(4):
            seed = np.random.SeedSequence(5, spawn_key=(count, draw))
            chosen = _stratified(np.random.default_rng(seed), codes, count)
            test = np.setdiff1d(np.arange(90), chosen)
            peer = KNeighborsClassifier(1).fit(Z[chosen], codes[chosen])
            assert measured.scores[row, draw] == pytest.approx(peer.score(Z[test], codes[test]))


def test_draws_are_stratified_and_shared_by_all_representations(rng):
    codes = rng.integers(0, 4, size=100)
    for count in (4, 10, 31):
        chosen = _stratified(np.random.default_rng(count), codes, count)
        assert len(set(chosen)) == count
        shares = np.bincount(codes[chosen], minlength=4)
        assert shares.max() - shares.min() <= 1
    perfect = evaluate(codes[:, None] * 10.0, codes, label_counts=(4,))
    assert (perfect.scores == 1).all()


def test_a_class_too_small_for_its_share_leaves_it_to_the_others():
    codes = np.array([0] * 50 + [1] * 2)
    chosen = _stratified(np.random.default_rng(0), codes, 10)
    assert np.bincount(codes[chosen]).tolist() == [8, 2]


def test_counts_that_leave_too_few_rows_are_left_out(rng):
    codes = np.arange(60) % 3
    Z = rng.normal(size=(60, 2))
    measured = evaluate(Z, codes)
    assert measured.label_counts == (3, 15, 30)
    assert measured.n_test == (57, 45, 30)
    with pytest.raises(InvalidInputError, match="must leave at least 30 target rows"):
        evaluate(Z[:32], codes[:32])


def test_rows_without_a_label_are_left_out(rng):
    codes = np.arange(80) % 2
    Z = rng.normal(size=(80, 2))
    hidden = np.concatenate([codes, [-1, -1]])
    padded = np.concatenate([Z, [[np.nan] * 2] * 2])
    first = evaluate(Z, codes, label_counts=(4,)).scores
    np.testing.assert_array_equal(first, evaluate(padded, hidden, label_counts=(4,)).scores)


def test_no_row_is_tested_that_shares_a_group_with_a_labelled_one(rng):
    """Twins give their class away to each other, and nothing else in the features does."""
    groups = np.repeat(np.arange(100), 2)
    codes = rng.integers(0, 2, size=100)[groups]
    Z = rng.normal(size=(100, 20))[groups]
    options = {"label_counts": (100,), "n_draws": 20}
    leaking = evaluate(Z, codes, **options)
    apart = evaluate(Z, codes, groups=groups, **options)
    assert leaking.mean[0] > 0.7
    assert abs(apart.mean[0] - 0.5) < 0.05
    for chosen in labeled_draws(codes, 100, 20):
        tested = rows_to_test(200, chosen, groups)
        assert not set(groups[tested]) & set(groups[chosen])
        assert set(groups[tested]) | set(groups[chosen]) == set(groups)
    fewest = min(len(rows_to_test(200, chosen, groups)) for chosen in labeled_draws(codes, 100, 20))
    assert apart.n_test == (fewest,)


def test_groups_of_one_row_change_nothing(rng):
    codes = np.arange(80) % 2
    Z = rng.normal(size=(80, 2))
    whole = evaluate(Z, codes)
    alone = evaluate(Z, codes, groups=np.arange(80))
    assert alone.label_counts == whole.label_counts
    np.testing.assert_array_equal(alone.scores, whole.scores)


def test_groups_that_leave_nothing_to_test(rng):
    Z, codes = rng.normal(size=(80, 2)), np.arange(80) % 2
    with pytest.raises(InvalidInputError, match=r"at least 30 .* for 80 labelled rows in 2 groups"):
        evaluate(Z, codes, label_counts=(10,), groups=np.arange(80) // 40)
    with pytest.raises(InvalidInputError, match=r"groups must have one entry per row of Z \(80\)"):
        evaluate(Z, codes, groups=[1, 2])


def test_standard_errors(rng):
    codes = np.arange(80) % 2
    measured = evaluate(rng.normal(size=(80, 2)), codes, label_counts=(4, 8), n_draws=5)
    np.testing.assert_allclose(
        measured.standard_error, measured.scores.std(axis=1, ddof=1) / np.sqrt(5)
    )
    single = evaluate(rng.normal(size=(80, 2)), codes, label_counts=(4,), n_draws=1)
    assert single.standard_error.tolist() == [0.0]


def test_any_classifier(rng):
    codes = np.arange(90) % 3
    Z = rng.normal(size=(90, 4)) + codes[:, None]
    options = {"label_counts": (9, 30), "n_draws": 3}
    slow = evaluate(Z, codes, classifier=KNeighborsClassifier(1), **options)
    np.testing.assert_allclose(slow.scores, evaluate(Z, codes, **options).scores)
    linear = evaluate(Z, codes, classifier=LogisticRegression(), **options)
    assert linear.mean[1] > 0.5
    forest = evaluate(Z, codes, classifier=RandomForestClassifier(5, random_state=0), **options)
    assert forest.mean[1] > 0.5, "an ensemble has no truth value before it is fitted"


def test_the_ratio_is_always_finite_and_positive():
    assert improvement_ratio(0.4, 0.6, 100) == pytest.approx(1.5)
    assert improvement_ratio(0.0, 0.0, 100) == 1.0
    assert improvement_ratio(0.0, 0.1, 100) == pytest.approx(20.0)
    assert improvement_ratio(0.1, 0.0, 100) == pytest.approx(0.05)
    many = improvement_ratio([0.4, 0.0], [0.6, 0.1], [100, 50])
    np.testing.assert_allclose(many, [1.5, 10.0])
