"""The base algorithms over many pairs: mean improvement ratio by label count."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from l2t import algorithms
from l2t.domains import DomainPair
from l2t.exceptions import L2TWarning
from l2t.experiences import evaluate, improvement_ratio

__all__ = ["BaseRatios", "measure_base_ratios"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BaseRatios:
    """Ratios by algorithm, pair and label count.

    Attributes
    ----------
    names : tuple of str
        The algorithms.
    label_counts : tuple of int
        The label counts.
    ratios : array of shape (algorithms, pairs, counts)
        Accuracy with the algorithm's W over accuracy on the original features.
    original : array of shape (pairs, counts)
        Accuracy on the original features.
    seconds : array of shape (algorithms,)
        Mean time of a fit.
    """

    names: tuple[str, ...]
    label_counts: tuple[int, ...]
    ratios: Array
    original: Array
    seconds: Array

    @property
    def mean(self) -> Array:
        """Mean ratio by algorithm and label count."""
        return np.asarray(self.ratios.mean(axis=1))

    @property
    def standard_error(self) -> Array:
        """Standard error of the mean ratio by algorithm and label count."""
        pairs = self.ratios.shape[1]
        return np.asarray(self.ratios.std(axis=1, ddof=1) / np.sqrt(pairs))


def measure_base_ratios(
    pairs: Iterable[DomainPair],
    *,
    names: Sequence[str] | None = None,
    label_counts: Sequence[int] = (3, 15, 30, 60, 120),
    n_components: int = 20,
    random_state: int = 0,
    progress: Callable[[str], None] | None = None,
) -> BaseRatios:
    """Run algorithms on pairs and compare 1-NN on X W with 1-NN on X.

    Parameters
    ----------
    pairs : iterable of DomainPair
        Two or more pairs whose targets carry labels for scoring.
    names : sequence of str, optional
        The algorithms; all by default.
    label_counts : sequence of int
        Numbers of labelled target rows; all pairs must be large enough for them.
    n_components, random_state : int
        Passed to the algorithms; the seed also draws the labelled rows.
    progress : callable, optional
        Called with the name of the algorithm after every fit.
    """
    chosen = tuple(algorithms.names() if names is None else names)
    ratios: list[list[Array]] = [[] for _ in chosen]
    seconds, original, counts = np.zeros(len(chosen)), [], tuple(label_counts)
    for pair in pairs:
        codes = pair.target.codes
        before = evaluate(
            pair.target.X, codes, label_counts=label_counts, random_state=random_state
        )
        counts = before.label_counts
        original.append(before.mean)
        for at, name in enumerate(chosen):
            start = time.perf_counter()
            algorithm = algorithms.make(name, n_components=n_components, random_state=random_state)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", L2TWarning)  # clipped components are expected here
                factors = algorithm.fit(pair)
            seconds[at] += time.perf_counter() - start
            after = evaluate(
                factors.transform(pair.target.X),
                codes,
                label_counts=counts,
                random_state=random_state,
            )
            ratios[at].append(
                np.array(
                    [
                        improvement_ratio(b, a, before.n_rows - count)
                        for count, b, a in zip(counts, before.mean, after.mean, strict=True)
                    ]
                )
            )
            if progress is not None:
                progress(name)
    return BaseRatios(chosen, counts, np.array(ratios), np.array(original), seconds / len(original))
