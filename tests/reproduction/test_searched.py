"""Whether the paper's search pays as a candidate: what is measured, and its table."""

from __future__ import annotations

import numpy as np
import pytest

from l2t.domains import Domain
from l2t.paper import Plan, load_reflection
from l2t.rehearsal.rehearsal import SHOTS
from reproduction import searched
from reproduction.kinds import Draw
from reproduction.tasks import CANDIDATES


def test_the_table_has_geometric_means_over_the_tasks_of_a_kind():
    names = (*CANDIDATES, *searched.SEARCHED)

    def row(kind, ratio):
        logs = [float(np.log(ratio))] * (len(SHOTS) - 1) + [None]
        return {
            "kind": kind,
            "seconds": dict.fromkeys(("candidates", *searched.SEARCHED), ratio),
            "log_ratios": dict.fromkeys(names, logs),
        }

    table = searched.searched_table([row("a", 1.0), row("a", 4.0), row("b", 2.0)], SHOTS[:2])
    assert [(each["kind"], each["tasks"]) for each in table] == [
        ("a", 2),
        ("b", 1),
        ("all kinds", 3),
    ]
    for each in table:
        for ratios in each["ratios"].values():
            assert ratios == pytest.approx([2.0, 2.0])
    assert table[0]["seconds"]["searched"] == pytest.approx(2.5)


def test_every_candidate_is_measured_on_the_rows_of_the_target(rng, monkeypatch):
    monkeypatch.setattr(Plan, "sizes", (2, 3))
    y = np.repeat(np.arange(3), 15)
    source, target = (
        Domain(3 * np.eye(3)[y] @ rng.normal(size=(3, 6)) + rng.normal(size=(45, 6)), y)
        for _ in range(2)
    )
    found = searched._measured(Draw("a", "true", source, (target,), 3), load_reflection("default"))
    assert set(found["log_ratios"]) == {*CANDIDATES, *searched.SEARCHED}
    assert all(len(logs) == len(SHOTS) for logs in found["log_ratios"].values())
    assert all(logs[0] is not None for logs in found["log_ratios"].values())
    assert found["n_classes"] == 3
