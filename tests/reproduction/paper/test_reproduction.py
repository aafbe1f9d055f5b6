"""Every table and figure of the paper, at the scale of a smoke."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from l2t import Domain, write_domain
from l2t.exceptions import InvalidInputError
from l2t.reflection import load_reflection
from reproduction.__main__ import app
from reproduction.paper import published
from reproduction.paper.measuring import measure, p_values
from reproduction.paper.methods import Base, Search
from reproduction.paper.reproduction import PARTS
from reproduction.paper.setting import Setting
from reproduction.paper.study import ALGORITHMS, SETTINGS

pytestmark = pytest.mark.slow


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
    told = json.loads((out / "results.json").read_text())
    assert len(told["sections"]) == len(PARTS)
    assert (told["family"], told["scale"], told["seed"]) == ("digits", "smoke", 0)
    assert {"l2t", "numpy", "scipy", "scikit-learn", "python"} <= set(told["versions"])
    page, text = (out / "report.html").read_text(), (out / "report.md").read_text()
    for section in told["sections"]:
        assert f"## {section['title']}" in text
        for table in section["tables"]:
            with (out / "tables" / f"{table['name']}.csv").open() as file:
                rows = list(csv.reader(file))
            assert rows[0] == table["columns"]
            assert len(rows) == len(table["rows"]) + 1
    figures = re.findall(r"\(figures/(.+?)\.png\)", text)
    assert len(figures) >= 9
    for name in figures:
        for ending in ("png", "svg"):
            assert (out / "figures" / f"{name}.{ending}").stat().st_size > 1000
    assert page.count("data:image/png;base64,") == len(figures)
    assert "http" not in re.sub(r"base64,[^\"]+", "", page)  # nothing is fetched


def test_numbers_are_those_of_the_ledger(digits_report):
    with (digits_report / "out" / "tables" / "average.csv").open() as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert [*rows][:8] == [name.upper() for name in ALGORITHMS]
    lines = (digits_report / "work" / "digits-smoke" / "measured.jsonl").read_text().splitlines()
    kept = [json.loads(line) for line in lines if line]
    setting = Setting.of(None, "smoke", digits_report / "work")
    places = {
        f"{pair.source.fingerprint} {pair.target.fingerprint}" for pair in setting.pairs("test")
    }
    key = Base("gfk", SETTINGS["gfk"][0]).key
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


def test_any_two_domains_will_do(tmp_path):
    own_data(tmp_path)
    options = ["--data", str(tmp_path), "--scale", "smoke", "--work", str(tmp_path / "work")]
    ran = CliRunner().invoke(
        app, ["paper", "average", *options, "--out", str(tmp_path / "out"), "--quiet"]
    )
    assert ran.exit_code == 0, ran.output
    text = (tmp_path / "out" / "report.md").read_text()
    assert "L2T without the past" in text  # its classes are apart, so the past may be used


def test_a_directory_without_data_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match=r"^data must be a directory with photo-sketch"):
        Setting.of(tmp_path, "quick", tmp_path)
    with pytest.raises(
        InvalidInputError, match=r"^scale must be one of smoke, quick, paper, got 'big'$"
    ):
        Setting.of(None, "big", tmp_path)


def test_noise_for_a_source_changes_nothing_but_the_source(tmp_path):
    setting = Setting.of(None, "smoke", tmp_path, progress=False)
    function = load_reflection("default")
    methods = {
        source: Search(function, source=source) for source in ("itself", "noise", "another", "none")
    }
    assert len({method.key for method in methods.values()}) == 4
    found = measure(methods, setting.pairs("test", 2), setting, "controls")
    for source in methods:
        assert np.isfinite(found[source]).all()
        # 1-NN is on target rows alone, so the accuracy without transfer is the same for all.
    assert found.before.shape == (2, 9)


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
