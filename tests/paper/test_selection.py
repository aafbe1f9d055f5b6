"""Selection: functions are learned with several settings, and judged by the W's that they lead to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import l2t
from l2t import Domain, DomainPair, KnownClasses
from l2t.exceptions import InvalidInputError
from l2t.experiences.evaluation import evaluate, improvement_ratio
from l2t.paper import Plan, practice, search, select

SETTINGS = (
    {"gamma": 1e-3, "huber": 0.1, "n_starts": 1},
    {"gamma": 1e-3, "form": "convex", "huber": 0.1},
)
PLAN = Plan(n_components=5, n_iter=2)


@pytest.fixture(scope="module")
def experiences(digit_pairs):
    with l2t.open_store("memory://") as store:
        algorithms = ("gfk", *practice(2, (1, 3), n_components=5))
        options = {"label_counts": (3, 9), "n_draws": 2, "progress": False}
        l2t.collect(digit_pairs, store, algorithms=algorithms, **options)
        return list(store.experiences())


def test_ratios_are_those_of_the_searched_factors(experiences, digit_pairs):
    options = {"label_counts": (3, 9), "n_draws": 3}
    found = select(iter(experiences), digit_pairs[:2], settings=SETTINGS, plan=PLAN, **options)
    assert [trial.settings for trial in found.trials] == list(SETTINGS)
    for trial in found.trials:
        for pair, log_ratio in zip(digit_pairs, trial.log_ratios, strict=False):
            W = search(pair, trial.function, PLAN).W
            before, after = (
                evaluate(Z, pair.target.codes, **options)
                for Z in (pair.target.X, pair.target.X @ W)
            )
            ratios = improvement_ratio(before.mean, after.mean, after.n_test)
            assert log_ratio == pytest.approx(np.log(ratios).mean())
        assert trial.ratio == pytest.approx(np.exp(trial.log_ratios.mean()))


def test_the_best_is_chosen(experiences, digit_pairs):
    found = select(experiences, digit_pairs[:1], settings=SETTINGS, plan=PLAN)
    assert found.best is max(found.trials, key=lambda trial: trial.ratio)
    assert type(found.function) is type(found.best.function)
    compared = found.function.training["selected_from"]
    assert [each["ratio"] for each in compared] == [trial.ratio for trial in found.trials]
    assert [each["gamma"] for each in compared] == [1e-3, 1e-3]
    alone = select(experiences, digit_pairs[:1], settings=SETTINGS[1:], plan=PLAN)
    np.testing.assert_array_equal(alone.best.log_ratios, found.trials[1].log_ratios)


def test_labels_measure_but_are_not_searched_with(experiences, digit_pairs):
    """Other labels of the validation target give other ratios of the same W."""
    pair = digit_pairs[0]
    target = pair.target
    permuted = Domain(target.X, np.random.default_rng(0).permutation(target.y))
    pairs = [pair, DomainPair(pair.source, permuted)]
    found = select(experiences, pairs, settings=SETTINGS[:1], plan=PLAN)
    first, second = found.best.log_ratios
    assert first != second
    blind = DomainPair(pair.source, Domain(target.X))
    function = found.best.function
    np.testing.assert_array_equal(search(pair, function, PLAN).W, search(blind, function, PLAN).W)


def test_known_classes_are_searched_with(experiences, digit_pairs):
    pair, other = digit_pairs[:2]
    known = KnownClasses([replace(other.target, name="past")])
    plain = select(experiences, [pair], settings=SETTINGS[:1], plan=PLAN)
    with_known = select(experiences, [pair], settings=SETTINGS[:1], plan=PLAN, known=known)
    assert plain.best.ratio != with_known.best.ratio


def test_neighbours_are_a_setting(digit_pairs):
    with l2t.open_store("memory://") as store:
        options = {"label_counts": (3, 9), "n_draws": 2, "progress": False}
        l2t.collect(digit_pairs, store, algorithms=practice(2, (1, 3), n_components=5), **options)
        several = [SETTINGS[1] | {"n_neighbors": r} for r in (5, 3)]
        given = list(store.experiences())
        found = select(given, digit_pairs[:1], settings=several, plan=PLAN, store=store)
        expected = l2t.learn(given, store=store, **several[1])
    assert [trial.function.n_neighbors for trial in found.trials] == [5, 3]
    np.testing.assert_array_equal(found.trials[1].function.weights, expected.weights)


def test_what_cannot_be(experiences, digit_pairs):
    with pytest.raises(InvalidInputError, match="settings must be one or more mappings, got none"):
        select(experiences, digit_pairs, settings=())
    with pytest.raises(InvalidInputError, match="pairs must be one or more, got none"):
        select(experiences, [], settings=SETTINGS[1:])
