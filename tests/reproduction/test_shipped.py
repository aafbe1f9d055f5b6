"""How the functions that ship are learned, at a size that takes seconds."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import infer, load_reflection, pair_statistics
from reproduction import shipped
from reproduction.families import draw_pairs

pytestmark = pytest.mark.slow


def test_a_function_is_learned_and_planned_and_can_be_used(tmp_path):
    function = shipped.learn_from_families(
        {"digits": 3}, None, tmp_path, n_validation=2, progress=False
    )
    assert function.training["families"] == {"digits": 3}
    assert function.training["plans"]["pairs"] == 2
    assert {plan.constraint for _, plan in function.plans} == {"soft"}
    function.save(tmp_path / "f.json")
    pair = draw_pairs("digits", "test", 1, None)[0]
    found, again = (infer(pair, f, n_labels=3) for f in (function, tmp_path / "f.json"))
    np.testing.assert_array_equal(found.W, again.W)


@pytest.mark.parametrize("name", sorted(shipped.SHIPPED))
def test_what_ships_was_learned_so(name):
    function = load_reflection(name)
    n_train = shipped.SHIPPED[name]
    assert function.training["families"] == n_train
    assert function.training["plans"]["pairs"] == shipped.VALIDATION_PAIRS * len(n_train)


@pytest.mark.parametrize("name", sorted(shipped.SHIPPED))
def test_what_ships_reads_statistics_as_they_are_made(name):
    pair = draw_pairs("digits", "test", 1, None)[0]
    W = np.eye(pair.n_features)[:, :20]
    assert 0.5 < load_reflection(name).predict(pair_statistics(pair, W), 15) < 2
