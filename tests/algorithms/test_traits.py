"""Traits: those of the built-in algorithms, of plug-ins that declare none, and of names."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints

import numpy as np
import pytest

from l2t import algorithms
from l2t.algorithms import GFK, Traits, registry, traits_by_name
from l2t.algorithms.base import with_known
from l2t.domains import Domain, KnownClasses

TRAITS = {
    "uses_source": set(algorithms.names()) - {"identity", "spectrum"},
    "uses_known_classes": {"classes", "classes+spectrum"},
    "relies_on_neighbours": {"spectrum", "classes+spectrum"},
    "needs_features": {"cmf"},
    "needs_source_labels": {"itl", "jda"},
    "for_shared_classes": {"coral", "sa", "jda"},
}


def test_traits_of_the_built_in_algorithms():
    assert list(TRAITS) == [trait.name for trait in dataclasses.fields(Traits)]
    for trait, expected in TRAITS.items():
        made = map(algorithms.make, algorithms.names())
        assert {each.name for each in made if getattr(Traits.of(each), trait)} == expected
        named = {name for name in algorithms.names() if getattr(traits_by_name(name), trait)}
        assert named == expected


def test_a_plugin_without_traits_has_the_defaults():
    class Plain:
        name = "plain"
        fit = None

    assert Traits.of(Plain()) == Traits() == Traits.of(GFK())
    assert with_known(Plain, known_classes()) is Plain


def known_classes():
    return KnownClasses([Domain(np.eye(4), [0, 0, 1, 1])])


def test_a_field_for_known_classes_is_enough():
    """As in 0.2."""

    @dataclass(frozen=True)
    class Old(algorithms.BaseAlgorithm):
        known: KnownClasses | None = None

        def _fit(self, pair):
            raise NotImplementedError

    known = known_classes()
    assert with_known(Old(), known).known is known
    assert with_known(Old(), None).known is None


def test_names_that_no_algorithm_has():
    for name in ("a matrix of mine", "Spectrum", "spectrum 2", "classes > gfk"):
        assert traits_by_name(name) == Traits()


def test_names_of_plugins(monkeypatch):
    entries = EntryPoints(
        [
            EntryPoint("lonely", "l2t.algorithms.identity:Identity", registry.GROUP),
            EntryPoint("broken", "no.such:Thing", registry.GROUP),
        ]
    )
    monkeypatch.setattr(registry, "entry_points", lambda group: entries.select(group=group))
    traits_by_name.cache_clear()
    assert not traits_by_name("lonely").uses_source
    assert traits_by_name("broken") == Traits()
    traits_by_name.cache_clear()


def test_the_list_of_algorithms_for_shared_classes_is_deprecated():
    with pytest.warns(FutureWarning, match="use Traits"):
        assert algorithms.SHARED == ("coral", "sa", "jda")
    with pytest.raises(AttributeError, match="has no attribute 'Chain'"):
        _ = algorithms.Chain
