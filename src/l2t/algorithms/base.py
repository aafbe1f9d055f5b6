"""The interface of an algorithm, and its result.

An algorithm is fitted to a pair of domains, without target labels, and returns *latent factors*: a matrix
W (m x u') in the original features. `kind` is how W was found:

* ``"linear"``: the algorithm finds W itself;
* ``"fitted"``: it embeds the target as Z, and ``W = pinv(Xt) Z`` (docs/errata.md, section 8);
* ``"metric"``: it finds a metric G, and ``W W' = G``.

Distances after the transfer are those of ``X W``, so W matters only through ``W W'``.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from l2t.algorithms.traits import Traits
from l2t.domains import DomainPair, KnownClasses
from l2t.domains.domain import feature_rows
from l2t.exceptions import InvalidInputError, L2TWarning
from l2t.numerics import JointSpan, Optimum
from l2t.typing import AnyArray, Array, JsonObject, Matrix, MatrixLike
from l2t.validation import instance_of, seed, whole_number

Kind = Literal["linear", "fitted", "metric"]


@dataclass(frozen=True)
class Diagnostics:
    """Diagnostics of a fit.

    Attributes
    ----------
    objective : tuple of float
        The objective at the start and after every iteration; one entry for a closed form.
    n_iter : int
        Number of iterations; 0 for a closed form.
    stop_reason : str
        ``"closed-form"``, ``"max_iter"``, or the convergence criterion that was met.
    residual : float or None
        For fitted maps ``||Xt W - Zt|| / ||Zt||``, both centred; None otherwise.
    """

    objective: tuple[float, ...]
    n_iter: int
    stop_reason: str
    residual: float | None = None

    @classmethod
    def of_search(cls, optimum: Optimum) -> Diagnostics:
        """Return the diagnostics of a search on a manifold."""
        return cls(optimum.trace, len(optimum.trace) - 1, optimum.stop_reason)


@dataclass(frozen=True, eq=False)
class LatentFactors:
    """The result of fitting an algorithm to a pair.

    Attributes
    ----------
    W : array of shape (m, u')
        The latent factor matrix, in the original features and the floating-point type of the data.
    kind : {"linear", "fitted", "metric"}
        How W was found.
    algorithm : str
        The name of the algorithm.
    diagnostics : Diagnostics
        Objective trace, number of iterations, reason for stopping, residual.
    parts : mapping of str to array
        Further arrays of the algorithm (a dictionary, sparse codes, principal angles ...) for inspection;
        each algorithm documents its own.
    """

    W: AnyArray
    kind: Kind
    algorithm: str
    diagnostics: Diagnostics
    parts: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.W, np.ndarray):  # a large identity matrix is sparse
            self.W.flags.writeable = False

    def __repr__(self) -> str:
        m, u = self.W.shape
        why = self.diagnostics.stop_reason
        return f"LatentFactors({self.algorithm}, {self.kind}, W {m} x {u}, stopped: {why})"

    @property
    def source_W(self) -> AnyArray:
        """The matrix that source rows are multiplied with: W itself for most algorithms."""
        return self.parts.get("source_W", self.W)

    def transform(self, X: MatrixLike) -> AnyArray:
        """Return ``X @ W`` for rows of either domain, including new ones.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Domain of shape (n, m)
            Rows with the features of the pair.

        Returns
        -------
        array of shape (n, u')
        """
        return dense_product(feature_rows(X, self.W.shape[0]), self.W)


def dense_product(rows: Matrix, W: Matrix) -> AnyArray:
    """Return ``rows @ W`` as an array; either may be sparse."""
    product = rows @ W
    return np.asarray(product.toarray() if sparse.issparse(product) else product)


def dense_factor(pair: DomainPair, W: Matrix) -> AnyArray:
    """Return W; for a sparse identity a basis of the span of both domains, which preserves distances."""
    return W if isinstance(W, np.ndarray) else pair.span.lift(np.eye(pair.span.rank))


@runtime_checkable
class Algorithm(Protocol):
    """The interface of algorithms, which plug-ins implement; `l2t.testing` has the checks.

    Stores and caches tell algorithms of one name apart by `plain_params`: an algorithm that is no dataclass
    of its hyper-parameters must have them as a mapping `params`. It may declare any of the `Traits` as
    attributes, usually class variables; `Traits.of` returns them, with a default for those not declared.
    """

    @property
    def name(self) -> str:
        """The name of the algorithm; usually a class variable."""
        ...

    def fit(self, pair: DomainPair) -> LatentFactors:
        """Find the latent factors of a pair, without reading a target label.

        Parameters
        ----------
        pair : DomainPair
            The domains.

        Returns
        -------
        LatentFactors

        Raises
        ------
        InvalidInputError
            A hyper-parameter is invalid, or the pair is unsuitable.
        """
        ...


def plain_params(algorithm: Algorithm) -> JsonObject:
    """Return the hyper-parameters of an algorithm as JSON values: its `params` or, without, its fields.

    Parameters
    ----------
    algorithm : Algorithm
        The algorithm.

    Returns
    -------
    dict of str to object
        Numbers, strings, booleans, None, and lists and dicts of them; those of numpy are converted.

    Raises
    ------
    InvalidInputError
        It has neither `params` nor fields, or they have other values.
    """
    params: Any = getattr(algorithm, "params", None)
    if params is None and dataclasses.is_dataclass(algorithm):
        params = _shown_fields(algorithm)
    try:
        text = json.dumps(dict(params), default=_plain, allow_nan=False)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"{algorithm.name} must have params, a mapping of names to numbers, strings or lists of them, "
            f"got {params!r:.80}"
        ) from None
    values: JsonObject = json.loads(text)
    return values


def _shown_fields(algorithm: Any) -> dict[str, object]:
    """Return the fields of a dataclass that its repr shows."""
    names = (shown.name for shown in dataclasses.fields(algorithm) if shown.repr)
    return {name: getattr(algorithm, name) for name in names}


def _plain(value: object) -> object:
    """Return a number or array of numpy as JSON values."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError


def with_known(algorithm: Algorithm, known: KnownClasses | None) -> Algorithm:
    """Return the algorithm with these known classes, if it uses known classes."""
    if known is None or not Traits.of(algorithm).uses_known_classes:
        return algorithm
    with_field: Any = algorithm  # `l2t.testing` checks that it is a dataclass with a field `known`
    replaced: Algorithm = dataclasses.replace(with_field, known=known)
    return replaced


def fit_quietly(
    algorithm: Algorithm, pair: DomainPair, known: KnownClasses | None = None
) -> LatentFactors:
    """Fit without warnings about clipped components, with the known classes if the algorithm uses them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", L2TWarning)
        return with_known(algorithm, known).fit(pair)


def parameter(default: Any, check: Callable[..., object], *args: object, **rule: object) -> Any:
    """Return a dataclass field for a hyper-parameter that `fit` validates.

    ``lam: float = parameter(1.0, real_number, least=0)`` calls ``real_number("lam", value, least=0)``.

    Parameters
    ----------
    default : object
        The default value.
    check : callable
        A function of `l2t.validation`, or any other that raises InvalidInputError for an invalid value.
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


def _seed_or_none(name: str, value: object) -> None:
    if value is not None:
        seed(value, name)


@dataclass(frozen=True)
class _ValidatedAlgorithm(ABC):
    """Validation of parameters, pair and result for the built-in algorithms.

    A subclass is a frozen dataclass of its hyper-parameters (`parameter`) that implements `_fit`.
    """

    name: ClassVar[str]
    # The traits; `Traits` says what they mean.
    uses_source: ClassVar[bool] = Traits.uses_source
    uses_known_classes: ClassVar[bool] = Traits.uses_known_classes
    relies_on_neighbours: ClassVar[bool] = Traits.relies_on_neighbours
    needs_features: ClassVar[bool] = Traits.needs_features
    needs_source_labels: ClassVar[bool] = Traits.needs_source_labels
    for_shared_classes: ClassVar[bool] = Traits.for_shared_classes
    #: Minimum number of rows of each domain.
    least_rows: ClassVar[int] = 2

    def fit(self, pair: DomainPair) -> LatentFactors:
        """Find the latent factors of a pair, without reading a target label."""
        for option in dataclasses.fields(self):
            if "check" in option.metadata:
                option.metadata["check"](option.name, getattr(self, option.name))
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
                f"{self.name} cannot be computed on this pair, perhaps because rows of a domain are "
                f"identical or values are extreme: {error}"
            ) from error
        values = np.asarray(factors.W.data if sparse.issparse(factors.W) else factors.W)
        finite = bool(
            np.isfinite(values).all() and np.isfinite(factors.parts.get("source_W", 0)).all()
        )
        if not finite or not values.any():
            problem = "zero" if finite else "not finite"
            raise InvalidInputError(
                f"{self.name} found nothing to transfer: its result is {problem}, perhaps because all rows "
                "of a domain are identical or values are extreme"
            )
        return factors

    @property
    def params(self) -> dict[str, object]:
        """The hyper-parameters by name."""
        return _shown_fields(self)

    @abstractmethod
    def _fit(self, pair: DomainPair) -> LatentFactors:
        """Fit to a pair; both the pair and the hyper-parameters are valid."""


@dataclass(frozen=True)
class SoftAlgorithm(_ValidatedAlgorithm):
    """An algorithm whose W scales directions instead of selecting a number of components."""

    random_state: int | None = parameter(0, _seed_or_none)

    def _pack(self, pair: DomainPair, W: AnyArray) -> LatentFactors:
        """Return W as latent factors, in the floating-point type of the data."""
        W = W.astype(np.result_type(pair.source.X, pair.target.X))
        return LatentFactors(W, "linear", self.name, Diagnostics((0.0,), 0, "closed-form"))


@dataclass(frozen=True)
class BaseAlgorithm(_ValidatedAlgorithm):
    """An algorithm with a number of components: the base class of the paper's eight.

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
        """Return n_components, or the rank with a warning if that is smaller."""
        if rank < 1:
            raise InvalidInputError(
                f"{self.name} needs rows that differ, but the rank of {what} is 0"
            )
        if self.n_components > rank:
            warnings.warn(
                f"{self.name}: n_components={self.n_components} exceeds the rank of {what}; "
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
        """Return a factor V of the joint span, or of its leading coordinates, as latent factors."""
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
        """Return the linear map that fits an embedding of the target best, as latent factors."""
        V, residual = span.linear_map(Zt)
        measured = dataclasses.replace(diagnostics, residual=residual)
        return LatentFactors(span.lift(V), "fitted", self.name, measured, {**parts, "Zt": Zt})


def _depth() -> int:
    """Return the number of stack frames up to the caller of this package."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("l2t."):
        frame, depth = frame.f_back, depth + 1
    return depth
