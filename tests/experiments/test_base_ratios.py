"""Ratios of the base algorithms over pairs."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import PairSampler, domains, normalize
from l2t.experiences import evaluate
from l2t.experiments import measure_base_ratios


def test_ratios_are_accuracies_over_accuracies():
    pairs = PairSampler(
        normalize(domains.digits()), normalize(domains.mnist()), 2, max_per_class=30
    )
    done = []
    measured = measure_base_ratios(
        pairs, names=("gfk", "tca"), label_counts=(3, 15, 90), progress=done.append
    )
    assert done == ["gfk", "tca"] * 2
    assert measured.label_counts == (3, 15)
    assert measured.ratios.shape == (2, 2, 2)
    target = pairs[1].target
    before = evaluate(target.X, target.codes, label_counts=(3, 15))
    np.testing.assert_allclose(measured.original[1], before.mean)
    from l2t.algorithms import GFK

    after = evaluate(GFK().fit(pairs[1]).transform(target.X), target.codes, label_counts=(3, 15))
    np.testing.assert_allclose(measured.ratios[0, 1], after.mean / before.mean)
    assert measured.mean[0] == pytest.approx(measured.ratios[0].mean(axis=0))
    assert (measured.seconds > 0).all()
