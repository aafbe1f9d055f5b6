"""What the agent suggests for a pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from l2t.domains.domain import feature_rows
from l2t.experiences import SuggestionRecord
from l2t.inference import Inference
from l2t.inference.verdict import Verdict

__all__ = ["Suggestion"]


@dataclass(frozen=True, eq=False)
class Suggestion:
    """What to transfer, what it should bring, and whether to use it.

    Attributes
    ----------
    id : str
        Its id in the store; `Agent.tell` needs no more.
    W : array of shape (m, u)
        What to transfer.
    algorithm : str
        "l2t", or the base algorithm that gave W where the agent explores or has nothing learned yet.
    predicted : float or None
        The improvement ratio to expect; None where nothing has been learned yet.
    interval : (float, float) or None
        Where that ratio lies with 90 % probability.
    verdict : {"transfer", "no-transfer"}
        Whether to use W.
    reason : str
        Why, in one sentence.
    n_labels : int or None
        The number of labels that everything is told for.
    version : int
        The version of the function that it comes from; 0 where there is none yet.
    inference : Inference or None
        How W was found, and why so much is expected of it; None for the W of a base algorithm, and for a
        suggestion that comes from the store.
    """

    id: str
    W: npt.NDArray[Any]
    algorithm: str
    predicted: float | None
    interval: tuple[float, float] | None
    verdict: Verdict
    reason: str
    n_labels: int | None
    version: int
    inference: Inference | None = None

    def __post_init__(self) -> None:
        self.W.flags.writeable = False

    def __repr__(self) -> str:
        told = "unknown" if self.predicted is None else f"{self.predicted:.3f}"
        m, u = self.W.shape
        return f"Suggestion({self.id}, {self.verdict}, predicted {told}, W {m} x {u})"

    @classmethod
    def of(
        cls, record: SuggestionRecord, W: npt.NDArray[Any], inference: Inference | None = None
    ) -> Suggestion:
        """Return the suggestion of a record in the store."""
        return cls(
            id=record.id,
            W=np.array(W),
            algorithm=record.algorithm,
            predicted=record.predicted,
            interval=record.interval,
            verdict=cast(Verdict, record.verdict),
            reason=record.reason,
            n_labels=record.n_labels,
            version=record.function,
            inference=inference,
        )

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return ``X @ W``, or X itself where the verdict is not to transfer."""
        rows = feature_rows(X, len(self.W))
        if self.verdict == "no-transfer":
            return np.asarray(rows.toarray() if sparse.issparse(rows) else rows)
        return np.asarray(rows @ self.W)
