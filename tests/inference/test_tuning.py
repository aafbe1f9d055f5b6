"""Plans are chosen by what their W's are worth on validation pairs."""

from __future__ import annotations

import re
from dataclasses import asdict, replace

import numpy as np
import pytest

from l2t import Domain, DomainPair, infer, load_reflection
from l2t.exceptions import InvalidInputError
from l2t.experiences import evaluate
from l2t.inference.tuning import choose_plans
from l2t.reflection.plan import Plan, Rule

#: One principal direction of digits is far too few.
POOR, GOOD = Plan("grassmann", 1, 0), Plan("grassmann", 20, 0)


@pytest.fixture(scope="module")
def obedient(reflection):
    """The function with a rule that always transfers, so that poor plans show."""
    return replace(reflection, rule=Rule(-1.0, -1.0, 0.0))


@pytest.fixture(scope="module")
def chosen(obedient, digit_pairs):
    return choose_plans(
        obedient, digit_pairs, candidates=(POOR, GOOD), label_counts=(3, 15), progress=False
    )


def test_the_better_plan_is_chosen(chosen, obedient):
    assert chosen.plans == ((3, GOOD), (15, GOOD))
    np.testing.assert_array_equal(chosen.beta, obedient.beta)
    assert (chosen.mu, chosen.rule) == (obedient.mu, obedient.rule)


def test_the_order_of_candidates_does_not_matter(chosen, obedient, digit_pairs):
    other = choose_plans(
        obedient, digit_pairs, candidates=(GOOD, POOR), label_counts=(15, 3, 3), progress=False
    )
    assert other.plans == chosen.plans
    assert other.training["plans"]["label_counts"] == [3, 15]
    assert other.training["plans"]["candidates"] == chosen.training["plans"]["candidates"][::-1]


def mean_ratios(function, plan, pairs):
    """What W's of the plan are worth, always used: the geometric mean over pairs at 3 and 15 labels."""
    logs = []
    for pair in pairs:
        X, codes = pair.target.X, pair.target.codes
        W = infer(pair, function, plan=plan).W
        before, after = (evaluate(Z, codes, label_counts=(3, 15)).mean for Z in (X, X @ W))
        logs.append(np.log(after / before))
    return np.exp(np.mean(logs, axis=0))


def test_training_tells_the_mean_ratio_of_every_candidate(chosen, obedient, digit_pairs):
    told = chosen.training["plans"]
    assert (told["pairs"], told["label_counts"]) == (3, [3, 15])
    for plan, candidate in zip((POOR, GOOD), told["candidates"], strict=True):
        wanted = mean_ratios(obedient, plan, digit_pairs).tolist()
        assert candidate == asdict(plan) | {"ratios": pytest.approx(wanted, abs=1e-4)}
    poor, good = (np.array(each["ratios"]) for each in told["candidates"])
    assert (good > 1.2 * poor).all()


def test_a_plan_is_tried_as_infer_follows_it(obedient, digit_pairs):
    """With starts of the plan's own size."""
    plans = (Plan("soft", None, 1), Plan("sphere", None, 1), Plan("grassmann", 5, 2))
    found = choose_plans(
        obedient, digit_pairs[:1], candidates=plans, label_counts=(3, 15), progress=False
    )
    for plan, told in zip(plans, found.training["plans"]["candidates"], strict=True):
        wanted = mean_ratios(obedient, plan, digit_pairs[:1])
        np.testing.assert_allclose(told["ratios"], wanted, atol=1e-4, err_msg=str(plan))


def test_labelled_rows_keep_a_poor_plan_from_harm(chosen, reflection, digit_pairs):
    """Ratios are those of people with a verdict: three labels cannot vote, 15 can."""
    found = choose_plans(
        reflection, digit_pairs, candidates=(POOR,), label_counts=(3, 15), progress=False
    )
    few, more = found.training["plans"]["candidates"][0]["ratios"]
    few_always, more_always = chosen.training["plans"]["candidates"][0]["ratios"]
    assert few == few_always < 0.9
    assert more_always < 0.8
    assert more > 0.9


def test_what_is_chosen_travels_with_the_function(chosen, digit_pairs, tmp_path):
    again = load_reflection(chosen.save(tmp_path / "r.json"))
    assert again.plans == chosen.plans
    assert again.training == chosen.training
    assert again.plan(9) == GOOD
    found, same = (infer(digit_pairs[0], r, n_labels=15) for r in (chosen, again))
    np.testing.assert_array_equal(found.W, same.W)
    assert (found.predicted, found.interval) == (same.predicted, same.interval)


def test_processes_give_the_same(chosen, obedient, digit_pairs):
    apart = choose_plans(
        obedient,
        iter(digit_pairs),
        candidates=(POOR, GOOD),
        label_counts=(3, 15),
        n_jobs=2,
        progress=False,
    )
    assert apart.plans == chosen.plans
    assert apart.training == chosen.training


def test_labels_do_not_reach_the_search(chosen, obedient, digit_pairs):
    """A mask on validation targets changes nothing: all labels are for scoring."""
    marked = [
        DomainPair(
            each.source,
            Domain(each.target.X, each.target.y, labeled=np.arange(len(each.target)) < 9),
        )
        for each in digit_pairs
    ]
    found = choose_plans(
        obedient, marked, candidates=(POOR, GOOD), label_counts=(3, 15), progress=False
    )
    assert found.training == chosen.training


def test_counts_that_no_target_is_large_enough_for_are_left_out(obedient, digit_pairs):
    found = choose_plans(
        obedient, digit_pairs[:1], candidates=(GOOD,), label_counts=(3, 300), progress=False
    )
    assert found.plans == ((3, GOOD),)
    assert found.training["plans"]["label_counts"] == [3]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"pairs": []}, "pairs must be one or more validation pairs, got none"),
        ({"candidates": ()}, "candidates and label_counts must be one or more, got 0 and 1"),
        ({"label_counts": ()}, "candidates and label_counts must be one or more, got 1 and 0"),
        (
            {"label_counts": (300,)},
            "label_counts must leave at least 30 target rows for testing, "
            "got (300,) for 60 labelled rows",
        ),
        ({"n_jobs": 0}, "n_jobs must be a whole number of at least 1 or -1 for all cores, got 0"),
    ],
)
def test_arguments_that_cannot_be(obedient, digit_pairs, arguments, sentence):
    usual = {"pairs": digit_pairs, "candidates": (GOOD,), "label_counts": (3,), "progress": False}
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
        choose_plans(obedient, **(usual | arguments))
