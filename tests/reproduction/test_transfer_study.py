"""L2T beside base algorithms on pairs with labels."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain, DomainPair, PairSampler, evaluate, infer, normalize
from l2t.domains import digits
from reproduction.transfer_study import measure_transfer


@pytest.fixture(scope="module")
def pairs():
    sampler = PairSampler(normalize(digits()), normalize(digits()), 2, max_per_class=20)
    return [sampler[i] for i in range(2)]


@pytest.fixture(scope="module")
def study(pairs):
    return measure_transfer(
        pairs,
        names=("gfk", "tca"),
        label_counts=(3, 15, 60),
        n_draws=2,
        progress=False,
        n_rehearsals=2,
    )


def test_counts_that_leave_too_few_rows_are_empty(study):
    assert study.base.shape == (2, 2, 3)
    assert study.l2t.shape == study.predicted.shape == study.original.shape == (2, 3)
    for array in (study.base, study.l2t, study.predicted, study.original):
        assert np.isfinite(array[..., :2]).all()
        assert np.isnan(array[..., 2]).all()
    assert np.isnan(study.mean(study.l2t)[2])


def test_the_ratio_is_that_of_the_choice(pairs, study):
    pair = pairs[0]
    bare = DomainPair(pair.source, Domain(pair.target.X))
    found = infer(bare, n_labels=15, n_classes=3, n_rehearsals=2)
    before, after = (
        evaluate(Z, pair.target.codes, label_counts=(15,), n_draws=2).mean[0]
        for Z in (pair.target.X, found.transform(pair.target))
    )
    assert study.l2t[0, 1] == pytest.approx(after / before)
    assert study.predicted[0, 1] == found.predicted
    assert study.original[0, 1] == before


def test_means_and_their_errors(study):
    np.testing.assert_allclose(study.mean(study.l2t)[:2], study.l2t[:, :2].mean(axis=0))
    spread = np.std(study.l2t[:, :2], axis=0, ddof=1) / np.sqrt(2)
    np.testing.assert_allclose(study.standard_error(study.l2t)[:2], spread)
