"""Figures show the numbers they are given."""

from __future__ import annotations

import io
import sys

import numpy as np
import pandas as pd
import pytest

from l2t import infer
from l2t.exceptions import MissingExtraError
from l2t.plots import plot_explanation, plot_ratios, plot_transfer


@pytest.fixture
def found(pair):
    return infer(pair, n_labels=3, method="paper")


def test_an_explanation(found):
    figure = plot_explanation(found.search.explanation)
    axes, shares = figure.axes
    heights = [bar.get_height() for bar in axes.patches]
    np.testing.assert_allclose(heights, found.search.explanation.weights)
    drawn = {line.get_label(): line.get_ydata() for line in shares.lines}
    assert set(drawn) == set(found.search.explanation.by_kernel)
    for name, values in drawn.items():
        np.testing.assert_array_equal(values, found.search.explanation.by_kernel[name])
    image = io.BytesIO()
    figure.savefig(image, format="png")
    assert image.getvalue().startswith(b"\x89PNG")


def test_a_transfer_shows_every_row_before_and_after(pair, found):
    panels = plot_transfer(pair, found).axes
    assert len(panels) == 2
    for axes in panels:
        drawn = sum(len(each.get_offsets()) for each in axes.collections)
        assert drawn == len(pair.source) + len(pair.target)


def test_ratios_of_a_comparison():
    measured = {"gfk": (0.9, 0.8, 1.1, 1.0), "L2T": (1.1, 1.0, 1.3, 1.2)}
    ratios = pd.DataFrame(
        {"method": method, "labels": count, "ratio": ratio}
        for method, values in measured.items()
        for count, ratio in zip((3, 15, 3, 15), values, strict=True)
    )
    (axes,) = plot_ratios(ratios, "a title").axes
    no_transfer, gfk, l2t = (line.get_ydata() for line in axes.lines)
    np.testing.assert_array_equal(no_transfer, 1.0)
    np.testing.assert_allclose(gfk, [1.0, 0.9])
    np.testing.assert_allclose(l2t, [1.2, 1.1])
    assert axes.get_title() == "a title"


def test_without_matplotlib(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(
        MissingExtraError, match=r"^a plot needs an optional package: pip install 'l2t\[plots\]'$"
    ):
        plot_explanation(found.search.explanation)
