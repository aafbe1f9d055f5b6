"""`l2t ask`, `tell` and `versions`, as a person types them."""

from __future__ import annotations

import csv
import io
import json
import shlex

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from l2t import (
    PairSampler,
    infer,
    load_reflection,
    open_store,
    prepare,
    read_domain,
    write_domain,
)
from l2t.domains import digits, mnist
from l2t.exceptions import InvalidInputError, StoreError, UnknownSuggestionError
from l2t.interfaces.cli import app

pytestmark = pytest.mark.slow

runner = CliRunner()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (pair,) = PairSampler(digits(), mnist(), 1, max_per_class=20)
    for side in ("source", "target"):
        write_domain(getattr(pair, side), folder / f"{side}.csv")
    return folder


def run(*arguments: object):
    result = runner.invoke(app, [str(each) for each in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_ask_and_tell(files, tmp_path):
    store, out = tmp_path / "experiences.db", tmp_path / "z.npz"
    sides = (files / "source.csv", files / "target.csv")
    asked = json.loads(
        run("ask", *sides, "--store", store, "--labels", 3, "-o", out, "--format", "json")
    )
    pair = prepare(*map(read_domain, sides)).pair
    found = infer(pair, n_labels=3)
    assert (asked["labels"], asked["version"], asked["choice"]) == (3, 1, found.choice)
    assert (asked["low"], asked["high"]) == found.interval
    assert asked["predicted_improvement"] == found.predicted
    with open_store(store) as opened:
        W = opened.suggested_run(asked["id"]).W
    expected = pair.target.X @ W if asked["verdict"] == "transfer" else read_domain(sides[1]).X
    np.testing.assert_allclose(read_domain(out).X, expected, atol=1e-5)
    accuracies = ("--before", 0.5, "--after", 0.6)
    printed = run("tell", asked["id"][:5], "--store", store, *accuracies, "--format", "json")
    assert json.loads(printed)["measured_improvement"] == pytest.approx(1.2)
    assert json.loads(printed)["predicted_improvement"] == asked["predicted_improvement"]
    with pytest.raises(InvalidInputError, match="must be reported once"):
        run("tell", asked["id"], "--store", store, "--before", 0.5, "--after", 0.7)
    (listed,) = json.loads(run("store", "ls", "--store", store, "--format", "json"))
    assert listed["algorithm"] == asked["choice"]


def test_the_command_to_report_an_outcome_is_printed(files, tmp_path, l2t):
    store = tmp_path / "my store.db"
    printed = l2t("ask", files / "source.csv", files / "target.csv", "--store", store)
    assert printed.code == 0, printed
    words = shlex.split(printed.err.splitlines()[-1].rpartition(": l2t ")[2])
    assert words[0] == "tell"
    assert f"id         {words[1]}" in printed.out
    assert "spectrum" in printed.out, "the candidates are shown"
    again = l2t(*(word.replace("ACCURACY", "0.5") for word in words))
    assert again.code == 0, again
    assert l2t(*words).code == 2, "the accuracies are to be filled in"


def test_not_to_transfer_writes_the_features_as_they_were(files, tmp_path, l2t, monkeypatch):
    monkeypatch.setattr("l2t.inference.candidates.DEFAULT_CANDIDATES", ())
    out = tmp_path / "z.csv"
    sides = (files / "source.csv", files / "target.csv")
    printed = l2t("ask", *sides, "--store", tmp_path / "a.db", "-o", out)
    assert f"target written to {out}, with its original features\n" in printed.err
    pd.testing.assert_frame_equal(pd.read_csv(out), pd.read_csv(sides[1]))


def test_open_suggestions_are_listed(files, tmp_path):
    store = tmp_path / "experiences.db"
    sides = (files / "source.csv", files / "target.csv")
    asked, again = (
        json.loads(run("ask", *sides, "--store", store, "--format", "json")) for _ in range(2)
    )
    listed = json.loads(run("suggestions", "--store", store, "--format", "json"))
    assert [row["id"] for row in listed] == [again["id"], asked["id"]]
    listed = json.loads(
        run("suggestions", "--store", store, "--delete", again["id"], "--format", "json")
    )
    assert [row["id"] for row in listed] == [asked["id"]]
    accuracies = ("--before", 0.5, "--after", 0.6)
    printed = run(
        "tell", asked["id"], "--store", store, *accuracies, "--labels", 9, "--format", "json"
    )
    assert json.loads(printed)["labels"] == 9
    assert json.loads(run("suggestions", "--store", store, "--format", "json")) == []
    with open_store(tmp_path / "empty.db"):
        pass
    with pytest.raises(InvalidInputError, match="no reflection function has been learned yet"):
        run("versions", "--store", tmp_path / "empty.db", "--save", tmp_path / "f.json")


def test_versions_are_listed_and_gone_back_to(files, tmp_path):
    store, file = tmp_path / "experiences.db", tmp_path / "f.json"
    run("ask", files / "source.csv", files / "target.csv", "--store", store, "--explore", 0.5)
    run("versions", "--store", store, "--roll-back", 1, "--save", file)
    rows = list(csv.DictReader(io.StringIO(run("versions", "--store", store, "--format", "csv"))))
    assert [(row["version"], row["origin"], row["in_use"]) for row in rows] == [
        ("1", "given", "False"),
        ("2", "rolled back", "True"),
    ]
    np.testing.assert_array_equal(load_reflection(file).beta, load_reflection("default").beta)


def test_mistakes_are_told(files, tmp_path):
    sides = (files / "source.csv", files / "target.csv")
    arguments = ["ask", *sides, "--store", tmp_path / "a.db", "--explore", "1.5"]
    assert runner.invoke(app, [str(each) for each in arguments]).exit_code == 2
    with pytest.raises(StoreError, match="there is no store"):
        run("tell", "abc", "--store", tmp_path / "b.db", "--before", 0.5, "--after", 0.5)
    run("ask", *sides, "--store", tmp_path / "a.db")
    with pytest.raises(UnknownSuggestionError, match="no suggestion has the id"):
        run("tell", "nobody", "--store", tmp_path / "a.db", "--before", 0.5, "--after", 0.5)
