"""The forecast: monotone where that is meant, and the limits of its parts."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from l2t.exceptions import FileFormatError
from l2t.forecast.forecast import (
    MIN_SPREAD,
    UNKNOWN,
    Expectation,
    Forecast,
    MetaFeatures,
    room_of,
)

ORDINARY = MetaFeatures(share=0.6, excess=0.0, error=0.3)
MISLEADING = MetaFeatures(share=0.8, excess=0.2, error=0.3)


@pytest.fixture(scope="module")
def forecast():
    return Forecast.default()


def use(forecast, name="spectrum", meta=ORDINARY, rehearsed=0.1, shots=1):
    """The part of the room that a candidate is expected to use."""
    room = room_of(forecast.expected_error(meta, shots))
    return forecast.expect(name, meta, rehearsed, shots).mean / room


def test_the_rehearsed_ratio_raises_the_expectation(forecast):
    values = [use(forecast, rehearsed=r) for r in (-0.3, -0.1, 0.0, 0.1, 0.3)]
    assert (np.diff(values) > 0).all()


def test_mutual_neighbourhoods_lower_it(forecast):
    excesses = (-0.1, 0.0, 0.03, 0.06, 0.1, 0.3)
    values = [use(forecast, meta=replace(ORDINARY, excess=each)) for each in excesses]
    assert (np.diff(values) <= 1e-12).all()
    assert values[0] > 0 > values[-1]
    assert values[-1] == pytest.approx(forecast.misled[0])
    plain = [
        use(forecast, meta=MetaFeatures(share=s), rehearsed=None) for s in (0.5, 0.6, 0.7, 0.8, 0.9)
    ]
    assert (np.diff(plain) <= 1e-12).all()


def test_a_rehearsal_without_errors_leaves_it_to_the_prior(forecast):
    assert use(forecast, meta=replace(ORDINARY, error=0.0)) == pytest.approx(
        forecast.prior["spectrum"][0]
    )
    assert use(forecast, "classes", meta=replace(ORDINARY, error=0.0)) == 0.0
    seen = [
        use(forecast, "classes", replace(ORDINARY, error=e), 0.5 * room_of(e)) for e in (0.02, 0.4)
    ]
    assert 0 < seen[0] < seen[1] < 0.5


def test_nothing_is_gained_where_nothing_is_missing(forecast):
    """The ratio never promises more than an accuracy of 1."""
    for own in (0.0, 0.05, 0.3, 0.7):
        meta = replace(ORDINARY, own_error=own, n_own=10_000)
        expected = forecast.expect("spectrum", meta, 0.2, 1)
        assert (1.0 - own) * expected.ratio <= 1.0 + 0.03
    tight, wide = (
        forecast.expect("spectrum", replace(ORDINARY, own_error=e, n_own=500), 0.1, 5)
        for e in (0.02, 0.4)
    )
    assert MIN_SPREAD <= tight.spread < 0.4 * wide.spread


def test_far_domains_are_as_without_a_rehearsal(forecast):
    apart = replace(ORDINARY, gap=2.0)
    for name in ("spectrum", "classes", "classes+spectrum"):
        alone = forecast.expect(name, MetaFeatures(share=0.6), None, 5)
        assert forecast.expect(name, apart, 0.4, 5) == alone
    without_gate = replace(MetaFeatures(share=0.6), share=0.0)
    assert use(forecast, "gfk", without_gate, None) == pytest.approx(-UNKNOWN)


def test_misleading_neighbourhoods_hardly_concern_the_classes(forecast):
    for shots in (1, 5, 15):
        classes, spectrum = (
            use(forecast, name, MISLEADING, 0.1, shots) for name in ("classes", "spectrum")
        )
        assert -0.2 < classes <= 0
        assert spectrum < min(classes, -0.1)


def test_between_label_counts_it_is_interpolated(forecast):
    saturated = replace(ORDINARY, error=0.0)
    values = [use(forecast, meta=saturated, shots=k) for k in (1, 1.5, 2, 3, 5)]
    assert (np.diff(values) < 0).all()
    last = forecast.shots[-1]
    assert use(forecast, shots=400) == pytest.approx(use(forecast, shots=last))


def test_intervals_hold_the_ratio():
    expected = Expectation(0.1, 0.05)
    low, high = expected.interval(2.0)
    assert (low, high) == pytest.approx((1.0, np.exp(0.2)))
    assert expected.interval(np.inf) == (0.0, np.inf)
    assert Expectation(0.0, 0.0).interval(np.inf) == (1.0, 1.0)
    assert Expectation(0.1, 0.04, 0.03).interval(2.0) == pytest.approx((low, high))


def test_an_unfamiliar_pair_widens_the_interval(forecast):
    usual, strange = ORDINARY, replace(ORDINARY, excess=0.9, share=1.0)
    assert forecast.novelty(usual) < 1 < forecast.novelty(strange)
    assert forecast.half_width(strange) > 1.5 * forecast.half_width(usual)
    assert (
        forecast.half_width(usual, 0.5)
        < forecast.half_width(usual, 0.9)
        < forecast.half_width(usual, 0.99)
    )


def test_it_travels_as_json(forecast):
    assert Forecast.from_json(forecast.to_json()) == forecast
    content = json.loads(forecast.to_json())
    for broken in (
        "[1]",
        "{",
        json.dumps({**content, "harm": [0.1]}),
        json.dumps({**content, "colour": 1}),
        json.dumps({**content, "harm": ["a"] * 5}),
        forecast.to_json().replace("0.", "NaN", 1),
    ):
        with pytest.raises(FileFormatError, match="not a forecast"):
            Forecast.from_json(broken)
