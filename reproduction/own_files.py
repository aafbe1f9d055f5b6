"""Files with ids, text and missing cells: `l2t predict` compared with logistic regression.

Rows of data sets of scikit-learn become two csv files with an id, a column of text, missing cells and
semicolons: a source, all of whose labels are known, and a target with five labels per class; or the target
alone.
"""

from __future__ import annotations

import io
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from l2t.interfaces.cli import app

__all__ = ["NAMES", "make_files", "measure_files"]

NAMES = ("breast_cancer", "wine", "iris", "digits")
ROWS = 400
SHOTS = 5
MARKS = ("NA", "?", "", "null")
OPTIONS = ("--label", "kind", "--impute", "median", "--format", "csv", "-q")


def make_files(name: str, number: int, folder: Path) -> pd.Series:
    """Write source.csv and target.csv, and return the classes of all target rows."""
    data = getattr(datasets, f"load_{name}")(as_frame=True)
    rng = np.random.default_rng(number)
    chosen = rng.permutation(len(data.data))[:ROWS]
    frame = data.data.iloc[chosen].reset_index(drop=True).astype(object)
    for column in rng.permutation(frame.shape[1])[:3]:
        frame.iloc[rng.permutation(len(frame))[: len(MARKS)], column] = MARKS
    frame.insert(0, "sample", [f"{i:05d}" for i in range(len(frame))])
    frame["site"] = rng.choice(["north", "south"], len(frame))
    frame["kind"] = [f"class {data.target[i]}" for i in chosen]
    half = len(frame) // 2
    source, target = frame[:half], frame[half:].reset_index(drop=True)
    classes = target["kind"].copy()
    known = np.concatenate([np.flatnonzero(classes == kind)[:SHOTS] for kind in classes.unique()])
    target = target.assign(kind=classes.where(classes.index.isin(known), ""))
    for stem, each in {"source": source, "target": target}.items():
        each.to_csv(folder / f"{stem}.csv", index=False, sep=";")
    return classes


def measure_files(n_draws: int) -> list[dict[str, Any]]:
    """Return mean accuracies on rows without a label, by data set and with or without the source."""
    rows = []
    for name in NAMES:
        for files in (("source.csv", "target.csv"), ("target.csv",)):
            found = [_measure(name, number, files) for number in range(n_draws)]
            ours, theirs = np.mean(found, axis=0).tolist()
            row = {"name": name, "source": len(files) > 1, "l2t": ours, "logistic": theirs}
            rows.append(row | {"within": ours >= theirs - 0.01})
    return rows


def _measure(name: str, number: int, files: tuple[str, ...]) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        classes = make_files(name, number, folder)
        inputs = [str(folder / each) for each in files]
        command = ["predict", *inputs, *OPTIONS, "-o", str(folder / "predictions.csv")]
        with redirect_stdout(io.StringIO()):
            app(command, standalone_mode=False)
        written = pd.read_csv(folder / "predictions.csv", keep_default_na=False)
        frames = [
            pd.read_csv(folder / each, sep=";", na_values=list(MARKS), keep_default_na=False)
            for each in files
        ]
    both = pd.concat(frames)
    names = [each for each in both.columns if each not in ("sample", "site", "kind")]
    known = both["kind"].notna()
    plain = make_pipeline(
        SimpleImputer(strategy="median"), StandardScaler(), LogisticRegression(max_iter=1000)
    ).fit(both.loc[known, names], both.loc[known, "kind"])
    test = frames[-1]["kind"].isna()
    theirs = plain.predict(frames[-1].loc[test, names]) == classes[test]
    ours = written.loc[test, "predicted"] == classes[test]
    return float(ours.mean()), float(theirs.mean())
