"""Learning: it gives back what made the experiences, whatever way they come."""

from __future__ import annotations

import re
import weakref
from dataclasses import replace

import numpy as np
import pytest

import l2t
from l2t import KernelBank, PairSampler
from l2t.domains.embedded import digits
from l2t.exceptions import InvalidInputError, L2TWarning
from l2t.forecast import Forecast, refine
from l2t.paper import learn, learning, recompute_statistics, training_set
from l2t.paper.calibration import LabelCurve
from l2t.paper.files import to_json
from l2t.paper.loss import COMPONENTS, LossSettings
from l2t.paper.table import RunTable
from l2t.paper.training_set import LearningSet, target_splits
from l2t.statistics import PairStatistics


@pytest.fixture(scope="module")
def store():
    """A small store of real runs: eight pairs of digits, one algorithm, three label counts."""
    pairs = PairSampler(digits(), digits(), 8, n_classes=2, max_per_class=40)
    with l2t.open_store("memory://") as store:
        l2t.collect(
            pairs,
            store,
            algorithms=["gfk"],
            n_components=5,
            label_counts=(3, 9, 15),
            n_draws=2,
            progress=False,
        )
        yield store


def content(function):
    """Everything that was learned, to the bit."""
    return to_json(function)


@pytest.mark.parametrize("q_mode", ["full", "diag"])
@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_predictions_come_back(world, q_mode, noise):
    """Parameters are weakly identified, predictions are not (errata section 7)."""
    known = replace(world, q_mode=q_mode, noise=noise)
    function = learn(known.experiences(150), q_mode=q_mode)
    rng = np.random.default_rng(123)
    fresh = [known.statistics(rng) for _ in range(200)]
    true = [known.truth.predict(each) for each in fresh]
    predicted = [function.predict(each) for each in fresh]
    assert np.corrcoef(predicted, true)[0, 1] > 0.99
    np.testing.assert_allclose(predicted, true, rtol=0.1)
    assert function.q_mode == q_mode


def test_parameters_come_back_where_there_is_no_noise(world, quick):
    exact = replace(world, noise=0.0)
    function = learn(exact.experiences(150), **quick | {"gamma": 1e-9})
    np.testing.assert_allclose(function.beta, exact.truth.beta, atol=0.01)
    assert function.lambda_ == pytest.approx(exact.lambda_, rel=0.02)
    assert function.mu == pytest.approx(exact.mu, rel=0.02)
    assert function.b == pytest.approx(exact.b, abs=0.01)


def test_outliers_hardly_count(world, quick):
    experiences = world.experiences(60)
    broken = [
        replace(each, improvement_ratio=each.improvement_ratio * (0.2 if i % 20 == 0 else 1.0))
        for i, each in enumerate(experiences)
    ]
    function = learn(broken, label_curve=False, **quick)
    rng = np.random.default_rng(1)
    for _ in range(20):
        statistics = world.statistics(rng)
        inverse = function.inverse(statistics)
        assert inverse == pytest.approx(world.truth.inverse(statistics), rel=0.05)


def test_the_same_bits_twice_and_from_a_generator(world, quick):
    first = content(learn(world.experiences(30), **quick))
    assert content(learn(world.experiences(30), **quick)) == first
    assert content(learn(world.stream(30), **quick)) == first
    other = learn(world.experiences(30), **quick, random_state=1)
    assert content(other) != first


def test_a_large_table_is_learned_from_a_sample_and_then_whole(world, quick, monkeypatch):
    every = learn(world.experiences(60), **quick)
    monkeypatch.setattr(training_set, "MAX_SAMPLE", 40)
    sampled = learn(world.experiences(60), **quick)
    np.testing.assert_allclose(sampled.beta, every.beta, atol=1e-3)
    assert sampled.training["loss"] == pytest.approx(every.training["loss"], rel=1e-4)
    assert sampled.calibration[0].n_pairs < every.calibration[0].n_pairs == 60


def test_the_order_of_experiences_does_not_matter(world, quick):
    experiences = world.experiences(30)
    mixed = [experiences[i] for i in np.random.default_rng(0).permutation(len(experiences))]
    first, second = learn(experiences, **quick), learn(mixed, **quick)
    np.testing.assert_allclose(first.beta, second.beta, rtol=1e-3, atol=1e-5)
    # Not to the bit: statistics are measured in units of those that come first.
    assert first.training["loss"] == pytest.approx(second.training["loss"], rel=0.01)


def test_training_holds_settings_and_scores(world):
    experiences = world.experiences(30, per_pair=3)
    function = learn(experiences, gamma=(1e-1, 1e-4), huber=(0.05, 0.2), best=1.0, n_starts=3)
    training = function.training
    assert (training["experiences"], training["runs"], training["pairs"]) == (270, 90, 30)
    assert training["algorithms"] == {"gfk": 30, "itl": 30, "tca": 30}
    assert (training["starts"], training["starts_agreeing"], len(training["losses"])) == (3, 3, 3)
    assert re.match(r"after \d+ steps: ", training["stopped"])
    assert training["version"] == l2t.__version__
    choices = training["choices"]
    assert {(each["gamma"], each["huber"]) for each in choices} == {
        (gamma, huber) for gamma in (1e-1, 1e-4) for huber in (0.05, 0.2)
    }
    assert {each["n_neighbors"] for each in choices} == {5}
    best = max(choices, key=lambda each: each["spearman"])
    assert (training["gamma"], training["huber"]) == (best["gamma"], best["huber"])
    assert best["gamma"] == 1e-4, "a strong regulariser predicts worse"
    assert best["spearman"] > 0.95
    assert 0 < best["rmse"] < 0.05
    assert function.label_range == (3, 60)


@pytest.mark.parametrize("n_neighbors", [None, 5])
def test_the_forecast_moves_towards_the_experiences(world, quick, n_neighbors):
    """Also where experiences come from an iterator, which can be read only once."""
    experiences = world.experiences(30)
    function = learn(iter(experiences), n_neighbors=n_neighbors, **quick)
    assert function.forecast == refine(Forecast.default(), experiences)
    assert function.forecast.own_pairs["gfk"] == 30
    assert function.forecast != Forecast.default()
    assert function.paper.forecast is None


def test_experiences_that_are_read_once_are_not_kept(world, quick):
    """A million of them are not held in memory beside what is learned from."""
    alive: weakref.WeakSet[PairStatistics] = weakref.WeakSet()
    most = 0

    def made_while_read():
        nonlocal most
        for each in world.experiences(30):
            of_run = replace(each.statistics, Q=each.statistics.Q.copy())
            alive.add(of_run)
            most = max(most, len(alive))
            yield replace(each, statistics=of_run)
            del of_run

    learn(made_while_read(), **quick)
    assert most <= 4, "the first of all, and those on their way"


def same_target(experiences):
    """Return the experiences as if all were of one target."""
    return [replace(each, target="the target") for each in experiences]


def test_pairs_with_one_target_are_held_out_together(world, monkeypatch):
    """Also where their sources differ; the target of each pair is one of four."""
    experiences = [
        replace(each, target=f"target {int(each.source.split()[-1]) % 4}")
        for each in world.experiences(20)
    ]
    seen = []

    def record(sample, splits, grid):
        seen.extend((sample.table.target, *split) for split in splits)
        return original(sample, splits, grid)

    original = learning._cross_validate
    monkeypatch.setattr(learning, "_cross_validate", record)
    assert learn(experiences, n_starts=1).calibration[0].n_pairs == 20
    assert len(seen) == 4, "as many folds as targets"
    for target, learned, held in seen:
        assert not set(target[learned]) & set(target[held])


def test_intervals_come_from_settings_chosen_on_other_folds(world):
    """Of two settings each is perfect on one half of the runs: neither may be used where it was chosen."""
    whole = LearningSet.of(RunTable(world.experiences(20)), LabelCurve(0.0, 3, 60), None)
    levels, half = whole.levels(), np.arange(40) < 20
    right, wrong = 1.0 / levels, levels
    predictions = [np.where(half, right, wrong), np.where(half, wrong, right)]
    found = learning._with_other_choice(whole, [(~half, half), (half, ~half)], predictions)
    np.testing.assert_array_equal(found, wrong)


def test_held_out_predictions_do_not_see_their_target(world):
    """Whatever the ratios of a target are, what is predicted of it stays."""
    experiences = world.experiences(20)
    grid = [LossSettings(1e-3, 0.1), LossSettings(1e-4, 0.1)]
    found = []
    for absurd in (False, True):
        changed = [
            replace(each, improvement_ratio=3.0) if absurd and each.source == "0/source 4" else each
            for each in experiences
        ]
        whole = LearningSet.of(RunTable(changed), LabelCurve(0.0, 3, 60), None)
        splits = target_splits(whole.table.target, 5, np.random.default_rng(0))
        fold = next(held for _, held in splits if held[whole.table.pair == 4].all())
        found.append(
            np.array([held_out for _, held_out in learning._cross_validate(whole, splits, grid)])
        )
    assert np.isfinite(found).all()
    # Not to the bit: the search starts from the mean of all ratios.
    np.testing.assert_allclose(found[0][:, fold], found[1][:, fold], rtol=1e-4)
    assert np.abs(found[0][:, ~fold] - found[1][:, ~fold]).max() > 1e-3


@pytest.mark.parametrize("off", COMPONENTS)
def test_components(world, quick, rng, off):
    on = [name for name in COMPONENTS if name != off]
    function = learn(world.experiences(30), components=on, **quick)
    terms = [function.terms(world.statistics(rng)) for _ in range(20)]
    sizes = {name: np.mean([each[name] for each in terms]) for name in COMPONENTS}
    assert all(sizes[name] > 0.03 for name in on)
    assert sizes[off] < 1e-2
    assert off == "mmd" or sizes[off] == 0.0, "beta keeps a scale, so its own term is only small"
    assert function.training["components"] == on


def test_many_labels_calibrate_but_do_not_shape(world, quick):
    experiences = world.experiences(30)
    moved = [
        replace(each, improvement_ratio=1.0) if each.n_labels == 60 else each
        for each in experiences
    ]
    options = quick | {"max_labels": 30, "label_curve": False}
    first, second = learn(experiences, **options), learn(moved, **options)
    np.testing.assert_array_equal(first.beta, second.beta)
    assert second.reach(60, 0.9) > 2 * first.reach(60, 0.9)
    assert second.reach(15, 0.9) == first.reach(15, 0.9)


def test_pairs_with_many_labels_only(world, quick):
    """They can be predicted, but there may be a fold with nothing else to learn from."""
    few = [each for each in world.experiences(1, per_pair=10) if each.n_labels == 3]
    many = [each for each in world.experiences(1, seed=1, per_pair=10) if each.n_labels == 60]
    with pytest.warns(L2TWarning, match="^all experiences are of one target"):
        function = learn([*few, *many], **quick | {"max_labels": 30})
    assert np.isfinite(function.beta).all()


@pytest.mark.parametrize("n_pairs", [1, 4])
def test_one_target_warns(world, quick, n_pairs):
    sentence = "all experiences are of one target"
    with pytest.warns(L2TWarning, match=f"^{re.escape(sentence)}") as caught:
        function = learn(same_target(world.experiences(n_pairs, per_pair=10)), **quick)
    assert caught[0].filename == __file__
    assert function.calibration is None
    assert function.training["choices"][0]["spearman"] is None
    assert function.training["choices"][0]["rmse"] is None


def test_failed_runs_are_ignored(world, plain, quick):
    experiences = world.experiences(30)
    failed = replace(
        plain, run_key="x", status="failed", reason="no", n_labels=None, improvement_ratio=np.nan
    )
    assert content(learn([failed, *experiences, failed], **quick)) == content(
        learn(experiences, **quick)
    )


def test_a_store_is_not_a_list_of_experiences():
    with pytest.raises(InvalidInputError, match=r"such as store\.experiences\(\), got "):
        learn(l2t.open_store("memory://"))


def refused(sentence, *args, **options):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}"):
        learn(*args, **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"gamma": 0}, "gamma must be one or more positive numbers, got 0"),
        ({"gamma": (1e-3, -1)}, "gamma must be one or more positive numbers, got (0.001, -1)"),
        ({"gamma": ()}, "gamma must be one or more positive numbers, got ()"),
        ({"gamma": "much"}, "gamma must be one or more positive numbers, got 'much'"),
        ({"huber": np.nan}, "huber must be one or more positive numbers, got nan"),
        (
            {"components": ("mmd", "mean")},
            "components must be some of mmd, variance, discriminant, got ('mmd', 'mean')",
        ),
        ({"components": ()}, "components must be some of mmd, variance, discriminant, got ()"),
        (
            {"n_neighbors": (3, 5)},
            "n_neighbors=3 needs the store of the experiences, which have 5: learn(..., store=store)",
        ),
        ({"n_folds": 1}, "n_folds must be a whole number of at least 2, got 1"),
        ({"n_starts": 0}, "n_starts must be a whole number of at least 1, got 0"),
        ({"n_starts": 2.0}, "n_starts must be a whole number of at least 1, got 2.0"),
        (
            {"max_labels": 0},
            "max_labels must be a whole number of at least 1, got 0",
        ),
        ({"q_mode": "half"}, "q_mode must be one of full, diag, got 'half'"),
    ],
)
def test_options_that_cannot_be(world, quick, options, sentence):
    refused(sentence, world.experiences(10), **quick | options)


def test_experiences_that_cannot_be_learned_from(world, plain, quick):
    good = world.experiences(10)
    failed = replace(plain, status="failed", reason="no", n_labels=None, improvement_ratio=np.nan)
    nothing = "experiences must hold at least one finished run, got none"
    refused(nothing, [], **quick)
    refused(nothing, [failed, failed], **quick)
    refused("experiences must be at least 20 of finished runs, got 19", good[:19], **quick)
    refused(
        "experiences must have statistics, got run 0/9/1 without",
        [*good[:-1], replace(good[-1], run_key="0/9/1", statistics=None)][-1:],
        **quick,
    )
    other = replace(good[-1].statistics, n_neighbors=7)
    refused(
        "n_neighbors must be the same in all experiences, got 5 and 7",
        [*good, replace(good[-1], run_key="another", statistics=other)],
        **quick,
    )
    for ratio in (0.0, -1.0, np.nan, np.inf):
        refused(
            f"improvement_ratio must be finite and positive, got {ratio} in run 0/0/0",
            [replace(good[0], improvement_ratio=ratio), *good],
            **quick,
        )
    K = len(world.kernels)
    broken = PairStatistics(np.full(K, np.nan), np.eye(K), np.ones(K), world.kernels, 5)
    refused(
        "statistics must be finite, got NaN or infinity",
        [*good, replace(good[0], run_key="broken", statistics=broken)],
        **quick,
    )


def test_numpy_neighbours(world, quick):
    """Statistics may carry a number of numpy's."""
    experiences = [
        replace(each, statistics=replace(each.statistics, n_neighbors=np.int64(5)))
        for each in world.experiences(10)
    ]
    assert learn(experiences, **quick).n_neighbors == 5


def test_a_part_of_the_bank(store, quick):
    bank = KernelBank(-4, 4, 0.5)
    function = learn(store.experiences(), kernels=bank, **quick)
    assert function.kernels == bank
    assert function.beta.shape == (17,)
    first = next(iter(store.experiences())).statistics
    assert np.isfinite(function.predict(first.restrict(bank)))
    other = KernelBank(-4, 4, 0.25)
    refused(
        f"kernels must be among those of the statistics, {KernelBank()}, got {other}",
        store.experiences(),
        kernels=other,
        **quick,
    )


def test_neighbours_are_chosen_with_the_store(store, quick):
    function = learn(store.experiences(), n_neighbors=(3, 5), store=store, **quick)
    choices = {each["n_neighbors"]: each["spearman"] for each in function.training["choices"]}
    assert set(choices) == {3, 5}
    assert function.n_neighbors == max(choices, key=lambda r: choices[r])
    default = learn(store.experiences(), **quick)
    assert content(learn(store.experiences(), n_neighbors=5, store=store, **quick)) == content(
        default
    )
    rule = "n_neighbors must be a whole number of at least 1, got"
    for bad, sentence in (
        ((), "n_neighbors must be one or more whole numbers, got none"),
        (0, f"{rule} 0"),
        ((3, 2.5), f"{rule} 2.5"),
    ):
        refused(
            sentence,
            store.experiences(),
            n_neighbors=bad,
            store=store,
            **quick,
        )


def test_statistics_are_recomputed(store):
    old = list(store.experiences())
    new = list(recompute_statistics(old, store, n_neighbors=3))
    for before, after in zip(old, new, strict=True):
        assert (after.run_key, after.n_labels) == (before.run_key, before.n_labels)
        assert after.statistics.n_neighbors == 3
        np.testing.assert_allclose(after.statistics.d, before.statistics.d, rtol=1e-12)
        assert not np.allclose(after.statistics.tau, before.statistics.tau)
        run = store.run(after.run_key)
        expected = l2t.pair_statistics(run.pair, run.W, n_neighbors=3, random_state=0)
        np.testing.assert_array_equal(after.statistics.tau, expected.tau)
    same = list(recompute_statistics(old, store, n_neighbors=5))
    assert all(a is b for a, b in zip(same, old, strict=True)), "nothing else was wanted"
    wide = next(recompute_statistics(old, store, kernels=KernelBank(0, 9, 1)))
    assert wide.statistics.kernels == KernelBank(0, 9, 1)
    bare = replace(old[0], statistics=None)
    assert next(recompute_statistics([bare], store, n_neighbors=3)) is bare


def test_bad_runs_calibrate_without_shaping_the_function(world, quick):
    """Ratios of the worse run of each pair change intervals, and nothing else."""
    experiences = world.experiences(30)
    level = {}
    for each in experiences:
        level[each.run_key] = level.get(each.run_key, 0.0) + each.improvement_ratio
    worse = {min(f"0/{i}/0", f"0/{i}/1", key=level.__getitem__) for i in range(30)}
    spoiled = [
        replace(each, improvement_ratio=0.7 * each.improvement_ratio)
        if each.run_key in worse
        else each
        for each in experiences
    ]
    options = quick | {"best": 0.5, "label_curve": False}
    one, other = learn(experiences, **options), learn(spoiled, **options)
    np.testing.assert_array_equal(one.beta, other.beta)
    assert (one.lambda_, one.mu, one.b) == (other.lambda_, other.mu, other.b)
    assert one.reach(None, 0.8) < other.reach(None, 0.8)
    assert one.training["best"] == 0.5
    assert learn(spoiled, **options | {"best": 1.0}).b != other.b


@pytest.mark.parametrize("best", [0, -0.5, 1.5, float("nan"), "half"])
def test_best_is_a_share(world, best):
    with pytest.raises(InvalidInputError, match="best must be"):
        learn(world.experiences(20), best=best)
