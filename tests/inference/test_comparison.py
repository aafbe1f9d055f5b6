"""L2T beside base algorithms: the ratios are those that people with a verdict have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from l2t import Domain, DomainPair, PairSampler, infer, normalize
from l2t.algorithms import GFK
from l2t.domains import digits, mnist
from l2t.experiences import evaluate
from l2t.experiences.evaluation import labeled_draws
from l2t.inference.comparison import measure_transfer
from l2t.reflection import ReflectionFunction
from l2t.reflection.plan import Plan, Rule

COUNTS = (3, 15, 120)
NEVER, ALWAYS = Rule(2.0, 2.0, np.inf), Rule(-1.0, -1.0, 0.0)


@pytest.fixture(scope="module")
def reflection():
    return ReflectionFunction(
        np.linspace(0.2, 1.0, 33) / 33,
        lambda_=0.5,
        mu=0.5,
        b=0.3,
        plans=((3, Plan("soft", None, 1, 1.5)), (15, Plan("grassmann", 10, 2))),
    )


@pytest.fixture(scope="module")
def pairs():
    return list(PairSampler(normalize(digits()), normalize(mnist()), 4, max_per_class=20))


@pytest.fixture(scope="module")
def study(pairs, reflection):
    return measure_transfer(
        pairs, reflection, names=("gfk",), label_counts=COUNTS, n_draws=4, progress=False
    )


def accuracies(Z, pair, count):
    found = evaluate(Z, pair.target.codes, label_counts=(count,), n_draws=4)
    return found.scores[0]


def test_one_row_a_pair_and_one_column_a_count(study):
    assert (study.names, study.label_counts) == (("gfk",), COUNTS)
    assert study.base.shape == (1, 4, 3)
    for each in (study.l2t, study.always, study.transferred, study.predicted):
        assert each.shape == (4, 3)
        assert np.isfinite(each[:, :2]).all()
        assert np.isnan(each[:, 2]).all(), "60 rows are too few for 120 labels"


def test_a_base_algorithm_is_always_used(study, pairs):
    for i, pair in enumerate(pairs):
        Z = GFK().fit(pair).transform(pair.target)
        for j, count in enumerate(COUNTS[:2]):
            ratio = (
                accuracies(Z, pair, count).mean() / accuracies(pair.target.X, pair, count).mean()
            )
            assert study.base[0, i, j] == pytest.approx(ratio)


def test_l2t_is_used_as_people_use_it(study, pairs, reflection):
    """Each draw of labelled rows is a user with a mask, and transforms with what `infer` gives."""
    for i, pair in enumerate(pairs):
        X, y = pair.target.X, pair.target.y
        for j, count in enumerate(COUNTS[:2]):
            without, taken, used = accuracies(X, pair, count), [], []
            for draw, rows in enumerate(labeled_draws(pair.target.codes, count, 4)):
                mask = np.isin(np.arange(len(X)), rows)
                found = infer(DomainPair(pair.source, Domain(X, y, labeled=mask)), reflection)
                taken.append(accuracies(found.transform(X), pair, count)[draw])
                used.append(found.verdict == "transfer")
            assert study.l2t[i, j] == pytest.approx(np.mean(taken) / without.mean())
            assert study.transferred[i, j] == pytest.approx(np.mean(used))
            assert study.predicted[i, j] == found.predicted
            always = accuracies(X @ found.W, pair, count).mean() / without.mean()
            assert study.always[i, j] == pytest.approx(always)


def test_a_rule_that_forbids_leaves_everything_as_it_is(study, pairs, reflection):
    def measured(rule):
        return measure_transfer(
            pairs[:2],
            replace(reflection, rule=rule),
            names=("gfk",),
            label_counts=COUNTS,
            n_draws=4,
            progress=False,
        )

    never, ever = measured(NEVER), measured(ALWAYS)
    np.testing.assert_array_equal(never.l2t[:, :2], 1.0)
    np.testing.assert_array_equal(never.transferred[:, :2], 0.0)
    np.testing.assert_array_equal(ever.l2t, ever.always)
    np.testing.assert_array_equal(ever.transferred[:, :2], 1.0)
    for each in (never, ever):
        np.testing.assert_array_equal(each.always, study.always[:2])
        np.testing.assert_array_equal(each.base, study.base[:, :2])


def test_processes_give_the_same(study, pairs, reflection):
    apart = measure_transfer(
        pairs,
        reflection,
        names=("gfk",),
        label_counts=COUNTS,
        n_draws=4,
        n_jobs=2,
        progress=False,
    )
    for name in ("base", "l2t", "always", "transferred", "predicted"):
        np.testing.assert_array_equal(getattr(apart, name), getattr(study, name), err_msg=name)


def test_means_and_errors(study):
    np.testing.assert_allclose(study.mean(study.l2t)[:2], study.l2t[:, :2].mean(axis=0))
    np.testing.assert_allclose(
        study.standard_error(study.l2t)[:2], study.l2t[:, :2].std(axis=0, ddof=1) / 2
    )
    assert np.isnan(study.mean(study.l2t)[2])
