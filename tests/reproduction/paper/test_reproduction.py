"""Every table and figure of the paper, at the scale of a smoke."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from l2t import Domain, infer, write_domain
from l2t.algorithms import make
from l2t.exceptions import InvalidInputError
from l2t.paper import load_reflection
from l2t.paper.plan import Plan
from reproduction.__main__ import app
from reproduction.paper import published, recipe
from reproduction.paper.measuring import measure, p_values
from reproduction.paper.methods import L2T, Base, PaperMethod, Trial
from reproduction.paper.reproduction import PARTS
from reproduction.paper.setting import Setting
from reproduction.paper.study import ALGORITHMS, Study

pytestmark = pytest.mark.reproduction


@pytest.fixture(scope="module")
def digits_report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("smoke")
    options = ["--scale", "smoke", "--out", str(folder / "out"), "--work", str(folder / "work")]
    ran = CliRunner().invoke(app, ["paper", *options], env={"L2T_DATA": ""})
    assert ran.exit_code == 0, ran.output
    return folder


def test_a_part_that_does_not_exist(tmp_path):
    ran = CliRunner().invoke(app, ["paper", "kernel", "--out", str(tmp_path)])
    assert ran.exit_code == 2
    assert "kernel is none of average," in " ".join(ran.output.split())


def test_the_report_holds_every_part(digits_report):
    out = digits_report / "out"
    results = json.loads((out / "results.json").read_text())
    assert len(results["sections"]) == len(PARTS)
    assert (results["family"], results["scale"], results["seed"]) == ("digits", "smoke", 0)
    assert {"l2t", "numpy", "scipy", "scikit-learn", "python"} <= set(results["versions"])
    page, text = (out / "report.html").read_text(), (out / "report.md").read_text()
    for section in results["sections"]:
        assert f"## {section['title']}" in text
        for table in section["tables"]:
            with (out / "tables" / f"{table['name']}.csv").open() as file:
                rows = list(csv.reader(file))
            assert rows[0] == table["columns"]
            assert len(rows) == len(table["rows"]) + 1
    figures = re.findall(r"(!?)\[.+?\]\(figures/(.+?)\.png\)", text)
    assert len(figures) >= 9
    for _, name in figures:
        for ending in ("png", "svg"):
            assert (out / "figures" / f"{name}.{ending}").stat().st_size > 1000
    assert page.count("data:image/png;base64,") == sum(shown == "!" for shown, _ in figures)
    assert "http" not in re.sub(r"base64,[^\"]+", "", page)  # nothing is fetched


def test_numbers_are_those_of_the_ledger(digits_report):
    with (digits_report / "out" / "tables" / "average.csv").open() as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    ours = ["the paper's method", "published"]
    assert [*rows] == [name.upper() for name in ALGORITHMS] + ours
    lines = (digits_report / "work" / "digits-smoke" / "measured.jsonl").read_text().splitlines()
    kept = [json.loads(line) for line in lines if line]
    setting = Setting.of(None, "smoke", digits_report / "work")
    places = {
        f"{pair.source.fingerprint} {pair.target.fingerprint}" for pair in setting.pairs("test")
    }
    key = Base("gfk").key  # a smoke takes base algorithms as they ship
    ratios = [row["ratio"][0] for row in kept if row["method"] == key and row["pair"] in places]
    assert len(ratios) == setting.sizes.test
    assert float(rows["GFK"]["3 labels"]) == pytest.approx(np.mean(ratios))


def test_nothing_is_done_twice(digits_report):
    ledger = digits_report / "work" / "digits-smoke" / "measured.jsonl"
    before = ledger.read_bytes()
    options = ["--scale", "smoke", "--out", str(digits_report / "again")]
    options += ["--work", str(digits_report / "work"), "--quiet"]
    ran = CliRunner().invoke(app, ["paper", "average", *options], env={"L2T_DATA": ""})
    assert ran.exit_code == 0, ran.output
    assert ledger.read_bytes() == before
    first = (digits_report / "out" / "tables" / "average.csv").read_text()
    assert (digits_report / "again" / "tables" / "average.csv").read_text() == first


def own_data(folder, m=6):
    """Write two domains of 12 classes, of which each takes part in training, validation or testing."""
    rng = np.random.default_rng(0)
    for side, shift in (("source", 0.5), ("target", 0.0)):
        names = [f"{side}{number}" for number in range(20)]
        X = np.concatenate(
            [rng.normal(size=m) + shift + 0.8 * rng.normal(size=(20, m)) for _ in names]
        )
        y = np.repeat(names, 20)
        write_domain(Domain(X, y), folder / f"{side}.npz")


def test_the_recipe_is_measured_step_by_step(tmp_path, monkeypatch):
    own_data(tmp_path)
    monkeypatch.setattr(recipe, "SETTINGS", recipe.SETTINGS[-2:])
    out = tmp_path / "recipe.md"
    recipe.write_recipe(tmp_path, out, tmp_path / "work", "smoke")
    title, _, head, _, *rows = out.read_text().splitlines()
    assert title.startswith("own: 7 training, 2 validation and 6 testing pairs")
    assert head == "| | 3 labels | 15 labels | 30 labels |"
    starts = [row.split(" | ")[0].split(":")[0] for row in rows]
    assert (starts[0], starts[8], len(rows)) == ("| before", "| past targets", 12)
    assert all(0.5 < float(cell.split()[0]) < 2 for row in rows for cell in row.split(" | ")[1:])


def test_any_two_domains_will_do(tmp_path):
    own_data(tmp_path)
    options = ["--data", str(tmp_path), "--scale", "smoke", "--work", str(tmp_path / "work")]
    ran = CliRunner().invoke(
        app, ["paper", "average", *options, "--out", str(tmp_path / "out"), "--quiet"]
    )
    assert ran.exit_code == 0, ran.output
    text = (tmp_path / "out" / "report.md").read_text()
    assert (
        "\n| the paper's method with past targets |" in text
    )  # training and testing pairs have other classes


def test_the_past_is_of_training_pairs_and_of_no_testing_pair(tmp_path):
    own_data(tmp_path)
    setting = Setting.of(tmp_path, "smoke", tmp_path / "work", progress=False)
    one, every = setting.past([0]), setting.past()
    assert one.n_classes == 3
    assert every.n_classes > 3
    for pair in setting.pairs("test"):
        assert every.without(pair.target) is every
    assert Setting.of(None, "smoke", tmp_path).past() is None


def test_a_directory_without_data_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match=r"^data must be a directory with photo-sketch"):
        Setting.of(tmp_path, "quick", tmp_path)
    with pytest.raises(
        InvalidInputError,
        match=r"^scale must be one of smoke, quick, recipe, medium, paper, got 'big'$",
    ):
        Setting.of(None, "big", tmp_path)


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    setting = Setting.of(None, "smoke", tmp_path_factory.mktemp("trial"))
    pair, other = setting.pairs("test", 2)
    return Trial(pair, other, setting.seed)


def test_l2t_is_what_infer_chooses_at_each_label_count(trial):
    measured = L2T().measure(trial)
    pair = trial.unlabelled("itself")
    for at in (0, 4):
        found = infer(pair, n_labels=trial.before.label_counts[at], n_classes=3)
        assert measured["choice"][at] == found.choice
        expected = (found.predicted, found.interval[0])
        assert (measured["predicted"][at], measured["low"][at]) == pytest.approx(expected)
        assert measured["ratio"][at] == trial.ratios(found.transform(trial.pair.target))[at]


def test_the_papers_method_always_uses_its_W(trial):
    function = load_reflection("default")
    measured = PaperMethod(function).measure(trial)
    found = infer(trial.unlabelled("itself"), function, method="paper")
    expected = trial.ratios(trial.pair.target.X @ found.search.W)
    np.testing.assert_array_equal(measured["ratio"], expected)


def test_the_past_is_known_as_infer_knows_it(trial, tmp_path):
    own_data(tmp_path)
    setting = Setting.of(tmp_path, "smoke", tmp_path / "work", progress=False)
    pair, other = setting.pairs("test", 2)
    past, mine = setting.past(), Trial(pair, other, 0)
    measured = L2T(past).measure(mine)
    found = infer(mine.unlabelled("itself"), n_labels=3, n_classes=3, known=past)
    assert (measured["choice"][0], measured["predicted"][0]) == (found.choice, found.predicted)
    assert set(measured["candidates"]) == set(found.candidates)


def test_the_search_may_begin_at_the_W_of_base_algorithms(trial):
    function = load_reflection("default")
    plan = Plan(n_components=20, n_iter=0)
    only = PaperMethod(function, plan, starts=("cmf",))
    assert only.key != PaperMethod(function, plan).key
    W = make("cmf", n_components=20).fit(trial.pair).W
    found = infer(
        trial.unlabelled("itself"), function, method="paper", plan=plan, starts={"cmf": W}
    )
    measured = only.measure(trial)
    assert measured["start"] == found.search.start
    np.testing.assert_allclose(
        measured["ratio"], trial.ratios(trial.pair.target.X @ found.search.W)
    )


def test_what_takes_the_place_of_the_source(trial):
    source, target = trial.pair.source, trial.pair.target
    names = ("itself", "noise", "another", "none", "permuted")
    pairs = {name: trial.unlabelled(name) for name in names}
    for pair in pairs.values():
        np.testing.assert_array_equal(pair.target.X, target.X)
        assert pair.target.y is None
    assert pairs["itself"].source is source
    noise = pairs["noise"].source
    np.testing.assert_array_equal(noise.codes, source.codes)
    np.testing.assert_allclose(noise.X.mean(axis=0), source.X.mean(axis=0), atol=0.1)
    assert pairs["another"].source.fingerprint != source.fingerprint
    assert pairs["none"].source.y is None
    for method in (L2T, lambda source: PaperMethod(load_reflection("default"), source=source)):
        assert len({method(source=name).key for name in pairs}) == 5
    mixed = pairs["permuted"].source
    np.testing.assert_array_equal(mixed.X, source.X)
    np.testing.assert_array_equal(np.sort(mixed.codes), np.sort(source.codes))
    assert (mixed.codes != source.codes).any()


def test_what_was_measured_is_read_from_the_ledger(tmp_path):
    setting = Setting.of(None, "smoke", tmp_path, progress=False)
    found = measure({"gfk": Base("gfk")}, setting.pairs("test", 2), setting, "testing")
    assert np.isfinite(found["gfk"]).all()
    assert found.before.shape == found["gfk"].shape == (2, 9)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Base, "measure", None)
        again = measure({"other": Base("gfk")}, setting.pairs("test", 2), setting, "testing")
    np.testing.assert_array_equal(again["other"], found["gfk"])


def test_experiences_are_grouped_by_pair(digits_report):
    study = Study(Setting.of(None, "smoke", digits_report / "work", progress=False))
    assert [sorted(pair) for pair in study.runs] == [sorted(ALGORITHMS)] * study.setting.sizes.train
    first = study.setting.pairs("train")[0]
    run = study.runs[0]["gfk"]
    assert {e.target for e in run} == {first.target.fingerprint}
    assert [e.n_labels for e in run] == sorted(e.n_labels for e in run)


def test_p_values_are_paired():
    rng = np.random.default_rng(0)
    base = rng.normal(1.0, 0.3, size=(40, 2))
    ours = base + [0.02, 0.0] + 0.01 * rng.normal(size=(40, 2))
    p = p_values(ours, base)
    assert p[0] < 1e-9
    assert p[1] > 1e-3


def test_the_papers_margins():
    best = np.max([published.RATIOS[name] for name in ALGORITHMS], axis=0)
    margins = np.array(published.RATIOS["all"]) / best
    np.testing.assert_allclose(
        margins[[0, 1, 2, 4, 8]], [1.092, 1.040, 1.026, 1.018, 1.018], atol=5e-4
    )
