"""Scores of combinations in plays of known classes."""

from __future__ import annotations

import numpy as np

from l2t import Domain
from l2t.algorithms import GFK
from l2t.domains import KnownClasses
from l2t.prediction.report import PLAIN
from l2t.prediction.scoring import rehearse_combinations

NEAREST = "nearest neighbour"


def test_groups_are_never_labelled_and_tested_at_once(rng):
    """Classes that are noise: only rows of the same group, near copies of each other, tell them."""
    X = np.repeat(rng.normal(size=(96, 10)), 5, axis=0) + 0.01 * rng.normal(size=(480, 10))
    codes, groups = np.repeat(np.arange(96) % 6, 5), np.repeat(np.arange(96), 5)
    settings = {"n_classes": 3, "rows_per_class": 80, "shots": 10}
    plain, found = (
        rehearse_combinations(KnownClasses([domain]), {}, [NEAREST], **settings)
        for domain in (Domain(X, codes), Domain(X, codes, groups=groups))
    )
    assert plain.mean(PLAIN, NEAREST) > 0.55
    assert found.mean(PLAIN, NEAREST) < 0.45
    assert found.n_rows < plain.n_rows


def scores(rng, algorithm):
    codes = np.repeat(np.arange(6), 40)
    X = 2.0 * rng.normal(size=(6, 10))[codes] + rng.normal(size=(240, 10))
    sizes = {"n_classes": 3, "rows_per_class": 40, "shots": 5, "n_plays": 3}
    found = rehearse_combinations(
        KnownClasses([Domain(X, codes)]), {"w": algorithm}, ["logistic"], **sizes
    )
    return found.of("w", "logistic")


def test_numbers_of_numpy_are_parameters_like_others():
    found = [scores(np.random.default_rng(0), GFK(n_components=n)) for n in (np.int64(3), 3)]
    assert np.shares_memory(*found), "cached"
