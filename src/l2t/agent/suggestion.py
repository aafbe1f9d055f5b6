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
from l2t.inference.result import Verdict

__all__ = ["Suggestion"]


@dataclass(frozen=True, eq=False)
class Suggestion:
    """What to transfer, and what it should bring.

    Attributes
    ----------
    id : str
        Its id in the store; `Agent.tell` needs no more.
    choice : str
        The candidate that was chosen, "identity" where it is better not to transfer; or the one that is
        tried, where the agent explores.
    W : array of shape (m, u)
        Its latent factor matrix.
    predicted : float
        The improvement ratio to expect.
    interval : (float, float) or None
        Where that ratio lies with 90 % probability.
    verdict : {"transfer", "no-transfer"}
        Whether to transfer.
    reason : str
        Why, in one sentence.
    n_labels : int
        The number of labelled target rows that the prediction is for.
    version : int
        The version of the reflection function that was in use; 0 where there was none yet.
    inference : Inference or None
        All candidates; None for a suggestion that is read from the store.
    """

    id: str
    choice: str
    W: npt.NDArray[Any]
    predicted: float
    interval: tuple[float, float] | None
    verdict: Verdict
    reason: str
    n_labels: int
    version: int
    inference: Inference | None = None

    def __post_init__(self) -> None:
        self.W.flags.writeable = False

    def __repr__(self) -> str:
        m, u = self.W.shape
        return f"Suggestion({self.id}, {self.choice}, predicted {self.predicted:.3f}, W {m} x {u})"

    @classmethod
    def of(
        cls, record: SuggestionRecord, W: npt.NDArray[Any], inference: Inference | None = None
    ) -> Suggestion:
        """Return the suggestion of a record in the store."""
        assert record.predicted is not None  # every candidate has an expectation
        assert record.n_labels is not None
        return cls(
            id=record.id,
            choice=record.algorithm,
            W=np.array(W),
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
