"""`l2t ask`, `tell` and `versions`, as a person types them."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from l2t import PairSampler, load_reflection, normalize, open_store, read_domain, write_domain
from l2t.domains import digits, mnist
from l2t.exceptions import InvalidInputError, StoreError, UnknownSuggestionError
from l2t.interfaces.cli import app

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
        run("ask", *sides, "--store", store, "--labels", 15, "-o", out, "--format", "json")
    )
    assert (asked["labels"], asked["version"], asked["algorithm"]) == (15, 1, "l2t")
    assert asked["low"] < asked["predicted_improvement"] < asked["high"]
    with open_store(store) as opened:
        W = opened.suggested_run(asked["id"]).W
    target = normalize(read_domain(files / "target.csv"))
    expected = target.X @ W if asked["verdict"] == "transfer" else target.X
    np.testing.assert_allclose(read_domain(out).X, expected, atol=1e-5)
    accuracies = ("--before", 0.5, "--after", 0.6)
    told = run("tell", asked["id"][:5], "--store", store, *accuracies, "--format", "json")
    assert json.loads(told)["measured_improvement"] == pytest.approx(1.2)
    assert json.loads(told)["predicted_improvement"] == asked["predicted_improvement"]
    with pytest.raises(InvalidInputError, match="must be told once"):
        run("tell", asked["id"], "--store", store, "--before", 0.5, "--after", 0.7)
    assert "l2t" in run("store", "ls", store)


def test_open_suggestions_are_listed(files, tmp_path):
    store = tmp_path / "experiences.db"
    sides = (files / "source.csv", files / "target.csv")
    asked = json.loads(
        run("ask", *sides, "--store", store, "--reflection", "none", "--format", "json")
    )
    assert (asked["version"], asked["predicted_improvement"], asked["labels"]) == (0, None, None)
    again = json.loads(
        run("ask", *sides, "--store", store, "--reflection", "none", "--format", "json")
    )
    listed = json.loads(run("suggestions", "--store", store, "--format", "json"))
    assert [row["id"] for row in listed] == [again["id"], asked["id"]]
    listed = json.loads(
        run("suggestions", "--store", store, "--delete", again["id"], "--format", "json")
    )
    assert [row["id"] for row in listed] == [asked["id"]]
    accuracies = ("--before", 0.5, "--after", 0.6)
    with pytest.raises(
        InvalidInputError, match="n_labels must be a whole number of at least 1, got None"
    ):
        run("tell", asked["id"], "--store", store, *accuracies)
    run("tell", asked["id"], "--store", store, *accuracies, "--labels", 15)
    assert json.loads(run("suggestions", "--store", store, "--format", "json")) == []
    with pytest.raises(InvalidInputError, match="nothing has been learned yet"):
        run("versions", "--store", store, "--save", tmp_path / "f.json")


def test_versions_are_listed_and_gone_back_to(files, tmp_path):
    store, file = tmp_path / "experiences.db", tmp_path / "f.json"
    run("ask", files / "source.csv", files / "target.csv", "--store", store, "--explore", "upper")
    run("versions", "--store", store, "--go-back", 1, "--save", file)
    rows = list(csv.DictReader(io.StringIO(run("versions", "--store", store, "--format", "csv"))))
    assert [(row["version"], row["origin"], row["in_use"]) for row in rows] == [
        ("1", "given", "False"),
        ("2", "gone back", "True"),
    ]
    np.testing.assert_array_equal(load_reflection(file).beta, load_reflection("default").beta)


def test_mistakes_are_told(files, tmp_path):
    sides = (files / "source.csv", files / "target.csv")
    with pytest.raises(InvalidInputError, match=r"explore must be a probability .* got 'often'"):
        run("ask", *sides, "--store", tmp_path / "a.db", "--explore", "often")
    with pytest.raises(StoreError, match="there is no store"):
        run("tell", "abc", "--store", tmp_path / "b.db", "--before", 0.5, "--after", 0.5)
    run("ask", *sides, "--store", tmp_path / "a.db")
    with pytest.raises(UnknownSuggestionError, match="no suggestion has an id that begins with"):
        run("tell", "nobody", "--store", tmp_path / "a.db", "--before", 0.5, "--after", 0.5)
