"""Few rows of very many features: candidates are found in the coordinates of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import l2t
from l2t import Domain, DomainPair
from l2t.domains import domain as module
from l2t.exceptions import InvalidInputError
from l2t.inference.coordinates import Coordinates, unlabel_in_span
from l2t.task import Task

M = 5000


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    words = rng.random((7, M)) < 0.02
    y = np.repeat(np.arange(7), 25)
    X = np.where(rng.random((len(y), M)) < 0.3, words[y], rng.random((len(y), M)) < 0.01)
    return X * rng.random((len(y), M)), y


def pair(rows, kind, **given):
    X, y = rows
    few = np.arange(75) % 25 < 4
    return DomainPair(
        Domain(kind(X[:100]), y[:100], **given), Domain(kind(X[100:]), y[100:], labeled=few)
    )


@pytest.fixture(scope="module")
def found(rows):
    return l2t.infer(pair(rows, sparse.csr_array))


def test_a_sparse_matrix_is_not_made_dense(rows, monkeypatch):
    monkeypatch.setattr(
        module, "_features", lambda X: _refuse(X) if sparse.issparse(X) else given(X)
    )
    domains = pair(rows, sparse.csr_matrix)
    again = l2t.infer(domains)
    Z = again.transform(sparse.csr_matrix(rows[0]))
    assert Z.shape[0] == len(rows[0])
    with pytest.raises(AssertionError, match="made dense"):
        _ = domains.source.X


given = module._features


def _refuse(X):
    raise AssertionError("made dense")


def test_dense_and_sparse_rows_give_the_same(rows, found):
    dense = l2t.infer(pair(rows, np.asarray))
    assert dense.choice == found.choice
    for name, each in dense.candidates.items():
        assert each.predicted == pytest.approx(found.candidates[name].predicted, rel=1e-9)
        if name != "identity":
            distances = [rows[0] @ every.candidates[name].W for every in (dense, found)]
            np.testing.assert_allclose(*(Z @ Z.T for Z in distances), atol=1e-8)


def test_it_is_what_the_features_themselves_give(rows, found, monkeypatch):
    monkeypatch.setattr("l2t.inference.inference.are_few_and_wide", lambda *_: False)
    plain = l2t.infer(pair(rows, sparse.csr_array))
    assert plain.choice == found.choice
    for name, each in plain.candidates.items():
        assert each.predicted == pytest.approx(found.candidates[name].predicted, rel=1e-6)
        if name != "identity":
            Z = [rows[0][100:] @ every.candidates[name].W for every in (plain, found)]
            gaps = [np.linalg.norm(each[:, None] - each, axis=2) for each in Z]
            np.testing.assert_allclose(gaps[0], gaps[1], rtol=1e-4, atol=1e-6)
    assert found.candidates["identity"].W.shape == (M, M)


def test_rows_of_the_target_are_removed(rows):
    X, y = rows
    target = Domain(sparse.csr_array(X[100:]))
    leaked = np.concatenate([X[:100], 2.0 * X[100:]]), np.concatenate([y[:100], y[100:]])
    one = l2t.infer(DomainPair(Domain(sparse.csr_array(leaked[0]), leaked[1]), target))
    other = l2t.infer(DomainPair(Domain(sparse.csr_array(X[:100]), y[:100]), target))
    assert one.predicted == pytest.approx(other.predicted)


def test_many_rows_are_not_made_dense(rows, monkeypatch):
    """Some of them are fitted to; all rows of the target are recognised in a source."""
    for place in ("l2t.inference.coordinates", "l2t.task"):
        monkeypatch.setattr(f"{place}.MAX_WIDE_ROWS", 120)
    X, y = rows
    few = np.arange(75) % 25 < 4
    target = Domain(sparse.csr_array(X[100:]), y[100:], labeled=few)
    task = Task.of([Domain(sparse.csr_array(X[:100]), y[:100])], target)
    assert (task.n_drawn, len(task.sources[0])) == (54, 54)
    with monkeypatch.context() as patch:
        patch.setattr(module, "_features", lambda X: _refuse(X) if sparse.issparse(X) else given(X))
        found = [
            l2t.infer(DomainPair(Domain(sparse.csr_array(X[:100]), codes), target), shared=shared)
            for codes, shared in ((y[:100], None), (y[:100] + 3, None), (y[:100] + 3, False))
        ]
        assert [each.shared is not None for each in found] == [False, True, False]
        assert {each.transform(target).shape[0] for each in found} == {75}
        halves = [Domain(sparse.csr_array(X[first:100:2]), y[first:100:2] + 3) for first in (0, 1)]
        searched = l2t.infer(target, sources=halves, method="paper")
        assert searched.search is not None


def test_rows_that_are_not_fitted_to_are_recognised(rows):
    X, _ = rows
    whole = Domain(sparse.csr_array(X[100:]))
    leaked = Domain(sparse.csr_array(np.concatenate([X[:50], 2.0 * X[120:150]])), np.arange(80))
    coordinates = Coordinates.of(Task.of([leaked], whole.take(np.arange(10))), in_span=True)
    (source,), span = coordinates.task.sources, coordinates.span
    left = unlabel_in_span(source, whole, span)
    np.testing.assert_array_equal(left.labeled, left.y < 50)
    dense = unlabel_in_span(source, Domain(X[100:]), span)
    np.testing.assert_array_equal(dense.labeled, left.labeled)
    others = unlabel_in_span(source, whole.take(np.arange(20)), span)
    assert others.labeled is None or others.labeled.all()


def test_what_is_wrong_is_found_in_a_sparse_matrix(rows):
    bad = sparse.csr_array(rows[0])
    bad.data[7] = np.inf
    row, column = (int(each) for each in np.argwhere(np.isinf(bad.toarray()))[0])
    with pytest.raises(InvalidInputError, match=f"finite, got inf at row {row}, column {column} "):
        Domain(bad)
    taken = Domain(sparse.csr_array(rows[0]), rows[1]).take([3, 4])
    np.testing.assert_array_equal(taken.X, rows[0][3:5])
    assert taken == Domain(rows[0][3:5], rows[1][3:5])
