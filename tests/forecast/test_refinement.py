"""What the user's own experiences change in a forecast."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from l2t.algorithms import Traits
from l2t.forecast import Forecast, MetaFeatures, refine
from l2t.forecast.forecast import OWN_PAIRS, UNKNOWN, room_of

MISLEADING = MetaFeatures(share=0.8, excess=0.2, error=0.3)


@pytest.fixture(scope="module")
def forecast():
    return Forecast.default()


def experiences(n, ratio, algorithm="gfk", before=0.6):
    return [
        SimpleNamespace(
            algorithm=algorithm,
            n_labels=5 * 3,
            n_classes=3,
            accuracy_before=before,
            improvement_ratio=ratio,
            source="s",
            target=f"t{i}",
            trained_on="target",
        )
        for i in range(n)
    ]


def test_own_experience_moves_the_prior_as_it_grows(forecast):
    target = np.log(1.1) / room_of(0.4)
    priors = [
        refine(forecast, experiences(n, 1.1)).prior["gfk"][forecast.shots.index(5)]
        for n in (1, 20, 400)
    ]
    shares = np.array([1, 20, 400]) / (np.array([1, 20, 400]) + OWN_PAIRS)
    assert priors == pytest.approx(target * shares)
    assert refine(forecast, []) == forecast
    again = refine(refine(forecast, experiences(20, 1.1)), experiences(20, 1.1))
    assert again.prior["gfk"] == pytest.approx(
        refine(forecast, experiences(40, 1.1)).prior["gfk"], abs=0.2
    )
    assert again.own_pairs == {"gfk": 40}


def test_own_experience_outweighs_a_rehearsal(forecast):
    own = refine(forecast, experiences(400, 0.9, "spectrum"))
    meta = MetaFeatures(share=0.6, excess=0.0, error=0.3)
    before, after = (each.expect("spectrum", meta, 0.05, 5).mean for each in (forecast, own))
    assert after < 0 < before


def test_traits_decide_for_candidates_of_other_names(forecast):
    relying, sourceless = Traits(relies_on_neighbours=True), Traits(uses_source=False)
    plugin = forecast.expect("plugin", MISLEADING, 0.1, 5, relying)
    assert plugin == forecast.expect("spectrum", MISLEADING, 0.1, 5)
    assert plugin.mean < forecast.expect("plugin", MISLEADING, 0.1, 5).mean
    without = MetaFeatures(share=0.0)
    own = refine(forecast, experiences(20, 1.1, "plugin"))
    room = room_of(own.expected_error(without, 1))
    gap = own.expect("plugin", without, None, 1, sourceless).mean
    gap -= own.expect("plugin", without, None, 1).mean
    assert gap == pytest.approx(UNKNOWN * room)
