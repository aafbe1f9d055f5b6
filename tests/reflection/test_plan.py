"""Plans: which one holds for a number of labels, and what cannot be."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from l2t.exceptions import InvalidInputError
from l2t.reflection import ReflectionFunction
from l2t.reflection.plan import ASSUMED_LABELS, Plan, nearest_plan

PLANS = tuple((count, Plan(n_iter=count)) for count in (3, 12, 60))


@pytest.mark.parametrize(
    ("n_labels", "expected"),
    [(1, 3), (3, 3), (5, 3), (7, 12), (12, 12), (26, 12), (27, 60), (500, 60), (None, 12)],
)
def test_the_nearest_in_proportion(world, n_labels, expected):
    assert nearest_plan(PLANS, n_labels).n_iter == expected
    assert replace(world.truth, plans=PLANS).plan(n_labels).n_iter == expected
    assert ASSUMED_LABELS == 15, "what None stands for"


def test_a_function_has_a_plan_from_the_start(learned):
    assert learned.plan(3) == learned.plan() == Plan.of("soft")
    assert ReflectionFunction(np.zeros(33)).plan() == Plan("grassmann", 20, 10)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"constraint": "free"},
            "constraint must be one of soft, grassmann, sphere, got 'free'",
        ),
        ({"n_components": 0}, "n_components must be a whole number of at least 1, got 0"),
        ({"n_iter": -1}, "n_iter must be a whole number of at least 0, got -1"),
        ({"n_iter": None}, "n_iter must be a whole number of at least 0, got None"),
        ({"power": np.nan}, "power must be a number of at least 0, got nan"),
    ],
)
def test_plans_that_cannot_be(arguments, sentence):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
        Plan(**arguments)


@pytest.mark.parametrize("counts", [(), (0,), (3, 3), (12, 3)])
def test_plans_are_for_rising_counts(world, counts):
    sentence = f"plans must be for rising label counts from 1, got {list(counts)}"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
        replace(world.truth, plans=tuple((count, Plan()) for count in counts))
