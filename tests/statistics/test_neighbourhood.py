"""How mutual neighbourhoods are: limits on made distributions, and comparable numbers of rows."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.statistics import mutual_share


def test_separate_groups_of_equal_size_are_all_mutual(rng):
    groups = np.repeat(1e3 * rng.normal(size=(15, 4)), 11, axis=0) + rng.normal(size=(165, 4))
    # Within a group of eleven all ten others are neighbours, and the five nearest mostly so.
    assert mutual_share(groups) > 0.8
    assert mutual_share(rng.normal(size=(165, 4))) < 0.7
    assert mutual_share(groups[:88], like=165) > 0.8 > mutual_share(groups[:88])


@pytest.mark.parametrize("n_rows", [45, 60, 120, 240])
def test_offsets_of_groups_are_seen_in_small_targets_too(n_rows):
    """Offsets that random groups of rows share, whatever their class, make neighbours more mutual."""
    excess = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(3, 20))[np.arange(n_rows) % 3] + rng.normal(size=(n_rows, 20))
        offsets = rng.normal(size=(12, 20))[rng.integers(0, 12, n_rows)]
        excess.append(mutual_share(X + offsets) - mutual_share(X))
    assert np.mean(excess) > 0.02


def test_high_dimensions_have_hubs(rng):
    """Neighbours of independent normal rows are the less mutual, the more dimensions there are."""
    shares = [mutual_share(rng.normal(size=(400, m))) for m in (1, 4, 16, 64)]
    assert (np.diff(shares) < 0).all()
    assert shares[0] > 0.75


@pytest.mark.parametrize("n", [90, 240, 960])
def test_the_same_number_of_rows_makes_shares_comparable(n):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3, 8))[np.arange(n) % 3] * 2 + rng.normal(size=(n, 8))
    reference = mutual_share(
        rng.normal(size=(3, 8))[np.arange(60) % 3] * 2 + rng.normal(size=(60, 8))
    )
    assert mutual_share(X, 60) == pytest.approx(reference, abs=0.06)


def test_rotation_shift_and_scale_do_not_matter(rng):
    X = rng.normal(size=(60, 5))
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    assert mutual_share(1e3 * X @ turn + 50.0, 40) == pytest.approx(mutual_share(X, 40))
