"""The reflection function f: the improvement ratio to expect of W, from the statistics of the pair under W.

``1 / f = beta'd + lambda beta'Q beta + mu / (beta'tau) + b``

is the paper's (`ReflectionFunction`). `Reflection` is what it has in common with other forms of 1/f: a sum
of a linear function of d, a linear function of Q, a function of tau, and a constant.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np

from l2t.domains import DomainPair
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
class TermWeights:
    """The weights of the terms of 1/f, as its objective needs them.

    Attributes
    ----------
    mmd : array of shape (K,)
        The weights of d.
    variance : float or array of shape (K,)
        The weight of ``mmd'Q mmd``, or the weights of the diagonal of Q.
    discriminant : array of shape (K,)
        Not zero for the kernels whose tau counts.
    bias : float
        The constant.
    """

    mmd: Array
    variance: float | Array
    discriminant: Array
    bias: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Reflection(ABC):
    """What all forms of the reflection function have in common.

    Parameters
    ----------
    kernels : KernelBank, default=KernelBank()
        The bank of K kernels, by default 33.
    n_neighbors : int, default=5
        The number of neighbours r of tau.
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
    """

    kernels: KernelBank = field(default_factory=KernelBank)
    n_neighbors: int = 5
    c: float = 0.0
    label_range: tuple[int, int] = (3, 120)
    calibration: Mapping[int, ErrorQuantiles] | None = None
    forecast: Forecast | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    trained_on: TrainedOn = "target"

    def __post_init__(self) -> None:
        r = whole_number("n_neighbors", self.n_neighbors, least=1)
        object.__setattr__(self, "n_neighbors", r)
        one_of("trained_on", self.trained_on, get_args(TrainedOn))
        _ = self.label_curve  # validates c and label_range

    @property
    @abstractmethod
    def kernel_weights(self) -> Array:
        """How much each kernel counts, of shape (K,)."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, float]:
        """The scalar parameters, or sums of weights, by name; "b" is the bias."""

    @property
    @abstractmethod
    def term_weights(self) -> TermWeights:
        """The weights of the terms of 1/f."""

    @abstractmethod
    def discriminant(self, tau: Array) -> tuple[float, Array]:
        """Return the discriminant term for tau (K,), and its derivative in the logarithm of each tau."""

    def for_pair(self, pair: DomainPair, random_state: int | None = 0) -> Reflection:
        """Return the function to use for a pair: most forms are the same for all."""
        return self

    def _freeze(self, name: str, shape: tuple[int, ...], rule: str) -> None:
        """Replace a field by a read-only array, after validation."""
        values = np.array(getattr(self, name), dtype=np.float64)
        if values.shape != shape:
            raise InvalidInputError(f"{name} must have {rule}, got shape {values.shape}")
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise InvalidInputError(
                f"{name} must be finite and not negative, got a least value of {values.min()}"
            )
        values.flags.writeable = False
        object.__setattr__(self, name, values)

    def __repr__(self) -> str:
        learned = self.training.get("experiences")
        how = f"learned from {learned} experiences" if learned else "written by hand"
        rows = "" if self.trained_on == "target" else f", trained on {self.trained_on}"
        return f"{type(self).__name__}({len(self.kernels)} kernels, {how}{rows})"

    @property
    def paper(self) -> Self:
        """The function f alone, without the forecast beside it."""
        return replace(self, forecast=None)

    @property
    def label_curve(self) -> LabelCurve:
        """How ratios depend on the number of labels."""
        return LabelCurve(self.c, *self.label_range)

    def terms(self, statistics: PairStatistics) -> dict[str, float]:
        """Return the terms of 1/f by name: mmd, variance, discriminant and bias."""
        return {name: float(term.sum()) for name, term in self.by_kernel(statistics).items()} | {
            "bias": self.term_weights.bias
        }

    def by_kernel(self, statistics: PairStatistics) -> dict[str, Array]:
        """Return the first three terms by kernel (K,); each sums to its term."""
        self._check(statistics)
        weights, d, Q = self.term_weights, statistics.d, statistics.Q
        if isinstance(weights.variance, float):
            variance = weights.variance * weights.mmd * (Q @ weights.mmd)
        else:
            variance = weights.variance * np.diag(Q)
        # The derivatives in the logarithms add up to minus the term, which is inverse to the scale of tau.
        discriminant = -self.discriminant(statistics.tau)[1]
        return {"mmd": weights.mmd * d, "variance": variance, "discriminant": discriminant}

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
            return self.calibration[0].half_width(level)
        counts = sorted(self.calibration)[1:]
        count = min(max(count, counts[0]), counts[-1])
        near = max(c for c in counts if c <= count), min(c for c in counts if c >= count)
        return max(self.calibration[count].half_width(level) for count in near)

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
            own, other = getattr(self, name), getattr(statistics, name)
            if own != other:
                raise InvalidInputError(
                    f"statistics must have the function's {name}, {own}, got {other}"
                )


@dataclass(frozen=True, eq=False, repr=False)
class ReflectionFunction(Reflection):
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
    q_mode : {"full", "diag"}, default="full"
        Whether beta'Q beta uses all of Q, or only its diagonal as printed in the paper (erratum E2).

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
    q_mode: QMode = field(default="full", kw_only=True)

    def __post_init__(self) -> None:
        self._freeze("beta", (len(self.kernels),), f"one weight per kernel ({len(self.kernels)})")
        for name in ("lambda_", "mu", "b"):
            least = None if name == "b" else 0
            object.__setattr__(self, name, real_number(name, getattr(self, name), least=least))
        one_of("q_mode", self.q_mode, get_args(QMode))
        super().__post_init__()

    @property
    def kernel_weights(self) -> Array:
        """The weights beta of the kernels."""
        return self.beta

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters lambda, mu and b."""
        return {"lambda": self.lambda_, "mu": self.mu, "b": self.b}

    @property
    def term_weights(self) -> TermWeights:
        """The weights of the terms of 1/f."""
        diagonal = self.q_mode == "diag"
        variance = self.lambda_ * self.beta**2 if diagonal else self.lambda_
        return TermWeights(self.beta, variance, self.mu * self.beta, self.b)

    def discriminant(self, tau: Array) -> tuple[float, Array]:
        """Return ``mu / beta'tau`` for tau (K,), and its derivative in the logarithm of each tau."""
        parts = self.beta * tau
        total = float(parts.sum())
        if not (self.mu > 0 and total > 0):
            return 0.0, np.zeros_like(parts)
        value = self.mu / total
        return value, parts * (-value / total)


def checked_count(n_labels: int | None, name: str = "n_labels") -> int | None:
    """Return a number of labels after validation; None if it is unknown."""
    return None if n_labels is None else whole_number(name, n_labels, least=1)
