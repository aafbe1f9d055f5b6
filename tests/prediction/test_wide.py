"""Few rows of very many sparse features: predictions are those of the dense rows, which are never made."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import l2t
from l2t import Domain
from l2t.domains import domain as module
from l2t.exceptions import FileFormatError
from l2t.inference import coordinates
from l2t.prediction import load_model
from l2t.prediction.training import column_scales
from l2t.task import Task

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
    assert column_scales(source.rows) == pytest.approx(column_scales(source.X))
    model = l2t.predict(source, target).model
    assert {features.first.columns is None for features, _ in model.parts} == {True}
    columns = column_scales(target.rows, source.rows)
    inside = coordinates.Coordinates.of(Task.of([source], target), columns, in_span=True)
    Z = np.concatenate([domain.X for domain in inside.task.domains])
    X = np.concatenate([domain.X for domain in inside.asked.domains]) / columns
    np.testing.assert_allclose(Z @ Z.T, X @ X.T, rtol=1e-6, atol=1e-8 * np.abs(X @ X.T).max())
    source, target = task(sparse.csr_array, shared=False)
    assert column_scales(target.rows, source.rows) is None


def test_the_model_takes_sparse_and_dense_rows(found, tmp_path):
    lifted, dense, *_ = found
    X = lifted.target.X
    for kind in (np.asarray, sparse.csr_matrix):
        np.testing.assert_allclose(
            lifted.model.predict_proba(kind(X)), lifted.probabilities, atol=1e-9
        )
    path = lifted.model.save(tmp_path / "model.npz")
    np.testing.assert_allclose(load_model(path).predict_proba(X), lifted.probabilities, atol=1e-9)
    n_parts, n_rows = len(lifted.model.parts), 150
    assert path.stat().st_size < 8 * n_parts * n_rows * M / 2  # a factor is saved as sparse rows
    for name in ("means", "medians"):
        np.testing.assert_allclose(
            getattr(lifted.model, name), getattr(dense.model, name), atol=1e-12
        )


def test_a_damaged_factor_is_rejected(found, tmp_path):
    path = found[0].model.save(tmp_path / "model.npz")
    with np.load(path) as file:
        arrays = dict(file)
    described = json.loads(str(arrays["json"]))["maps"][0]["W"]["lifted"]
    damage = ((3, M), (-1, 10**6), (0, np.nan))  # of indices, indptr and data
    for name, (place, value) in zip(
        [described[1], described[2], described[0]], damage, strict=True
    ):
        changed = arrays[name].copy()
        changed[place] = value
        np.savez(path, **arrays | {name: changed})
        with pytest.raises(FileFormatError, match=r"model.npz: is damaged"):
            load_model(path)


def test_each_w_is_one_of_the_features(found):
    lifted, dense, *_ = found
    X = lifted.target.X
    for name, each in dense.inference.candidates.items():
        if each.W is not None and name != "identity":
            Z, other = (
                X @ inference.candidates[name].W
                for inference in (dense.inference, lifted.inference)
            )
            Z, other = Z - Z.mean(axis=0), other - other.mean(axis=0)  # only differences count
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
    assert coordinates.are_few_and_sparse([source, target])
    assert not coordinates.are_few_and_sparse([source, Domain(target.X, target.y)])
    assert not coordinates.are_few_and_sparse([source] * 30)
    prepared = dataclasses.replace(source, X=source.rows, prepared=np.ones((2, M)))
    assert not coordinates.are_few_and_sparse([prepared, target])


@pytest.mark.parametrize(("shared", "n_labeled"), [(False, 12), (True, 12), (True, 0)])
def test_many_rows_are_not_made_dense(monkeypatch, shared, n_labeled):
    """The model is trained on some rows and applied to all."""
    for place in ("l2t.inference.coordinates", "l2t.task"):
        monkeypatch.setattr(f"{place}.MAX_WIDE_ROWS", 120)
    monkeypatch.setattr(module, "_features", _refused)
    source, target = task(sparse.csr_array, shared=shared)
    target = Domain(target.rows, target.y, labeled=np.arange(60) < n_labeled)
    found = l2t.predict(source, target)
    assert found.probabilities.shape == (60, 3)
    assert found.target is target
    assert np.mean(found.labels == target.y) > 0.7
    assert found.model.parts[0][0].first.W.rows.shape[0] <= 120
    assert "<html" in found.to_html()
    assert len(found.suggest(5)) == 5


@pytest.mark.parametrize("uneven", [False, True])
def test_rows_that_are_not_trained_on_are_recognised_in_a_source(monkeypatch, uneven):
    for place in ("l2t.inference.coordinates", "l2t.task"):
        monkeypatch.setattr(f"{place}.MAX_WIDE_ROWS", 120)
    used, unlabel = [], coordinates.unlabel_in_span

    def spy(source, *arguments):
        used.append(unlabel(source, *arguments))
        return used[-1]

    monkeypatch.setattr(coordinates, "unlabel_in_span", spy)
    source, target = task(sparse.csr_array, shared=False, uneven=uneven)
    X = sparse.vstack([source.rows, 2.0 * target.rows[20:]], "csr")
    l2t.predict(Domain(X, np.r_[source.y, target.y[20:] + 100]), target)
    (left,) = used
    assert (left.y >= 100).sum() > 10
    np.testing.assert_array_equal(left.labeled, left.y < 100)


FILES = """
import runpy, sys
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

folder, way, n, m = Path(sys.argv[1]), sys.argv[2], 600, 250_000
rng = np.random.default_rng(0)


def words(y):
    columns = np.hstack([(997 * y[:, None] + rng.integers(0, 900, (n, 30))) % m, rng.integers(0, m, (n, 70))])
    places = np.repeat(np.arange(n), 100), columns.ravel()
    return sparse.csr_matrix((rng.random(columns.size).round(3) + 0.001, places), shape=(n, m))


ys, yt = np.arange(n) % 8, np.arange(n) % 4 + (8 if way == "other classes" else 0)
if way == "no labels":
    import l2t

    source, target = l2t.Domain(words(ys), ys), l2t.Domain(words(yt))
else:
    files = [str(folder / "source.svm"), str(folder / "target.svm")]
    dump_svmlight_file(words(ys), ys, files[0])
    dump_svmlight_file(words(yt), yt, files[1])
    import l2t.interfaces.cli
if way == "no labels":
    assert len(l2t.predict(source, target).labels) == n
else:
    sys.argv = ["l2t", "predict", *files, "-o", str(folder / "out.csv")]
    try:
        runpy.run_module("l2t", run_name="__main__")
    except SystemExit as end:
        assert end.code == 0
status = Path("/proc/self/status").read_text()
print("peak:", status.split("VmHWM:")[1].split()[0])  # resident, in kB
"""


@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured on Linux only")
@pytest.mark.parametrize("way", ["shared classes", "other classes", "no labels"])
def test_memory_is_bounded(way, tmp_path, proves):
    """Two small sparse files; as dense arrays they are 2.4 GB."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", FILES, str(tmp_path), way],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | threads,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split("peak:")[1]) < 1.5 * 2**20
    if way != "no labels":
        assert (tmp_path / "out.csv").read_text().count("\n") == 601
    proves("600 + 600 sparse rows of 250,000 features take 1.5 GiB: " + way, 1200, "rows")
