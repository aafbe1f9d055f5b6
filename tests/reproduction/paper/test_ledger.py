"""What was measured stays measured."""

from __future__ import annotations

import pytest

from reproduction.paper.ledger import Ledger

pytestmark = pytest.mark.reproduction


def test_what_is_added_comes_back(tmp_path):
    path = tmp_path / "new" / "measured.jsonl"
    ledger = Ledger(path)
    assert ("tca", "pair") not in ledger
    ledger.add("tca", "pair", {"ratio": [1.0, 1.5]})
    assert ("tca", "pair") in ledger
    again = Ledger(path)
    assert again["tca", "pair"]["ratio"] == [1.0, 1.5]
    again.add("tca", "other", {"ratio": [2.0]})
    assert Ledger(path)["tca", "other"]["ratio"] == [2.0]


def test_a_line_that_was_cut_off_was_never_written(tmp_path):
    path = tmp_path / "measured.jsonl"
    ledger = Ledger(path)
    for pair in ("a", "b"):
        ledger.add("tca", pair, {"ratio": [1.0]})
    whole = path.read_text()
    path.write_text(whole[:-10])
    cut = Ledger(path)
    assert ("tca", "a") in cut
    assert ("tca", "b") not in cut
    cut.add("tca", "b", {"ratio": [3.0]})
    assert Ledger(path)["tca", "b"]["ratio"] == [3.0]
    path.write_text('[]\n3\n{"method": "x"}\n')
    assert ("x", "a") not in Ledger(path)
