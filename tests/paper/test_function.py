"""The reflection function: its formula by hand, and what it refuses."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from l2t import infer
from l2t.exceptions import InvalidInputError
from l2t.forecast import Forecast
from l2t.paper import ReflectionFunction, load_reflection
from l2t.statistics import KernelBank, PairStatistics

BANK = KernelBank(0, 1, 1)
STATISTICS = PairStatistics(
    np.array([0.2, 0.4]), np.array([[0.3, 0.1], [0.1, 0.5]]), np.array([2.0, 4.0]), BANK, 5
)


def by_hand(**changed):
    return ReflectionFunction(
        **{"beta": [1.0, 0.5], "lambda_": 0.1, "mu": 0.8, "b": 0.5, "kernels": BANK} | changed
    )


def test_the_formula():
    f = by_hand()
    # beta'd = 0.2 + 0.2, beta'Q beta = 0.3 + 2 * 0.05 + 0.125, beta'tau = 2 + 2
    assert f.terms(STATISTICS) == pytest.approx(
        {"mmd": 0.4, "variance": 0.0525, "discriminant": 0.2, "bias": 0.5}
    )
    assert f.inverse(STATISTICS) == pytest.approx(1.1525)
    assert f.predict(STATISTICS) == pytest.approx(1 / 1.1525)


def test_the_diagonal_alone():
    assert by_hand(q_mode="diag").terms(STATISTICS)["variance"] == pytest.approx(0.0425)


def test_without_weights_there_is_the_bias():
    f = by_hand(beta=[0.0, 0.0], mu=0.0)
    assert f.predict(STATISTICS) == pytest.approx(2.0)


def test_no_ratio_above_ten():
    for b in (-5.0, -0.653, 0.0):
        f = by_hand(beta=[0.0, 0.0], mu=0.0, b=b)
        assert f.predict(STATISTICS) == 10.0


def test_at_a_number_of_labels():
    """f is the mean over [p, q] of x / (a (x + c))."""
    f = by_hand(c=-0.5, label_range=(3, 120))
    x = np.linspace(3, 120, 200_001)
    a = np.mean(x / (x - 0.5)) / f.predict(STATISTICS)
    for n in (3, 15, 120):
        assert f.predict(STATISTICS, n) == pytest.approx(n / (a * (n - 0.5)), rel=1e-4)
    assert f.predict(STATISTICS, np.int64(15)) == f.predict(STATISTICS, 15)
    assert f.predict(STATISTICS, 1) == f.predict(STATISTICS, 3), "no more is known below p"
    assert by_hand().predict(STATISTICS, 3) == by_hand().predict(STATISTICS), "c = 0"


@pytest.mark.parametrize("bad", [0, -3, 1.5, "3", True])
def test_numbers_of_labels_that_cannot_be(bad):
    sentence = f"n_labels must be a whole number of at least 1, got {bad!r}"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}"):
        by_hand().predict(STATISTICS, bad)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"beta": [1.0]}, "beta must have one weight per kernel (2), got shape (1,)"),
        ({"beta": [[1.0, 2.0]]}, "beta must have one weight per kernel (2), got shape (1, 2)"),
        ({"beta": [1.0, -0.1]}, "beta must be finite and not negative, got a least value of -0.1"),
        ({"beta": [1.0, np.nan]}, "beta must be finite and not negative, got a least value of nan"),
        ({"beta": [1.0, np.inf]}, "beta must be finite and not negative, got a least value of 1.0"),
        ({"lambda_": -1.0}, "lambda_ must be a number of at least 0, got -1.0"),
        ({"mu": -1}, "mu must be a number of at least 0, got -1"),
        ({"mu": np.nan}, "mu must be a number of at least 0, got nan"),
        ({"b": np.inf}, "b must be a finite number, got inf"),
        ({"b": "0"}, "b must be a finite number, got '0'"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1, got 0"),
        ({"n_neighbors": 2.0}, "n_neighbors must be a whole number of at least 1, got 2.0"),
        ({"q_mode": "half"}, "q_mode must be one of full, diag, got 'half'"),
        ({"c": 0.5}, "c must be above -3 (the fewest labels) and at most 0, got 0.5"),
        ({"c": -3}, "c must be above -3 (the fewest labels) and at most 0, got -3"),
        (
            {"label_range": (0, 5)},
            "fewest and most must be label counts with 1 <= fewest <= most, got 0 and 5",
        ),
    ],
)
def test_what_cannot_be(changed, sentence):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}"):
        by_hand(**changed)


@pytest.mark.parametrize("ask", ["predict", "interval", "terms", "explain"])
def test_statistics_must_be_those_it_learned_from(ask, learned, world, rng):
    own = world.statistics(rng)
    other = KernelBank(0, 4, 1)
    cases = {
        f"statistics must have the function's kernels, {world.kernels}, got {other}": replace(
            own, kernels=other
        ),
        "statistics must have the function's n_neighbors, 5, got 7": replace(own, n_neighbors=7),
        "statistics must be a PairStatistics, got list": [1.0],
    }
    for sentence, statistics in cases.items():
        with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}"):
            getattr(learned, ask)(statistics)


def test_an_interval_needs_a_calibration():
    sentence = "an interval needs a calibrated reflection function, got one without calibration"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}"):
        by_hand().interval(STATISTICS)


@pytest.mark.parametrize("level", [0, 1, -0.5, 2, np.nan])
def test_levels_that_cannot_be(learned, world, rng, level):
    sentence = f"level must be between 0 and 1, got {level!r}"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}"):
        learned.interval(world.statistics(rng), level=level)


def test_it_cannot_be_changed():
    weights = np.array([1.0, 0.5])
    f = by_hand(beta=weights)
    weights[0] = 9.0
    assert f.beta[0] == 1.0, "nor from outside"
    with pytest.raises(ValueError, match="read-only"):
        f.beta[0] = 2.0
    with pytest.raises(FrozenInstanceError):
        f.mu = 2.0  # type: ignore[misc]


def test_what_it_says_of_itself(learned):
    assert repr(by_hand()) == "ReflectionFunction(2 kernels, written by hand)"
    assert repr(learned) == "ReflectionFunction(5 kernels, learned from 360 experiences)"


def test_numpy_numbers_are_numbers():
    f = by_hand(lambda_=np.float32(0.5), n_neighbors=np.int64(5))
    assert f.lambda_ == 0.5
    assert type(f.lambda_) is float
    assert type(f.n_neighbors) is int


def test_the_forecast_beside_it_takes_no_part_in_its_predictions():
    f = by_hand()
    both = by_hand(forecast=Forecast.default())
    assert both.terms(STATISTICS) == f.terms(STATISTICS)
    assert both.predict(STATISTICS, 3) == f.predict(STATISTICS, 3)
    assert both.paper.forecast is None
    assert both.paper.predict(STATISTICS) == f.predict(STATISTICS)


def test_it_takes_no_part_in_what_its_forecast_decides(pair):
    default = load_reflection("default")
    without = replace(default, weights=np.zeros((3, len(default.kernels))), b=0.0)
    expected, found = (infer(pair, f, n_labels=6, n_rehearsals=2) for f in (default, without))
    assert (found.choice, found.predicted) == (expected.choice, expected.predicted)
    assert found.interval == expected.interval
    np.testing.assert_array_equal(found.W, expected.W)
