"""Controls with the same targets, and the report of a ranking of sources."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.controls import (
    CONTROLS,
    by_kind,
    by_known_classes,
    by_size,
    draw_controls,
    goals,
    measure_controls,
)
from reproduction.sources import draw_classes, ranking_table

pytestmark = pytest.mark.slow

_ROW = ("a rule", 1.0, 0.0, 1.0)
#: What the page on rehearsal needs of sources.
_GOAL = ("what", [0.03, 0.03], [([0.04, 0.02], False), ([0.05, 0.04], True)])
SOURCES = {
    "goals": [_GOAL] * 3,
    "known": [],
    "sizes": {"names": [], "rows": []},
    "control_kinds": [],
    "ranking": {1: [_ROW], 5: [_ROW]},
    "n_ranked": 1,
    "many": {"identity": 0.3, "spectrum": 0.4},
    "many_chosen": 0.4,
    "many_error": 0.0,
    "n_many": 1,
    "paper": {name: [1.0] * 5 for name in ("best base", "L2T", "L2T with the past")},
    "n_pairs": 1,
    "counts": (3, 15, 30, 60, 120),
}
RULES = {
    "always spectrum": lambda task, at: "spectrum",
    "always classes+spectrum": lambda task, at: "classes+spectrum",
    "L2T without a source": lambda task, at: "spectrum",
    "L2T": lambda task, at: "classes+spectrum" if task["rehearsed"] else "spectrum",
}


@pytest.fixture(scope="module")
def controls(tmp_path_factory):
    work = tmp_path_factory.mktemp("tasks")
    return measure_controls(["digits"], 1, work, work, progress=False)


def test_controls_have_the_same_targets(controls, tmp_path):
    drawn = draw_controls("digits", 0, tmp_path)
    assert len(drawn) == 3 * len(CONTROLS)
    for at in range(0, len(drawn), len(CONTROLS)):
        same = drawn[at : at + len(CONTROLS)]
        (target,) = same[0].targets
        assert all(each.targets == (target,) and each.n_classes == 3 for each in same)
        sources = {each.mode: each.source for each in same}
        assert set(sources) == set(CONTROLS)
        assert not set(target.classes) & set(sources["true"].classes)
        np.testing.assert_array_equal(sources["true"].X, sources["permuted"].X)
        np.testing.assert_array_equal(sources["true"].y, sources["noise"].y)
    assert [task["mode"] for task in controls] == [*CONTROLS] * 3
    shown = by_size(controls, RULES)["rows"][0]
    names = by_size(controls, RULES)["names"]
    cells = dict(zip(names, shown["cells"], strict=True))
    for name in ("L2T, noise", "L2T, permuted labels"):  # NaN where there are too few rows
        np.testing.assert_array_equal(cells[name], cells["L2T, no source"])
    assert [row["kind"] for row in by_kind(controls, RULES)] == ["digits"]
    gaps = {what: found for what, _, found in goals(controls, controls, RULES)}
    assert gaps["noise over no source"] == [([0.0, 0.0], True)] * 2
    (row,) = [each for each in by_known_classes(controls, RULES) if each["n"]]
    assert (row["known"], row["n"], row["kinds"]) == ("6 to 11", 3, 1)


def test_all_other_classes_can_be_known(tmp_path):
    for everything, known in ((False, 6), (True, 8)):
        rng = np.random.default_rng(0)
        target, source = draw_classes("digits", 2, 30, tmp_path, rng, everything=everything)
        assert (len(target), len(source.classes)) == (60, known)
        assert not set(target.classes) & set(source.classes)


def test_a_ranking_is_judged_by_what_comes_first():
    names = ("all classes", "noise", "3 classes")
    adds, real, classes = (1.2, 1.0, 1.1), (1.3, 1.0, 1.1), (9, 9, 3)
    records = [
        {"source": name, "adds": a, "predicted": a, "real": r, "n_classes": n, "mmd": n}
        for name, a, r, n in zip(names, adds, real, classes, strict=True)
    ]
    table = {name: row for name, *row in ranking_table([records])}
    assert table["what each adds (rank_sources)"] == pytest.approx([1.3, 0.0, 1.0])
    assert table["plain MMD, smallest first"][:2] == pytest.approx([1.1, 0.0])
    assert table["number of classes"][:2] == pytest.approx([np.sqrt(1.3), 0.5]), "a shared place"
