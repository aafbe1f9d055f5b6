"""What a base algorithm is, and what it gives.

An algorithm sees a pair of domains, never a target label, and gives *latent factors*: a matrix
W (m x u') in the original features. Its kind says how W was found:

* ``"linear"``: the algorithm itself looks for W;
* ``"fitted"``: it embeds the target as Z, and ``W = pinv(Xt) Z`` (docs/errata.md, section 8);
* ``"metric"``: it gives a metric G, and ``W W' = G``.

Distances after the transfer are those of ``X W``, so W matters only through ``W W'``.
"""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from l2t.domains import DomainPair, KnownClasses
from l2t.domains.domain import feature_rows
from l2t.exceptions import InvalidInputError, L2TWarning
from l2t.numerics import JointSpan, Optimum
from l2t.typing import AnyArray, Array
from l2t.validation import instance_of, seed, whole_number

Kind = Literal["linear", "fitted", "metric"]


@dataclass(frozen=True)
class Diagnostics:
    """How a fit went.

    Attributes
    ----------
    objective : tuple of float
        The objective at the start and after every iteration; one entry for a closed form.
    n_iter : int
        Iterations done; 0 for a closed form.
    stop_reason : str
        ``"closed-form"``, ``"max_iter"``, or the condition of convergence that was met.
    residual : float or None
        For fitted maps ``||Xt W - Zt|| / ||Zt||``, both centred; None otherwise.
    """

    objective: tuple[float, ...]
    n_iter: int
    stop_reason: str
    residual: float | None = None

    @property
    def converged(self) -> bool:
        """Whether the fit ended for another reason than running out of iterations."""
        return self.stop_reason != "max_iter"

    @classmethod
    def of_search(cls, optimum: Optimum) -> Diagnostics:
        """Describe a search on a manifold."""
        return cls(optimum.trace, len(optimum.trace) - 1, optimum.stop_reason)


@dataclass(frozen=True, eq=False)
class LatentFactors:
    """What an algorithm found worth transferring.

    Attributes
    ----------
    W : array of shape (m, u')
        The latent factor matrix, in the original features and the data's floating type.
    kind : {"linear", "fitted", "metric"}
        How W was found.
    algorithm : str
        The name of the algorithm.
    diagnostics : Diagnostics
        Objective trace, iterations, why it stopped, residual.
    parts : mapping of str to array
        The algorithm's own factors (a dictionary, sparse codes, principal angles ...), for
        inspection; documented by each algorithm.
    """

    W: AnyArray
    kind: Kind
    algorithm: str
    diagnostics: Diagnostics
    parts: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.W, np.ndarray):  # the identity of very many features is sparse
            self.W.flags.writeable = False

    def __repr__(self) -> str:
        m, u = self.W.shape
        why = self.diagnostics.stop_reason
        return f"LatentFactors({self.algorithm}, {self.kind}, W {m} x {u}, stopped: {why})"

    @property
    def source_W(self) -> AnyArray:
        """What source rows are multiplied with beside target rows times W: W itself for most algorithms."""
        return self.parts.get("source_W", self.W)

    def transform(self, X: Any) -> AnyArray:
        """Return ``X @ W`` for rows of either domain, seen before or not.

        X is an array, a DataFrame, a sparse matrix or a Domain with the features of the pair.
        """
        rows = feature_rows(X, self.W.shape[0])
        return np.asarray(rows @ self.W)


@runtime_checkable
class Algorithm(Protocol):
    """What `make` gives, and what a plug-in must provide; `l2t.testing` holds the checks."""

    @property
    def name(self) -> str:
        """What it is called; usually a variable of the class."""
        ...

    def fit(self, pair: DomainPair) -> LatentFactors:
        """Find the latent factors of a pair, without reading a target label."""
        ...


def with_known(algorithm: Algorithm, known: KnownClasses | None) -> Algorithm:
    """Return the algorithm with these known classes, where it uses any."""
    if known is not None and dataclasses.is_dataclass(algorithm) and hasattr(algorithm, "known"):
        return dataclasses.replace(algorithm, known=known)
    return algorithm


def fit_quietly(
    algorithm: Algorithm, pair: DomainPair, known: KnownClasses | None = None
) -> LatentFactors:
    """Fit without a warning where components are clipped, with the known classes where they are used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", L2TWarning)
        return with_known(algorithm, known).fit(pair)


def parameter(default: Any, check: Callable[..., Any], *args: Any, **rule: Any) -> Any:
    """Return a hyper-parameter with its default, and how `fit` checks it.

    ``lam: float = parameter(1.0, real_number, least=0)`` calls ``real_number("lam", value, least=0)``.

    Parameters
    ----------
    default : object
        Its default.
    check : callable
        A function of `l2t.validation`, or any that raises InvalidInputError for a value that breaks its rule.
    *args, **rule
        Further arguments of `check`, after the name and the value.

    Returns
    -------
    dataclasses.Field
    """
    return field(
        default=default,
        metadata={"check": lambda name, value: check(name, value, *args, **rule)},
    )


def _seed_or_none(name: str, value: Any) -> None:
    if value is not None:
        seed(value, name)


@dataclass(frozen=True)
class _Checked(ABC):
    """Checks that the built-in algorithms share.

    A subclass is a frozen dataclass of its hyper-parameters (`parameter`) that does its work in `_fit`.
    """

    name: ClassVar[str]
    #: Whether a rotation of the features changes the result, so that rehearsal must keep the features.
    needs_features: ClassVar[bool] = False
    #: How many rows each domain must have.
    least_rows: ClassVar[int] = 2

    def fit(self, pair: DomainPair) -> LatentFactors:
        """Find the latent factors of a pair, without reading a target label."""
        for each in dataclasses.fields(self):
            if "check" in each.metadata:
                each.metadata["check"](each.name, getattr(self, each.name))
        instance_of("pair", pair, DomainPair)
        for role, domain in (("source", pair.source), ("target", pair.target)):
            if len(domain) < self.least_rows:
                raise InvalidInputError(
                    f"{role} must have at least {self.least_rows} rows, got {len(domain)}"
                )
        try:
            factors = self._fit(pair)
        except (np.linalg.LinAlgError, ArithmeticError) as error:
            raise InvalidInputError(
                f"{self.name} cannot be computed on this pair, as happens when rows of a domain are the "
                f"same or of extreme scale: {error}"
            ) from error
        values = np.asarray(factors.W.data if sparse.issparse(factors.W) else factors.W)
        finite = bool(
            np.isfinite(values).all() and np.isfinite(factors.parts.get("source_W", 0)).all()
        )
        if not finite or not values.any():
            found = "zero" if finite else "not finite"
            raise InvalidInputError(
                f"{self.name} found nothing to transfer: its result is {found}, as happens "
                "when the rows of a domain are all the same, or of extreme scale"
            )
        return factors

    @property
    def params(self) -> dict[str, Any]:
        """The hyper-parameters by name."""
        return {
            each.name: getattr(self, each.name) for each in dataclasses.fields(self) if each.repr
        }

    @abstractmethod
    def _fit(self, pair: DomainPair) -> LatentFactors:
        """Do the work; the pair and the hyper-parameters are checked."""


@dataclass(frozen=True)
class SoftAlgorithm(_Checked):
    """An algorithm whose W keeps all directions with their scales, without a number of components."""

    random_state: int | None = parameter(0, _seed_or_none)

    def _pack(self, pair: DomainPair, W: AnyArray) -> LatentFactors:
        """Pack W, in the floating type of the data."""
        W = W.astype(np.result_type(pair.source.X, pair.target.X))
        return LatentFactors(W, "linear", self.name, Diagnostics((0.0,), 0, "closed-form"))


@dataclass(frozen=True)
class BaseAlgorithm(_Checked):
    """An algorithm that finds a number of components: the parent of the paper's eight.

    Parameters
    ----------
    n_components : int, default=20
        Number of components u; at most the rank of the data is used.
    random_state : int or None, default=0
        The seed.
    """

    n_components: int = parameter(20, whole_number, least=1)
    random_state: int | None = parameter(0, _seed_or_none)

    def _clip(self, rank: int, what: str = "the joint data") -> int:
        """Return n_components, or the rank where that is less, with a warning that says so."""
        if rank < 1:
            raise InvalidInputError(
                f"{self.name} needs rows that differ, but the rank of {what} is 0 "
                "(all rows are the same)"
            )
        if self.n_components > rank:
            warnings.warn(
                f"{self.name}: n_components={self.n_components} is more than the rank of {what}; "
                f"{rank} are used",
                L2TWarning,
                stacklevel=_depth(),
            )
        return min(self.n_components, rank)

    def _linear(
        self,
        span: JointSpan,
        V: Array,
        diagnostics: Diagnostics,
        parts: Mapping[str, Array] | None = None,
    ) -> LatentFactors:
        """Pack a factor V that was found in the joint span, or in its leading coordinates."""
        padded = np.zeros((span.rank, V.shape[1]))
        padded[: len(V)] = V
        return LatentFactors(span.lift(padded), "linear", self.name, diagnostics, parts or {})

    def _fitted(
        self,
        span: JointSpan,
        Zt: Array,
        diagnostics: Diagnostics,
        parts: Mapping[str, Array],
    ) -> LatentFactors:
        """Pack an embedding of the target by the linear map closest to it."""
        V, residual = span.linear_map(Zt)
        measured = dataclasses.replace(diagnostics, residual=residual)
        return LatentFactors(span.lift(V), "fitted", self.name, measured, {**parts, "Zt": Zt})


def _depth() -> int:
    """Return how many frames up the code is that called into this package."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("l2t."):
        frame, depth = frame.f_back, depth + 1
    return depth
