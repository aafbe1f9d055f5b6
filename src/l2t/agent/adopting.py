"""Use a matrix W, a transformer or a function as an algorithm.

A transformer is fitted and maps the target's rows to Zt; W is the linear map that fits this best,
``W = pinv(Xt) Zt`` with both centred, as for the base algorithms that embed the target (docs/errata.md,
section 8). So all experiences have the same form.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from l2t import algorithms
from l2t.algorithms import Algorithm, Diagnostics, LatentFactors
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.numerics import fingerprint
from l2t.typing import AnyArray


def adopt(given: Any, name: str | None = None, *, random_state: int = 0) -> Algorithm:
    """Return an algorithm for anything that has a W or transforms rows.

    Parameters
    ----------
    given : str, Algorithm, array, LatentFactors, transformer or function
        The name of a base algorithm; an algorithm; a W (m x u); a function from a pair to transformed target
        rows; or anything with `transform`, such as transformers of scikit-learn, skada and POT. An unfitted
        one is cloned and fitted: with ``sample_domain`` if its `fit` accepts it (skada), with ``Xs`` and
        ``Xt`` if it accepts those (POT, whose inverse transforms the target), and to the rows of both domains
        otherwise. Labels are never passed.
    name : str, optional
        The name under which experiences are recorded; by default that of the algorithm or of the class.
    random_state : int, default=0
        The seed of a base algorithm given by name.

    Returns
    -------
    Algorithm

    Raises
    ------
    InvalidInputError
        `given` is none of these.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> adopt(PCA(5)).name
    'PCA'
    """
    if isinstance(given, str):
        return algorithms.make(given, random_state=random_state)
    if isinstance(given, LatentFactors):
        return Adopted(name or given.algorithm, np.array(given.W))
    if hasattr(given, "transform"):
        details = {"transformer": " ".join(repr(given).split())}
        return Adopted(name or type(given).__name__, partial(_transformed, given), details)
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
            "algorithm must be a name, an algorithm, a finite matrix or an object with transform, "
            f"got {given!r:.80}"
        )
    return Adopted(name or "given", W)


@dataclass(frozen=True, eq=False)
class Adopted:
    """A given W, or the linear map that fits a function from a pair to transformed target rows best."""

    name: str
    given: AnyArray | Callable[[DomainPair], Any]
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters that distinguish it from others of its name, including W if it is given."""
        W = {} if callable(self.given) else {"W": fingerprint(self.given)}
        return {**W, **self.details}

    def fit(self, pair: DomainPair) -> LatentFactors:
        """Return the given W, or fit it to the transformed target rows."""
        if not callable(self.given):
            if len(self.given) != pair.n_features:
                raise InvalidInputError(
                    f"the matrix of {self.name} must have one row per feature ({pair.n_features}), "
                    f"got shape {self.given.shape}"
                )
            return LatentFactors(self.given, "linear", self.name, Diagnostics((), 0, "given"))
        Zt, n_rows = np.asarray(self.given(pair), dtype=np.float64), len(pair.target)
        if Zt.ndim != 2 or len(Zt) != n_rows or not Zt.size or not np.isfinite(Zt).all():
            raise InvalidInputError(
                f"{self.name} must return a finite row for each of {n_rows} target rows, "
                f"got shape {Zt.shape}"
            )
        V, residual = pair.span.linear_map(Zt)
        diagnostics = Diagnostics((), 0, "adopted", residual)
        return LatentFactors(pair.span.lift(V), "fitted", self.name, diagnostics, {"Zt": Zt})


def _transformed(transformer: Any, pair: DomainPair) -> Any:
    """Return the transformed target rows; an unfitted transformer is cloned and fitted."""
    Xs, Xt = pair.source.X, pair.target.X
    if not _is_fitted(transformer):
        transformer = clone(transformer, safe=False)
        accepted = inspect.signature(transformer.fit).parameters
        if {"Xs", "Xt"} <= accepted.keys():
            transformer.fit(Xs=Xs, Xt=Xt)
        elif "sample_domain" in accepted:
            sample_domain = np.repeat([1, -1], [len(Xs), len(Xt)])
            transformer.fit(np.concatenate([Xs, Xt]), sample_domain=sample_domain)
        else:
            transformer.fit(np.concatenate([Xs, Xt]))
    accepted = inspect.signature(transformer.transform).parameters
    if {"Xs", "Xt"} <= accepted.keys():
        return transformer.inverse_transform(Xt=Xt)
    if "sample_domain" in accepted:
        return transformer.transform(Xt, sample_domain=np.full(len(Xt), -1))
    return transformer.transform(Xt)


def _is_fitted(transformer: Any) -> bool:
    try:
        check_is_fitted(transformer)
    except NotFittedError:
        return False
    except (TypeError, AttributeError):  # a library with its own convention
        return any(name.endswith("_") for name in vars(transformer))
    return True
