"""Where the search for W begins: PCA, the spectrum, base algorithms, and what the user gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.algorithms import Algorithm, make_all
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError, L2TError, L2TWarning
from l2t.inference.objective import ROUNDING
from l2t.inference.past import PastTargets
from l2t.inference.spectrum import Spectrum
from l2t.numerics import Grassmann, JointSpan, Manifold, Sphere
from l2t.reflection.plan import Plan
from l2t.typing import Array

__all__ = ["Starts", "gauge", "spectrum_of", "starting_points"]

Starts = str | Algorithm | Sequence[str | Algorithm] | Mapping[str, npt.ArrayLike]

#: Base algorithms that take less time than the search itself.
CHEAP_STARTS = ("tca", "gfk")
#: Components of PCA and of base algorithms where the plan names none.
N_COMPONENTS = 20


def starting_points(
    pair: DomainPair,
    plan: Plan,
    wanted: Starts | None,
    random_state: int,
    spectrum: Callable[[float], Array | None],
) -> tuple[dict[str, Array], dict[str, str]]:
    """Return factors V (r x u) in the pair's span by name, in the plan's gauge.

    `spectrum` gives the start of "soft" for a power (`spectrum_of`).

    Returns
    -------
    factors, failed : dict, dict
        What can be started from, and why the others cannot.
    """
    span = pair.span
    if span.rank == 0:
        raise InvalidInputError("pair must have rows that differ, got all rows alike")
    u = min(plan.n_components or N_COMPONENTS, span.rank)
    found: dict[str, Array] = {}
    if plan.constraint == "soft" and (V := spectrum(plan.power)) is not None:
        found["spectrum"] = V
    # Where f may choose between the spectrum and others, it takes others too often (docs/adr/0012).
    alone = wanted is None and bool(found)
    if not alone:
        found["pca"] = np.eye(span.rank, u)
    if wanted is None:
        wanted = () if alone else CHEAP_STARTS
    failed: dict[str, str] = {}
    if isinstance(wanted, Mapping):
        for name, W in wanted.items():
            found[_unused(name, found)] = _seen(_given(name, W, pair.n_features), span)
    else:
        for algorithm in make_all("starts", wanted, n_components=u, random_state=random_state):
            name = _unused(algorithm.name, [*found, *failed])
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", L2TWarning)  # fewer components are fine here
                    found[name] = _seen(algorithm.fit(pair).W, span)
            except L2TError as error:
                failed[name] = str(error)
    factors = {}
    for name, V in found.items():
        if (inside := _in_gauge(V, plan)) is None:
            failed[name] = "it sends all rows to one point"
        else:
            factors[name] = inside
    return factors, failed


def spectrum_of(
    pair: DomainPair, past: PastTargets | None = None
) -> Callable[[float], Array | None]:
    """Return what gives the pair's discriminant spectrum for a power, computed once.

    It is the spectrum as the past sees the pair, where there is a past; None where there are no directions.
    """
    if past is not None:
        past = past.without(pair.target)
    seen = pair if past is None else past.seen_by(pair)
    spectrum = Spectrum(seen.span)

    def factor(power: float) -> Array | None:
        if not spectrum:
            return None
        V = spectrum.factor(power)
        if past is not None:
            V = _seen(past.T @ seen.span.lift(V, np.float64), pair.span)
        return V if V.any() else None

    return factor


def gauge(plan: Plan, V: Array) -> Manifold:
    """Return the manifold on which the search moves from V."""
    return Grassmann() if plan.constraint == "grassmann" else Sphere(float(np.linalg.norm(V)))


def _unused(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number where another start has it already."""
    numbered = (f"{name} {number}" for number in range(2, len(taken) + 2))
    return next(each for each in (name, *numbered) if each not in taken)


def _seen(W: npt.NDArray[Any], span: JointSpan) -> Array:
    """Return what the rows see of W, in the span; zero where that is rounding."""
    V = span.lower(W)
    return V if np.linalg.norm(V) > ROUNDING * np.linalg.norm(W) else np.zeros_like(V)


def _in_gauge(V: Array, plan: Plan) -> Array | None:
    """Return V with at most the plan's columns: orthonormal, or with its scales and a norm of √u."""
    U, s, _ = np.linalg.svd(V, full_matrices=False)
    if not s[0] > 0:
        return None
    u = min(int((s > 1e-10 * s[0]).sum()), plan.n_components or len(s))
    if plan.constraint == "grassmann":
        return np.asarray(U[:, :u])
    scaled = U[:, :u] * s[:u]
    return np.asarray(scaled * (np.sqrt(u) / np.linalg.norm(scaled)))


def _given(name: str, W: npt.ArrayLike, n_features: int) -> Array:
    try:
        array = np.asarray(W, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"start {name!r} must be a table of numbers, got {error}") from None
    shaped = array.ndim == 2 and len(array) == n_features and array.size > 0
    if not shaped or not np.isfinite(array).all():
        raise InvalidInputError(
            f"start {name!r} must be a finite W with one row a feature ({n_features}), "
            f"got shape {array.shape}"
        )
    return array
