"""Which classes are shared, as the labels say."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain
from l2t.inference.shared.task import shared_classes


def domain(*labels, labeled=None):
    return Domain(np.arange(len(labels))[:, None] + 0.0, list(labels), labeled=labeled)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (domain("a", "b", None), (("a", "b"), (), ())),
        (domain("a", None), (("a",), ("b",), ())),
        (domain("a", "c", None), (("a",), ("b",), ("c",))),
        (domain("c", None), ((), ("a", "b"), ("c",))),
        (domain("a", "b"), ((), ("a", "b"), ())),
    ],
)
def test_classes_by_where_they_occur(target, expected):
    assert shared_classes([domain("a", "b", "a")], target) == expected


def test_only_marked_target_labels_are_read():
    target = domain("a", "c", labeled=np.array([True, False]))
    assert shared_classes([domain("a", "b")], target) == (("a",), ("b",), ())


def test_classes_of_several_sources_count_once():
    found = shared_classes([domain("a", "b"), domain("b", "c")], domain("b", None))
    assert found == (("b",), ("a", "c"), ())


def test_equal_numbers_and_texts_are_different_classes():
    target = Domain([[0.0], [1.0]], [1, None])
    assert shared_classes([domain("1", "2")], target) == ((), ("1", "2"), (1,))
