"""Predictions of a target's classes: their shape, their honesty, and their report."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import l2t
from l2t import Domain
from l2t.exceptions import InvalidInputError
from l2t.prediction.training import column_scales


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


@pytest.fixture(scope="module")
def same_classes(kinds):
    """A source and a target of the classes 6, 7 and 8."""
    _, target = kinds
    codes = np.array([int(label[-1]) for label in target.y])
    source = Domain(target.X[::2] + 0.1, codes[::2], name="source")
    return source, Domain(target.X, codes, labeled=target.labeled)


@pytest.fixture(scope="module")
def found_of_same(same_classes):
    return l2t.predict(*same_classes)


@pytest.mark.parametrize("hidden", ["abc", 0.5, "class 6"])
@pytest.mark.parametrize("shared", [True, False])
def test_hidden_labels_of_any_type_change_nothing(request, shared, hidden):
    source, target = request.getfixturevalue("same_classes" if shared else "kinds")
    found = request.getfixturevalue("found_of_same" if shared else "found")
    labels = np.where(target.labeled, target.y.astype(object), hidden)
    again = l2t.predict(source, Domain(target.X, labels, labeled=target.labeled))
    assert again.labels.tolist() == found.labels.tolist()
    assert again.classes.tolist() == found.classes.tolist()
    np.testing.assert_array_equal(again.probabilities, found.probabilities)
    assert again.report.sentences == found.report.sentences


@pytest.mark.parametrize("kind", [str, float, lambda label: f"{label}.0"])
def test_spellings_of_one_label_are_one_class(same_classes, found_of_same, kind):
    source, target = same_classes
    found = l2t.predict(Domain(source.X, [kind(label) for label in source.y]), target)
    assert found.labels.dtype == found_of_same.labels.dtype
    np.testing.assert_array_equal(found.labels, found_of_same.labels)
    np.testing.assert_array_equal(found.probabilities, found_of_same.probabilities)


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
    assert isinstance(again.frame, pd.DataFrame)
    assert again.frame["predicted"].tolist() == again.labels.tolist()


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
    assert isinstance(again.frame, pl.DataFrame)
    assert again.frame.columns == ["predicted", "probability", "given"]
    assert again.frame["given"].to_list() == target.labeled.tolist()
    assert found.frame is None


def test_a_classifier_that_is_asked_for_is_used(kinds):
    found = l2t.predict(*kinds, classifier="nearest neighbour")
    assert found.classifier == "nearest neighbour"
    assert "requested" in found.report.sentences[0]
    with pytest.raises(InvalidInputError, match=re.escape("classifier must be one of auto, ")):
        l2t.predict(*kinds, classifier="forest")


def test_balance_is_assumed_only_where_it_is_known(kinds):
    source, target = kinds
    codes = np.unique(target.y, return_inverse=True)[1]
    rows = np.flatnonzero((codes == 0) | target.labeled | (np.arange(len(codes)) % 5 == 0))
    uneven = target.take(rows)
    shares = [
        l2t.predict(source, uneven, balanced=balanced).probabilities[~uneven.labeled].mean(axis=0)
        for balanced in (False, True)
    ]
    assert np.ptp(shares[1]) < 0.1 < np.ptp(shares[0])


def test_without_labels_the_classes_of_the_source_are_the_targets(kinds):
    source, _ = kinds
    rng = np.random.default_rng(0)
    rows = source.X + 0.1 * rng.normal(size=source.X.shape)
    found = l2t.predict(source, rows)
    assert list(found.classes) == [0, 1, 2, 3, 4, 5]
    assert np.mean(found.labels == source.y) > 0.95
    assert not found.given.any()
    assert (
        "No target row is labelled: the target is assumed to have the classes of the source "
        "(0, 1, 2, 3, 4, 5)." in found.report.sentences
    )


def test_shared_classes_are_predicted_saved_and_reported(kinds, tmp_path):
    source, _ = kinds
    rng = np.random.default_rng(1)
    X, y = source.X + rng.normal(size=source.X.shape) + 1.0, source.y
    few = np.arange(len(y)) % 6 == 0
    found = l2t.predict(source, Domain(X, y, labeled=few))
    plain = {(row.features, row.classifier, row.trained_on) for row in found.report.rows}
    assert {("plain", "logistic", "source"), ("plain", "logistic", "target")} <= plain
    assert sum(row.used for row in found.report.rows) == 1
    assert "Source and target have the same classes" in str(found.report)
    assert np.mean(found.labels == y) > 0.9
    assert abs(found.probability.mean() - found.report.rows[0].expected) < 0.1
    assert (
        f"{found.report.rows[0].outcome}." in found.report.sentences
    )  # the table and the sentences agree
    again = l2t.load_model(found.model.save(tmp_path / "model.l2t"))
    np.testing.assert_array_equal(again.predict_proba(X), found.probabilities)
    assert np.mean(again.predict(X + 0.1) == y) > 0.9
    assert found.inference.shared.trained_on == "both"
    assert found.inference.choice in found.inference.candidates


def test_partly_shared_classes_are_named(kinds):
    source, _ = kinds
    rng = np.random.default_rng(1)
    y = np.where(source.y == 5, 9, source.y)
    rows = np.isin(source.y, [3, 4, 5])
    X, y = source.X[rows] + 0.1 * rng.normal(size=(rows.sum(), 8)), y[rows]
    found = l2t.predict(source, Domain(X, y, labeled=np.arange(90) % 3 == 0))
    assert (
        "Source and target share the classes 3, 4; classes without labelled target rows: 0, 1, 2, 5; "
        "classes without source rows: 9." in found.report.sentences
    )
    assert np.mean(found.labels == y) > 0.8


def test_equal_labels_of_other_classes(kinds):
    """Labels that only look alike: nothing of the source's labels is trained on."""
    source, target = kinds
    codes = Domain(target.X, target.codes, labeled=target.labeled)
    apart = l2t.predict(source, codes, shared=False)
    assert list(apart.classes) == [0, 1, 2]
    assert np.mean(apart.labels == target.codes) > 0.9
    assert {row.trained_on for row in apart.report.rows} == {"target"}
    with pytest.raises(InvalidInputError, match="'auto' or 'target' with shared=False, got 'both'"):
        l2t.predict(source, codes, shared=False, train_on="both")
    with pytest.raises(InvalidInputError, match="needs classes that both domains share"):
        l2t.predict(source, target, shared=True)


def test_means_for_missing_values_are_computed_in_float64(kinds):
    source, target = kinds
    single = target.with_features(target.X.astype(np.float32))
    moved = Domain((source.X + 0.1).astype(np.float32))
    for rows in (single, moved):  # other classes, and those of the source
        means = l2t.predict(source, rows).model.means
        np.testing.assert_allclose(means, rows.X.mean(axis=0, dtype=np.float64), rtol=1e-12)


def test_the_report_says_which_sources_count(kinds):
    source, _ = kinds
    rng = np.random.default_rng(1)
    noise = Domain(rng.normal(size=source.X.shape), source.y, name="Noise")
    found = l2t.predict([source, noise], source.X + 0.1 * rng.normal(size=source.X.shape))
    assert "Weights of the sources: source (1) 1.00, Noise (2) not used." in found.report.sentences


def test_without_any_label_there_is_nothing_to_predict(kinds):
    source, target = kinds
    with pytest.raises(InvalidInputError, match="got none of 90; label a few rows of each class"):
        l2t.predict(Domain(source.X), target.X)


def test_labels_of_one_class_need_others(kinds):
    source, target = kinds
    only = Domain(target.X, target.y, labeled=np.arange(90) < 10)
    for sources, how in (([], {}), (source, {"shared": False})):
        with pytest.raises(InvalidInputError, match="two classes, got 10 of class 'class 6'"):
            l2t.predict(sources, only, **how)
    found = l2t.predict(source, only)
    assert "class 6" in found.classes
    assert any("Only rows of class 6 are labelled" in each for each in found.report.sentences)


@pytest.mark.parametrize("amounts", [np.linspace(0, 1, 90), np.arange(90)])
def test_amounts_are_not_classes(kinds, amounts):
    source, target = kinds
    with pytest.raises(InvalidInputError, match=r"90 different numbers .* pandas\.cut"):
        l2t.predict(source, Domain(target.X, amounts, labeled=np.ones(90, dtype=bool)))


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


def test_importing_l2t_does_not_import_scikit_learn():
    code = "import sys, l2t; l2t.__version__; assert not {'sklearn', 'numpy'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_figure_shows_every_row(found):
    figure = found.plot()
    assert [each.get_text() for each in figure.axes[0].get_yticklabels()] == [
        row.name for row in found.report.rows
    ]


def test_a_classifier_of_scikit_learn_is_trained_on_the_chosen_features(kinds):
    found = l2t.predict(*kinds, classifier=GaussianNB())
    assert (found.classifier, len(found.report.rows)) == ("GaussianNB", 1)
    assert found.choice == found.inference.choice
    assert np.mean(found.labels == kinds[1].y) > 0.9


def test_stages_are_reported(kinds):
    stages = []
    l2t.predict(*kinds, callback=stages.append)
    assert stages[-2:] == ["comparing classifiers", "predicting"]


def test_known_classes_and_stores_are_used(kinds, tmp_path):
    source, target = kinds
    past = Domain(source.X[source.y >= 3], source.y[source.y >= 3])
    few = Domain(source.X[source.y < 3], source.y[source.y < 3])
    known = l2t.domains.KnownClasses([past])
    alone, more = l2t.predict(few, target), l2t.predict(few, target, known=known)
    assert "3 known classes" in alone.inference.reason
    assert "6 known classes" in more.inference.reason
    with l2t.open_store(tmp_path / "past.db") as store:
        l2t.collect(
            [l2t.DomainPair(few, past)],
            store,
            algorithms=["gfk"],
            label_counts=(3,),
            n_draws=2,
            progress=False,
        )
        url = store.url
    assert "6 known classes" in l2t.predict(few, target, store=url).inference.reason


def test_groups_stay_together_where_rows_are_measured(kinds):
    """Every labelled row has one like it in its group: held out alone it would be known."""
    source, _ = kinds
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(["a", "b"], 20)).astype(object)
    rows = rng.normal(size=(40, 8))
    similar = rows + 0.15 * rng.normal(size=rows.shape)
    X, y = np.concatenate([rows, similar]), np.concatenate([labels, labels])
    groups = np.tile(np.arange(40), 2)
    aim = Domain(X, y, labeled=np.ones(80, dtype=bool), groups=groups)
    (row,) = [
        each
        for each in l2t.predict(source, aim, classifier="nearest neighbour").report.rows
        if each.features == "plain"
    ]
    assert row.measured < 0.8
    alone = Domain(X, y, labeled=np.ones(80, dtype=bool))
    (row,) = [
        each
        for each in l2t.predict(source, alone, classifier="nearest neighbour").report.rows
        if each.features == "plain"
    ]
    assert row.measured > 0.85


def test_a_rare_class_among_many_labelled_rows_is_trained_on(kinds):
    rng = np.random.default_rng(0)
    codes = np.where(np.arange(2000) % 1000 == 0, 2, np.arange(2000) % 2)
    X = np.array([[0.0] * 8, [4.0] * 8, [-9.0] * 8])[codes] + rng.normal(size=(2000, 8))
    found = l2t.predict(kinds[0], Domain(X, codes + 10, labeled=np.arange(2000) < 1800))
    assert list(found.classes) == [10, 11, 12]
    assert np.mean(found.labels == codes + 10) > 0.95
    assert found.labels[0] == 12


def test_a_target_among_the_known_classes_is_recognised_if_columns_are_divided(kinds):
    source, target = kinds
    X = target.X * np.where(np.arange(8) == 0, 1000.0, 1.0)
    whole = Domain(X, target.y)
    scaled = Domain(source.X * np.where(np.arange(8) == 0, 1000.0, 1.0), source.y)
    known = l2t.KnownClasses([l2t.normalize(whole, "zscore")])
    found = l2t.predict(scaled, Domain(X, target.y, labeled=target.labeled), known=known)
    assert "on 6 known classes" in found.inference.reason


def test_probabilities_do_not_depend_on_the_order_of_many_rows(kinds, monkeypatch):
    source, target = kinds
    whole = l2t.predict(source, target).model.temperature
    monkeypatch.setattr("l2t.prediction.model.MAX_CALIBRATION_ROWS", 30)
    assert l2t.predict(source, target).model.temperature == pytest.approx(whole, rel=0.5)


def test_accuracy_is_measured_on_rows_of_the_target(kinds):
    """A source of the same class names in turned features: a classifier of it is no use for the target."""
    rng = np.random.default_rng(1)
    centres, codes = 3 * rng.normal(size=(3, 8)), np.arange(300) % 3
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    X = centres[codes] + rng.normal(size=(300, 8))
    turned = (centres[codes] + rng.normal(size=(300, 8))) @ turn
    target = Domain(turned, codes, labeled=np.arange(300) < 30)
    found = l2t.predict((X, codes), target, classifier="nearest centroid")
    (used,) = [row for row in found.report.rows if row.used]
    true = np.mean((found.labels == codes)[30:])
    assert abs(used.measured - true) < 0.25


def test_the_inference_of_a_prediction_is_one_of_the_original_features(kinds):
    source, target = kinds
    scales = np.where(np.arange(8) == 0, 1000.0, 1.0)
    few = Domain(target.X * scales, target.y, labeled=target.labeled)
    found = l2t.predict(Domain(source.X * scales, source.y), few)
    columns = found.model.parts[0][0].first.columns
    W = found.inference.candidates["classes"].W
    inner = l2t.infer(
        Domain(few.X / columns, target.y, labeled=target.labeled),
        sources=[Domain(source.X * scales / columns, source.y)],
        n_classes=3,
    )
    np.testing.assert_allclose(few.X @ W, few.X / columns @ inner.candidates["classes"].W)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train_on": "x"}, "train_on must be one of auto, target, source, both, got 'x'"),
        ({"classifier": GaussianNB}, "classifier must be one of auto, nearest neighbour"),
        ({"classifier": LinearRegression()}, "classifier must be one of auto, nearest neighbour"),
    ],
)
def test_what_cannot_be_trained_is_refused(kinds, options, message):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        l2t.predict(*kinds, **options)


def test_half_of_the_columns_in_large_units_are_scaled(rng):
    """Incomes and areas beside ages and shares: the median is that of large units too."""
    X = rng.normal(size=(50, 4)) * [103_747, 41_429, 14.6, 1.0]
    np.testing.assert_allclose(column_scales(X), X.std(axis=0))
    assert column_scales(rng.normal(size=(50, 40)) * np.linspace(1, 20, 40)) is None


def test_columns_that_hardly_vary_in_a_target_are_not_another_unit():
    """The few classes of a target leave columns nearly constant that vary in its source."""
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(240, 12)), np.arange(240) % 6
    rows = rng.normal(size=(60, 12)) * np.where(np.arange(12) < 4, 0.01, 1.0)
    target = Domain(rows, np.arange(60) % 3 + 10, labeled=np.arange(60) < 15)
    found = l2t.predict(Domain(X, codes), target)
    assert not any("standard deviation" in sentence for sentence in found.report.sentences)
    units = 10.0 ** np.arange(12)
    scaled = l2t.predict(
        Domain(X * units, codes), Domain(rows * units, target.y, labeled=target.labeled)
    )
    assert any("standard deviation" in sentence for sentence in scaled.report.sentences)


@pytest.mark.parametrize("normalize", ["none", "rows", "centred", "zscore"])
@pytest.mark.parametrize("frame", [False, True])
def test_a_model_scales_further_rows_like_its_target(kinds, tmp_path, normalize, frame):
    source, target = kinds
    prepared = l2t.predict(*(l2t.normalize(domain, normalize) for domain in kinds))
    y = np.where(target.labeled, target.y, None)
    if frame:  # with missing cells, which the encoder fills first
        sets = [(pd.DataFrame(X), y) for X, y in ((source.X, source.y), (target.X, y))]
        sets[1][0].iloc[0, 0] = None
    else:
        sets = [(source.X, source.y), (target.X, y)]
    answer = l2t.predict(*sets, normalize=normalize)
    assert "Scaling as requested" in str(answer.report)
    if not frame:
        np.testing.assert_array_equal(answer.labels, prepared.labels)
    answer.model.save(tmp_path / "m.l2t")
    model = l2t.load_model(tmp_path / "m.l2t")
    np.testing.assert_allclose(model.predict_proba(sets[1][0]), answer.probabilities, atol=1e-6)
    if not frame:
        np.testing.assert_allclose(model.medians, np.median(target.X, axis=0))


def test_an_unknown_scaling_is_an_error(kinds):
    with pytest.raises(InvalidInputError, match="normalize must be one of"):
        l2t.predict(*kinds, normalize="ranks")
