"""The default is left for large rehearsed gains and for the evidence of many labels, and for nothing else."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from l2t.experiences.evaluation import expected_accuracy
from l2t.prediction.choice import AVERAGED_CLASSIFIERS, Comparison, choose
from l2t.prediction.classifiers import CLASSIFIERS, DEFAULT
from l2t.prediction.labelling import STRATEGIES, labels_needed, suggest_rows
from l2t.prediction.scoring import Scores, folds

FEATURES = ("plain", "spectrum")
NAMES = tuple(CLASSIFIERS)
COMBINATIONS = [(features, name) for features in FEATURES for name in NAMES]


def scores(level=0.6, n_trials=6, size=40, noise=0.0, **better):
    """Scores in which all are alike, but for classifiers that are better by so much on plain features."""
    values = np.full((n_trials, len(FEATURES), len(NAMES)), level)
    for name, gain in better.items():
        values[:, 0, NAMES.index(name.replace("_", " "))] += gain
    values += noise * np.random.default_rng(0).normal(size=values.shape)
    sizes = np.full(n_trials, size)
    return Scores(FEATURES, NAMES, values, 3, sizes, int(sizes.sum()))


def chosen(rehearsed=None, measured=None, corrections=None, features="plain", **options):
    comparison = Comparison(rehearsed, measured, corrections or {}, (features, DEFAULT), 3)
    used, rows = choose(COMBINATIONS, comparison, **options)
    assert len(rows) == len(COMBINATIONS)
    return used[0]


def test_without_any_evidence_the_default_is_used():
    used = chosen()
    assert (used.features, used.classifier, used.expected) == ("plain", DEFAULT, None)
    assert chosen(features="spectrum").features == "spectrum"


def test_a_single_combination_follows_a_large_rehearsed_gain():
    used = chosen(scores(nearest_neighbour=0.2), single=True)
    assert (used.features, used.classifier) == ("plain", "nearest neighbour")
    assert used.expected > 0.65
    assert used.gain == pytest.approx(gain(scores(nearest_neighbour=0.2)))


def test_three_classifiers_and_what_is_clearly_better_on_labelled_rows_are_averaged():
    better = scores(nearest_neighbour=0.2, nearest_centroid=0.1)
    comparison = Comparison(better, None, {}, ("plain", DEFAULT), 3)
    used, _ = choose(COMBINATIONS, comparison)  # a rehearsed gain is not enough
    assert [(row.features, row.classifier) for row in used] == [
        ("plain", n) for n in AVERAGED_CLASSIFIERS
    ]
    used, _ = choose(COMBINATIONS, dataclasses.replace(comparison, measured=better))
    assert (used[0].features, used[0].classifier) == ("plain", "nearest neighbour")
    assert {(row.features, row.classifier) for row in used[1:]} == {
        ("plain", n) for n in AVERAGED_CLASSIFIERS
    }
    used, _ = choose(COMBINATIONS, comparison, single=True)
    assert [row.classifier for row in used] == ["nearest neighbour"]


def test_with_few_columns_the_default_is_averaged_with_up_to_three_that_are_clearly_better():
    better = scores(nearest_neighbour=0.2, nearest_centroid=0.1)
    better.values[:, 1] += 0.05
    used, _ = choose(COMBINATIONS, Comparison(better, better, {}, ("plain", "logistic"), 3))
    gains = [row.gain for row in used]
    assert gains == sorted(gains, reverse=True)
    assert (len(used), used[2].features, used[3].classifier) == (4, "spectrum", "logistic")


def gain(rehearsed, features="plain", classifier="nearest neighbour"):
    return Comparison(rehearsed, None, {}, ("plain", DEFAULT), 3).gain((features, classifier))


def test_an_uncertain_gain_counts_less():
    noisy = scores(n_trials=2)
    noisy.values[:, 0, NAMES.index("nearest neighbour")] += [0.3, -0.2]
    assert 0 < gain(noisy) < 0.2 * gain(scores(nearest_neighbour=0.05))


def test_where_everything_rehearses_near_1_gains_count_less():
    sure, unsure = (gain(scores(level, nearest_neighbour=0.02)) for level in (0.97, 0.6))
    assert 0 < sure < 0.5 * unsure


def test_without_a_rehearsal_the_labelled_rows_must_be_clear():
    assert chosen(None, scores(nearest_neighbour=0.02)).classifier == DEFAULT
    assert chosen(None, scores(nearest_neighbour=0.2)).classifier == "nearest neighbour"


def test_many_labels_outweigh_the_rehearsal():
    rehearsed = scores(nearest_neighbour=0.1)
    against = scores(nearest_neighbour=-0.15, size=200)
    few = scores(nearest_neighbour=-0.15, n_trials=1, size=2)
    assert chosen(rehearsed, against, single=True).classifier != "nearest neighbour"
    assert chosen(rehearsed, few, single=True).classifier == "nearest neighbour"


def test_balanced_classes_are_assumed_only_where_they_are_known():
    rehearsed = scores(**{"balanced k-means": 0.2})
    assert chosen(rehearsed).classifier == DEFAULT
    assert chosen(rehearsed, balanced=True).classifier == "balanced k-means"
    comparison = Comparison(scores(**{"balanced k-means": -0.2}), None, {}, ("plain", DEFAULT), 3)
    used, _ = choose(COMBINATIONS, comparison, balanced=True)
    assert [row.classifier for row in used] == list(AVERAGED_CLASSIFIERS)


def test_where_neighbourhoods_mislead_nothing_that_trusts_them_is_used():
    rehearsed, measured = scores(**{"soft k-means": 0.1}), scores(**{"soft k-means": 0.2})
    rehearsed.values[:, 1] += 0.15
    assert chosen(rehearsed, single=True).features == "spectrum"
    assert chosen(rehearsed, corrections={"spectrum": -0.04}, single=True).features == "spectrum"
    misled = {"spectrum": -0.06}
    used = chosen(rehearsed, corrections=misled)
    assert (used.features, used.classifier, used.expected) == ("plain", DEFAULT, None)
    assert chosen(rehearsed, measured, misled).classifier == DEFAULT
    assert chosen(rehearsed, scores(logistic=0.2), misled).classifier == "logistic"
    assert chosen(rehearsed, corrections=misled, features="spectrum").features == "spectrum"


def test_what_should_be_better_than_what_is_used_says_why_it_is_not():
    """For every combination above the marked one in the report, and for no other."""
    rehearsed = scores(nearest_neighbour=0.2, logistic=0.01)
    default = ("plain", DEFAULT)
    used, rows = choose(COMBINATIONS, Comparison(rehearsed, None, {}, default, 3))
    reasons = {(row.features, row.classifier): row.reason for row in rows if row.reason}
    assert set(reasons) == {
        (row.features, row.classifier) for row in rows if row.expected > used[0].expected
    }
    assert reasons == {
        ("plain", "nearest neighbour"): "but that is not clear on the labelled rows",
        ("plain", "logistic"): "which is not clearly more",
    }
    measured = scores(**{"soft k-means": 0.2})
    _, rows = choose(COMBINATIONS, Comparison(rehearsed, measured, {"spectrum": -0.06}, default, 3))
    (row,) = (row for row in rows if row.reason)
    assert row.classifier == "soft k-means"
    assert row.reason.startswith("but relies on neighbourhoods, which are expected to mislead")
    measured = scores(nearest_neighbour=0.05, nearest_centroid=0.04)
    rehearsed = scores(nearest_centroid=0.2)
    used, rows = choose(COMBINATIONS, Comparison(rehearsed, measured, {}, ("plain", "logistic"), 3))
    (row,) = (row for row in rows if row.reason)
    assert (row.classifier, row.reason) == ("nearest centroid", "and is averaged with it")
    assert row in used


def test_what_to_expect_weighs_the_rehearsal_and_the_labelled_rows():
    assert expected_accuracy(0.6, 240) < chosen(scores(0.6), scores(0.6)).expected < 0.6
    assert 0.6 < chosen(scores(0.6), scores(0.7)).expected < 0.7
    contradicting = chosen(scores(0.95), scores(0.4))
    assert contradicting.expected == pytest.approx(expected_accuracy(0.4, 240))
    assert chosen(None, scores(1.0)).expected < 1.0  # all of few rows right is no certainty


def test_every_fold_keeps_every_class():
    codes = np.array([0] * 7 + [1] * 2 + [2] + [-1] * 10)
    found = folds(codes)
    held, times = np.unique(np.concatenate([test for _, test in found]), return_counts=True)
    assert set(times.tolist()) == {3}, "every row once in each of three draws"
    assert held.tolist() == list(range(9)), "not the only row of its class"
    for train, test in found:
        assert not set(train.tolist()) & set(test.tolist())
        assert set(codes[train]) == {0, 1, 2}
        assert (codes[test] >= 0).all()
    assert folds(np.array([0, 1, 2])) == []


def test_groups_are_held_out_together():
    codes, groups = np.tile([0, 1], 10), np.repeat(np.arange(5), 4)
    for train, test in folds(codes, groups):
        assert not set(groups[train].tolist()) & set(groups[test].tolist())


def test_suggested_rows_are_uncertain_and_differ():
    """Two far groups of uncertain rows, and many certain ones: one row of each group."""
    Z = np.concatenate([np.full((3, 2), 9.0), np.full((3, 2), -9.0), np.zeros((30, 2))])
    Z += 0.01 * np.random.default_rng(0).normal(size=Z.shape)
    P = np.where(np.arange(36)[:, None] < 6, [0.5, 0.5], [0.99, 0.01])
    labelled = np.arange(36) == 35
    rows = suggest_rows(Z.__getitem__, P, labelled, 2)
    assert sorted(np.sign(Z[rows, 0]).tolist()) == [-1, 1]
    assert max(rows) < 6
    assert sorted(suggest_rows(Z.__getitem__, P, labelled, 50).tolist()) == list(range(35))
    assert len(suggest_rows(np.zeros((10, 2)).__getitem__, P[:10], labelled[:10], 3)) == 3
    assert len(suggest_rows(Z.__getitem__, P[:, :1], labelled, 2)) == 2


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("n", [1, 7, 34, 50])
def test_every_strategy_suggests_distinct_rows_without_a_label(strategy, n):
    rng = np.random.default_rng(0)
    Z, P = rng.normal(size=(40, 3)), rng.dirichlet(np.ones(3), size=40)
    labelled = np.arange(40) < 5
    rows = suggest_rows(Z.__getitem__, P, labelled, n, strategy)
    assert len(set(rows.tolist())) == min(n, 35)
    assert rows.min() >= 5
    same = np.zeros((40, 3))
    assert len(set(suggest_rows(same.__getitem__, P, labelled, n, strategy))) == min(n, 35)


def four_groups():
    """Groups of 40, 30, 20 and 10 rows; half of the rows of each are uncertain."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2, 3], [40, 30, 20, 10])
    Z = 9.0 * np.eye(4)[groups] + 0.1 * rng.normal(size=(100, 4))
    sure = np.where(np.arange(100) % 2, 0.9, 0.4)
    P = np.full((100, 4), 1.0) * ((1 - sure) / 3)[:, None]
    P[np.arange(100), groups] = sure
    return groups, Z, P


def test_covering_rows_are_of_the_largest_groups_without_a_label():
    groups, Z, P = four_groups()
    labelled = np.arange(100) == 0  # in the largest group
    rows = suggest_rows(Z.__getitem__, P, labelled, 3, "covering")
    assert groups[rows].tolist() == [1, 2, 3]


def test_balanced_rows_are_of_the_classes_with_the_fewest_labels():
    groups, Z, P = four_groups()
    labelled = np.isin(np.arange(100), [0, 1, 2, 40, 41, 70])  # 3, 2, 1 and 0 of the groups
    rows = suggest_rows(Z.__getitem__, P, labelled, 6, "balanced")
    assert np.bincount(groups[rows], minlength=4).tolist() == [0, 1, 2, 3]


def test_diverse_rows_are_of_uncertain_groups():
    groups, Z, P = four_groups()
    P[groups < 2] = np.eye(4)[0]  # certain
    rows = suggest_rows(Z.__getitem__, P, np.zeros(100, dtype=bool), 2, "diverse")
    assert sorted(groups[rows].tolist()) == [2, 3]


@pytest.mark.parametrize(
    ("accuracy", "curve", "sentence"),
    [
        (
            0.85,
            {5: 0.85, 10: 0.95},
            "About 2 more labels per class should raise the accuracy to 90 %.",
        ),
        (0.4, {1: 0.4, 2: 0.5}, "About 1 more label per class should raise the accuracy to 50 %."),
        (0.85, {5: 0.85, 10: 0.86}, None),
        (0.85, {5: 0.85}, None),
        (0.995, {5: 0.85, 10: 0.99}, None),
        (0.9, {5: 1.0, 10: 1.0}, None),
    ],
)
def test_labels_needed(accuracy, curve, sentence):
    assert labels_needed(min(curve), accuracy, curve) == sentence


def test_original_features_are_used_where_they_are_clearly_better():
    comparison = Comparison(scores(logistic=0.2), None, {}, ("spectrum", DEFAULT), 3)
    used, _ = choose(COMBINATIONS, comparison)
    assert {row.features for row in used} == {"plain"}
    slightly = Comparison(scores(logistic=0.02), None, {}, ("spectrum", DEFAULT), 3)
    used, _ = choose(COMBINATIONS, slightly)
    assert {row.features for row in used} == {"spectrum"}
