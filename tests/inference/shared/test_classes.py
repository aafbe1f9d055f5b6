"""Which classes are shared, as the labels say."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain
from l2t.inference.shared import shared_classes


def domain(*labels, labeled=None):
    return Domain(np.arange(len(labels))[:, None] + 0.0, list(labels), labeled=labeled)


@pytest.mark.parametrize(
    ("target", "kind", "common"),
    [
        (domain("a", "b", None), "all", ("a", "b")),
        (domain("a", None), "partial", ("a",)),
        (domain("a", "c", None), "open", ("a",)),
        (domain("c", None), "none", ()),
        (domain("a", "b"), "unknown", ()),
    ],
)
def test_kinds(target, kind, common):
    found = shared_classes(domain("a", "b", "a"), target)
    assert (found.kind, found.common) == (kind, common)


def test_only_marked_target_labels_are_read():
    target = domain("a", "c", labeled=np.array([True, False]))
    found = shared_classes(domain("a", "b"), target)
    assert found.target_only == ()
    assert found.source_only == ("b",)


def test_classes_of_several_sources_count_once():
    found = shared_classes([domain("a", "b"), domain("b", "c")], domain("b", None))
    assert (found.common, found.source_only) == (("b",), ("a", "c"))


def test_equal_numbers_and_texts_are_different_classes():
    assert shared_classes(domain("1", "2"), Domain([[0.0], [1.0]], [1, None])).kind == "none"
