"""How the functions that ship are learned, at a size that takes seconds."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import infer, load_reflection
from l2t.experiments import shipped
from l2t.experiments.families import draw_pairs
from l2t.experiments.transfer import measure_transfer
from l2t.inference import tuning


@pytest.fixture(scope="module")
def function(tmp_path_factory):
    work = tmp_path_factory.mktemp("work")
    given = {"n_train": {"digits": 3}, "n_validation": 2, "progress": False}
    return shipped.learn_from_families(("digits",), None, work, **given)


def test_neighbours_are_those_that_are_worth_most_on_validation_pairs(function):
    worth = function.training["neighbors"]
    assert list(worth) == [str(r) for r in shipped.NEIGHBORS]
    assert worth[str(function.n_neighbors)] == max(worth.values())
    pairs = draw_pairs("digits", "validation", 2, None)
    study = measure_transfer(
        pairs, function, names=(), label_counts=tuning.LABEL_COUNTS, progress=False
    )
    mean = np.exp(np.nanmean(np.log(study.l2t)))
    assert worth[str(function.n_neighbors)] == pytest.approx(mean, abs=1e-4)


def test_it_says_what_it_was_learned_from_and_can_be_used(function, tmp_path):
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
    families = shipped.SHIPPED[name]
    assert function.training["families"] == {
        each: shipped.TRAINING_PAIRS[each] for each in families
    }
    assert function.training["plans"]["pairs"] == shipped.VALIDATION_PAIRS * len(families)
    worth = function.training["neighbors"]
    assert list(worth) == [str(r) for r in shipped.NEIGHBORS]
    assert worth[str(function.n_neighbors)] == max(worth.values())
