"""Every check returns a plain Python value, or says which rule of which parameter is broken."""

from __future__ import annotations

import re

import numpy as np
import pytest

from l2t.exceptions import InvalidInputError
from l2t.validation import instance_of, one_of, real_number, seed, whole_number


def refused(sentence, check, *args, **rules):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}"):
        check(*args, **rules)


def test_whole_numbers_of_any_integer_type_become_ints():
    for value in (3, np.int8(3), np.uint64(3)):
        assert type(whole_number("n", value, least=3)) is int
    assert seed(np.int32(7)) == 7


@pytest.mark.parametrize("value", [2, 3.0, True, np.bool_(True), "3", None, np.array([3])])
def test_anything_else_is_refused(value):
    sentence = f"n must be a whole number of at least 3, got {value!r}"
    refused(sentence, whole_number, "n", value, least=3)


def test_a_seed_is_not_negative():
    refused("random_state must be a whole number of at least 0, got -1", seed, -1)


def test_real_numbers_of_any_type_become_floats():
    for value in (1, 1.0, np.float32(1), np.int16(1)):
        assert type(real_number("x", value)) is float


@pytest.mark.parametrize(
    ("rules", "value", "rule"),
    [
        ({}, np.nan, "a finite number"),
        ({}, True, "a finite number"),
        ({}, 1j, "a finite number"),
        ({"least": 0}, -0.5, "a number of at least 0"),
        ({"above": 0}, 0, "a number above 0"),
        ({"most": 2}, 3, "a number of at most 2"),
        ({"least": 0, "most": 1}, 1.5, "a number from 0 to 1"),
        ({"above": 0, "most": 1}, np.inf, "a number above 0 and at most 1"),
    ],
)
def test_bounds_are_named(rules, value, rule):
    refused(f"x must be {rule}, got {value!r}", real_number, "x", value, **rules)


def test_choices_and_types_are_named():
    assert one_of("how", "rows", ("rows", "none")) == "rows"
    refused("how must be one of rows, none, got 'all'", one_of, "how", "all", ("rows", "none"))
    assert instance_of("n", 3, int) == 3
    refused("error must be an OSError, got int", instance_of, "error", 3, OSError)
