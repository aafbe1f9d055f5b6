"""What was found for a pair: the candidates, and the one that was chosen."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from l2t.display import bar_figure, frame_like, html_table
from l2t.domains.domain import columns_in_order, feature_rows
from l2t.domains.files._disk import replacing, writing
from l2t.inference.evidence import Evidence
from l2t.reflection.calibration import finite_interval
from l2t.rehearsal import Rehearsal
from l2t.typing import AnyArray

if TYPE_CHECKING:
    import pandas as pd

    from l2t.inference.paper import Search
    from l2t.inference.shared import SharedInference

Verdict = Literal["transfer", "no-transfer"]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A way to a W, and what is known of it.

    Attributes
    ----------
    name : str
        Its name.
    factor : array of shape (m, u), callable or None
        The latent factor matrix, or what returns it; None where the algorithm failed.
    rehearsed : float or None
        Its improvement ratio in rehearsal, at the user's number of labels.
    predicted : float or None
        The improvement ratio to expect, with the evidence weighed in.
    interval : (float, float) or None
        Where that ratio lies with 90 % probability.
    evidence : Evidence or None
        What the labelled target rows say.
    chosen : bool
        Whether this is the choice.
    reason : str
        Why it cannot be used; empty where it can.
    """

    name: str
    factor: Any = None
    rehearsed: float | None = None
    predicted: float | None = None
    interval: tuple[float, float] | None = None
    evidence: Evidence | None = None
    chosen: bool = False
    reason: str = ""

    @cached_property
    def W(self) -> Any:
        """The latent factor matrix (m, u) or None; no target label was read for it."""
        return self.factor() if callable(self.factor) else self.factor

    def __repr__(self) -> str:
        known = "not measured" if self.predicted is None else f"predicted {self.predicted:.3f}"
        state = self.reason or known
        return f"Candidate({self.name!r}, {state}{', chosen' if self.chosen else ''})"


class Candidates(dict[str, Candidate]):
    """The candidates by name, in the order in which they were compared."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        super().__init__((each.name, each) for each in candidates)

    def __repr__(self) -> str:
        return f"Candidates({', '.join(map(repr, self.values()))})"

    def records(self) -> list[dict[str, Any]]:
        """Return one plain record per candidate."""
        return [
            {
                "candidate": each.name,
                "chosen": each.chosen,
                "predicted": each.predicted,
                "low": low,
                "high": high,
                "rehearsed": each.rehearsed,
                "labelled_rows": None if each.evidence is None else each.evidence.n_rows,
                "same_class_nearer": None if each.evidence is None else each.evidence.order,
                "same_class_nearer_without": (
                    None if each.evidence is None else each.evidence.order_without
                ),
                "reason": each.reason,
            }
            for each in self.values()
            for low, high in [finite_interval(each.interval) or (None, None)]
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return the candidates as a table, one row each."""
        import pandas as pd

        return pd.DataFrame(self.records()).set_index("candidate")

    def _repr_html_(self) -> str:
        return html_table(self.records())


@dataclass(frozen=True, eq=False)
class Inference:
    """What to transfer for a pair, what it should bring, and why.

    Attributes
    ----------
    choice : str
        The name of the candidate with the best expectation; "identity" where it is better not to transfer.
    candidates : Candidates
        All candidates by name.
    reason : str
        Why, in one sentence.
    n_labels : int
        The number of labelled target rows that predictions are for.
    n_classes : int
        The number of target classes that they are for.
    accuracy_without : float or None
        The accuracy of 1-NN to expect on the features as they are.
    rehearsal : Rehearsal or None
        What was rehearsed.
    search : Search or None
        The paper's search, where `method` was "paper".
    shared : SharedInference or None
        How the target is predicted from the source's labels, where both have the same classes.
    feature_names : tuple of str or None
        The names of the target's columns, where they have any.
    """

    choice: str
    candidates: Candidates
    reason: str
    n_labels: int
    n_classes: int
    accuracy_without: float | None = None
    rehearsal: Rehearsal | None = None
    search: Search | None = None
    shared: SharedInference | None = None
    feature_names: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        m, u = self.W.shape
        return f"Inference({self.choice}, predicted {self.predicted:.3f}, W {m} x {u})"

    @property
    def _chosen(self) -> Candidate:
        return self.candidates[self.choice]

    @property
    def W(self) -> AnyArray:
        """The W of the choice (m x u)."""
        found: AnyArray = self._chosen.W
        return found

    @property
    def predicted(self) -> float:
        """The improvement ratio to expect of the choice; 1 for "identity"."""
        found = self._chosen.predicted
        assert found is not None  # only candidates with an expectation are chosen
        return found

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where that ratio lies with 90 % probability; None where that is not known."""
        return self._chosen.interval

    @property
    def accuracy(self) -> float | None:
        """The accuracy of 1-NN to expect with the choice, at most 1; None where that is not known."""
        plain = self.accuracy_without
        return None if plain is None else min(plain * self.predicted, 1.0)

    @property
    def verdict(self) -> Verdict:
        """Whether to transfer: "no-transfer" where the choice is "identity"."""
        return "no-transfer" if self.choice == "identity" else "transfer"

    def transform(self, X: Any) -> Any:
        """Return ``X @ W``: X itself where the choice is "identity".

        X is an array, a sparse matrix or a Domain with the features of the pair; or a frame of pandas or
        polars, whose columns are found by their names, and which makes a frame of the same kind.
        """
        X = columns_in_order(X, self.feature_names)
        rows = feature_rows(X, self.W.shape[0])
        if self.choice == "identity":
            plain = rows.toarray() if sparse.issparse(rows) else rows
            return X if hasattr(X, "columns") else np.asarray(plain)
        found = np.asarray(rows @ self.W)
        frame = frame_like(X, {f"x{i}": column for i, column in enumerate(found.T)})
        return found if frame is None else frame

    def plot(self) -> Any:
        """Return a `matplotlib.figure.Figure` of the improvement ratio to expect of each candidate."""
        bars = [
            (each.name, each.predicted, each.chosen, finite_interval(each.interval))
            for each in self.candidates.values()
            if each.predicted is not None
        ]
        return bar_figure(bars, "improvement ratio to expect (1: as without transfer)")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the choice to an npz file: ``W``, and ``json`` with all candidates; nothing can run code."""
        names = ("choice", "verdict", "reason", "n_labels", "n_classes", "feature_names")
        content = {name: getattr(self, name) for name in names}
        content["candidates"] = self.candidates.records()
        with writing(where := Path(path)), replacing(where) as file:
            np.savez(file, json=np.array(json.dumps(content, allow_nan=False)), W=self.W)
        return where

    def _repr_html_(self) -> str:
        return html_table(self.candidates.records(), f"{self.choice}: {self.reason}.")
