"""Practice: W's on the way of one search on a random f per pair and draw, whose labels it never reads."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import l2t
from l2t.exceptions import InvalidInputError
from l2t.paper import Objective, Practice, practice
from l2t.paper.practice import STEPS, TAU_EXPONENTS, random_function
from l2t.statistics import pair_statistics
from l2t.testing import check_algorithm

module = import_module("l2t.paper.practice")

#: The random f is that of the rows: another representation of the same pair has another f.
OF_THE_ROWS = (
    "check_rotation_of_features",
    "check_shift_of_both_domains",
    "check_order_of_rows",
    "check_float32_is_kept",
    "check_more_features_than_rows",
)


@pytest.fixture
def searches(monkeypatch):
    """The keys of the searches that are made; none is known before."""
    made = []
    original = module._search

    def counted(pair, size, key, *how):
        made.append((key, *how))
        return original(pair, size, key, *how)

    monkeypatch.setattr(module, "_search", counted)
    monkeypatch.setattr(module, "_paths", type(module._paths)(2))
    return made


def test_it_is_an_algorithm():
    check_algorithm(Practice, skip=OF_THE_ROWS)


def test_all_steps_are_of_one_search(digit_pairs, searches):
    pair = digit_pairs[0]
    several = {n: Practice(5, 0, 3, n).fit(pair) for n in (8, 0, 3, 20, 1)}
    values = several[20].diagnostics.objective
    assert len(values) == 21
    assert (np.diff(values) <= 0).all()
    for n, factors in several.items():
        assert factors.diagnostics.objective == values[: n + 1]
        assert factors.diagnostics.n_iter == n
        assert factors.W.shape == (pair.n_features, 5)
        identity = factors.W.T @ factors.W
        np.testing.assert_allclose(identity, np.eye(5), atol=1e-5)
    assert len(searches) == 1
    assert Practice(5, 0, 3, 25).fit(pair).diagnostics.objective[:21] == pytest.approx(values)
    assert len(searches) == 2


def test_the_values_are_those_of_the_random_function(digit_pairs, searches, monkeypatch):
    """1/f - b of the kept W's, which differ from draw to draw and from pair to pair."""
    made = []

    def kept(*arguments):
        made.append(random_function(*arguments))
        return made[-1]

    monkeypatch.setattr(module, "random_function", kept)
    for pair in digit_pairs[:2]:
        for draw in range(2):
            found = Practice(5, 0, draw, 3).fit(pair)
            value, _ = Objective(pair, made[-1])(found.W)
            assert value == pytest.approx(found.diagnostics.objective[-1], rel=1e-5)
    assert len({each.weights.tobytes() for each in made}) == 4


def test_a_random_function(digit_pairs, rng):
    """One kernel of tau, at most one of d and one of Q; under PCA each term is its weight."""
    pair = digit_pairs[0]
    pca = pair.span.lift(np.eye(pair.span.rank, 5), np.float64)
    statistics, with_d, with_Q = pair_statistics(pair, pca, n_neighbors=3), 0, 0
    for _ in range(40):
        f = random_function(pair, 5, 3, rng)
        assert (f.weights[2] > 0).sum() == 1
        (place,) = np.flatnonzero(f.weights[2])
        assert TAU_EXPONENTS[0] <= f.kernels.exponents[place] <= TAU_EXPONENTS[1]
        assert ((f.weights[:2] > 0).sum(axis=1) <= 1).all()
        with_d, with_Q = with_d + f.weights[0].any(), with_Q + f.weights[1].any()
        terms = f.terms(statistics)
        sums = dict(zip(("mmd", "variance", "discriminant"), f.weights.sum(axis=1), strict=True))
        assert {name: terms[name] for name in sums} == pytest.approx(sums)
    assert 10 < with_d < 35
    assert 5 < with_Q < 30


def test_collected_practice_is_experience(digit_pairs, searches):
    """Each draw is searched once per pair; a function is learned from all kinds of runs."""
    algorithms = ("gfk", "tca", *practice(2, n_components=5))
    options = {"label_counts": (3, 9), "n_draws": 2, "progress": False}
    with l2t.open_store("memory://") as store:
        found = l2t.collect(digit_pairs, store, algorithms=algorithms, **options)
        assert (found.done, found.failed) == (3 * (2 + 2 * len(STEPS)), 0)
        assert len(searches) == len(set(searches)) == 6
        runs = [store.run(each) for each in store.keys()]  # noqa: SIM118
        practised = {
            (r.params["draw"], r.params["steps"]) for r in runs if r.algorithm == "practice"
        }
        assert practised == {(draw, steps) for draw in range(2) for steps in STEPS}
        again = l2t.collect(digit_pairs, store, algorithms=algorithms, **options)
        assert (again.done, again.already_there) == (0, found.done)
        function = l2t.learn(store.experiences(), best=0.5, form="convex", gamma=1e-3, huber=0.1)
    assert function.training["algorithms"] == {"gfk": 3, "practice": 24, "tca": 3}


@pytest.mark.parametrize("bad", [{"draw": -1}, {"steps": 1.5}, {"n_components": 0}])
def test_what_cannot_be(digit_pairs, bad):
    (name,) = bad
    with pytest.raises(InvalidInputError, match=f"^{name} must be a whole number"):
        Practice(**bad).fit(digit_pairs[0])
