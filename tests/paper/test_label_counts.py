"""l_hat against quadrature, and c from curves that were made with it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from l2t.exceptions import InvalidInputError
from l2t.paper import learn
from l2t.paper.calibration import MARGIN, LabelCurve, fit_label_curve

GRID = (3, 15, 30, 45, 60, 75, 90, 105, 120)


@pytest.mark.parametrize("c", [-0.05, -0.4, -2.5, -2.99])
@pytest.mark.parametrize("n", [3, 15, 120])
def test_the_closed_form_is_the_mean_of_the_curve(c, n):
    """l_n = x / (a (x + c)) at x = n; l_hat is its mean over [p, q]."""
    a, p, q = 0.8, 3, 120
    curve = lambda x: x / (a * (x + c))  # noqa: E731
    mean = quad(curve, p, q, epsabs=1e-13)[0] / (q - p)
    assert curve(n) * LabelCurve(c, p, q).factor(n) == pytest.approx(mean, rel=1e-9)


def test_c_of_zero_leaves_ratios_alone():
    np.testing.assert_array_equal(LabelCurve(0.0).factor(GRID), 1.0)


def test_one_count_alone_is_its_own_mean():
    assert LabelCurve(-0.5, 15, 15).factor(15) == pytest.approx(1.0)


def test_the_factor_rises_with_labels_and_stays_finite_below_the_range():
    curve = LabelCurve(-2.0)
    assert (np.diff(curve.factor(GRID)) > 0).all(), "ratios fall"
    assert curve.factor(1) == curve.factor(3), "the pole at 2 labels is out of reach"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0.1, 3, 120), "c must be above -3 (the fewest labels) and at most 0, got 0.1"),
        ((-3.0, 3, 120), "c must be above -3 (the fewest labels) and at most 0, got -3.0"),
        ((np.nan, 3, 120), "c must be above -3 (the fewest labels) and at most 0, got nan"),
        (
            (0.0, 5, 3),
            "fewest and most must be label counts with 1 <= fewest <= most, got 5 and 3",
        ),
        (
            (0.0, 0, 3),
            "fewest and most must be label counts with 1 <= fewest <= most, got 0 and 3",
        ),
    ],
)
def test_what_cannot_be(arguments, sentence):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}"):
        LabelCurve(*arguments)


def curves(c, noise, rng, n_runs=300):
    """Return runs, label counts and ratios, each run with a level of its own."""
    runs = np.repeat(np.arange(n_runs), len(GRID))
    counts = np.tile(GRID, n_runs)
    levels = rng.uniform(0.7, 1.4, n_runs)[runs]
    return runs, counts, levels / (1 + c / counts) * np.exp(noise * rng.normal(size=len(runs)))


@pytest.mark.parametrize("c", [-0.5, -0.05, -2.0])
def test_c_comes_back(rng, c):
    found = fit_label_curve(*curves(c, 0.02, rng))
    assert found.c == pytest.approx(c, abs=0.02)
    assert (found.fewest, found.most) == (3, 120)
    exact = fit_label_curve(*curves(c, 0.0, rng))
    assert exact.c == pytest.approx(c, abs=1e-5)


def test_c_is_found_whatever_runs_are_measured_at(rng):
    """Levels are the runs' own: better runs at few labels must not look like a curve."""
    runs, counts, ratios = curves(-0.5, 0.0, rng)
    good = ratios > np.median(ratios)
    kept = (good & (counts <= 30)) | (~good & (counts > 15))
    order = rng.permutation(np.flatnonzero(kept))
    assert fit_label_curve(runs[order], counts[order], ratios[order]).c == pytest.approx(
        -0.5, abs=1e-4
    )


def test_rising_ratios_give_no_correction(rng):
    assert fit_label_curve(*curves(0.5, 0.0, rng)).c == pytest.approx(0.0, abs=1e-5)


def test_c_stays_away_from_the_pole(rng):
    runs, counts, _ = curves(0.0, 0.0, rng)
    steep = np.where(counts == 3, 1e4, 1.0)
    assert fit_label_curve(runs, counts, steep).c == pytest.approx(-3 * (1 - MARGIN), abs=1e-3)


def test_one_count_has_no_curve(world, quick):
    runs, counts = np.arange(4), np.full(4, 15)
    assert fit_label_curve(runs, counts, np.ones(4)) == LabelCurve(0.0, 15, 15)
    assert learn(replace(world, counts=(15,)).experiences(30), **quick).c == 0.0


def test_learning_finds_c(world, quick):
    curved = replace(world, c=-0.5, counts=(3, 6, 15, 60), noise=0.01)
    function = learn(curved.experiences(60), **quick)
    assert function.c == pytest.approx(-0.5, abs=0.03)
    assert function.label_range == (3, 60)
    fresh = [curved.statistics(np.random.default_rng(seed)) for seed in range(20)]
    for n in (None, 3, 60):
        actual = [
            curved.ratio(each, n) if n else 1.0 / curved.truth.inverse(each) for each in fresh
        ]
        predicted = [function.predict(each, n) for each in fresh]
        np.testing.assert_allclose(predicted, actual, rtol=0.04)


def test_the_curve_can_be_left_out(world, quick):
    curved = replace(world, c=-0.5)
    assert learn(curved.experiences(30), label_curve=False, **quick).c == 0.0
