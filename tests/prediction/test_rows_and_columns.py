"""Order of rows and columns, copies of rows and groups: none of them may change or flatter an answer."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import l2t
from l2t import Domain, DomainPair, KnownClasses, collect, open_store
from l2t.exceptions import InvalidInputError, L2TWarning

M = 10


def tables(rng, n=240, *, noise=1.0, first_class=0):
    """Rows of three classes around means that both domains have, and a shift of the target."""
    means = 2.0 * np.random.default_rng(7).normal(size=(6, M)) * np.geomspace(3.0, 0.3, M)
    codes = first_class + np.arange(n) % 3
    return means[codes] + noise * rng.normal(size=(n, M)), codes


def noise(rng, n):
    """Rows and labels that have nothing to do with each other, with columns enough to learn any labels."""
    return rng.normal(size=(n, 60)), rng.permutation(np.arange(n) % 3)


def promised(found):
    """Return the expected accuracy of the predictions, 0 without one."""
    (used,) = [row for row in found.report.rows if row.used]
    return used.expected or 0.0


@pytest.fixture(scope="module", params=["shared", "other"])
def task(request):
    """Frames of source and target with 15 labelled rows, classes shared or not."""
    rng = np.random.default_rng(0)
    names = [f"column {i}" for i in range(M)]
    X, y = tables(rng, 120, noise=2.0)
    aim, labels = tables(rng, 90, noise=2.0, first_class=3 if request.param == "other" else 0)
    given = np.where(np.arange(90) < 15, labels, -1)
    return (
        (pd.DataFrame(X, columns=names), y),
        (pd.DataFrame(aim, columns=names), given),
        labels,
    )


@pytest.fixture(scope="module")
def expected(task):
    source, target, _ = task
    return l2t.predict(source, target)


def test_columns_are_matched_by_name(task, expected, proves):
    (X, y), target, _ = task
    found = l2t.predict((X[X.columns[::-1]], y), target)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.probabilities, expected.probabilities)
    proves("Columns of frames are matched by name", 1, "tasks")


@pytest.mark.parametrize("labels", [list(range(M)), [*range(M - 1), "last"]], ids=["int", "mixed"])
def test_columns_with_numbers_for_names_are_matched(task, expected, labels):
    (X, y), (aim, given), _ = task
    X, aim = X.set_axis(labels, axis=1), aim.set_axis(labels, axis=1)
    turned = X[labels[::-1]]
    found = l2t.predict((turned, y), (aim, given))
    np.testing.assert_array_equal(found.probabilities, expected.probabilities)
    for frame in (aim, aim[labels[::-1]]):
        again = found.model.predict_proba(frame)
        np.testing.assert_array_equal(again, found.model.predict_proba(aim))
    inferred = l2t.infer(Domain(aim), sources=[Domain(turned, y)])
    moved = inferred.transform(aim[labels[::-1]])
    np.testing.assert_array_equal(np.asarray(moved), np.asarray(inferred.transform(aim)))
    shared = found.inference.shared
    if shared is not None:
        again = shared.predict_proba(aim[labels[::-1]])
        np.testing.assert_array_equal(again, shared.predict_proba(aim))


def test_a_note_says_that_columns_without_names_are_matched_by_position(task, expected):
    (X, y), (aim, given), _ = task
    with pytest.warns(L2TWarning, match="the target has names of columns and the source has none"):
        found = l2t.predict((X.to_numpy(), y), (aim, given))
    np.testing.assert_array_equal(found.probabilities, expected.probabilities)
    target = Domain(aim.to_numpy())
    with pytest.warns(L2TWarning, match="the source has names of columns and the target has none"):
        l2t.infer(target, sources=[Domain(X, y)])
    with pytest.warns(L2TWarning, match="matched by position"):
        l2t.prepare(Domain(X, y), target, "none")


def test_a_column_that_the_other_domain_lacks_is_refused(task):
    (X, y), target, _ = task
    other = X.rename(columns={"column 3": "column x"})
    with pytest.raises(
        InvalidInputError, match="only source has 'column x'; only target has 'column 3'"
    ):
        l2t.predict((other, y), target)


@pytest.mark.parametrize("task", ["other"], indirect=True)
def test_columns_of_known_classes_are_matched_by_name(task):
    (X, y), target, _ = task
    turned = X[X.columns[::-1]]
    expected, found = (
        l2t.predict((X, y), target, known=KnownClasses([Domain(frame, y + 10)]))
        for frame in (X, turned)
    )
    np.testing.assert_array_equal(found.probabilities, expected.probabilities)
    both = KnownClasses([Domain(X, y), Domain(turned, y)])
    np.testing.assert_array_equal(both.X, KnownClasses([Domain(X, y), Domain(X, y)]).X)
    other = KnownClasses([Domain(X.rename(columns={"column 3": "column x"}), y)])
    with pytest.raises(InvalidInputError, match="only known has 'column x'"):
        l2t.predict((X, y), target, known=other)


def test_columns_of_a_ranked_source_are_matched_by_name(task):
    (X, y), (aim, given), _ = task
    target = Domain(aim, given, labeled=given >= 0)
    expected, found = (
        l2t.rank_sources(target, [Domain(frame, y)]) for frame in (X, X[X.columns[::-1]])
    )
    assert found[0].adds == expected[0].adds


@pytest.mark.parametrize("task", ["other"], indirect=True)
def test_columns_in_a_store_are_matched_by_name_and_those_of_other_tables_left_out(task, expected):
    (X, y), target, _ = task
    other = X.rename(columns={"column 3": "column x"})
    answers = []
    for frame in (X, X[X.columns[::-1]], other):
        past = Domain(frame, y + 10, labeled=np.ones(len(y), dtype=bool))
        with open_store("memory://") as store:
            pair = DomainPair(past, past)
            collect([pair], store, algorithms=["identity"], label_counts=(3,), progress=False)
            answers.append(l2t.predict((X, y), target, store=store).probabilities)
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[2], expected.probabilities)


def test_the_order_of_rows_changes_nothing(task, expected, rng, proves):
    (X, y), (aim, given), _ = task
    for _ in range(2):
        ours, theirs = rng.permutation(len(X)), rng.permutation(len(aim))
        found = l2t.predict((X.iloc[ours], y[ours]), (aim.iloc[theirs], given[theirs]))
        np.testing.assert_array_equal(found.labels, expected.labels[theirs])
        np.testing.assert_array_equal(found.probabilities, expected.probabilities[theirs])
        assert promised(found) == promised(expected)
        assert str(found.report) == str(expected.report)
    proves("The order of rows changes no prediction and no promise", 2, "orders")


def test_the_order_of_rows_changes_no_inference(task, rng):
    (X, y), (aim, given), _ = task
    ours, theirs = rng.permutation(len(X)), rng.permutation(len(aim))
    target = Domain(aim, given, labeled=given >= 0)
    expected = l2t.infer(target, sources=[Domain(X, y)])
    found = l2t.infer(target.take(theirs), sources=[Domain(X, y).take(ours)])
    assert (found.choice, found.predicted) == (expected.choice, expected.predicted)
    np.testing.assert_array_equal(found.W, expected.W)


@pytest.mark.parametrize("decimals", [None, 3], ids=["equal", "rounded"])
def test_labelled_rows_that_the_source_has_too_promise_nothing(rng, decimals):
    """`predict labelled.csv all.csv`: the labelled rows of the target are those of the source."""
    X, y = noise(rng, 360)
    few = slice(0, 90)
    given = np.where(np.arange(360) < 90, y, -1)
    rows = X[few] if decimals is None else X[few].round(decimals)
    found = l2t.predict((rows, y[few]), (X, given))
    assert promised(found) < 0.5
    assert np.mean(found.labels[90:] == y[90:]) < 0.5
    assert "90 rows of the source repeat target rows" in str(found.report)


@pytest.mark.parametrize(
    ("shared", "decimals"),
    [(True, 3), (False, 3), (False, None)],
    ids=["shared, rounded", "other, rounded", "other, equal"],
)
def test_rows_that_occur_twice_in_the_target_promise_nothing(rng, decimals, shared):
    source = noise(rng, 200)
    source = (source[0], source[1] + (0 if shared else 10))
    X, y = noise(rng, 60)
    again = X if decimals is None else X.round(decimals)
    free, labels = noise(rng, 100)
    given = np.concatenate([y, y, np.full(100, -1)])
    found = l2t.predict(source, (np.concatenate([X, again, free]), given))
    assert promised(found) < 0.52
    assert np.mean(found.labels[120:] == labels) < 0.52
    assert "120 rows of the target occur more than once" in str(found.report)


def test_groups_are_the_same_in_both_domains(rng):
    """Labels of patients are random, so that only other rows of a patient tell them; most have new ones."""
    patients, labels = rng.normal(size=(100, 60)), rng.permutation(np.arange(100) % 2)
    who = np.repeat(np.arange(50), 4), np.concatenate([np.arange(40), 50 + np.arange(50)])
    names = np.array([f"patient {i}" for i in range(100)])
    source, target = (
        Domain(
            patients[rows] + 0.3 * rng.normal(size=(len(rows), 60)),
            labels[rows],
            groups=names[rows],
        )
        for rows in who
    )
    found = l2t.predict(source, dataclasses.replace(target, labeled=np.arange(90) < 40))
    assert promised(found) < 0.7
    assert np.mean(found.labels[40:] == target.y[40:]) < 0.7


def test_a_shift_of_all_columns_makes_no_copies(rng):
    X, y = tables(rng)
    aim, _ = tables(rng, 150, first_class=3)
    for shift in (1e4, 1e6):
        known = KnownClasses([Domain(X + shift, y)])
        assert known.without(Domain(aim + shift)).n_removed == 0
        assert known.without(Domain(X[:5] + shift)).n_removed == 5
