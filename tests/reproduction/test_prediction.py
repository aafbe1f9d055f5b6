"""A study of predictions, as small as it can be."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest, spearmanr

from l2t.experiences import open_store
from l2t.reflection import learn, restated
from reproduction import prediction
from reproduction.prediction import ABLATIONS, BANKS, Coverage, measure_prediction

pytestmark = pytest.mark.slow

#: Testing pairs come one after the other, with eight runs each.
HALVES = (slice(0, 8), slice(8, 16))


class Measured:
    """The study, done twice with the same stores."""

    def __init__(self, small_pairs):
        self.stores = [open_store("memory://") for _ in range(3)]
        pairs = [small_pairs(n, seed) for n, seed in ((2, 0), (2, 1), (4, 2))]
        self.collections = []
        self.studies = []
        collect = prediction.collect

        def counted(*args, **kwargs):
            self.collections.append(collect(*args, **kwargs))
            return self.collections[-1]

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(prediction, "collect", counted)
            # Nothing to choose: this is not about learning.
            quick = partial(learn, gamma=1e-5, huber=0.1, n_starts=1, n_folds=2)
            patched.setattr(prediction, "learn", quick)
            for _ in range(2):
                self.studies.append(measure_prediction(*pairs, self.stores, progress=False))


@pytest.fixture(scope="module")
def measured(small_pairs):
    return Measured(small_pairs)


def test_all_algorithms_on_training_and_testing_pairs_one_on_fresh_ones(measured):
    first = [(each.done, each.failed, each.already_there) for each in measured.collections[:3]]
    assert first == [(16, 0, 0), (16, 0, 0), (4, 0, 0)]
    study = measured.studies[0]
    assert (study.n_train, study.n_test) == (16, 16)
    assert len(study.algorithms) == len(study.predicted) == len(study.actual) == 16
    assert len(set(study.algorithms)) == 8


def test_what_was_collected_is_not_collected_again(measured):
    again = [(each.done, each.failed, each.already_there) for each in measured.collections[3:]]
    assert again == [(0, 0, 16), (0, 0, 16), (0, 0, 4)]
    first, second = measured.studies
    assert second.rank_correlations == first.rank_correlations
    assert second.within == first.within
    assert second.coverage == first.coverage
    np.testing.assert_array_equal(second.predicted, first.predicted)


def test_actual_ratios_are_means_over_few_labels(measured):
    runs = {}
    for each in measured.stores[1].experiences(status="done"):
        runs.setdefault(each.run_key, []).append(each)
    ratios = [np.mean([e.improvement_ratio for e in rows]) for rows in runs.values()]
    study = measured.studies[0]
    assert {e.n_labels for rows in runs.values() for e in rows} == {3, 15, 30}
    np.testing.assert_allclose(np.sort(study.actual), np.sort(ratios))
    predicted = [study.reflection.predict(rows[0].statistics) for rows in runs.values()]
    np.testing.assert_allclose(np.sort(study.predicted), np.sort(predicted))


def test_every_ablation_and_bank_is_measured(measured):
    study = measured.studies[0]
    assert set(study.rank_correlations) == set(study.within) == {"all three", *ABLATIONS, *BANKS}
    for values in (study.rank_correlations, study.within):
        assert all(-1 <= value <= 1 for value in values.values())
    pooled = spearmanr(study.predicted, study.actual).statistic
    assert study.rank_correlations["all three"] == pytest.approx(pooled)
    halves = [spearmanr(study.predicted[a], study.actual[a]).statistic for a in HALVES]
    assert study.within["all three"] == pytest.approx(np.mean(halves))


def test_coverage_counts_fresh_pairs(measured):
    study = measured.studies[0]
    assert [each.n_labels for each in study.coverage] == [3, 15, 30, None]
    store, function = measured.stores[2], study.reflection
    inside = {}
    past = store.experiences(status="done")
    for each in restated(past, store, n_neighbors=function.n_neighbors):
        low, high = function.interval(each.statistics, each.n_labels)
        inside[each.run_key, each.n_labels] = low <= each.improvement_ratio <= high
    *single, by_turns = study.coverage
    for each in study.coverage:
        assert (each.pairs, each.level) == (4, 0.9)
    for each in single:
        assert each.covered == sum(inside[key] for key in inside if key[1] == each.n_labels)
    keys = list(dict.fromkeys(key for key, _ in inside))
    assert by_turns.covered == sum(inside[key, (3, 15, 30)[i % 3]] for i, key in enumerate(keys))


@pytest.mark.parametrize(
    ("covered", "agrees"), [(200, False), (188, True), (180, True), (165, False)]
)
def test_a_coverage_agrees_with_its_level_or_not(covered, agrees):
    assert Coverage(15, covered, 200, 0.9).agrees is agrees
    assert (binomtest(covered, 200, 0.9).pvalue > 0.05) == agrees
