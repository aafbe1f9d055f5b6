"""Models come back from their files as they were; damaged files are one sentence; nothing runs code."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.naive_bayes import GaussianNB

import l2t
from l2t.classifiers.classifiers import CLASSIFIERS, TrainingSet, fit_head
from l2t.classifiers.feature_map import FeatureMap
from l2t.domains.label_codec import encode_labels
from l2t.exceptions import FileFormatError, InvalidInputError
from l2t.prediction.model import EstimatorHead, Model
from l2t.prediction.model_file import load_model

NAMES = ("a", "b", "c", "d")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 20)
    return 3 * rng.normal(size=(3, 4))[codes] + rng.normal(size=(60, 4)), codes


def make(data, name="logistic", *, W=None, columns=None, classes=("x", "y", "z"), names=NAMES):
    X, codes = data
    rows = X if columns is None else X / columns
    plain = FeatureMap.of(rows, W)
    features = FeatureMap(W, plain.mean, plain.scale, CLASSIFIERS[name].unit)
    at = np.flatnonzero(np.arange(60) % 20 < 4)
    head = fit_head(name, TrainingSet(features(rows), at, codes[at], 3))
    features = FeatureMap(W, plain.mean, plain.scale, CLASSIFIERS[name].unit, columns)
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


def test_a_product_of_parts_adds_their_weighted_logarithms(data, tmp_path):
    X, _ = data
    one, other = (
        replace(make(data, name), temperature=1.0) for name in ("logistic", "nearest centroid")
    )
    shift = (0.5, 0.0, -0.5)
    model = replace(one, parts=one.parts + other.parts, weights=(0.7, 0.4), floor=0.01, shift=shift)
    logs = [np.log(each.predict_proba(X) + 0.01) for each in (one, other)]
    expected = softmax(0.7 * logs[0] + 0.4 * logs[1] + np.array(shift), axis=1)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    again = load_model(model.save(tmp_path / "model.l2t"))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_parts_share_features_and_rows_after_they_are_read(data, tmp_path):
    model = make(data, "label spreading")
    ((features, head),) = model.parts
    chain = FeatureMap(None, np.zeros(len(features.mean)), before=features, relu=True)
    parts = ((features, head), (chain, head), (chain, replace(head, shares=head.shares[:, ::-1])))
    both = replace(model, parts=parts, weights=(1.0, 0.5, 0.5), floor=0.01)
    again = load_model(both.save(tmp_path / "model.l2t"))
    assert again.parts[1][0].before is again.parts[0][0]
    assert len({id(head.rows) for _, head in again.parts}) == 1
    np.testing.assert_array_equal(again.predict_proba(data[0]), both.predict_proba(data[0]))


def test_files_of_the_first_schema_are_read(data, tmp_path):
    """As version 0.2.0 wrote them: arrays are named by the number of their part."""
    model = make(data, "label spreading", columns=np.array([1.0, 2.0, 3.0, 4.0]))
    ((features, head),) = model.parts
    content = {
        "schema": 1,
        "classes": "str",
        "feature_names": list(NAMES),
        "temperature": 2.0,
        "name": "label spreading",
        "parts": [
            {"scale": features.scale, "unit": features.unit, "bandwidth": head.bandwidth},
        ],
    }
    codes, content["classes"] = encode_labels(model.classes_, "classes")
    np.savez(
        tmp_path / "model.npz",
        json=np.array(json.dumps(content)),
        codes=codes,
        means=np.zeros(4),
        **{
            "columns-0": features.columns,
            "mean-0": features.mean,
            "rows-0": head.rows,
            "shares-0": head.shares,
        },
    )
    again = load_model(tmp_path / "model.npz")
    expected = replace(model, temperature=2.0).predict_proba(data[0])
    np.testing.assert_array_equal(again.predict_proba(data[0]), expected)
    assert again.means.tolist() == [0.0] * 4


def test_a_classifier_of_scikit_learn_is_not_saved(data, tmp_path):
    X, codes = data
    head = EstimatorHead(GaussianNB().fit(X, codes))
    model = Model(np.arange(3), None, ((FeatureMap(None, np.zeros(4), 1.0), head),))
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


def content_of(parts):
    return json.loads(str(np.load(io.BytesIO(parts["json.npy"]))))


def setting(**values):
    def change(parts):
        parts["json.npy"] = npy(np.array(json.dumps(content_of(parts) | values)))

    return change


def setting_in(name, **values):
    """Change values of the first entry of a list, such as that of the parts."""

    def change(parts):
        content = content_of(parts)
        content[name][0] |= values
        parts["json.npy"] = npy(np.array(json.dumps(content)))

    return change


def replacing(find, new):
    """Replace the bytes of the array whose name `find` returns, or drop it if `new` is None."""

    def change(parts):
        name = f"{find(content_of(parts))}.npy"
        old = parts.pop(name)
        if new is not None:
            parts[name] = new(old) if callable(new) else new

    return change


def coef(content):
    return content["parts"][0]["head"]["coef"]


def mean(content):
    return content["maps"][0]["mean"]


DAMAGE = {
    "pickle": replacing(coef, npy(np.array([{}], dtype=object), allow_pickle=True)),
    "not finite": replacing(mean, npy(np.full(4, np.nan))),
    "wrong shape": replacing(coef, npy(np.zeros((9, 3)))),
    "no coef": replacing(coef, None),
    "no codes": replacing(lambda content: content["codes"], None),
    "no mean": replacing(mean, None),
    "no json": lambda parts: parts.pop("json.npy"),
    "cut array": replacing(coef, lambda old: old[:90]),
    "newer": setting(schema=3),
    "not a number": setting_in("maps", scale="wide"),
    "no scale": setting_in("maps", scale=0.0),
    "a map after itself": setting_in("maps", before=0),
    "no parts": setting(parts=[]),
    "features that are not there": setting_in("parts", features=7),
    "negative": setting(temperature=-1.0),
    "a negative bandwidth": setting_in("parts", bandwidth=-1.0),
    "weights of other parts": setting(weights=[0.5, 0.5]),
    "a floor without weights": setting(floor=0.01),
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
