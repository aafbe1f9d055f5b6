"""Features of the columns of a table."""

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from l2t.domains.encoding import TableEncoder, _sentence_encoder, cells_of, needs_encoding
from l2t.exceptions import InvalidInputError, MissingExtraError


@pytest.fixture
def shop():
    rng = np.random.default_rng(0)
    n = 120
    words = np.array(
        ["red wool scarf", "blue cotton shirt", "green linen dress", "black leather belt"]
    )
    return pd.DataFrame(
        {
            "price": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(3, 1, n)),
            "size": rng.choice(["S", "M", "L"], n),
            "sold": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), "D"),
            "text": [f"{words[i % 4]} number {i} for {i % 7} people" for i in range(n)],
            "sku": [f"A{i:04d}" for i in range(n)],
            "shop": "north",
            "online": rng.random(n) < 0.5,
        }
    )


def test_every_kind_of_column_is_recognised(shop):
    encoder = TableEncoder.fit([shop])
    kinds = {column.name: column.kind for column in encoder.columns}
    assert kinds == {
        "price": "number",
        "size": "category",
        "sold": "date",
        "text": "text",
        "online": "number",
    }
    assert encoder.left_out == {"sku": "id", "shop": "constant"}


def test_numbers_have_unit_variance_and_missing_ones_are_the_median(shop):
    encoder = TableEncoder.fit([shop])
    X = encoder.transform(shop)
    missing = shop["price"].isna().to_numpy()
    known = shop["price"].to_numpy()[~missing]
    expected = (known - known.mean()) / known.std()
    np.testing.assert_allclose(X[~missing, 0], expected, atol=1e-12)
    np.testing.assert_allclose(X[missing, 0], (np.median(known) - known.mean()) / known.std())
    np.testing.assert_array_equal(X[:, 1], missing)


def test_categories_are_one_hot_and_unknown_ones_zero():
    encoder = TableEncoder.fit([pd.DataFrame({"size": ["S", "L", None]})])
    later = encoder.transform(pd.DataFrame({"size": ["L", "XXL", None]}))
    np.testing.assert_array_equal(later, [[1, 0], [0, 0], [0, 0]])


def test_dates_in_text_are_those_of_dates():
    days = pd.date_range("2023-05-01", periods=30, freq="D")
    typed = TableEncoder.fit([pd.DataFrame({"day": days})])
    for text in (days.strftime("%Y-%m-%d"), days.strftime("%m/%d/%Y")):
        frame = pd.DataFrame({"day": text})
        encoder = TableEncoder.fit([frame])
        assert encoder.columns[0].kind == "date"
        features = encoder.transform(frame)
        np.testing.assert_allclose(features, typed.transform(pd.DataFrame({"day": days})))


def test_text_directions_keep_the_angles_of_tf_idf(shop):
    from sklearn.feature_extraction.text import TfidfVectorizer

    some = shop[["text"]].iloc[:60]  # fewer rows than directions
    features = TableEncoder.fit([some]).transform(some)
    counts = TfidfVectorizer(sublinear_tf=True).fit_transform(some["text"])
    np.testing.assert_allclose(features @ features.T, (counts @ counts.T).toarray(), atol=1e-6)


def test_the_order_of_rows_does_not_matter(shop):
    order = np.random.default_rng(1).permutation(len(shop))
    first, second = TableEncoder.fit([shop]), TableEncoder.fit([shop.iloc[order]])
    np.testing.assert_array_equal(first.transform(shop), second.transform(shop))


def test_no_row_of_a_table_changes_those_of_another(shop):
    encoder = TableEncoder.fit([shop])
    np.testing.assert_array_equal(encoder.transform(shop.iloc[:7]), encoder.transform(shop)[:7])


def test_parts_are_json_and_arrays_and_give_the_same_encoder(shop):
    encoder = TableEncoder.fit([shop])
    content, arrays = encoder.to_parts()
    again = TableEncoder.from_parts(json.loads(json.dumps(content)), arrays)
    np.testing.assert_array_equal(again.transform(shop), encoder.transform(shop))
    assert again.describe() == encoder.describe()


def test_parts_that_do_not_fit_are_rejected(shop):
    content, arrays = TableEncoder.fit([shop]).to_parts()
    arrays = {
        name: array[:-1] if name.startswith("idf") else array for name, array in arrays.items()
    }
    with pytest.raises((ValueError, IndexError)):
        TableEncoder.from_parts(content, arrays)


def test_two_tables_are_encoded_together():
    first, second = pd.DataFrame({"a": ["x", "y"]}), pd.DataFrame({"a": ["z", "x"]})
    assert TableEncoder.fit([first, second]).feature_names == ("a=x", "a=y", "a=z")
    mixed = TableEncoder.fit([pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": ["x", "1"]})])
    assert mixed.feature_names == ("a=1", "a=2", "a=x")


def test_a_missing_column_is_named():
    encoder = TableEncoder.fit([pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})])
    with pytest.raises(InvalidInputError, match="'b'"):
        encoder.transform(pd.DataFrame({"a": ["x"]}))


def test_an_infinite_number_is_named():
    with pytest.raises(InvalidInputError, match="'a'"):
        TableEncoder.fit([pd.DataFrame({"a": [np.inf, 1.0], "b": ["x", "y"]})])


def test_names_of_features_are_distinct():
    frame = pd.DataFrame({"a": ["x", None, "y"], "a=x": [1.0, 2.0, np.nan]})
    names = TableEncoder.fit([frame]).feature_names
    assert len(set(names)) == len(names) == 4


def test_polars_frames_are_encoded_as_pandas_ones(shop):
    polars = pytest.importorskip("polars")
    plain = shop[["price", "size", "text"]]
    theirs = polars.DataFrame({name: plain[name].tolist() for name in plain})
    encoder = TableEncoder.fit([plain])
    np.testing.assert_allclose(
        TableEncoder.fit([theirs]).transform(theirs), encoder.transform(plain), atol=1e-12
    )


def test_numbers_of_any_type_need_no_encoding():
    from decimal import Decimal

    assert not needs_encoding(np.ones((2, 2)))
    frame = pd.DataFrame({"a": [1, 2], "b": [Decimal(1), Decimal(2)], "c": [True, False]})
    assert not needs_encoding(frame)
    assert needs_encoding(frame.assign(d=[np.nan, 1.0]))
    np.testing.assert_array_equal(cells_of(frame["b"]), [1.0, 2.0])


class StubEncoder:
    """A sentence encoder that knows how often each vowel occurs in a text."""

    def __init__(self, folder, local_files_only):
        if not local_files_only:
            raise AssertionError("nothing may be downloaded")
        if not Path(folder).is_dir():
            raise OSError("no such folder")

    def encode(self, texts, normalize_embeddings, show_progress_bar):
        counts = np.array([[1 + text.count(vowel) for vowel in "aeiou"] for text in texts], float)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


@pytest.fixture
def sentence_transformers(monkeypatch):
    _sentence_encoder.cache_clear()
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = StubEncoder
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    yield
    _sentence_encoder.cache_clear()


def test_texts_of_words_count_as_much_as_all_other_columns(shop):
    table = shop[["text"]].iloc[:60].assign(a=range(60), b=np.arange(60) % 7, c=np.arange(60) ** 2)
    encoder = TableEncoder.fit([table])
    features = dict(zip(encoder.feature_names, encoder.transform(table).T, strict=True))
    texts = np.array([value for name, value in features.items() if name.startswith("text")])
    np.testing.assert_allclose((texts**2).sum(axis=0), 3.0)
    assert np.array([features[name] for name in "abc"]).var(axis=1) == pytest.approx(1.0)
    alone = TableEncoder.fit([shop[["text"]].iloc[:60]]).transform(table)
    np.testing.assert_allclose((alone**2).sum(axis=1), 1.0)


def test_texts_are_embedded_by_an_encoder_of_the_user(shop, tmp_path, sentence_transformers):
    shop.loc[3, "text"] = None
    encoder = TableEncoder.fit([shop], text_encoder=str(tmp_path))
    column = next(column for column in encoder.columns if column.name == "text")
    assert (column.kind, column.model) == ("embedded text", str(tmp_path.resolve()))
    X = column.transform(cells_of(shop["text"]))
    np.testing.assert_array_equal(X[3], 0)
    np.testing.assert_allclose(np.linalg.norm(np.delete(X, 3, axis=0), axis=1), 1)
    content, arrays = encoder.to_parts()
    loaded = TableEncoder.from_parts(json.loads(json.dumps(content)), arrays)
    np.testing.assert_array_equal(loaded.transform(shop), encoder.transform(shop))
    assert "embedded text: text" in loaded.sentences()[0]


def test_a_text_encoder_that_is_not_there_is_an_error(shop, tmp_path, sentence_transformers):
    with pytest.raises(InvalidInputError, match="text_encoder must be the folder of a model"):
        TableEncoder.fit([shop], text_encoder=str(tmp_path / "none"))


def test_a_text_encoder_without_its_package_names_the_extra(shop, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'l2t\[text\]'"):
        TableEncoder.fit([shop], text_encoder=str(tmp_path))
