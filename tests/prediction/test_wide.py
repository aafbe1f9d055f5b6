"""Few rows of very many sparse features: predictions are those of the dense rows, which are never made."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import sparse

import l2t
from l2t import Domain
from l2t.domains import domain as module
from l2t.prediction import load_model, wide
from l2t.prediction.training import column_scales

M = 5000


def rows(y, *, uneven=False):
    """Rows of some words of their class, and of some of any."""
    rng = np.random.default_rng(0)
    words = rng.random((8, M)) < 0.02
    X = np.where(rng.random((len(y), M)) < 0.2, words[y], rng.random((len(y), M)) < 0.01)
    X = X * rng.random((len(y), M))
    X[:, 7] = 1.0 + rng.random(len(y))  # a word that nearly all rows have
    return X * np.where(np.arange(M) % 9 == 0, 1000.0, 1.0) if uneven else X


def task(kind, *, shared, uneven=False):
    source = np.arange(90) % (3 if shared else 5)
    target = np.arange(60) % 3 + (0 if shared else 5)
    X = rows(np.r_[source, target], uneven=uneven)
    few = np.arange(60) < 12
    return Domain(kind(X[:90]), source), Domain(kind(X[90:]), target, labeled=few)


CASES = [(False, False), (True, False), (False, True)]


@pytest.fixture(scope="module", params=CASES, ids=["other", "shared", "uneven"])
def found(request):
    """Predictions of sparse rows, and of the same rows dense; the former with no dense array."""
    given = {"shared": request.param[0], "uneven": request.param[1]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_features", _refused)
        lifted = l2t.predict(*task(sparse.csr_array, **given))
        page = lifted.to_html()
        suggested = lifted.suggest(5)
    return lifted, l2t.predict(*task(np.asarray, **given)), page, suggested


_given = module._features


def _refused(X):
    assert not sparse.issparse(X), "made dense"
    return _given(X)


def test_they_are_those_of_dense_rows(found):
    lifted, dense, page, suggested = found
    assert (lifted.choice, lifted.classifier) == (dense.choice, dense.classifier)
    np.testing.assert_array_equal(lifted.labels, dense.labels)
    np.testing.assert_allclose(lifted.probabilities, dense.probabilities, atol=1e-5)
    assert [row.name for row in lifted.report.rows] == [row.name for row in dense.report.rows]
    assert sorted(lifted.report.sentences) == sorted(dense.report.sentences)
    assert "<html" in page
    assert len(suggested) == 5


def test_uneven_columns_are_divided_by_their_deviation_first():
    source, target = task(sparse.csr_array, shared=False, uneven=True)
    used = np.arange(90)
    assert wide.Coordinates([target, source], used).are_scaled
    assert column_scales(source.rows) == pytest.approx(column_scales(source.X))
    even = task(sparse.csr_array, shared=False)
    assert not wide.Coordinates(even[::-1], used).are_scaled


def test_the_model_takes_sparse_and_dense_rows(found, tmp_path):
    lifted, dense, *_ = found
    X = lifted.target.X
    for kind in (np.asarray, sparse.csr_matrix):
        np.testing.assert_allclose(
            lifted.model.predict_proba(kind(X)), lifted.probabilities, atol=1e-9
        )
    again = load_model(lifted.model.save(tmp_path / "model.npz"))
    np.testing.assert_allclose(again.predict_proba(X), lifted.probabilities, atol=1e-9)
    for name in ("means", "medians"):
        np.testing.assert_allclose(
            getattr(lifted.model, name), getattr(dense.model, name), atol=1e-12
        )


def test_each_w_is_one_of_the_features(found):
    lifted, dense, *_ = found
    X = lifted.target.X
    for name, each in dense.inference.candidates.items():
        if each.W is not None and name != "identity":
            Z, other = (
                X @ every.candidates[name].W for every in (dense.inference, lifted.inference)
            )
            np.testing.assert_allclose(Z @ Z.T, other @ other.T, atol=1e-6 * np.abs(Z @ Z.T).max())


def test_what_is_classified_by_shared_classes_takes_rows_of_the_features():
    lifted, dense = (
        l2t.infer(l2t.DomainPair(*task(kind, shared=True))).shared
        for kind in (sparse.csr_array, np.asarray)
    )
    X = task(np.asarray, shared=True)[1].X
    np.testing.assert_allclose(lifted.predict_proba(X), dense.predict_proba(X), atol=1e-5)


def test_few_columns_many_rows_and_prepared_domains_are_taken_as_they_are():
    source, target = task(sparse.csr_array, shared=False)
    assert wide.are_few_and_wide([source, target])
    assert not wide.are_few_and_wide([source, Domain(target.X, target.y)])
    assert not wide.are_few_and_wide([source] * 30)
    prepared = dataclasses.replace(source, X=source.rows, prepared=np.ones((2, M)))
    assert not wide.are_few_and_wide([prepared, target])
