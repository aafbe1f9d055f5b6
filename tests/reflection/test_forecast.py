"""The forecast: monotone where that is meant, and the limits of its parts."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from l2t.exceptions import FileFormatError
from l2t.reflection.forecast import UNKNOWN, Expectation, Forecast, Signs

ORDINARY = Signs(share=0.6, rehearsed_share=0.6, error=0.3)
MISLEADING = Signs(share=0.8, rehearsed_share=0.6, error=0.3)


@pytest.fixture(scope="module")
def forecast():
    return Forecast.default()


def mean(forecast, name="spectrum", signs=ORDINARY, rehearsed=0.1, shots=1):
    return forecast.expect(name, signs, rehearsed, shots).mean


def test_the_rehearsed_ratio_raises_the_expectation(forecast):
    values = [mean(forecast, rehearsed=r) for r in (-0.3, -0.1, 0.0, 0.1, 0.3)]
    assert (np.diff(values) > 0).all()


def test_mutual_neighbourhoods_lower_it(forecast):
    shares = (0.5, 0.6, 0.63, 0.67, 0.72, 0.9)
    values = [mean(forecast, signs=replace(ORDINARY, share=s)) for s in shares]
    assert (np.diff(values) <= 0).all()
    assert values[0] > 0 > values[-1]
    assert values[-1] == pytest.approx(forecast.harm[0])
    plain = [mean(forecast, signs=Signs(share=s), rehearsed=None) for s in shares]
    assert (np.diff(plain) <= 0).all()


def test_without_room_the_prior_counts(forecast):
    full = mean(forecast, signs=replace(ORDINARY, error=1e9))
    none = mean(forecast, signs=replace(ORDINARY, error=0.0))
    assert full == pytest.approx(0.1)
    assert none == pytest.approx(forecast.prior[0])
    assert mean(forecast, "classes", signs=replace(ORDINARY, error=0.0)) == 0.0


def test_far_domains_are_as_without_a_rehearsal(forecast):
    apart = replace(ORDINARY, gap=2.0)
    for name in ("spectrum", "classes", "classes+spectrum"):
        alone = forecast.expect(name, Signs(share=0.6), None, 5)
        assert forecast.expect(name, apart, 0.4, 5) == alone
    assert mean(forecast, "gfk", Signs(share=0.6), None) == pytest.approx(-UNKNOWN)


def test_misleading_neighbourhoods_do_not_concern_the_classes(forecast):
    for shots in (1, 5, 15):
        harm = mean(forecast, "classes", MISLEADING, 0.1, shots)
        assert -0.05 < harm <= 0 > mean(forecast, "spectrum", MISLEADING, 0.1, shots) - 1e-9


def test_between_label_counts_it_is_interpolated(forecast):
    values = [
        mean(forecast, signs=replace(ORDINARY, error=0.0), shots=k) for k in (1, 1.5, 2, 3, 5)
    ]
    assert (np.diff(values) < 0).all()
    assert mean(forecast, shots=400) == mean(forecast, shots=forecast.shots[-1])


def test_intervals_hold_the_ratio():
    low, high = Expectation(0.1, 0.05).interval
    assert Expectation(0.1, 0.05).ratio == pytest.approx(np.exp(0.1))
    assert low < np.exp(0.1) < high


def test_it_travels_as_json(forecast):
    assert Forecast.from_json(forecast.to_json()) == forecast
    content = json.loads(forecast.to_json())
    for broken in (
        "[1]",
        "{",
        json.dumps({**content, "prior": [0.1]}),
        json.dumps({**content, "colour": 1}),
        json.dumps({**content, "harm": ["a"] * 5}),
    ):
        with pytest.raises(FileFormatError, match="this is not a forecast"):
            Forecast.from_json(broken)
