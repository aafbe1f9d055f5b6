"""Office-Caltech10 with SURF features: the classic benchmark of domain adaptation, with published figures.

Labels are shared, the whole source is labelled and the target is classified by 1-NN. Preparation:
each row divided by its sum, then each column of a domain z-scored (n - 1). The published columns are
those of Long, Wang, Ding, Sun, Yu, "Transfer Feature Learning with Joint Distribution Adaptation"
(ICCV 2013).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from l2t import algorithms
from l2t.domains import Domain, DomainPair, normalize, read_domain
from l2t.numerics import squared_distances
from l2t.progress import progress_bar
from l2t.typing import Array
from reproduction.pages import write_page

__all__ = [
    "DOMAINS",
    "PUBLISHED",
    "OfficeCaltech",
    "load_office_caltech",
    "measure_office_caltech",
    "write_office_caltech",
]

DOMAINS = {"C": "caltech", "A": "amazon", "W": "webcam", "D": "dslr"}
TASKS = tuple(f"{s}->{t}" for s in DOMAINS for t in DOMAINS if s != t)

#: Accuracies in percent as published: 1-NN, PCA, GFK, TCA.
PUBLISHED = {
    "C->A": (23.70, 36.95, 41.02, 38.20),
    "C->W": (25.76, 32.54, 40.68, 38.64),
    "C->D": (25.48, 38.22, 38.85, 41.40),
    "A->C": (26.00, 34.73, 40.25, 37.76),
    "A->W": (29.83, 35.59, 38.98, 37.63),
    "A->D": (25.48, 27.39, 36.31, 33.12),
    "W->C": (19.86, 26.36, 30.72, 29.30),
    "W->A": (22.96, 31.00, 29.75, 30.06),
    "W->D": (59.24, 77.07, 80.89, 87.26),
    "D->C": (26.27, 29.65, 30.28, 31.70),
    "D->A": (28.50, 32.05, 32.05, 32.15),
    "D->W": (63.39, 75.93, 75.59, 86.10),
}


@dataclass(frozen=True, eq=False)
class OfficeCaltech:
    """Accuracies in percent by task and method ("1-nn", then the algorithms)."""

    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    accuracy: Array

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return columns and rows, published columns first, with a row of means."""
        published = np.array([PUBLISHED[task] for task in self.tasks])
        columns = ["task", "1-NN*", "PCA*", "GFK*", "TCA*", *(m.upper() for m in self.methods)]
        body = np.hstack([published, self.accuracy])
        rows = [*zip(self.tasks, body, strict=True), ("**mean**", body.mean(axis=0))]
        return columns, [[name, *(f"{value:.2f}" for value in row)] for name, row in rows]

    def summary(self) -> list[list[str]]:
        """Return the published and the measured mean of each method; a dash where there is none."""
        columns, rows = self.table()
        mean = dict(zip(columns, rows[-1], strict=True))
        methods = dict.fromkeys(name.rstrip("*") for name in columns[1:])
        return [[name, mean.get(f"{name}*", "–"), mean.get(name, "–")] for name in methods]


def load_office_caltech(directory: Path) -> dict[str, Domain]:
    """Read the four domains (amazon.npz, caltech.npz, webcam.npz, dslr.npz) and prepare them."""
    prepared = {}
    for letter, name in DOMAINS.items():
        raw = read_domain(directory / f"{name}.npz")
        shares = raw.X / raw.X.sum(axis=1, keepdims=True)
        prepared[letter] = normalize(raw.with_features(shares, name=name), "zscore")
    return prepared


def measure_office_caltech(
    directory: Path, *, names: Sequence[str] = algorithms.PAPER, progress: bool = False
) -> OfficeCaltech:
    """Classify every target by 1-NN from every source, on the original features and under each algorithm."""
    domains = load_office_caltech(directory)
    table = []
    with progress_bar(len(TASKS), "classifying", shown=progress) as advance:
        for task in TASKS:
            pair = DomainPair(*(domains[letter] for letter in task.split("->")))
            maps = [algorithms.make(name).fit(pair).transform for name in names]
            row = [_nearest_neighbour(pair, pair.source.X, pair.target.X)]
            row += [
                _nearest_neighbour(pair, transform(pair.source.X), transform(pair.target.X))
                for transform in maps
            ]
            table.append(row)
            advance(task)
    return OfficeCaltech(TASKS, ("1-nn", *names), np.array(table))


def write_office_caltech(data: Path, out: Path) -> None:
    """Measure the table and write the page."""
    start = time.perf_counter()
    measured = measure_office_caltech(data / "office-caltech-surf", progress=True)
    columns, rows = measured.table()
    write_page(
        out / "office-caltech.md",
        minutes=(time.perf_counter() - start) / 60,
        columns=columns,
        rows=rows,
        summary=measured.summary(),
    )


def _nearest_neighbour(pair: DomainPair, Zs: Array, Zt: Array) -> float:
    nearest = squared_distances(Zt, Zs).argmin(axis=1)
    names = np.array(pair.source.classes)[pair.source.codes[nearest]]
    return 100 * float(np.mean(names == np.array(pair.target.classes)[pair.target.codes]))
