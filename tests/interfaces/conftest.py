"""Commands as a person types them, in this process; and files to use them on."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from l2t import PairSampler
from l2t.domains import digits, mnist
from l2t.interfaces.cli import main


class Told(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def l2t(monkeypatch, capsys):
    """A function that runs a command, and returns its exit code and what it printed."""

    def run(*arguments) -> Told:
        monkeypatch.setattr(sys, "argv", ["l2t", *map(str, arguments)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        return Told(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def tables():
    """A source with all labels and a target with ten, as frames; labels are words with a space."""
    pair = PairSampler(digits(), mnist(), 1, max_per_class=40)[0]
    columns = [f"e{i}" for i in range(64)]
    frames = []
    for domain in (pair.source, pair.target):
        frame = pd.DataFrame(domain.X, columns=columns)
        frame["digit"] = [f"digit {y}" for y in domain.y]
        frames.append(frame)
    source, target = frames
    known = np.random.default_rng(0).permutation(len(target))[:10]
    target.loc[~target.index.isin(known), "digit"] = None
    return source, target


@pytest.fixture
def here(tables, tmp_path, monkeypatch):
    """An empty working directory with source.csv and target.csv."""
    monkeypatch.chdir(tmp_path)
    for name, frame in zip(("source.csv", "target.csv"), tables, strict=True):
        frame.to_csv(name, index=False)
    return tmp_path
