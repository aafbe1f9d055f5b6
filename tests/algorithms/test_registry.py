"""Algorithms by name, and plug-ins."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from l2t import algorithms
from l2t.algorithms import registry
from l2t.exceptions import InvalidInputError, UnknownAlgorithmError

PAPER = ("tca", "itl", "cmf", "lsdt", "stl", "dip", "sie", "gfk")
OWN = ("identity", "spectrum", "classes", "classes+spectrum")
SHARED = ("coral", "sa", "jda")


def test_the_eight_are_there_with_the_defaults_of_the_contract():
    assert algorithms.names() == PAPER + OWN + SHARED
    for name in PAPER:
        algorithm = algorithms.make(name)
        assert algorithm.name == name
        assert algorithm.params["n_components"] == 20
        assert algorithms.make(name.upper(), n_components=3).n_components == 3
        assert isinstance(algorithm, algorithms.Algorithm)


def test_unknown_names_and_parameters_are_told():
    with pytest.raises(UnknownAlgorithmError, match=r"no algorithm 'pca'; choose from tca, itl, "):
        algorithms.make("pca")
    with pytest.raises(
        InvalidInputError, match="gfk accepts the parameters n_components, random_state, got colour"
    ):
        algorithms.make("gfk", colour="red")


def test_plugins_come_through_entry_points(monkeypatch):
    entries = EntryPoints(
        [
            EntryPoint("Mida", "l2t.algorithms.gfk:GFK", registry.GROUP),
            EntryPoint("tca", "no.such:Thing", registry.GROUP),
        ]
    )
    monkeypatch.setattr(registry, "entry_points", lambda group: entries.select(group=group))
    assert algorithms.names() == (*PAPER, *OWN, *SHARED, "mida")
    assert isinstance(algorithms.make("mida", n_components=2), algorithms.GFK)
    assert isinstance(algorithms.make("tca"), algorithms.TCA), "a built-in cannot be replaced"


def test_several_by_name_or_as_they_are():
    own = algorithms.make("gfk", n_components=3)
    assert [each.name for each in algorithms.make_all("starts", "all")] == [*PAPER, *OWN]
    first, second = algorithms.make_all("starts", ["tca", own], n_components=5)
    assert (first.n_components, second) == (5, own)
    assert algorithms.make_all("starts", own) == (own,)
    for wrong in (3, [3]):
        with pytest.raises(
            InvalidInputError, match=r"^starts must be names or algorithms, got int$"
        ):
            algorithms.make_all("starts", wrong)
