"""The page of promises is made from tests that exist, and what CI installs is what is pinned."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.reliability import PAGE, page

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parents[2]


def test_one_promise_for_several_kinds():
    proved = [
        {
            "test": "tests/a.py::test_x[npz]",
            "promise": "It holds: npz",
            "count": 1000,
            "unit": "files",
        },
        {
            "test": "tests/a.py::test_x[csv]",
            "promise": "It holds: csv",
            "count": 500,
            "unit": "files",
        },
    ]
    assert page(proved).endswith("|---|\n| It holds (npz, csv) | 1,500 files | `a.py::test_x` |\n")
    assert "| 1 file |" in page([proved[0] | {"count": 1}])


def test_every_proof_is_a_test():
    proofs = re.findall(r"`(\S+)::(\w+)` \|", PAGE.read_text())
    assert len(proofs) > 10
    for file, test in proofs:
        text = (ROOT / "tests" / file).read_text()
        assert re.search(rf"def {test}\([^)]*proves", text), f"{file}::{test} proves nothing"


def test_every_pinned_version_has_hashes_and_no_host():
    pins = re.findall(r"^\S+==\S+$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    hashed = (ROOT / "requirements.txt").read_text()
    assert re.findall(r"^(\S+==\S+) \\$", hashed, re.MULTILINE) == pins, "run `make hashes`"
    assert "://" not in hashed
    assert hashed.count("--hash=sha256:") >= len(pins)
