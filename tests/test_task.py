"""What is decided once for a task: classes and their roles, labels, classes, rows."""

from __future__ import annotations

import numpy as np
import pytest

from l2t import Domain
from l2t.task import ClassRoles, Task


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
    assert ClassRoles.of([domain("a", "b", "a")], target) == ClassRoles(*expected)


def test_only_marked_target_labels_are_read():
    target = domain("a", "c", labeled=np.array([True, False]))
    assert ClassRoles.of([domain("a", "b")], target) == ClassRoles(("a",), ("b",), ())


def test_classes_of_several_sources_count_once():
    found = ClassRoles.of([domain("a", "b"), domain("b", "c")], domain("b", None))
    assert found == ClassRoles(("b",), ("a", "c"), ())


def test_equal_numbers_and_texts_are_different_classes():
    target = Domain([[0.0], [1.0]], [1, None])
    assert ClassRoles.of([domain("1", "2")], target) == ClassRoles((), ("1", "2"), (1,))


def test_sharing_is_decided_by_the_user_or_by_the_labels():
    disjoint = (
        ClassRoles(("a",), (), ()),
        ClassRoles((), ("a",), ("b",)),
        ClassRoles((), ("a",), ()),
    )
    assert [roles.are_shared() for roles in disjoint] == [True, False, False]
    assert [roles.are_shared(unlabeled=True) for roles in disjoint] == [True, True, True]
    two = ClassRoles((), ("a",), ("b", "c"))
    assert not two.are_shared(unlabeled=True)
    assert [roles.are_shared(shared=True) for roles in disjoint] == [True] * 3
    assert not ClassRoles((), (), ()).are_shared(unlabeled=True)


def test_rows_are_those_of_the_target_in_another_order(rng):
    X = rng.normal(size=(30, 3))
    labeled = np.arange(30) < 4
    target = Domain(X, np.arange(30) % 2, labeled=labeled)
    task = Task.of([Domain(X + 9.0, np.arange(30) % 2 + 2)], target)
    np.testing.assert_array_equal(task.target.X, X[task.rows])
    np.testing.assert_array_equal(task.target.labeled, labeled[task.rows])
    assert (task.n_labels, task.n_classes, task.shared, task.is_sampled) == (4, 2, False, False)
    assert task.drawn is task.target
    assert task.known_classes().n_classes == 2


def test_labelled_rows_follow_those_that_were_drawn(rng, monkeypatch):
    monkeypatch.setattr("l2t.task.LANDMARKS", 20)
    X = rng.normal(size=(50, 3))
    few = np.arange(50) % 10 == 0
    domains = [Domain(X, np.arange(50) % 5, labeled=labeled) for labeled in (few, few[::-1])]
    tasks = [Task.of([], target) for target in domains]
    assert [task.n_drawn for task in tasks] == [20, 20]
    np.testing.assert_array_equal(*(task.drawn.X for task in tasks))  # no label decides
    for task in tasks:
        assert task.is_sampled
        assert task.target.labeled.sum() == 5
        assert task.target.labeled[20:].all()
