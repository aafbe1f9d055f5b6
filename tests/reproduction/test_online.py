"""Streams and practice, at a size that takes seconds."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import PastTargets, learn, open_store
from reproduction.figures import draw_drift, draw_stream
from reproduction.online import Stream, measure_stream, ratios_of
from reproduction.practice import measure_practice

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stream(small_pairs) -> Stream:
    with open_store("memory://") as store:
        found = measure_stream(
            small_pairs(24), store, label_counts=(3, 15), refine_every=12, progress=False
        )
        assert store.count(status="done") == 48
        assert len(store.open_suggestions()) == 0
        function = learn(store.experiences(status="done"))
        past = PastTargets.of(store)
    for known in (None, past):
        fixed = ratios_of(function, small_pairs(3), (3, 15), past=known, progress=False)
        assert np.isfinite(fixed).all()
        assert fixed.shape == (3,)
    return found


def test_a_stream_from_nothing(stream):
    assert stream.version[0] == 0
    assert np.isnan(stream.predicted[stream.version == 0]).all()
    assert np.isfinite(stream.predicted[stream.version > 0]).all()
    transferred = stream.ratio != 1.0
    np.testing.assert_array_equal(stream.ratio[transferred], stream.always[transferred])
    assert len(stream.runs) == len(stream.seconds) == len(stream.versions) > 0
    assert (stream.seconds > 0).all()


def test_running_means():
    ones = np.ones(4)
    stream = Stream(np.array([1.0, 2.0, 3.0, 6.0]), *[ones] * 5, ones, ones, [])
    np.testing.assert_allclose(stream.running_mean(), [1.0, 1.5, 2.0, 3.0])
    np.testing.assert_allclose(stream.running_mean(2), [1.0, 1.5, 2.5, 4.5])


def test_coverage_is_of_those_with_an_interval():
    nothing = np.full(3, np.nan)
    always = np.array([0.9, 1.1, 1.3])
    low, high = np.array([np.nan, 1.0, 1.0]), np.array([np.nan, 1.2, 1.2])
    stream = Stream(always, always, nothing, low, high, nothing, nothing, nothing, [])
    assert stream.coverage == 0.5


def test_figures_are_drawn(stream, tmp_path):
    draw_stream(stream, 1.05, tmp_path / "a" / "stream.png")
    draw_drift(stream, 12, (1.05, 1.0), tmp_path / "a" / "drift.png")
    for name in ("stream", "drift"):
        assert (tmp_path / "a" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_practice(small_pairs):
    with open_store("memory://") as collected, open_store("memory://") as own:
        study = measure_practice(
            small_pairs(3), small_pairs(2, 1), small_pairs(2, 2), collected, own, progress=False
        )
        assert {each.algorithm for each in own.experiences(status="done")} == {"l2t"}
    known = np.isfinite(study.before.always).all(axis=0)
    assert known.tolist() == [True, True, True, False, False]  # 60 rows
    assert np.isfinite(study.error(study.after)[known]).all()
    expected = np.mean(study.before.predicted[:, 0] / study.before.always[:, 0]) - 1
    assert study.optimism(study.before)[0] == pytest.approx(expected)
