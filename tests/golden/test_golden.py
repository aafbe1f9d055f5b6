"""The answers of small tasks stay as they are (`python -m tests.golden.test_golden` writes them anew)."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy
import sklearn

from tests.golden.cases import CASES

GOLDEN = Path(__file__).with_name("golden.json")
VERSIONS = {module.__name__: module.__version__ for module in (np, scipy, sklearn)}

pytestmark = pytest.mark.integration


def answer(name):
    """Return the answer of a case as JSON values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return json.loads(json.dumps(CASES[name](), default=float))


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_unchanged(name):
    golden = json.loads(GOLDEN.read_text())
    if golden["versions"] != VERSIONS:
        pytest.skip("answers are pinned for the versions of constraints.txt alone")
    assert_close(answer(name), golden["answers"][name], name)


def assert_close(found, expected, where):
    """Compare numbers up to one per cent or 2e-3, and everything else exactly.

    The answers differ by so much between kernels of OpenBLAS for different processors (OPENBLAS_CORETYPE).
    """
    if isinstance(expected, dict):
        assert sorted(found) == sorted(expected), where
        for key in expected:
            assert_close(found[key], expected[key], f"{where}, {key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_close(one, other, f"{where}, {place}")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-2, abs=2e-3), where
    else:
        assert found == expected, where


if __name__ == "__main__":
    content = {"versions": VERSIONS, "answers": {name: answer(name) for name in CASES}}
    GOLDEN.write_text(json.dumps(content, indent=1) + "\n")
