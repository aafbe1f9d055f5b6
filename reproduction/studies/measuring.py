"""Shared by all studies: domains to draw from, pairs of a given size, and the real ratio of a choice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from l2t.domains import Domain, DomainPair, digits, normalize, read_domain
from l2t.experiences.evaluation import (
    MIN_TEST_ROWS,
    improvement_ratio,
    labeled_draws,
    nearest_accuracy,
    rows_to_test,
)
from l2t.inference import Inference
from l2t.numerics import squared_distances
from l2t.typing import AnyArray, Array
from reproduction.kinds import KINDS

__all__ = [
    "Records",
    "Trial",
    "draw_pair",
    "geometric_mean",
    "kind_domains",
    "remembered",
    "take_classes",
]

#: Measured values of one study, as they are kept between runs.
Records = list[dict[str, Any]]


def remembered(work: Path, name: str, measure: Callable[[], Records]) -> Records:
    """Return the measurement of this name, from now or from an earlier run."""
    path = work / f"{name}.json".replace(" ", "-").replace(">", "to")
    if not path.exists():
        work.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(measure()))
        part.replace(path)
    found: Records = json.loads(path.read_text())
    return found


@cache
def _scaled(data: Path, name: str) -> Domain:
    """Return a file as a domain, scaled as data of its kind usually are."""
    domain = digits() if name == "digits" else read_domain(data / name)
    usual = {"letters": "zscore", "sounds": "centred"}
    return normalize(domain, usual.get(name.split("/")[0], "rows"))


def kind_domains(kind: str, data: Path) -> tuple[Domain, Domain]:
    """Return source and target of a kind; the same domain twice where they are of one file."""
    return _scaled(data, KINDS[kind].source), _scaled(data, KINDS[kind].target)


def draw_pair(
    kind: str,
    data: Path,
    rng: np.random.Generator,
    *,
    n_classes: int = 3,
    n_rows: int = 80,
    source_classes: int = 20,
    source_rows: int = 40,
) -> DomainPair:
    """Return a pair with other classes in the target, where both are of one file.

    `n_rows` and `source_rows` are rows per class, at most.
    """
    source, target = kind_domains(kind, data)
    theirs = rng.permutation(len(target.classes))[:n_classes]
    names = {str(target.classes[code]) for code in theirs}
    others = [code for code, name in enumerate(source.classes) if str(name) not in names]
    ours = rng.permutation(others)[:source_classes]
    return DomainPair(
        take_classes(source, ours, source_rows, rng), take_classes(target, theirs, n_rows, rng)
    )


def take_classes(
    domain: Domain, codes: Iterable[Any], n_rows: int | Sequence[int], rng: np.random.Generator
) -> Domain:
    """Return some classes of a domain, with so many random rows of each."""
    classes = list(codes)
    wanted = [n_rows] * len(classes) if isinstance(n_rows, int) else n_rows
    rows = [
        rng.permutation(np.flatnonzero(domain.codes == code))[:n]
        for code, n in zip(classes, wanted, strict=True)
    ]
    return domain.take(np.concatenate(rows))


class Trial:
    """The labelled rows of a target in several draws, and the ratio of any W with them.

    Parameters
    ----------
    target : Domain
        The target, with all its labels.
    shots : int
        Labels per class.
    n_draws : int
        How many draws; none where fewer than 30 rows would be left to test.
    """

    def __init__(self, target: Domain, shots: int, n_draws: int, random_state: int = 0) -> None:
        self.codes = np.unique(target.codes, return_inverse=True)[1]
        self.n_classes = int(self.codes.max()) + 1
        self.n_labels = shots * self.n_classes
        self.X = target.X - target.X.mean(axis=0, dtype=np.float64)
        draws = labeled_draws(self.codes, self.n_labels, n_draws, random_state)
        if len(target) < self.n_labels + MIN_TEST_ROWS:
            draws = []
        self.splits = [(rows, rows_to_test(len(target), rows)) for rows in draws]
        self.before = self.accuracies(None)

    def accuracies(self, W: AnyArray | None) -> Array:
        """Return the accuracy of 1-NN in each draw; of the features as they are, without W."""
        if not self.splits:
            return np.empty(0)
        D = squared_distances(self.X if W is None else self.X @ W)
        return np.array([nearest_accuracy(D, self.codes, *split) for split in self.splits])

    def ratios(self, found: Inference) -> dict[str, Array]:
        """Return the improvement ratio of each candidate in each draw."""
        n_test = [len(test) for _, test in self.splits]
        return {
            name: improvement_ratio(
                self.before, self.before if name == "identity" else self.accuracies(each.W), n_test
            )
            for name, each in found.candidates.items()
            if each.W is not None
        }

    def marked(self, target: Domain, draw: int) -> Domain:
        """Return the target with the rows of a draw marked as labelled."""
        labelled = np.zeros(len(target), dtype=bool)
        labelled[self.splits[draw][0]] = True
        return Domain(target.X, target.y, labeled=labelled, prepared=target.prepared, name="target")


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean; NaN for no values."""
    logs = np.log(np.fromiter(values, dtype=float))
    return float(np.exp(logs.mean())) if len(logs) else float("nan")
