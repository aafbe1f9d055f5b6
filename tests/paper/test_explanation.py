"""Explanations: parts that add up, and past experiences that are alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from l2t.paper import Neighbor, learn
from l2t.paper.explanation import MOST_LABELS, N_SIMILAR
from l2t.statistics import KernelBank


@pytest.mark.parametrize("q_mode", ["full", "diag"])
def test_parts_add_up(world, rng, q_mode):
    function = replace(world, q_mode=q_mode).truth
    statistics = world.statistics(rng)
    found = function.explain(statistics)
    assert sum(found.terms.values()) == pytest.approx(function.inverse(statistics), rel=1e-12)
    assert found.predicted == function.predict(statistics)
    for name, parts in found.by_kernel.items():
        assert parts.shape == (5,)
        assert parts.sum() == pytest.approx(found.terms[name], rel=1e-12)
    assert found.weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found.weights, function.beta / function.beta.sum())


def test_of_a_function_without_weights(world, rng):
    function = replace(world.truth, beta=np.zeros(5))
    found = function.explain(world.statistics(rng))
    assert all(not parts.any() for parts in found.by_kernel.values())
    assert not found.weights.any()
    assert "kernels with the largest weights" not in str(found)


def test_at_a_number_of_labels(learned, world, rng):
    statistics = world.statistics(rng)
    assert learned.explain(statistics, 3).predicted == learned.predict(statistics, 3)


def test_the_same_statistics_come_first(learned, world):
    past = world.experiences(30)
    wanted = past[51]
    found = learned.explain(wanted.statistics, past=iter(past)).nearest
    assert len(found) == N_SIMILAR
    assert found[0].run_key == wanted.run_key
    assert found[0].distance == 0.0
    distances = [each.distance for each in found]
    assert distances == sorted(distances)
    assert distances[1] > 0
    same = [each for each in past if each.run_key == wanted.run_key]
    ratios = [each.improvement_ratio for each in same if each.n_labels <= MOST_LABELS]
    assert found[0] == Neighbor(
        wanted.run_key,
        wanted.algorithm,
        "photos",
        "sketches",
        learned.predict(wanted.statistics),
        pytest.approx(np.mean(ratios)),
        distance=0.0,
    )


def test_the_nearest_are_the_nearest(learned, world, rng):
    """By their terms in standard deviations, computed here one by one."""
    past, statistics = world.experiences(20), world.statistics(rng)
    names = ("mmd", "variance", "discriminant")
    runs = {each.run_key: learned.terms(each.statistics) for each in past}
    rows = np.array([[terms[name] for name in names] for terms in runs.values()])
    own = np.array([learned.terms(statistics)[name] for name in names])
    distances = np.linalg.norm((rows - own) / rows.std(axis=0), axis=1)
    expected = [list(runs)[i] for i in np.argsort(distances)[:N_SIMILAR]]
    found = learned.explain(statistics, past=past).nearest
    assert [each.run_key for each in found] == expected
    np.testing.assert_allclose(
        [each.distance for each in found], np.sort(distances)[:N_SIMILAR], rtol=1e-9
    )


def test_at_a_number_of_labels_only_those_count(learned, world):
    past = world.experiences(10)
    found = learned.explain(past[0].statistics, 15, past=past).nearest
    assert found[0].run_key == past[0].run_key
    assert found[0].actual == past[1].improvement_ratio
    assert past[1].n_labels == 15
    assert learned.explain(past[0].statistics, 16, past=past).nearest == ()


def test_what_has_no_statistics_is_passed_over(learned, world, plain):
    past = world.experiences(1)
    failed = replace(plain, status="failed", reason="no", n_labels=None)
    bare = replace(past[0], run_key="bare", statistics=None)
    found = learned.explain(past[0].statistics, past=[failed, bare, *past]).nearest
    assert {each.run_key for each in found} == {each.run_key for each in past}
    assert learned.explain(past[0].statistics).nearest == ()


def test_past_with_other_neighbours_is_ignored(learned, world):
    past = world.experiences(2)
    other = replace(past[0].statistics, n_neighbors=9)
    mixed = [replace(past[0], run_key="other", statistics=other), *past]
    expected = learned.explain(past[0].statistics, past=past).nearest
    assert learned.explain(past[0].statistics, past=mixed).nearest == expected
    assert learned.explain(past[0].statistics, past=mixed[:1]).nearest == ()


def test_past_with_more_kernels_than_the_function(world, quick):
    past = world.experiences(20)
    function = learn(past, kernels=KernelBank(-1, 1, 1), **quick)
    own = past[0].statistics.restrict(function.kernels)
    first = function.explain(own, past=past).nearest[0]
    assert (first.run_key, first.distance) == (past[0].run_key, 0.0)
    assert first.predicted == function.predict(own)


def test_it_reads_well(world, rng):
    function, statistics = world.truth, world.statistics(rng)
    past = [replace(each, statistics=statistics) for each in world.experiences(1, per_pair=1)]
    text = str(function.explain(statistics, past=past))
    terms = function.terms(statistics)
    actual = np.mean([each.improvement_ratio for each in past if each.n_labels <= MOST_LABELS])
    lines, total = text.splitlines(), sum(terms.values())
    assert lines[4].split(maxsplit=1)[1] == "bias (the same for every transfer)"
    assert sum(float(line.split()[0]) for line in lines[1:5]) == pytest.approx(round(total, 5))
    assert f"{1 / round(total, 5):.3f}" == f"{function.predict(statistics):.3f}"
    assert lines == [
        f"predicted improvement ratio {function.predict(statistics):.3f}; 1/f is the sum of",
        f"  {terms['mmd']:8.5f}  mmd (how far apart the domains are)",
        f"  {terms['variance']:8.5f}  variance (how uncertain that distance is)",
        f"  {terms['discriminant']:8.5f}  discriminant (how poorly W separates near from far target rows)",
        lines[4],
        f"  {total:8.5f}  in total; 1 / {total:.5f} = {function.predict(statistics):.3f}",
        "kernels with the largest weights: bandwidths 2^-2, 2^-1, 2^0",
        f"  similar: gfk on photos -> sketches: predicted {function.predict(statistics):.3f}, "
        f"measured {actual:.3f}",
    ]


def test_an_experience_shows_itself_in_a_notebook(world):
    experience = world.experiences(1)[0]
    text = experience._repr_html_()
    assert experience.algorithm in text
    assert f"{experience.improvement_ratio:.3f}" in text
