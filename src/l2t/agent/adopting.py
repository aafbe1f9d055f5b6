"""Whatever gives a W or transformed rows, as an algorithm among others.

A W stands for itself. A transformer is fitted and transforms the target's rows to Zt, and W is the linear
map closest to that, ``W = pinv(Xt) Zt`` with both centred: what the base algorithms do that embed the
target (docs/errata.md, section 8). So every result is an experience of the same form.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from l2t import algorithms
from l2t.algorithms import Algorithm, Diagnostics, LatentFactors
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.inference import PastTargets, infer
from l2t.inference.trials import without_labels
from l2t.numerics import fingerprint
from l2t.reflection import ReflectionFunction

__all__ = ["Adopted", "Own", "adopt"]


def adopt(given: Any, name: str | None = None, *, random_state: int = 0) -> Algorithm:
    """Return an algorithm for whatever gives a W.

    Parameters
    ----------
    given : str, Algorithm, array, LatentFactors, transformer or function
        The name of a base algorithm; an algorithm; a W (m x u); a function from a pair to transformed target
        rows; or anything with `transform`, such as transformers of scikit-learn, skada and POT. One that is
        not fitted yet is cloned and fitted: with ``sample_domain`` where its `fit` knows it (skada), with
        ``Xs`` and ``Xt`` where it knows those (POT, whose inverse moves the target), and to the rows of both
        domains otherwise. No label is passed on.
    name : str, optional
        What the experience is kept under; by default the name of the algorithm or of the class.
    random_state : int
        The seed of a base algorithm given by name.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> adopt(PCA(5)).name
    'PCA'
    """
    if isinstance(given, str):
        return algorithms.make(given, random_state=random_state)
    if isinstance(given, LatentFactors):
        return _Given(name or given.algorithm, np.array(given.W))
    if hasattr(given, "transform"):
        return Adopted(name or type(given).__name__, given)
    if callable(given):
        return Adopted(name or str(getattr(given, "__name__", "function")), given)
    if isinstance(given, Algorithm):
        return given
    try:
        W = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        W = np.empty(0)
    if W.ndim != 2 or not W.size or not np.isfinite(W).all():
        raise InvalidInputError(
            "algorithm must be a name, an algorithm, a finite matrix W or something with transform, "
            f"got {given!r:.80}"
        )
    return _Given(name or "given", W)


@dataclass(frozen=True, eq=False)
class Own:
    """L2T as an algorithm among others, with the function of a version."""

    function: ReflectionFunction
    version: int
    past: PastTargets | None
    n_labels: int
    random_state: int
    name: str = "l2t"

    @property
    def params(self) -> dict[str, Any]:
        """What the W depends on."""
        return {
            "version": self.version,
            "past_classes": self.past.n_classes if self.past else 0.0,
            "plan": asdict(self.function.plan(self.n_labels)),
        }

    def fit(self, pair: DomainPair) -> LatentFactors:
        """Infer W, without a label of the target."""
        found = infer(
            without_labels(pair),
            self.function,
            n_labels=self.n_labels,
            past=self.past,
            random_state=self.random_state,
        )
        told = Diagnostics(found.history, len(found.history) - 1, found.stop_reason)
        return LatentFactors(np.array(found.W), "linear", "l2t", told)


@dataclass(frozen=True, eq=False)
class _Given:
    """A W from elsewhere."""

    name: str
    W: npt.NDArray[Any]
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def params(self) -> dict[str, Any]:
        return {"W": fingerprint(self.W), **self.told}

    def fit(self, pair: DomainPair) -> LatentFactors:
        """Return W, if it is for the features of the pair."""
        if len(self.W) != pair.n_features:
            raise InvalidInputError(
                f"W must have one row a feature ({pair.n_features}), got shape {self.W.shape}"
            )
        return LatentFactors(self.W, "linear", self.name, Diagnostics((), 0, "given"))


@dataclass(frozen=True, eq=False)
class Adopted:
    """A transformer or function, as the linear map of the target's rows that is closest to what it does."""

    name: str
    given: Any

    def on(self, pair: DomainPair) -> Algorithm:
        """Return the W that it gives for a pair, which tells it from others of its name."""
        transforms = hasattr(self.given, "transform")
        told = {"transformer": " ".join(repr(self.given).split())} if transforms else {}
        return _Given(self.name, self.fit(pair).W, told)

    def fit(self, pair: DomainPair) -> LatentFactors:
        """Transform the target's rows, and find W."""
        transforms = hasattr(self.given, "transform")
        rows = _transformed(self.given, pair) if transforms else self.given(pair)
        Zt, n_rows = np.asarray(rows, dtype=np.float64), len(pair.target)
        if Zt.ndim != 2 or len(Zt) != n_rows or not Zt.size or not np.isfinite(Zt).all():
            raise InvalidInputError(
                f"{self.name} must give a finite row for each of {n_rows} target rows, "
                f"got shape {Zt.shape}"
            )
        V, residual = pair.span.linear_map(Zt)
        told = Diagnostics((), 0, "adopted", residual)
        return LatentFactors(pair.span.lift(V), "fitted", self.name, told, {"Zt": Zt})


def _transformed(transformer: Any, pair: DomainPair) -> Any:
    """Return the target's rows, transformed; the transformer is fitted before where it is not."""
    Xs, Xt = pair.source.X, pair.target.X
    if not _is_fitted(transformer):
        transformer = clone(transformer, safe=False)
        asked = inspect.signature(transformer.fit).parameters
        if {"Xs", "Xt"} <= asked.keys():
            transformer.fit(Xs=Xs, Xt=Xt)
        elif "sample_domain" in asked:
            signs = np.repeat([1, -1], [len(Xs), len(Xt)])
            transformer.fit(np.concatenate([Xs, Xt]), sample_domain=signs)
        else:
            transformer.fit(np.concatenate([Xs, Xt]))
    asked = inspect.signature(transformer.transform).parameters
    if {"Xs", "Xt"} <= asked.keys():
        return transformer.inverse_transform(Xt=Xt)
    if "sample_domain" in asked:
        return transformer.transform(Xt, sample_domain=np.full(len(Xt), -1))
    return transformer.transform(Xt)


def _is_fitted(transformer: Any) -> bool:
    try:
        check_is_fitted(transformer)
    except NotFittedError:
        return False
    except (TypeError, AttributeError):  # of a library with a convention of its own
        return any(name.endswith("_") for name in vars(transformer))
    return True
