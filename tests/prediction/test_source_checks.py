"""Trust in classifiers of a source, without a label of the target."""

import numpy as np
import pandas as pd
import pytest

import l2t


def _routes(rng, n, *, far, rule):
    """Rows whose class follows `size`; with rule="local", by other rules on long distances than on short."""
    distance = rng.beta(3, 1, n) if far else rng.random(n)
    size, noise = rng.normal(size=n), rng.normal(size=n)
    large = size > 0
    if rule == "local":
        large = large ^ (distance > 0.5)
    frame = pd.DataFrame({"distance": distance, "size": size, "noise": noise})
    return frame, np.where(large, "A", "B").astype(object)


def test_a_source_whose_parts_differ_is_trusted_less():
    rng = np.random.default_rng(0)
    target, truth = _routes(rng, 400, far=True, rule="local")
    elsewhere = np.where(truth == "A", "B", "A")  # nothing learned from the source holds there
    found = l2t.predict(_routes(rng, 600, far=False, rule="local"), target)
    assert np.mean(found.labels == elsewhere) < 0.3
    steady = l2t.predict(_routes(rng, 600, far=False, rule="everywhere"), target)
    assert found.probability.mean() < 0.65 < 0.85 < steady.probability.mean()
    assert "parts of the source" in " ".join(found.report.sentences)


@pytest.mark.parametrize("far", [True, False])
def test_a_source_whose_rules_hold_everywhere_is_trusted(far):
    rng = np.random.default_rng(1)
    target, truth = _routes(rng, 400, far=far, rule="everywhere")
    found = l2t.predict(_routes(rng, 600, far=False, rule="everywhere"), target)
    accuracy = np.mean(found.labels == truth)
    assert found.probability.mean() == pytest.approx(accuracy, abs=0.1)


def test_a_source_of_one_group_has_no_check():
    rng = np.random.default_rng(2)
    frame, y = _routes(rng, 60, far=False, rule="everywhere")
    source = l2t.Domain(frame.to_numpy(), y, groups=np.zeros(60, dtype=int))
    found = l2t.predict(source, _routes(rng, 60, far=True, rule="everywhere")[0].to_numpy())
    assert set(found.classes) == {"A", "B"}
