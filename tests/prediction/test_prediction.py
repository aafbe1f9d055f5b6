"""Predictions of a target's classes: their shape, their honesty, and what is said about them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import l2t
from l2t import Domain
from l2t.exceptions import InvalidInputError


@pytest.fixture(scope="module")
def kinds():
    """A source of six classes and a target of three others, in eight features, in which classes differ."""
    rng = np.random.default_rng(3)
    centres = 3 * rng.normal(size=(9, 8))
    ys, yt = np.repeat(np.arange(6), 30), np.repeat([6, 7, 8], 30)
    source = Domain(centres[ys] + rng.normal(size=(180, 8)), ys, name="source")
    names = np.array([f"class {c}" for c in yt], dtype=object)
    few = np.isin(np.arange(90) % 30, [0, 1, 2, 3])
    return source, Domain(centres[yt] + rng.normal(size=(90, 8)), names, labeled=few, name="target")


@pytest.fixture(scope="module")
def found(kinds):
    return l2t.predict(*kinds)


def test_every_row_has_a_class_and_its_probability(kinds, found):
    _, target = kinds
    assert found.labels.shape == found.probability.shape == found.given.shape == (90,)
    assert found.probabilities.shape == (90, 3)
    assert list(found.classes) == ["class 6", "class 7", "class 8"]
    np.testing.assert_array_equal(found.given, target.labeled)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.probability, found.probabilities.max(axis=1))
    assert np.mean(found.labels == target.y) > 0.9


def test_the_report_says_what_is_used_and_why(found):
    rows = found.report.rows
    (used,) = [row for row in rows if row.used]
    assert (used.features == "plain") == (found.choice == "identity")
    assert used.classifier == found.classifier
    assert used.reason
    assert {row.classifier for row in rows if row.features == "plain"} >= {
        "nearest neighbour",
        "nearest centroid",
        "logistic",
        "label spreading",
    }
    assert all(0 <= row.measured <= 1 and row.error > 0 for row in rows)
    assert found.report.to_frame().used.sum() == 1
    assert found.report.sentences[0].startswith(f"Used: {found.classifier}")
    assert "<table" in found._repr_html_()


def test_no_target_label_reaches_the_features(kinds):
    source, target = kinds
    shuffled = target.y.copy()
    shuffled[target.labeled] = np.random.default_rng(0).permutation(shuffled[target.labeled])
    first = l2t.predict(source, target).inference.candidates
    other = Domain(target.X, shuffled, labeled=target.labeled)
    second = l2t.predict(source, other).inference.candidates
    for name in first:
        np.testing.assert_array_equal(first[name].W, second[name].W)


def test_labels_that_are_not_marked_are_not_read(kinds, found):
    source, target = kinds
    hidden = np.where(target.labeled, target.y, None)
    again = l2t.predict(source, (target.X, hidden))
    np.testing.assert_array_equal(again.labels, found.labels)
    np.testing.assert_array_equal(again.probability, found.probability)


def test_frames_arrays_and_several_sources(kinds, found):
    source, target = kinds
    columns = [f"f{i}" for i in range(8)]
    halves = [
        (pd.DataFrame(source.X[source.y < 3], columns=columns), source.y[source.y < 3]),
        (pd.DataFrame(source.X[source.y >= 3], columns=columns), source.y[source.y >= 3]),
    ]
    frame = pd.DataFrame(target.X, columns=columns)
    again = l2t.predict(halves, (frame, np.where(target.labeled, target.y, None)))
    assert again.model.feature_names == tuple(columns)
    assert np.mean(again.labels == found.labels) > 0.95


def test_polars_frames(kinds, found):
    source, target = kinds
    columns = [f"f{i}" for i in range(8)]
    ours, theirs = (pl.DataFrame(each.X, schema=columns) for each in (source, target))
    labels = pl.Series(
        [y if known else None for y, known in zip(target.y, target.labeled, strict=True)]
    )
    again = l2t.predict((ours, source.y), (theirs, labels))
    np.testing.assert_array_equal(again.labels, found.labels)
    assert again.model.feature_names == tuple(columns)
    np.testing.assert_array_equal(again.model.predict(theirs[columns[::-1]]), found.labels)


def test_a_classifier_that_is_asked_for_is_used(kinds):
    found = l2t.predict(*kinds, classifier="nearest neighbour")
    assert found.classifier == "nearest neighbour"
    assert "asked for" in found.report.sentences[0]
    with pytest.raises(InvalidInputError, match=re.escape("classifier must be one of auto, ")):
        l2t.predict(*kinds, classifier="forest")


def test_balance_is_assumed_only_where_it_is_known(kinds):
    rows = {row.classifier for row in l2t.predict(*kinds).report.rows}
    assert "balanced k-means" not in rows
    rows = {row.classifier for row in l2t.predict(*kinds, balanced=True).report.rows}
    assert "balanced k-means" in rows


def test_without_labels_the_classes_of_the_source_are_the_targets(kinds):
    source, _ = kinds
    rng = np.random.default_rng(0)
    rows = source.X + 0.1 * rng.normal(size=source.X.shape)
    found = l2t.predict(source, rows)
    assert list(found.classes) == [0, 1, 2, 3, 4, 5]
    assert np.mean(found.labels == source.y) > 0.95
    assert not found.given.any()
    assert any("same classes" in each for each in found.report.sentences)


def test_without_any_label_there_is_nothing_to_predict(kinds):
    source, target = kinds
    with pytest.raises(InvalidInputError, match="needs labelled target rows, got none of 90"):
        l2t.predict(Domain(source.X), target.X)


def test_without_a_source_the_target_alone_is_used(kinds):
    _, target = kinds
    found = l2t.predict([], target)
    assert np.mean(found.labels == target.y) > 0.9


def test_uneven_columns_are_scaled_and_the_report_says_so(kinds):
    source, target = kinds
    scales = np.ones(8)
    scales[0] = 1e4
    found = l2t.predict(
        Domain(source.X * scales, source.y),
        Domain(target.X * scales, target.y, labeled=target.labeled),
    )
    assert any("standard deviation" in each for each in found.report.sentences)
    assert np.mean(found.labels == target.y) > 0.9
    np.testing.assert_array_equal(found.model.predict(target.X * scales), found.labels)


def test_suggested_rows_are_not_labelled_yet(kinds, found):
    _, target = kinds
    rows = found.suggest(6)
    assert len(set(rows.tolist())) == 6
    assert not target.labeled[rows].any()
    assert len(found.suggest(1000)) == (~target.labeled).sum()
    with pytest.raises(InvalidInputError, match="n must be a whole number of at least 1, got 0"):
        found.suggest(0)


def test_the_same_seed_gives_the_same_prediction(kinds, found):
    again = l2t.predict(*kinds)
    np.testing.assert_array_equal(again.probabilities, found.probabilities)
