"""A reflection function knows what the classifiers were trained on whose improvement it predicts."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import l2t
from l2t.domains import Domain, DomainPair
from l2t.exceptions import FileFormatError, InvalidInputError
from l2t.forecast import Forecast, refine
from l2t.paper import load_reflection
from l2t.paper.assessment import assess


def trained(experiences, kind):
    return [replace(each, trained_on=kind) for each in experiences]


@pytest.fixture(scope="module")
def of_source(world, quick):
    """What is learned where no target label is trained on."""
    past = trained(replace(world, counts=(0,)).experiences(40), "source")
    return l2t.learn(past, trained_on="source", **quick)


def test_others_are_not_mixed_in(world, quick):
    own = world.experiences(20)
    others = trained(world.experiences(20, seed=1), "both")
    ours, theirs = (l2t.learn(each, **quick) for each in (own, [*own, *others]))
    assert ours.trained_on == theirs.trained_on == "target"
    np.testing.assert_array_equal(ours.beta, theirs.beta)
    assert ours.forecast == theirs.forecast
    of_both, alone = (l2t.learn(x, trained_on="both", **quick) for x in ([*own, *others], others))
    assert of_both.trained_on == "both"
    np.testing.assert_array_equal(of_both.beta, alone.beta)


def test_what_is_wanted_must_be_there(world, quick):
    past = trained(world.experiences(10), "both")
    sentence = r"trained_on must be what some experiences were trained on \(both\), got 'target'"
    with pytest.raises(InvalidInputError, match=sentence):
        l2t.learn(past, **quick)
    with pytest.raises(InvalidInputError, match="trained_on must be one of target, source, both"):
        l2t.learn(past, trained_on="test", **quick)


def test_a_function_of_the_source_finds_what_is_true(world, of_source):
    fresh = replace(world, counts=(0,), noise=0.0).experiences(20, seed=5)
    for each in fresh:
        assert of_source.predict(each.statistics) == pytest.approx(each.improvement_ratio, rel=0.1)
    assert of_source.label_range == (0, 0)
    assert of_source.forecast is None
    assert "trained on source" in repr(of_source)


def test_it_knows_no_numbers_of_labels(world, of_source):
    statistics = world.experiences(1)[0].statistics
    assert of_source.predict(statistics, 15) == of_source.predict(statistics)
    assert of_source.interval(statistics, 15) == of_source.interval(statistics)
    low, high = of_source.interval(statistics)
    assert low < of_source.predict(statistics) < high


def test_its_file_says_so(of_source, tmp_path):
    path = of_source.save(tmp_path / "source.json")
    content = json.loads(path.read_text())
    assert content["trained_on"] == "source"
    again = load_reflection(path)
    assert (again.trained_on, again.label_range) == ("source", (0, 0))
    np.testing.assert_array_equal(again.beta, of_source.beta)
    path.write_text(json.dumps(content | {"trained_on": "target"}))
    with pytest.raises(FileFormatError, match="calibration must have 0 and label counts"):
        load_reflection(path)


def test_it_is_assessed_on_its_own_kind(world, of_source):
    own = trained(replace(world, counts=(0,)).experiences(10, seed=7), "source")
    found = assess(of_source, [*own, *world.experiences(10, seed=8)])
    assert len(found.runs) == 20
    assert set(found.coverage) == {0}
    assert found.rank_correlation > 0.9
    with pytest.raises(InvalidInputError, match="finished run trained on 'source', got none"):
        assess(of_source, world.experiences(3))
    nearest = of_source.explain(own[0].statistics, past=[*world.experiences(3), *own]).nearest
    assert {each.run_key for each in nearest} <= {each.run_key for each in own}


@pytest.mark.parametrize("method", [None, "paper"])
def test_infer_refuses_it(of_source, method, tmp_path):
    rng = np.random.default_rng(0)
    pair = DomainPair(
        Domain(rng.normal(size=(40, 3)), list("ab") * 20), Domain(rng.normal(size=(40, 3)))
    )
    path = of_source.save(tmp_path / "source.json")
    for given in (of_source, path):
        with pytest.raises(InvalidInputError, match="got trained_on='source'"):
            l2t.infer(pair, given, method=method)


def test_the_forecast_is_of_the_target(world):
    others = [*trained(world.experiences(3), "both"), *trained(world.experiences(3), "source")]
    forecast = Forecast.default()
    assert refine(forecast, others) == forecast
