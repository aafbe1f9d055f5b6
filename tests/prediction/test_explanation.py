"""Columns that matter, and labelled rows nearest to a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import l2t
from l2t.classifiers.feature_map import FeatureMap
from l2t.exceptions import InvalidInputError
from l2t.prediction.model import EstimatorHead


@pytest.fixture(scope="module")
def found():
    """A target with 20 labels, by the sign of column b, and a source with other classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 1] > 0, "up", "down").astype(object)
    y[20:] = None
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    source = pd.DataFrame(rng.normal(size=(40, 3)), columns=["c", "b", "a"])
    known = (source, np.array(["cat", "dog"])[np.arange(40) % 2])
    return l2t.predict(known, (frame, y), classifier="logistic")


def test_a_column_matters_as_much_as_predictions_change_with_it(found):
    """The model is a tree with one split, on column b."""
    X = found.target.X
    tree = DecisionTreeClassifier(max_depth=1).fit(X, X[:, 1] > 0)
    part = FeatureMap(None, np.zeros(3)), EstimatorHead(tree)
    found = replace(found, model=replace(found.model, parts=(part,), weights=None, floor=None))
    importance = found.importance()
    assert next(iter(importance)) == "b"
    assert importance["a"] == importance["c"] == 0.0
    # Of two shuffled signs of equal frequency, half differ.
    assert importance["b"] == pytest.approx(0.5, abs=0.1)
    assert found.importance() == importance
    assert found.importance(random_state=1) != importance


def test_all_features_of_a_column_of_a_table_are_shuffled_together():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, size=120)
    frame = pd.DataFrame({"noise": rng.normal(size=120)})
    frame["colour"] = np.array(["red", "green", "blue"])[codes]
    y = np.array(["cat", "dog", "owl"], dtype=object)[codes]
    y[30:] = None
    found = l2t.predict([], (frame, y), classifier="logistic")
    importance = found.importance()
    assert set(importance) == {"noise", "colour"}
    assert importance["colour"] == pytest.approx(2 / 3, abs=0.1)
    assert importance["noise"] < 0.05


def test_the_nearest_labelled_rows_are_those_of_smallest_distance(found):
    features = found.model.parts[0][0]
    source = found.sources[0]
    labelled = np.flatnonzero(found.given)
    places = [(None, int(row)) for row in labelled] + [(0, row) for row in range(len(source))]
    Z = np.concatenate([features(found.target.X[labelled]), features(source.X)])
    for row in (0, 50):
        distances = np.linalg.norm(Z - features(found.target.X[[row]]), axis=1)
        order = [place for place in np.argsort(distances) if places[place] != (None, row)][:5]
        nearest = found.nearest(row)
        assert [(one.source, one.row) for one in nearest] == [places[place] for place in order]
        assert [one.distance for one in nearest] == pytest.approx(distances[order])
        for one in nearest:
            assert one.label == (found.target if one.source is None else source).y[one.row]


def test_fewer_labelled_rows_are_all_neighbours(found):
    alone = replace(found, sources=())
    assert len(alone.nearest(0, 100)) == 19
    assert len(alone.nearest(100, 100)) == 20
    assert len(found.nearest(100, 100)) == 60


def test_wrong_arguments_have_a_sentence(found):
    with pytest.raises(InvalidInputError, match="row must be below 200, got 200"):
        found.nearest(200)
    with pytest.raises(InvalidInputError, match="n must be"):
        found.nearest(0, 0)
    rng = np.random.default_rng(0)
    wide = l2t.Domain(rng.normal(size=(30, 101)), np.arange(30) % 2, labeled=np.arange(30) < 10)
    wide_found = l2t.predict([], wide, classifier="logistic")
    with pytest.raises(InvalidInputError, match="at most 100 columns, got 101"):
        wide_found.importance()
    assert wide_found.summary()["importance"] is None
