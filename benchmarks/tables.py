"""A large table from csv to csv, beside reading it and one fit of gradient boosting."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.figures import Figure

#: Rows of both tables, the share of the target's that are labelled, and categories of each column of texts.
ROWS, LABELED = 200_000, 0.01
NUMBERS, CATEGORIES = 12, (3, 5, 8, 12, 20)
#: At most so many times the processor time of what is beside it.
MOST = 3.0
#: What is beside it: both files read, and boosted trees of the labelled rows with pandas' categories.
PLAIN = """
import sys
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
both = pd.concat(map(pd.read_csv, sys.argv[1:3]))
rows = both[both["label"].notna()]
X, y = rows.drop(columns="label"), rows["label"]
X = X.assign(day=pd.to_datetime(X["day"]).astype("int64"))
X = X.astype(dict.fromkeys(X.select_dtypes(exclude=["number", "bool"]), "category"))
HistGradientBoostingClassifier(categorical_features="from_dtype", early_stopping=False).fit(X, y)
"""


def run(n_rows: int = ROWS) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        names = [f"{folder}/{name}.csv" for name in ("source", "target", "answers")]
        rng = np.random.default_rng(0)
        source, target = (_table(n_rows // 2, shift, rng) for shift in (0.0, 0.3))
        hidden = rng.random(len(target)) >= LABELED
        source.to_csv(names[0], index=False)
        target.assign(label=target["label"].mask(hidden)).to_csv(names[1], index=False)
        command = ["-m", "l2t", "predict", *names[:2], "--label", "label", "-o", names[2], "-q"]
        seconds = _processor_time(command)
        plain = _processor_time(["-c", PLAIN, *names[:2]])
    size = f"{n_rows:,} x {source.shape[1] - 1}"
    beside = f"{seconds:.1f} s of a processor beside {plain:.1f}, reading and boosting"
    what = f"`l2t predict`, {size} mixed csv, processor time over pandas and boosting"
    return {
        "size": size,
        "rows": [("l2t predict", f"{seconds:.1f}"), ("pandas and boosting", f"{plain:.1f}")],
        "figures": [Figure(what, seconds / plain, MOST, "times", beside=beside)],
    }


def _table(n_rows: int, shift: float, rng: np.random.Generator) -> pd.DataFrame:
    """Return numbers, some of them missing, categories, a date, a truth value, a count, and three classes."""
    X = rng.normal(size=(n_rows, NUMBERS)) + shift
    table = pd.DataFrame(X.round(4), columns=[f"number{place}" for place in range(NUMBERS)])
    table["number3"] = table["number3"].mask(rng.random(n_rows) < 0.05)
    for place, n_categories in enumerate(CATEGORIES):
        names = np.array([f"value {number}" for number in range(n_categories)])
        table[f"category{place}"] = rng.choice(names, n_rows)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, n_rows), "D")
    table["day"] = days.strftime("%Y-%m-%d")
    table["flag"] = rng.random(n_rows) < 0.4
    table["count"] = rng.poisson(4, n_rows)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 1.5 * (table["category1"] == "value 2").to_numpy()
    score += 0.5 * table["flag"].to_numpy() + 0.5 * rng.normal(size=n_rows)
    table["label"] = np.array(["low", "middle", "high"])[np.digitize(score, [-0.5, 1.0])]
    return table


def _processor_time(command: list[str]) -> float:
    """Return the user and system time of a Python process of its own, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    root = Path(__file__).parents[1]
    subprocess.run(
        [sys.executable, *command], cwd=root, env=environment, check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
