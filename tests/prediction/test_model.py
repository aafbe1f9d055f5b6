"""Models come back from their files as they were; damaged files are one sentence; nothing runs code."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

import l2t
from l2t.exceptions import FileFormatError, InvalidInputError
from l2t.prediction.classifiers import CLASSIFIERS, TrainingSet, fit_head
from l2t.prediction.model import EstimatorHead, Features, Model, load_model

NAMES = ("a", "b", "c", "d")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 20)
    return 3 * rng.normal(size=(3, 4))[codes] + rng.normal(size=(60, 4)), codes


def make(data, name="logistic", *, W=None, columns=None, classes=("x", "y", "z"), names=NAMES):
    X, codes = data
    rows = X if columns is None else X / columns
    plain = Features.of(rows, W)
    features = Features(W, plain.mean, plain.scale, CLASSIFIERS[name].unit)
    at = np.flatnonzero(np.arange(60) % 20 < 4)
    head = fit_head(name, TrainingSet(features(rows), at, codes[at], 3))
    features = Features(W, plain.mean, plain.scale, CLASSIFIERS[name].unit, columns)
    labels = np.array(classes, dtype=object if isinstance(classes[0], str) else None)
    return Model(labels, names, ((features, head),), 0.7, name)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("W", [None, np.random.default_rng(5).normal(size=(4, 3))], ids=["I", "W"])
def test_a_model_comes_back_from_its_file(name, W, data, tmp_path):
    model = make(data, name, W=W)
    again = load_model(model.save(tmp_path / "model.l2t"))
    np.testing.assert_array_equal(again.predict_proba(data[0]), model.predict_proba(data[0]))
    assert again.predict(data[0]).tolist() == model.predict(data[0]).tolist()
    assert (again.classes_.tolist(), again.feature_names) == (["x", "y", "z"], NAMES)
    assert (again.name, again.temperature) == (name, 0.7)


def test_probabilities_of_several_parts_are_averaged(data, tmp_path):
    first, second = (make(data, name) for name in ("logistic", "label spreading"))
    both = Model(first.classes_, NAMES, (*first.parts, *second.parts), means=np.zeros(4))
    alone = [
        Model(each.classes_, NAMES, each.parts).predict_proba(data[0]) for each in (first, second)
    ]
    np.testing.assert_allclose(both.predict_proba(data[0]), np.mean(alone, axis=0))
    again = load_model(both.save(tmp_path / "model.l2t"))
    np.testing.assert_array_equal(again.predict_proba(data[0]), both.predict_proba(data[0]))
    assert (again.means.tolist(), again.medians) == ([0.0] * 4, None)


@pytest.mark.parametrize("classes", [(1, 2, 3), (0.5, 1.5, 2.5), ("1", "2", "3")])
def test_classes_keep_their_type(classes, data, tmp_path):
    again = load_model(make(data, classes=classes).save(tmp_path / "model.l2t"))
    assert [type(each) for each in again.classes_.tolist()] == [type(each) for each in classes]
    assert again.classes_.tolist() == list(classes)


def test_columns_are_taken_by_name(data):
    model, X = make(data, columns=np.array([1.0, 2.0, 3.0, 4.0])), data[0]
    frame = pd.DataFrame(X, columns=list("abcd"))
    expected = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(frame), expected)
    mixed = frame[list("dbca")].assign(other=1.0)
    np.testing.assert_array_equal(model.predict_proba(mixed), expected)
    np.testing.assert_allclose(model.predict_proba(sparse.csr_matrix(X)), expected)
    np.testing.assert_array_equal(model.predict_proba(l2t.Domain(X)), expected)
    with pytest.raises(InvalidInputError, match="got none named 'b'"):
        model.predict(frame.drop(columns="b"))
    with pytest.raises(InvalidInputError, match="with the 4 features of the pair, got shape"):
        model.predict(X[:, :3])


def test_mean_probability_is_the_accuracy_to_expect(data):
    model = make(data)
    scores = model.decision_function(data[0])
    for accuracy in (0.5, 0.8, 0.97):
        found = model.calibrated(scores, accuracy).predict_proba(data[0])
        assert found.max(axis=1).mean() == pytest.approx(accuracy, abs=1e-3)
        np.testing.assert_array_equal(found.argmax(axis=1), scores.argmax(axis=1))
    assert model.calibrated(np.zeros((5, 3)), 0.8) is model


def test_a_classifier_of_scikit_learn_is_not_saved(data, tmp_path):
    X, codes = data
    head = EstimatorHead(GaussianNB().fit(X, codes))
    model = Model(np.arange(3), None, ((Features(None, np.zeros(4), 1.0), head),))
    np.testing.assert_allclose(model.predict_proba(X), head.estimator.predict_proba(X), atol=1e-9)
    with pytest.raises(
        InvalidInputError, match="a model with an estimator cannot be saved, got Gau"
    ):
        model.save(tmp_path / "model.l2t")
    assert not list(tmp_path.iterdir())


def test_rows_that_are_not_finite_are_not_predicted(data):
    rows = data[0].copy()
    rows[3, 1] = np.nan
    with pytest.raises(InvalidInputError, match="X must be finite, got nan at row 3, column 1"):
        make(data).predict(rows)


def rewritten(path, change):
    """Write the parts of a model again, after `change` of the dict from names to bytes."""
    with zipfile.ZipFile(path) as folder:
        parts = {name: folder.read(name) for name in folder.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w") as folder:
        for name, content in parts.items():
            folder.writestr(name, content)


def npy(array, *, allow_pickle=False):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


def setting(**values):
    def change(parts):
        content = json.loads(str(np.load(io.BytesIO(parts["json.npy"]))))
        parts["json.npy"] = npy(np.array(json.dumps(content | values)))

    return change


DAMAGE = {
    "pickle": lambda parts: parts.update(
        {"coef-0.npy": npy(np.array([{}], dtype=object), allow_pickle=True)}
    ),
    "not finite": lambda parts: parts.update({"mean-0.npy": npy(np.full(4, np.nan))}),
    "wrong shape": lambda parts: parts.update({"coef-0.npy": npy(np.zeros((9, 3)))}),
    "no coef": lambda parts: parts.pop("coef-0.npy"),
    "no codes": lambda parts: parts.pop("codes.npy"),
    "no mean": lambda parts: parts.pop("mean-0.npy"),
    "no json": lambda parts: parts.pop("json.npy"),
    "cut array": lambda parts: parts.update({"coef-0.npy": parts["coef-0.npy"][:90]}),
    "newer": setting(schema=2),
    "not a number": setting(parts=[{"scale": "wide", "unit": False, "bandwidth": 0.0}]),
    "no scale": setting(parts=[{"scale": 0.0, "unit": False, "bandwidth": 0.0}]),
    "no parts": setting(parts=[]),
    "parts that are not there": setting(
        parts=2 * [{"scale": 1.0, "unit": False, "bandwidth": 0.0}]
    ),
    "negative": setting(temperature=-1.0),
    "names": setting(feature_names=["a"]),
    "classes": setting(classes="[[]]"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damaged_files_are_one_sentence(case, data, tmp_path):
    path = make(data).save(tmp_path / "model.l2t")
    rewritten(path, DAMAGE[case])
    with pytest.raises(
        FileFormatError, match=r"model.l2t: is damaged or of another format: "
    ) as caught:
        load_model(path)
    assert "\n" not in str(caught.value)


def test_a_small_file_that_means_much_is_refused(data, tmp_path, monkeypatch):
    """Zeros, packed a thousand times smaller than they are in memory."""
    path = make(data).save(tmp_path / "model.l2t")
    with np.load(path) as file:
        np.savez_compressed(tmp_path / "packed.npz", **file, means=np.zeros(2_000_000))
    assert (tmp_path / "packed.npz").stat().st_size < 50_000
    monkeypatch.setattr("l2t.validation.free_memory", lambda: 10 * 2**20)
    with pytest.raises(FileFormatError, match=r"packed.npz: the model must fit into half of the"):
        load_model(tmp_path / "packed.npz")


def test_other_files_are_one_sentence(tmp_path):
    path = tmp_path / "model.l2t"
    with pytest.raises(FileFormatError, match="there is no such file"):
        load_model(path)
    path.write_bytes(b"PK\x03\x04 and nothing")
    with pytest.raises(FileFormatError, match="is not a saved model, or is damaged"):
        load_model(path)
