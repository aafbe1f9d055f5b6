"""Plain classifiers of tables with shared classes."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar

import l2t
from l2t.classifiers.trees import TreeHead
from l2t.prediction.pooled import mixture_weight
from l2t.prediction.pooled_rows import LEARNERS


def _table(rng, n, *, flip=False):
    """A table whose class depends on a threshold and on a category, as trees find and neighbours do not."""
    frame = pd.DataFrame(
        {
            "income": rng.lognormal(8, 1, n),
            "age": rng.integers(18, 80, n).astype(float),
            "region": rng.choice(["north", "south", "west"], n),
            "noise": rng.normal(size=n),
        }
    )
    yes = (frame["age"] > 45) ^ (frame["region"] == "south").to_numpy()
    yes ^= rng.random(n) < 0.05
    yes = ~yes if flip else yes
    frame.loc[rng.random(n) < 0.05, "income"] = np.nan
    return frame, np.where(yes, "yes", "no").astype(object)


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    return _table(rng, 400), _table(rng, 300)


def _few(labels, n):
    few = np.full(len(labels), None, dtype=object)
    few[:n] = labels[:n]
    return few


@pytest.mark.parametrize("prior", [(4.0, 1.0), (1.0, 1.0)])
def test_the_weight_maximises_the_posterior(prior):
    rng = np.random.default_rng(0)
    first, second = rng.random(30), rng.random(30)

    def loss(w):
        fit = np.log((1 - w) * first + w * second).sum()
        return -(fit + prior[0] * np.log(1 - w) + prior[1] * np.log(w))

    best = minimize_scalar(loss, bounds=(1e-6, 1 - 1e-6), method="bounded").x
    assert mixture_weight(first, second, prior) == pytest.approx(best, abs=1e-4)


def test_without_target_labels_the_source_is_used(tables):
    (source, y), (target, truth) = tables
    found = l2t.predict((source, y), target)
    accuracy = np.mean(found.labels == truth)
    assert accuracy > 0.85
    used = next(row for row in found.report.rows if row.used)
    assert used.expected is None
    assert 0.6 < found.probability.mean() < accuracy + 0.05


def test_labels_that_contradict_the_source_take_its_weight():
    rng = np.random.default_rng(1)
    source, y = _table(rng, 300)
    target, truth = _table(rng, 300, flip=True)
    found = l2t.predict((source, y), (target, _few(truth, 80)))
    assert np.mean(found.labels[80:] == truth[80:]) > 0.7
    used = next(row for row in found.report.rows if row.used)
    assert used.low <= np.mean(found.labels[80:] == truth[80:]) <= used.high


def test_random_labels_are_promised_at_chance(tables):
    (source, _), (target, _) = tables
    rng = np.random.default_rng(2)
    y, truth = (rng.choice(["a", "b"], len(frame)).astype(object) for frame in (source, target))
    found = l2t.predict((source, y), (target, _few(truth, 40)))
    used = next(row for row in found.report.rows if row.used)
    assert used.expected < 0.65
    assert found.probability.mean() < 0.7


def test_a_class_of_the_target_alone_is_learned_from_its_labels(tables):
    (source, y), (target, truth) = tables
    source, y = source[source["region"] != "west"], y[(source["region"] != "west").to_numpy()]
    truth = np.where(target["region"] == "west", "new", truth).astype(object)
    found = l2t.predict((source, y), (target, _few(truth, 60)))
    assert set(found.classes) == {"new", "yes", "no"}
    assert np.mean(found.labels[60:] == truth[60:]) > 0.75


def test_labels_of_one_class_are_enough_if_the_source_has_the_others(tables):
    (source, y), (target, truth) = tables
    few = np.full(len(truth), None, dtype=object)
    few[np.flatnonzero(truth == "yes")[:3]] = "yes"
    found = l2t.predict((source, y), (target, few))
    assert set(found.classes) == {"yes", "no"}
    assert np.mean(found.labels == truth) > 0.75
    assert found.promise is None  # the accuracy on rows of one class is its recall
    few[few == "yes"] = "third"
    assert set(l2t.predict((source, y), (target, few)).classes) == {"yes", "no", "third"}


def test_the_model_is_saved_with_encoder_and_trees(tables, tmp_path):
    (source, y), (target, truth) = tables
    found = l2t.predict((source, y), (target, _few(truth, 30)))
    assert any(isinstance(head, TreeHead) for _, head in found.model.parts)
    model = l2t.load_model(found.model.save(tmp_path / "model.l2t"))
    np.testing.assert_array_equal(model.predict_proba(target), found.probabilities)
    later = pd.DataFrame({"age": [50.0], "region": ["east"], "noise": [None], "income": [None]})
    assert model.predict(later)[0] == "yes"


def test_rows_in_another_order_get_the_same_labels(tables):
    (source, y), (target, truth) = tables
    few = _few(truth, 20)
    found = l2t.predict((source, y), (target, few))
    order = np.random.default_rng(3).permutation(len(truth))
    again = l2t.predict((source, y), (target.iloc[order], few[order]))
    np.testing.assert_array_equal(again.probabilities, found.probabilities[order])


def test_groups_are_not_on_both_sides():
    rng = np.random.default_rng(4)
    y = _table(rng, 200)[1]
    X = np.repeat(rng.normal(size=(30, 4)), 10, axis=0) + 1e-3 * rng.normal(size=(300, 4))
    groups = np.repeat(np.arange(30), 10)
    truth = np.repeat(rng.choice(["yes", "no"], 30), 10).astype(object)
    target = l2t.Domain(X, truth, labeled=groups < 10, groups=groups)
    numbers = rng.normal(size=(200, 4))
    found = l2t.predict(l2t.Domain(numbers, y), target)
    used = next(row for row in found.report.rows if row.used)
    assert used.expected < 0.8  # classes of groups are random: rows of one would promise nearly 1


@pytest.mark.parametrize("name", LEARNERS[1:])
def test_trees_are_classifiers_by_name(name):
    pair = l2t.domains.PairSampler(l2t.domains.digits(), l2t.domains.digits(), 1, n_classes=3)[0]
    few = np.zeros(len(pair.target), dtype=bool)
    few[:60] = True
    target = l2t.Domain(pair.target.X, pair.target.y, labeled=few)
    found = l2t.predict(pair.source, target, classifier=name)
    assert np.mean(found.labels[60:] == pair.target.y[60:]) > 0.8


def test_a_source_is_not_moved_onto_a_target_with_a_further_class():
    rng = np.random.default_rng(1)
    centres = 4 * np.eye(3, 6)

    def rows(codes):
        return centres[codes] + rng.normal(size=(len(codes), 6))

    codes, of_target = np.repeat([0, 1], 40), np.repeat([0, 2], 30)
    names = np.array(["a", "b", "c"], dtype=object)
    labeled = np.arange(60) % 30 < 5
    known = np.where(labeled, names[of_target], None)
    answer = l2t.predict((rows(codes), names[codes]), (rows(of_target), known))
    assert "vote" not in str(answer.report)
    assert np.mean(answer.labels == names[of_target]) > 0.9
