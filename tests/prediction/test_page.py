"""What is shown of a prediction: one sentence, numbers, and a page that needs nothing else."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import l2t
from l2t.prediction.page import _bars
from l2t.prediction.report import PLAIN, Report, ReportRow


@pytest.fixture(scope="module")
def domains():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(6, 5)) * 3
    codes = np.arange(120) % 3
    X = centres[codes] + rng.normal(size=(120, 5))
    y = np.array(["<b>cat</b>", "dog", "lynx"], dtype=object)[codes]
    y[0] = "dog"  # a label that is wrong
    target = l2t.Domain(X, y, labeled=np.arange(120) < 18, name="pets & more")
    S = centres[3 + codes] + rng.normal(size=(120, 5))
    return l2t.Domain(S, codes + 10), target


@pytest.fixture(scope="module")
def found(domains):
    return l2t.predict(*domains)


def test_a_summary_is_plain_and_agrees_with_the_prediction(found):
    summary = json.loads(json.dumps(found.summary(), allow_nan=False))
    assert summary["headline"] == found.report.headline
    assert (summary["n_rows"], summary["n_given"], summary["n_features"]) == (120, 18, 5)
    assert sum(summary["counts"]) == 120
    assert summary["classes"] == ["<b>cat</b>", "dog", "lynx"]
    seen = summary["map"]
    assert len(seen["rows"]) == len(seen["before"]) == len(seen["after"]) == 120
    assert np.abs(seen["before"]).max() == pytest.approx(1.0)
    given = np.array(seen["given"])
    assert (given >= 0).sum() == 18
    assert given[0] == 1, "as the user labelled it"
    assert [found.classes[code] for code in seen["predicted"]] == found.labels.tolist()
    assert {each["row"] for each in summary["uncertain"]}.isdisjoint(range(18))


def test_long_names_stay_inside_their_chart():
    name = "smoothed logistic on classes+spectrum, trained on source"
    row = {"name": name, "used": True, "expected": 0.9, "low": 0.8, "high": 1.0}
    end = float(_bars([row]).partition('<text x="')[2].partition('"')[0])  # anchored at its end
    assert end > 7 * len(name)


def test_a_label_that_the_model_doubts_is_suspicious(found):
    first = found.summary()["suspicious"][0]
    assert (first["row"], first["label"], first["predicted"]) == (0, "dog", "<b>cat</b>")


def test_a_page_needs_nothing_from_elsewhere_and_shows_names_as_text(found):
    page = found.to_html()
    assert page.startswith("<!doctype html>")
    assert "src=" not in page
    assert "href=" not in page
    assert "<b>cat</b>" not in page
    assert "&lt;b&gt;cat&lt;/b&gt;" in page
    assert "pets &amp; more" in page
    assert page.count("<svg") == 3
    assert found._repr_html_() in page


def row(features, expected, **more):
    return ReportRow(features, "logistic", expected=expected, **more)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [row(PLAIN, 0.78), row("spectrum", 0.86, used=True, low=0.83, high=0.89)],
            "The transfer should raise the accuracy from 78 % to 86 % (90 % interval 83 to 89 %).",
        ),
        (
            [row(PLAIN, 0.8, used=True), row("spectrum", 0.7)],
            "About 80 % of the predictions should be right.",
        ),
        (
            [row(PLAIN, 0.9), row("spectrum", 0.88, used=True)],
            "About 88 % of the predictions should be right, about as many as by logistic (90 %).",
        ),
        (
            [row(PLAIN, 0.767), row("spectrum", 0.772, used=True)],
            "About 77 % of the predictions should be right, about as many as by logistic (77 %).",
        ),
        (
            [row(PLAIN, 0.93), row("spectrum", 0.88, used=True)],
            "About 88 % of the predictions should be right, fewer than by logistic (93 %).",
        ),
        (
            [row(PLAIN, 0.8), row(PLAIN, 0.8, used=True), row("spectrum", 0.7)],
            "About 80 % of the predictions should be right; a transfer is not expected to help.",
        ),
        (
            [row(PLAIN, 0.8), row(PLAIN, 0.8, used=True), row("spectrum", 0.9)],
            "About 80 % of the predictions should be right.",
        ),
        (
            [row("spectrum", None, used=True)],
            "Every row has a predicted class; the accuracy could not be measured.",
        ),
    ],
)
def test_the_headline_says_what_to_expect(rows, message):
    assert Report(tuple(rows), []).headline == message


def test_show_is_html_in_a_notebook_and_words_elsewhere(found, monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    l2t.show(found)
    assert capsys.readouterr().out == f"{found.report}\n"
    shown: list[object] = []
    display = SimpleNamespace(display=shown.append)
    notebook = SimpleNamespace(get_ipython=object, display=display)
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    l2t.show(found)
    assert shown == [found]


def test_rows_that_are_nearly_certain_are_not_listed_as_uncertain(found):
    free = np.flatnonzero(~found.given)
    probability = np.full(len(found.given), 0.94)
    assert replace(found, probability=probability).summary()["uncertain"] == []
    probability[free[[4, 2]]] = 0.6, 0.7
    listed = replace(found, probability=probability).summary()["uncertain"]
    assert [row["row"] for row in listed] == free[[4, 2]].tolist()
    many = replace(found, probability=np.where(found.given, 1.0, 0.5)).summary()["uncertain"]
    assert len(many) == 12
