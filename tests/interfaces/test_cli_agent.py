"""`l2t agent ask`, `tell` and `list`, as a person types them."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from msgspec import structs
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

pytestmark = pytest.mark.integration

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
        run("agent", "ask", *sides, "--store", store, "--labels", 3, "-o", out, "--format", "json")
    )
    pair = prepare(*map(read_domain, sides)).pair
    found = infer(pair, n_labels=3)
    assert (asked["labels"], asked["choice"]) == (3, found.choice)
    assert (asked["low"], asked["high"]) == found.interval
    assert asked["predicted_improvement"] == found.predicted
    with open_store(store) as opened:
        W = opened.suggested_run(asked["id"]).W
    expected = pair.target.X @ W if asked["verdict"] == "transfer" else read_domain(sides[1]).X
    np.testing.assert_allclose(read_domain(out).X, expected, atol=1e-5)
    accuracies = ("--before", 0.5, "--after", 0.6)
    printed = run(
        "agent", "tell", asked["id"][:5], "--store", store, *accuracies, "--format", "json"
    )
    assert json.loads(printed)["measured_improvement"] == pytest.approx(1.2)
    assert json.loads(printed)["predicted_improvement"] == asked["predicted_improvement"]
    with pytest.raises(InvalidInputError, match="must be reported once"):
        run("agent", "tell", asked["id"], "--store", store, "--before", 0.5, "--after", 0.7)
    (listed,) = json.loads(run("store", "ls", "--store", store, "--format", "json"))
    assert listed["algorithm"] == asked["choice"]


def test_the_command_to_report_an_outcome_is_printed(files, tmp_path, l2t):
    store = tmp_path / "my store.db"
    printed = l2t("agent", "ask", files / "source.csv", files / "target.csv", "--store", store)
    assert printed.code == 0, printed
    words = shlex.split(printed.err.splitlines()[-1].rpartition(": l2t ")[2])
    assert words[:2] == ["agent", "tell"]
    assert f"id         {words[2]}" in printed.out
    assert "spectrum" in printed.out, "the candidates are shown"
    again = l2t(*(word.replace("ACCURACY", "0.5") for word in words))
    assert again.code == 0, again
    assert l2t(*words).code == 2, "the accuracies are to be filled in"


def test_not_to_transfer_writes_the_features_as_they_were(files, tmp_path, l2t, monkeypatch):
    monkeypatch.setattr("l2t.inference.candidates.DEFAULT_CANDIDATES", ())
    out = tmp_path / "z.csv"
    sides = (files / "source.csv", files / "target.csv")
    printed = l2t("agent", "ask", *sides, "--store", tmp_path / "a.db", "-o", out)
    assert f"target written to {out}, with its original features\n" in printed.err
    pd.testing.assert_frame_equal(pd.read_csv(out), pd.read_csv(sides[1]))


def test_suggestions_are_listed_with_their_outcomes(files, tmp_path, l2t):
    store = tmp_path / "experiences.db"
    sides = (files / "source.csv", files / "target.csv")
    asked, again = (
        json.loads(run("agent", "ask", *sides, "--store", store, "--format", "json"))
        for _ in range(2)
    )

    def listed(*options: object):
        return json.loads(run("agent", "list", "--store", store, "--format", "json", *options))

    assert [row["id"] for row in listed()] == [again["id"], asked["id"]]
    accuracies = ("--before", 0.5, "--after", 0.6, "--labels", 9)
    printed = run("agent", "tell", asked["id"], "--store", store, *accuracies, "--format", "json")
    assert json.loads(printed)["labels"] == 9
    assert [(row["id"], row["measured"]) for row in listed()] == [
        (again["id"], None),
        (asked["id"], pytest.approx(1.2)),
    ]
    assert [row["id"] for row in listed("--open")] == [again["id"]]
    assert "1.200" in run("agent", "list", "--store", store)
    assert [row["id"] for row in listed("--delete", again["id"])] == [asked["id"]]
    assert listed("--open") == []
    nothing = l2t("agent", "list", "--store", store, "--open")
    assert (nothing.out, nothing.err) == ("", "no suggestion is waiting for its outcome\n")
    l2t("agent", "list", "--store", store, "--delete", asked["id"])
    assert l2t("agent", "list", "--store", store).err == "no suggestions yet\n"


def test_names_of_version_0_2_still_work_but_for_versions(files, tmp_path, l2t):
    where = ("--store", tmp_path / "a.db")
    sides = (files / "source.csv", files / "target.csv")
    note = "note: l2t {} is deprecated and will be removed; write l2t {}\n"
    asked = l2t("ask", *sides, *where, "--labels", 3, "--format", "json", "--quiet")
    assert (asked.code, asked.err) == (0, note.format("ask", "agent ask"))
    id = json.loads(asked.out)["id"]
    listed = l2t("suggestions", *where, "--format", "json")
    assert listed.err == note.format("suggestions", "agent list --open")
    assert [row["id"] for row in json.loads(listed.out)] == [id]
    told = l2t("tell", id, *where, "--before", 0.5, "--after", 0.6)
    assert (told.code, told.err) == (0, note.format("tell", "agent tell"))
    assert json.loads(l2t("suggestions", *where, "--format", "json").out) == []
    gone = l2t("versions", *where, "--roll-back", 3)
    assert gone.code == 1
    assert gone.err.startswith("l2t: l2t versions was removed in 0.3")
    shown = l2t("--help").out
    for name in ("ask", "tell", "suggestions", "versions"):
        assert f"\n  {name} " not in shown
    assert "\n  agent " in shown


def test_a_reflection_function_is_used(files, tmp_path):
    function = load_reflection("default")
    prior = {"spectrum": tuple(-1.0 for _ in function.forecast.shots)}
    own = replace(function, forecast=structs.replace(function.forecast, prior=prior))
    own.save(tmp_path / "own.json")
    sides = (files / "source.csv", files / "target.csv")
    plain, changed = (
        json.loads(run("agent", "ask", *sides, "--store", store, "--format", "json", *options))
        for store, options in (
            (tmp_path / "a.db", ()),
            (tmp_path / "b.db", ("--reflection", tmp_path / "own.json")),
        )
    )
    expected = infer(prepare(*map(read_domain, sides)).pair, own)
    assert changed["predicted_improvement"] == expected.predicted
    assert changed["predicted_improvement"] != plain["predicted_improvement"]


def test_mistakes_are_told(files, tmp_path):
    sides = (files / "source.csv", files / "target.csv")
    accuracies = ("--before", 0.5, "--after", 0.5)
    with pytest.raises(StoreError, match="there is no store"):
        run("agent", "tell", "abc", "--store", tmp_path / "b.db", *accuracies)
    run("agent", "ask", *sides, "--store", tmp_path / "a.db")
    with pytest.raises(UnknownSuggestionError, match="no suggestion has the id"):
        run("agent", "tell", "nobody", "--store", tmp_path / "a.db", *accuracies)
