"""Which labels of an array are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import l2t
from l2t.domains.labels import known_labels


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, np.float32("nan")], ids=repr)
def test_missing_labels_are_unknown_in_both_domains(missing):
    y = np.array(["a", missing], dtype=object)
    for target in (True, False):
        assert known_labels(y, target).tolist() == [True, False]


@pytest.mark.parametrize("mark", [-1, -1.0, np.int8(-1), "-1", "-1.0"], ids=repr)
def test_minus_one_is_unknown_in_target_rows_alone(mark):
    y = np.array([mark, mark], dtype=object)
    assert known_labels(y, np.array([False, True])).tolist() == [True, False]
    assert known_labels(np.array([mark])).tolist() == [False]


def test_numbers_beside_texts_are_texts_in_numpy():
    assert known_labels(np.array(["a", -1])).tolist() == [True, False]


@pytest.mark.parametrize("text", ["", "?", "NA", "N/A", "nan", "NaN", "null", "None", "-", "- 1"])
def test_words_for_missing_cells_are_labels(text):
    assert known_labels(np.array([text, "a"])).all()


def test_predict_knows_them_by_the_same_rule(pair):
    names = np.array(["a", "b", "c", "?", "NA", "f"], dtype=object)
    y = np.where(np.arange(45) < 15, names[pair.target.y], -1)
    found = l2t.predict((pair.source.X, names[pair.source.y]), (pair.target.X, y))
    assert found.classes.tolist() == ["?", "NA", "f"]
    assert found.given.sum() == 15
