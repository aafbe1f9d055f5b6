"""The reflection function f: the improvement ratio to expect of W, from the statistics of the pair under W.

``1 / f = beta'd + lambda beta'Q beta + mu / (beta'tau) + b``
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from l2t.domains.files.disk import replacing, writing
from l2t.exceptions import InvalidInputError
from l2t.experiences.experience import TrainedOn
from l2t.forecast import ErrorQuantiles, Forecast
from l2t.paper.calibration import LabelCurve
from l2t.paper.table import QMode
from l2t.statistics import KernelBank, PairStatistics
from l2t.typing import Array
from l2t.validation import instance_of, one_of, real_number, whole_number

if TYPE_CHECKING:
    from l2t.experiences import Experience
    from l2t.paper.explanation import Explanation

#: Lower bound of predicted 1/f: no experience has a ratio above 10.
LEAST = 0.1


@dataclass(frozen=True, eq=False)
class ReflectionFunction:
    """What `learn` returns: the paper's function f and, beside it, a forecast of candidates.

    These are two predictors that know nothing of each other. The function itself, with all parameters but
    `forecast` and with all methods, is the paper's f, from which `search` and ``infer(method="paper")`` work.
    The forecast is only carried along, and saved with it: `infer` uses it by default, and f then has no
    effect. A function without a forecast, such as one written by hand, is the paper's f alone (`paper`).

    Parameters
    ----------
    beta : array-like of shape (K,)
        Weights of the kernels, not negative.
    lambda_ : float, default=0.0
        Weight of the variance of the MMD, not negative.
    mu : float, default=0.0
        Weight of the discriminant criterion, not negative.
    b : float, default=0.0
        The bias.
    kernels : KernelBank, default=KernelBank()
        The bank of K kernels, by default 33.
    n_neighbors : int, default=5
        The number of neighbours r of tau.
    q_mode : {"full", "diag"}, default="full"
        Whether beta'Q beta uses all of Q, or only its diagonal as printed in the paper (erratum E2).
    c : float, default=0.0
        The label-count correction (`LabelCurve`), in (-fewest labels, 0]; 0 for none.
    label_range : (int, int), default=(3, 120)
        Fewest and most labels of the experiences learned from.
    calibration : mapping of int to ErrorQuantiles, optional
        Quantiles of the errors of log ratios predicted for held-out pairs, by number of labels, with 0 for
        all numbers together. Intervals are computed from them.
    forecast : Forecast, optional
        The expected ratios of candidates, refined by the same experiences. No method uses it.
    training : mapping, default={}
        How and from what it was learned; plain JSON values.
    trained_on : {"target", "source", "both"}, default="target"
        The rows that the classifier is trained on, whose improvement is predicted. For "source" the number of
        labels is ignored.

    Examples
    --------
    >>> f = ReflectionFunction(beta=np.full(33, 0.01), b=0.9)
    >>> K = len(f.kernels)
    >>> same = PairStatistics(np.zeros(K), np.zeros((K, K)), np.ones(K), f.kernels, 5)
    >>> round(f.predict(same), 3)
    1.111
    """

    beta: Array
    lambda_: float = 0.0
    mu: float = 0.0
    b: float = 0.0
    kernels: KernelBank = field(default_factory=KernelBank)
    n_neighbors: int = 5
    q_mode: QMode = "full"
    c: float = 0.0
    label_range: tuple[int, int] = (3, 120)
    calibration: Mapping[int, ErrorQuantiles] | None = None
    forecast: Forecast | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    trained_on: TrainedOn = "target"

    def __post_init__(self) -> None:
        beta = np.array(self.beta, dtype=np.float64)
        if beta.shape != (len(self.kernels),):
            raise InvalidInputError(
                f"beta must have one weight per kernel ({len(self.kernels)}), got shape {beta.shape}"
            )
        if not (np.isfinite(beta).all() and (beta >= 0).all()):
            raise InvalidInputError(
                f"beta must be finite and not negative, got a least value of {beta.min()}"
            )
        beta.flags.writeable = False
        object.__setattr__(self, "beta", beta)
        for name in ("lambda_", "mu", "b"):
            least = None if name == "b" else 0
            object.__setattr__(self, name, real_number(name, getattr(self, name), least=least))
        r = whole_number("n_neighbors", self.n_neighbors, least=1)
        object.__setattr__(self, "n_neighbors", r)
        one_of("q_mode", self.q_mode, get_args(QMode))
        one_of("trained_on", self.trained_on, get_args(TrainedOn))
        _ = self.label_curve  # validates c and label_range

    def __repr__(self) -> str:
        learned = self.training.get("experiences")
        how = f"learned from {learned} experiences" if learned else "written by hand"
        rows = "" if self.trained_on == "target" else f", trained on {self.trained_on}"
        return f"ReflectionFunction({len(self.kernels)} kernels, {how}{rows})"

    @property
    def paper(self) -> ReflectionFunction:
        """The paper's function f alone, without the forecast beside it."""
        return replace(self, forecast=None)

    @property
    def label_curve(self) -> LabelCurve:
        """How ratios depend on the number of labels."""
        return LabelCurve(self.c, *self.label_range)

    def terms(self, statistics: PairStatistics) -> dict[str, float]:
        """Return the terms of 1/f by name: mmd, variance, discriminant and bias."""
        self._check(statistics)
        beta = self.beta
        Q = np.diag(statistics.Q) * beta if self.q_mode == "diag" else statistics.Q @ beta
        beta_tau = float(beta @ statistics.tau)
        return {
            "mmd": float(beta @ statistics.d),
            "variance": float(self.lambda_ * (beta @ Q)),
            "discriminant": self.mu / beta_tau if self.mu > 0 and beta_tau > 0 else 0.0,
            "bias": self.b,
        }

    def predict(self, statistics: PairStatistics, n_labels: int | None = None) -> float:
        """Return the expected improvement ratio.

        Parameters
        ----------
        statistics : PairStatistics
            The statistics of a pair and a W, with the kernels and n_neighbors of the function.
        n_labels : int, optional
            The number of labelled target rows; by default the mean over all label counts.

        Returns
        -------
        float
        """
        return self.ratio(self.inverse(statistics), n_labels)

    def ratio(self, inverse: float, n_labels: int | None = None) -> float:
        """Return the expected improvement ratio for a value of 1/f."""
        count = self._count(n_labels)
        f = 1.0 / max(inverse, LEAST)
        return f if count is None else f / float(self.label_curve.factor(count))

    def interval(
        self, statistics: PairStatistics, n_labels: int | None = None, *, level: float = 0.9
    ) -> tuple[float, float]:
        """Return a prediction interval of the improvement ratio.

        Parameters
        ----------
        statistics : PairStatistics
            The statistics of a pair and a W.
        n_labels : int, optional
            The number of labelled target rows; by default all label counts together.
        level : float, default=0.9
            The coverage of the interval.

        Returns
        -------
        (float, float)
            (0, inf) if the function was calibrated on too few pairs for this level.

        Raises
        ------
        InvalidInputError
            The function is not calibrated, as when it is written by hand.
        """
        factor = float(np.exp(self.reach(n_labels, level)))
        centre = self.predict(statistics, n_labels)
        return centre / factor, centre * factor

    def reach(self, n_labels: int | None, level: float) -> float:
        """Return the half-width of the interval of a predicted log ratio.

        Between two calibrated label counts it is the larger of theirs.
        """
        if not 0 < level < 1:
            raise InvalidInputError(f"level must be between 0 and 1, got {level!r}")
        if self.calibration is None:
            raise InvalidInputError(
                "an interval needs a calibrated reflection function, got one without calibration; "
                "l2t.learn returns a calibrated one"
            )
        if (count := self._count(n_labels)) is None:
            return self.calibration[0].reach(level)
        counts = sorted(self.calibration)[1:]
        count = min(max(count, counts[0]), counts[-1])
        near = max(c for c in counts if c <= count), min(c for c in counts if c >= count)
        return max(self.calibration[each].reach(level) for each in near)

    def inverse(self, statistics: PairStatistics) -> float:
        """Return 1/f, the sum of all terms."""
        return sum(self.terms(statistics).values())

    def explain(
        self,
        statistics: PairStatistics,
        n_labels: int | None = None,
        *,
        past: Iterable[Experience] = (),
    ) -> Explanation:
        """Split a prediction into its terms and kernels.

        Parameters
        ----------
        statistics : PairStatistics
            The statistics of a pair and a W.
        n_labels : int, optional
            The number of labelled target rows; by default the mean over all label counts.
        past : iterable of Experience, default=()
            Experiences among which the most similar are found; those with another `n_neighbors` than the
            function's are ignored.

        Returns
        -------
        Explanation
        """
        from l2t.paper.explanation import explain

        return explain(self, statistics, n_labels, past)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the function to a small JSON file, atomically.

        Parameters
        ----------
        path : str or path
            The file, which `load_reflection` reads.

        Returns
        -------
        Path
        """
        from l2t.paper.files import to_json

        text = to_json(self, indent=1)
        with writing(where := Path(path)), replacing(where) as file:
            file.write(text.encode())
        return where

    def _count(self, n_labels: int | None) -> int | None:
        return None if self.trained_on == "source" else checked_count(n_labels)

    def _check(self, statistics: PairStatistics) -> None:
        instance_of("statistics", statistics, PairStatistics)
        for name in ("kernels", "n_neighbors"):
            own, given = getattr(self, name), getattr(statistics, name)
            if own != given:
                raise InvalidInputError(
                    f"statistics must have the function's {name}, {own}, got {given}"
                )


def checked_count(n_labels: int | None, name: str = "n_labels") -> int | None:
    """Return a number of labels after validation; None if it is unknown."""
    return None if n_labels is None else whole_number(name, n_labels, least=1)
