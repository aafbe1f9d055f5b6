"""An infinite interval is printed as unknown, and is null in JSON."""

from __future__ import annotations

import json
import math

import pytest

from l2t.domains import PairSampler, digits, mnist, prepare, read_domain, write_domain
from l2t.forecast import Expectation, Forecast
from l2t.inference import infer
from l2t.interfaces.dashboard.work import _summary


@pytest.fixture(autouse=True)
def too_few_pairs(monkeypatch):
    """A forecast that knows nothing of its errors, and expects all candidates to help."""
    monkeypatch.setattr(Forecast, "half_width", lambda *_, **__: math.inf)
    monkeypatch.setattr(Forecast, "expect", lambda *_, **__: Expectation(0.2, 0.1))


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (pair,) = PairSampler(digits(), mnist(), 1, max_per_class=20)
    for side in ("source", "target"):
        write_domain(getattr(pair, side), folder / f"{side}.csv")
    return folder / "source.csv", folder / "target.csv"


def test_the_library_returns_it(sides):
    pair = prepare(*map(read_domain, sides)).pair
    found = infer(pair, n_labels=3)
    assert found.choice != "identity"
    assert found.interval == (0.0, math.inf)
    record = next(each for each in found.candidates.records() if each["chosen"])
    assert (record["low"], record["high"]) == (None, None)
    assert json.loads(json.dumps(_summary(found), allow_nan=False))["interval"] is None


@pytest.mark.parametrize("command", ["transfer", "explain"])
def test_printed_as_unknown(sides, l2t, command):
    assert "90 % interval unknown" in " ".join(l2t(command, *sides, "--labels", 3).out.split())


def test_null_in_json(sides, l2t, tmp_path):
    (ranked,) = json.loads(l2t("rank", *sides, "--format", "json").out)
    transferred = json.loads(l2t("transfer", *sides, "--labels", 3, "--format", "json").out)
    store = ("--store", tmp_path / "experiences.db")
    asked = json.loads(l2t("ask", *sides, *store, "--labels", 3, "--format", "json").out)
    for record in (ranked, transferred, asked):
        assert (record["low"], record["high"]) == (None, None)
