"""What was found for a pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from l2t.domains.domain import feature_rows
from l2t.inference.verdict import Verdict, Vote
from l2t.reflection import Explanation
from l2t.reflection.plan import Plan
from l2t.statistics import PairStatistics

__all__ = ["Candidate", "Inference", "Step"]


@dataclass(frozen=True)
class Candidate:
    """A start of the search: its predicted ratio before any step, or why there is none."""

    name: str
    predicted: float | None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Step:
    """A moment of the search, as the callback of `infer` sees it.

    Attributes
    ----------
    name : str
        The start: one of those compared, or the one that the search went on from.
    iteration : int or None
        None for a start that is being compared; then 0, 1, ... for the search.
    value : float
        1/f at W.
    W : array of shape (m, u)
        W at that moment.
    """

    name: str
    iteration: int | None
    value: float
    W: npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Inference:
    """The W to transfer with, what it should bring, and whether to use it.

    Attributes
    ----------
    W : array of shape (m, u)
        The best W found. No target label was read for it.
    predicted : float
        The improvement ratio to expect of W, at the user's number of labels if it is known.
    interval : (float, float) or None
        Where that ratio lies with 90 % probability; None without a calibrated reflection function.
    verdict : {"transfer", "no-transfer"}
        Whether to use W. Only this and `transform` see the labelled target rows.
    reason : str
        Why, in one sentence.
    start : str
        The start that the search went on from.
    candidates : tuple of Candidate
        All starts.
    history : tuple of float
        1/f at the start and after every iteration; never rising.
    stop_reason : str
        Why the search ended; "max_iter" is the usual one, for few steps are better than many.
    plan : Plan
        How W was searched.
    vote : Vote or None
        What the labelled rows said.
    statistics : PairStatistics
        d, Q and tau of the pair under W.
    explanation : Explanation
        The prediction in its terms and kernels.
    n_labels : int or None
        The number of labels that everything is told for.
    """

    W: npt.NDArray[Any]
    predicted: float
    interval: tuple[float, float] | None
    verdict: Verdict
    reason: str
    start: str
    candidates: tuple[Candidate, ...]
    history: tuple[float, ...]
    stop_reason: str
    plan: Plan
    vote: Vote | None
    statistics: PairStatistics
    explanation: Explanation
    n_labels: int | None

    def __post_init__(self) -> None:
        self.W.flags.writeable = False

    def __repr__(self) -> str:
        m, u = self.W.shape
        return f"Inference({self.verdict}, predicted {self.predicted:.3f}, W {m} x {u})"

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return ``X @ W``, or X itself where the verdict is not to transfer.

        X is an array, a DataFrame, a sparse matrix or a Domain with the features of the pair.
        """
        rows = feature_rows(X, len(self.W))
        if self.verdict == "no-transfer":
            return np.asarray(rows.toarray() if sparse.issparse(rows) else rows)
        return np.asarray(rows @ self.W)
