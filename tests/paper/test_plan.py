"""How the paper's method searches: what cannot be."""

from __future__ import annotations

import re

import pytest

from l2t.exceptions import InvalidInputError
from l2t.paper.plan import Plan


def test_what_is_usual():
    assert Plan() == Plan("grassmann", (5, 10, 20, 80), None)
    assert Plan(n_components=20).sizes == (20,)


def test_fewer_steps_with_known_classes():
    assert (Plan().steps(known=False), Plan().steps(known=True)) == (10, 5)
    assert Plan(n_iter=7).steps(known=True) == 7


def test_several_numbers_of_components_are_sorted():
    assert Plan(n_components=(20, 5, 20)).sizes == (5, 20)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"constraint": "free"}, "constraint must be one of grassmann, sphere, got 'free'"),
        ({"n_components": 0}, "n_components must be a whole number of at least 1, got 0"),
        ({"n_components": ()}, "n_components must be one or more whole numbers, got none"),
        ({"n_components": (5, 0)}, "n_components must be a whole number of at least 1, got 0"),
        ({"n_iter": -1}, "n_iter must be a whole number of at least 0, got -1"),
        ({"n_iter": "few"}, "n_iter must be a whole number of at least 0, got 'few'"),
    ],
)
def test_plans_that_cannot_be(arguments, sentence):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}"):
        Plan(**arguments)
