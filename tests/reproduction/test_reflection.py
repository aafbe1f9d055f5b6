"""The reflection function that ships, and how it is learned."""

from __future__ import annotations

import pytest

from l2t.paper import ConvexReflection, load_reflection
from l2t.paper.files import to_json
from reproduction.families import FILES
from reproduction.kinds import SHIPPABLE
from reproduction.reflection import FAMILY, N_PAIRS, learn_from


def test_it_is_learned_from_data_that_may_be_shipped_from():
    function = load_reflection("default")
    assert isinstance(function, ConvexReflection)
    assert function.training["families"] == {FAMILY: N_PAIRS}
    assert {path.split("/")[0] for path in FILES[FAMILY]} <= set(SHIPPABLE)
    assert function.training["best"] == 0.5
    assert len(to_json(function.paper)) < 20_000


@pytest.mark.reproduction
def test_the_same_experiences_give_the_same_file(tmp_path):
    first, again = (learn_from("digits", None, tmp_path, 2) for _ in range(2))
    assert to_json(first) == to_json(again)
    assert first.training["families"] == {"digits": 2}
    assert first.forecast is None
