"""Ways in which labelled rows could decide whether to transfer, compared on the same W."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from l2t.domains import DomainPair
from l2t.experiences.evaluation import (
    MIN_TEST_ROWS,
    labeled_draws,
    nearest_accuracy,
)
from l2t.experiences.executors import choose_executor
from l2t.inference import infer
from l2t.inference.trials import labelled_rows, without_labels
from l2t.inference.verdict import triple_vote
from l2t.numerics import squared_distances
from l2t.reflection import ReflectionFunction
from l2t.typing import Array

__all__ = ["LABEL_COUNTS", "RULES", "leave_one_out_accuracy", "measure_verdicts"]


LABEL_COUNTS = (15, 30, 60, 120)
N_DRAWS = 10
RULES = (
    "always transfer",
    "leave-one-out not worse",
    "leave-one-out better",
    "triples better",
    "triples better by .02",
    "by the test rows",
)


def measure_verdicts(
    pairs: Sequence[DomainPair], reflection: ReflectionFunction, *, n_jobs: int = 1
) -> Array:
    """Return the mean ratio (rules, label counts); NaN where targets are too small."""
    tasks = ((pair, reflection) for pair in pairs)
    found = np.array(list(choose_executor(n_jobs, None).map(_ratios, tasks)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a mean of nothing
        return np.asarray(np.nanmean(np.sort(found, axis=0), axis=0))


def leave_one_out_accuracy(
    D: Array, codes: npt.NDArray[np.intp], chosen: npt.NDArray[np.intp]
) -> float:
    """Return the share of labelled rows that 1-NN gets right from the others of them."""
    others = D[np.ix_(chosen, chosen)]
    np.fill_diagonal(others, np.inf)
    return float(np.mean(codes[chosen][others.argmin(axis=1)] == codes[chosen]))


def _ratios(task: tuple[DomainPair, ReflectionFunction]) -> Array:
    pair, reflection = task
    X, codes = pair.target.X.astype(np.float64), pair.target.codes
    ratios = np.full((len(RULES), len(LABEL_COUNTS)), np.nan)
    for at, count in enumerate(LABEL_COUNTS):
        if len(codes) - count < MIN_TEST_ROWS:
            continue
        W = infer(without_labels(pair), reflection, n_labels=count).W
        distances = squared_distances(X), squared_distances(X @ W)
        rows = []
        for drawn in labeled_draws(codes, count, N_DRAWS):
            test = np.delete(np.arange(len(codes)), drawn)
            without, after = (nearest_accuracy(D, codes, drawn, test) for D in distances)
            alone = [leave_one_out_accuracy(D, codes, drawn) for D in distances]
            vote = triple_vote(labelled_rows(pair, drawn), W)
            gain = 0.0 if vote is None else vote.gain
            use = (
                True,
                alone[1] >= alone[0],
                alone[1] > alone[0],
                gain > 0.0,
                gain > 0.02,
                after > without,
            )
            rows.append((without, *np.where(use, after, without)))
        means = np.mean(rows, axis=0)
        ratios[:, at] = means[1:] / max(float(means[0]), 1e-3)
    return ratios
