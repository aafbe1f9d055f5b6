"""One TOML file a run: it is written beside the results, and repeats them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from l2t import open_store, write_domain
from l2t.domains import digits, mnist

COLLECT = ("collect", "digits.npz", "mnist.npz", "--pairs", "2", "--per-class", "20", "-q")
SOME = ("--algorithms", "gfk,tca")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_domain(digits(), "digits.npz")
    write_domain(mnist(), "mnist.npz")


def keys(store="experiences.db"):
    with open_store(store, create=False) as opened:
        return opened.keys()


def test_a_collection_is_repeated_from_its_file(l2t):
    assert l2t(*COLLECT, *SOME, "--store", "first.db").code == 0
    kept = tomllib.loads(Path("first.toml").read_text())
    assert kept["source"] == "digits.npz"
    assert kept["per-class"] == 20
    assert kept["one-per-pair"] is False
    assert not {"quiet", "format", "config"} & kept.keys()
    again = l2t("collect", "--config", "first.toml", "--store", "second.db", "--format", "json")
    assert json.loads(again.out)["done"] == 4
    assert keys("second.db") == keys("first.db")
    assert tomllib.loads(Path("second.toml").read_text()) == kept | {"store": "second.db"}


def test_what_is_typed_wins_and_nothing_is_replaced(l2t):
    mine = '# my own words\npairs = 3\nalgorithms = "gfk"\nper-class = 20\n'
    Path("experiences.toml").write_text(mine)
    typed = ("collect", "digits.npz", "mnist.npz", "--config", "experiences.toml", "--pairs", "1")
    result = l2t(*typed)
    assert result.out.startswith("1 runs done")
    assert "to repeat: l2t collect --config experiences-2.toml" in result.err
    assert Path("experiences.toml").read_text() == mine
    l2t(*typed)  # the same run again needs no other file
    assert sorted(Path().glob("*.toml")) == [Path("experiences-2.toml"), Path("experiences.toml")]
    assert tomllib.loads(Path("experiences-2.toml").read_text())["pairs"] == 1


@pytest.mark.integration
@pytest.mark.parametrize(("form", "learned"), [("paper", "beta"), ("convex", "weights")])
def test_learning_is_repeated_from_its_file(l2t, form, learned):
    assert l2t(*COLLECT, *SOME, "--pairs", "6").code == 0
    result = l2t("learn", "--neighbors", "5", "--form", form, "-o", "mine.json")
    assert result.code == 0, result.err
    assert "l2t learn --config mine.toml" in result.err
    assert tomllib.loads(Path("mine.toml").read_text())["neighbors"] == [5]
    first = json.loads(Path("mine.json").read_text())
    Path("mine.json").unlink()
    assert l2t("learn", "--config", "mine.toml", "-q").err == ""
    second = json.loads(Path("mine.json").read_text())
    assert first[learned] == second[learned]
    shown = l2t("explain", "--reflection", "mine.json", "--format", "json")
    assert json.loads(shown.out)["kernels_that_count"], shown.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('pairs = "many"', "mine.toml: pairs must be a whole number, got 'many'"),
        ("pairs = true", "mine.toml: pairs must be a whole number, got True"),
        ("pairs = 0", "mine.toml: pairs: "),
        ("label = 3", "mine.toml: label must be text in quotes, got 3"),
        ("one-per-pair = 1", "mine.toml: one-per-pair must be true or false, got 1"),
        ('ignore = "id"', "mine.toml: ignore must be a list, each entry text in quotes"),
        ('normalize = "row"', "'auto', 'none', 'rows', 'centred', 'zscore'"),
        (
            "pair = 3",
            "mine.toml: keys must be one of source, target, store,",
        ),
        ("[collect]\npairs = 3", "mine.toml: keys must be one of"),
        ("pairs = ", "--config: mine.toml is not TOML: Invalid value (at "),
        ("pairs = " + 100_000 * "[", "--config: mine.toml has values that are nested too deeply"),
    ],
)
def test_a_wrong_file_gets_one_sentence(text, sentence, l2t):
    Path("mine.toml").write_text(text)
    result = l2t("collect", "digits.npz", "mnist.npz", "--config", "mine.toml")
    assert result.code == 1
    assert sentence in result.err
    assert result.err.count("\n") == 1
    assert not Path("experiences.db").exists()


def test_a_file_that_is_not_there(l2t):
    result = l2t("collect", "--config", "absent.toml")
    assert result == (
        1,
        "",
        "l2t: --config: absent.toml cannot be read: No such file or directory\n",
    )


@pytest.mark.parametrize("place", ["user", "query"])
def test_passwords_are_not_written(postgres, l2t, place):
    url = postgres()
    if place == "user":
        url = url.replace("postgresql://postgres:", "postgresql://postgres:secret", 1)
    else:
        url += "&password=secret"
    assert "secret" in url
    result = l2t(*COLLECT, "--algorithms", "gfk", "--pairs", "1", "--store", url)
    assert result.code == 0, result.err
    text = Path("experiences.toml").read_text()
    assert "secret" not in text
    assert "secret" not in result.out + result.err
    assert l2t("collect", "--config", "experiences.toml").out.startswith(
        "0 runs done, 0 failed, 1 already stored"
    )
