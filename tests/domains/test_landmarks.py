"""Rows that represent a domain of very many."""

from __future__ import annotations

import numpy as np

from l2t import Domain
from l2t.domains.landmarks import LANDMARKS, landmark_rows, of_each_class, representative


def test_few_rows_are_all_landmarks():
    assert landmark_rows(7, 0).tolist() == list(range(7))
    few = Domain(np.eye(4), [0, 0, 1, 1])
    assert representative(few, 0) is few


def test_landmarks_are_the_rows_of_a_sample():
    domain = Domain(np.arange(LANDMARKS + 99.0)[:, None])
    drawn = domain.X[landmark_rows(len(domain), 3)]
    np.testing.assert_array_equal(drawn, domain.sample(LANDMARKS, 3).X)


def test_small_classes_are_kept_whole():
    codes = np.repeat([0, 1, 2, -1], [500, 5, 40, 100])
    rows = of_each_class(codes, 0, most=100)
    assert np.bincount(codes[rows]).tolist() == [55, 5, 40]
    assert of_each_class(np.full(9, -1), 0).size == 0


def test_a_large_source_keeps_labelled_rows_of_each_class():
    n = LANDMARKS + 500
    codes = np.where(np.arange(n) < 10, 1, 0)
    labeled = np.arange(n) % 100 < 99
    source = Domain(np.arange(n, dtype=float)[:, None], codes, labeled=labeled)
    small = representative(source, 0)
    assert len(small) == LANDMARKS
    assert small.labeled.all()
    assert (small.codes == 1).sum() == 10
    assert len(representative(Domain(source.X), 0)) == LANDMARKS
