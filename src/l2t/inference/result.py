"""The result of inference for a pair: the candidates, and the one that was chosen."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from l2t.algorithms import NO_TRANSFER, Algorithm, Traits, traits_by_name
from l2t.algorithms.base import dense_product
from l2t.display import bar_figure, finite_interval, frame_like, html_table
from l2t.domains.domain import columns_in_order, feature_rows
from l2t.domains.files.disk import replacing, writing
from l2t.inference.evidence import Evidence
from l2t.rehearsal import Rehearsal
from l2t.typing import AnyArray, JsonObject, Matrix, MatrixLike

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from l2t.domains import Domain
    from l2t.inference.shared import SharedInference
    from l2t.paper import Search

Verdict = Literal["transfer", "no-transfer"]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A candidate W and its predictions.

    Attributes
    ----------
    name : str
        Its name.
    factor : array of shape (m, u), callable or None
        The latent factor matrix, or a function that returns it; None if the algorithm failed.
    rehearsed : float or None
        Its improvement ratio in rehearsal, at the given number of labels; None if it was not rehearsed.
    predicted : float or None
        The expected improvement ratio, including the evidence.
    interval : (float, float) or None
        The 90 % interval of that ratio.
    evidence : Evidence or None
        The evidence from labelled target rows.
    chosen : bool
        Whether this candidate was chosen.
    reason : str
        Why the candidate cannot be used; empty if it can.
    algorithm : Algorithm or None
        The algorithm that found W; None for a matrix of which only the name is known.
    """

    name: str
    factor: Matrix | Callable[[], Matrix] | None = None
    rehearsed: float | None = None
    predicted: float | None = None
    interval: tuple[float, float] | None = None
    evidence: Evidence | None = None
    chosen: bool = False
    reason: str = ""
    algorithm: Algorithm | None = None

    @property
    def traits(self) -> Traits:
        """The traits of its algorithm, or of the one with its name; the defaults if there is none."""
        return traits_by_name(self.name) if self.algorithm is None else Traits.of(self.algorithm)

    @cached_property
    def W(self) -> Matrix:
        """The latent factor matrix (m, u) or None; no target label was read for it."""
        return self.factor() if callable(self.factor) else self.factor

    def __repr__(self) -> str:
        known = "not measured" if self.predicted is None else f"predicted {self.predicted:.3f}"
        state = self.reason or known
        return f"Candidate({self.name!r}, {state}{', chosen' if self.chosen else ''})"


class Candidates(dict[str, Candidate]):
    """The candidates by name, in the order of comparison."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        super().__init__((candidate.name, candidate) for candidate in candidates)

    def __repr__(self) -> str:
        return f"Candidates({', '.join(map(repr, self.values()))})"

    def records(self) -> list[JsonObject]:
        """Return one dictionary of plain values per candidate."""
        return [
            {
                "candidate": candidate.name,
                "chosen": candidate.chosen,
                "predicted": candidate.predicted,
                "low": low,
                "high": high,
                "rehearsed": candidate.rehearsed,
                "labelled_rows": None if candidate.evidence is None else candidate.evidence.n_rows,
                "same_class_nearer": None
                if candidate.evidence is None
                else candidate.evidence.order,
                "same_class_nearer_without": (
                    None if candidate.evidence is None else candidate.evidence.order_without
                ),
                "reason": candidate.reason,
            }
            for candidate in self.values()
            for low, high in [finite_interval(candidate.interval) or (None, None)]
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with one row per candidate."""
        import pandas as pd

        return pd.DataFrame(self.records()).set_index("candidate")

    def _repr_html_(self) -> str:
        return html_table(self.records())


@dataclass(frozen=True, eq=False)
class Inference:
    """The choice for a pair, the improvement to expect, and why.

    Attributes
    ----------
    choice : str
        The name of the best candidate; "identity" if it is better not to transfer.
    candidates : Candidates
        All candidates by name.
    reason : str
        The reason for the choice, in one sentence.
    n_labels : int
        The number of labelled target rows that predictions are for.
    n_classes : int
        The number of target classes that predictions are for.
    accuracy_without : float or None
        The expected accuracy of 1-NN on the original features or, if classes are shared, of the better of two
        plain logistic regressions, trained on the source and on the target.
    rehearsal : Rehearsal or None
        The accuracies of the candidates in rehearsal.
    search : Search or None
        The paper's search, for ``method="paper"``.
    shared : SharedInference or None
        The classifier trained on the source's labels, if both domains have the same classes.
    feature_names : tuple of str or None
        The names of the target's columns, if they have names.
    misleading : float, default=0.0
        How far neighbourhoods are expected not to follow the classes of the target, from 0 to 1.
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
    misleading: float = 0.0

    def __repr__(self) -> str:
        m, u = self.W.shape
        return f"Inference({self.choice}, predicted {self.predicted:.3f}, W {m} x {u})"

    @property
    def _chosen(self) -> Candidate:
        return self.candidates[self.choice]

    @property
    def W(self) -> Matrix:
        """The latent factor matrix (m x u) of the choice."""
        return self._chosen.W

    @property
    def predicted(self) -> float:
        """The expected improvement ratio of the choice; 1 for "identity"."""
        ratio = self._chosen.predicted
        assert ratio is not None  # only candidates with an expectation are chosen
        return ratio

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 90 % interval of that ratio; None if it is unknown.

        Its upper end may exceed ``1 / accuracy_without``, as that accuracy is itself an estimate.
        """
        return self._chosen.interval

    @property
    def history(self) -> tuple[float, ...]:
        """The course of the paper's search, 1/f after every step; empty for other methods."""
        return () if self.search is None else self.search.history

    @property
    def accuracy(self) -> float | None:
        """The expected accuracy of 1-NN with the choice, at most 1; None if it is unknown."""
        plain = self.accuracy_without
        return None if plain is None else min(plain * self.predicted, 1.0)

    @property
    def verdict(self) -> Verdict:
        """Whether to transfer: "no-transfer" if the choice is "identity", else "transfer"."""
        return "no-transfer" if self.choice == NO_TRANSFER else "transfer"

    def transform(self, X: MatrixLike | Domain) -> AnyArray | pd.DataFrame:
        """Return ``X @ W``, or X itself if the choice is "identity".

        Parameters
        ----------
        X : array, sparse matrix, Domain, or DataFrame of pandas or polars
            Rows with the features of the pair. Columns of a DataFrame are selected by name.

        Returns
        -------
        array of shape (n, u), or a DataFrame for a DataFrame
        """
        X = columns_in_order(X, self.feature_names)
        rows = feature_rows(X, self.W.shape[0])
        if self.choice == NO_TRANSFER:
            plain = rows.toarray() if sparse.issparse(rows) else rows
            return X if hasattr(X, "columns") else np.asarray(plain)
        features = dense_product(rows, self.W)
        frame = frame_like(X, {f"x{i}": column for i, column in enumerate(features.T)})
        return features if frame is None else frame

    def plot(self) -> Figure:
        """Return a `matplotlib.figure.Figure` of the expected improvement ratio of each candidate."""
        bars = [
            (
                candidate.name,
                candidate.predicted,
                candidate.chosen,
                finite_interval(candidate.interval),
            )
            for candidate in self.candidates.values()
            if candidate.predicted is not None
        ]
        return bar_figure(bars, "expected improvement ratio (1: as without transfer)")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write an npz file: ``json`` with all candidates, and ``W`` unless it is sparse (an identity).

        Parameters
        ----------
        path : str or path
            The file, written atomically. Loading it with numpy never executes code.

        Returns
        -------
        Path
        """
        names = ("choice", "verdict", "reason", "n_labels", "n_classes", "feature_names")
        content = {name: getattr(self, name) for name in names}
        content["candidates"] = self.candidates.records()
        arrays: dict[str, Any] = {"json": np.array(json.dumps(content, allow_nan=False))}
        if not sparse.issparse(self.W):
            arrays["W"] = self.W
        with writing(where := Path(path)), replacing(where) as file:
            np.savez(file, **arrays)
        return where

    def _repr_html_(self) -> str:
        return html_table(self.candidates.records(), f"{self.choice}: {self.reason}.")
