"""What all algorithms share: transforming, frozen results, warnings."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from l2t import Domain, DomainPair
from l2t.algorithms import GFK, TCA, Identity, alignment
from l2t.algorithms.base import plain_params
from l2t.exceptions import InvalidInputError


def test_transform_takes_what_a_domain_takes(pair):
    factors = GFK(n_components=3).fit(pair)
    X = pair.target.X
    expected = X @ factors.W
    for rows in (X, X.tolist(), pd.DataFrame(X), sparse.csr_array(X), pair.target):
        np.testing.assert_allclose(factors.transform(rows), expected)
    for bad in (X[0], X[:, :2], [["a"] * 10]):
        with pytest.raises(InvalidInputError, match="X must be a 2-D array of numbers with the 10"):
            factors.transform(bad)
    with pytest.raises(InvalidInputError, match="X must be finite, got nan at row 0"):
        factors.transform(np.full((2, 10), None))


def test_sparse_rows_of_very_many_features_stay_rows_without_transfer():
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(4, 5000)))
    factors = Identity().fit(DomainPair(Domain(X), Domain(X)))
    np.testing.assert_array_equal(factors.transform(X), X.toarray())


def test_factors_are_frozen(pair):
    factors = GFK(n_components=3).fit(pair)
    with pytest.raises(ValueError, match="read-only"):
        factors.W[0, 0] = 1
    assert repr(factors) == "LatentFactors(gfk, metric, W 10 x 6, stopped: closed-form)"


def test_a_matrix_of_the_source_that_is_not_finite_is_refused(pair, monkeypatch):
    monkeypatch.setattr(alignment, "matrix_power", lambda S, *_: np.full(S.shape, np.nan))
    with pytest.raises(InvalidInputError, match="its result is not finite"):
        alignment.CORAL().fit(pair)


def test_the_warning_points_to_the_caller_and_comes_once(rng):
    narrow = DomainPair(Domain(rng.normal(size=(20, 3))), Domain(rng.normal(size=(20, 3))))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        TCA().fit(narrow)
    (warning,) = caught
    assert warning.filename == __file__
    assert str(warning.message) == (
        "tca: n_components=20 exceeds the rank of the joint data; 3 are used"
    )


def test_parameters_are_plain_values():
    algorithm = GFK(n_components=np.int64(3))
    assert repr(plain_params(algorithm)) == "{'n_components': 3, 'random_state': 0}"
    for bad in (object(), float("nan")):
        with pytest.raises(InvalidInputError, match="gfk must have params, a mapping of names"):
            plain_params(GFK(n_components=bad))
