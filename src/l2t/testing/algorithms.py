"""The contract of a base algorithm, as checks on small random pairs.

Each check takes a factory (the class, or anything that accepts `n_components` and `random_state` and gives
an `Algorithm`) and raises AssertionError where the contract is broken. They need no test framework;
with pytest::

    @pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=lambda check: check.__name__)
    def test_contract(check):
        check(MyAlgorithm)
"""

from __future__ import annotations

import inspect
import pickle
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from l2t.algorithms import Algorithm, LatentFactors
from l2t.domains import Domain, DomainPair
from l2t.exceptions import InvalidInputError, L2TError, L2TWarning
from l2t.numerics import squared_distances
from l2t.typing import AnyArray

__all__ = ["ALGORITHM_CHECKS", "check_algorithm"]

Factory = Callable[..., Algorithm]


def check_algorithm(factory: Factory, *, skip: Iterable[str] = ()) -> None:
    """Run every check of the contract; `skip` names those that do not apply, with good reason.

    Parameters
    ----------
    factory : callable
        ``factory(n_components=..., random_state=...)`` gives the algorithm; one without components need not
        accept the first.
    skip : iterable of str
        Names of checks, such as ``"check_rotation_of_features"`` for an algorithm that works on
        non-negative features.
    """
    left_out = set(skip)
    unknown = left_out - {check.__name__ for check in ALGORITHM_CHECKS}
    if unknown:
        raise InvalidInputError(f"skip must name checks, got {', '.join(sorted(unknown))}")
    for check in ALGORITHM_CHECKS:
        if check.__name__ not in left_out:
            try:
                check(factory)
            except AssertionError as error:
                rule = (check.__doc__ or "").strip()
                raise AssertionError(f"{check.__name__}: {rule} But: {error}") from error


def check_shape_and_diagnostics(factory: Factory) -> None:
    """W is finite, in the original features, at most two columns per component, with diagnostics."""
    pair = _pair()
    factors = _fit(factory, pair)
    assert isinstance(factors, LatentFactors)
    assert factors.W.ndim == 2, factors.W.shape
    assert factors.W.shape[0] == pair.n_features, factors.W.shape
    if _takes_components(factory):
        assert 1 <= factors.W.shape[1] <= 2 * COMPONENTS, factors.W.shape
    assert np.isfinite(factors.W).all()
    assert factors.kind in ("linear", "fitted", "metric"), factors.kind
    told = factors.diagnostics
    assert told.stop_reason
    assert told.n_iter >= 0
    assert len(told.objective) >= 1
    assert (told.residual is not None) == (factors.kind == "fitted")


def check_objective_never_rises(factory: Factory) -> None:
    """The objective trace is monotone."""
    for pair in (_pair(), _pair(m=60)):
        trace = np.array(_fit(factory, pair).diagnostics.objective)
        assert np.isfinite(trace).all()
        assert (np.diff(trace) <= 1e-9 * np.abs(trace[:-1])).all(), trace


def check_transform_is_a_product(factory: Factory) -> None:
    """`transform` is X @ W exactly, for rows that were not there when it was fitted."""
    factors = _fit(factory, _pair())
    unseen = np.random.default_rng(5).normal(size=(4, factors.W.shape[0]))
    np.testing.assert_array_equal(factors.transform(unseen), unseen @ factors.W)
    _raises(lambda: factors.transform(unseen[:, 1:]), "another number of features")


def check_deterministic(factory: Factory) -> None:
    """The same seed gives the same W, bit for bit, also after pickling."""
    pair = _pair()
    first = _fit(factory, pair)
    again = _fit(factory, _pair())
    np.testing.assert_array_equal(first.W, again.W)
    algorithm = pickle.loads(pickle.dumps(_make(factory)))
    np.testing.assert_array_equal(algorithm.fit(pickle.loads(pickle.dumps(pair))).W, first.W)


def check_blind_to_target_labels(factory: Factory) -> None:
    """Target labels, and the mask that says which are known, never change W."""
    pair = _pair()
    seen = _fit(factory, pair).W
    rows = len(pair.target)
    others = (
        Domain(pair.target.X),
        Domain(pair.target.X, np.arange(rows)),
        Domain(pair.target.X, ["a"] * rows, labeled=np.arange(rows) % 2 == 0),
    )
    for target in others:
        np.testing.assert_array_equal(_fit(factory, DomainPair(pair.source, target)).W, seen)


def check_float32_is_kept(factory: Factory) -> None:
    """Float32 domains give a float32 W close to the one from float64."""
    pair = _pair()
    single = _fit(factory, _map(pair, lambda X: X.astype(np.float32)))
    assert single.W.dtype == np.float32, single.W.dtype
    _same_geometry(pair, single.W, _fit(factory, pair).W, 1e-2)


def check_rotation_of_features(factory: Factory) -> None:
    """A rotation of the features changes no distance of X W."""
    pair = _pair()
    R = np.linalg.qr(np.random.default_rng(3).normal(size=(pair.n_features,) * 2))[0]
    turned = _map(pair, lambda X: X @ R)
    _same_geometry(pair, R @ _fit(factory, turned).W, _fit(factory, pair).W, 1e-5)


def check_shift_of_both_domains(factory: Factory) -> None:
    """Moving both domains by the same vector changes no distance of X W."""
    pair = _pair()
    moved = _map(pair, lambda X: X + np.linspace(0, 2, pair.n_features))
    _same_geometry(pair, _fit(factory, moved).W, _fit(factory, pair).W, 1e-5)


def check_order_of_rows(factory: Factory) -> None:
    """The order of the rows within a domain does not matter."""
    pair = _pair()
    rng = np.random.default_rng(4)
    shuffled = DomainPair(
        pair.source.take(rng.permutation(len(pair.source))),
        pair.target.take(rng.permutation(len(pair.target))),
    )
    _same_geometry(pair, _fit(factory, shuffled).W, _fit(factory, pair).W, 1e-5)


def check_more_features_than_rows(factory: Factory) -> None:
    """Wide data work, and features that are always zero change nothing."""
    pair = _pair(ns=15, nt=12, m=40)
    W = _fit(factory, pair).W
    assert W.shape[0] == 40
    padded = _map(pair, lambda X: np.hstack([X, np.zeros((len(X), 30))]))
    wider = _fit(factory, padded).W
    assert wider.shape[0] == 70
    _same_geometry(pair, wider[:40], W, 1e-5)
    np.testing.assert_allclose(wider[40:], 0.0, atol=1e-8 * np.abs(wider).max())


def check_constant_and_duplicate_data(factory: Factory) -> None:
    """Constant features, duplicate columns, duplicate rows and zero rows are taken as they are."""
    oddities: tuple[Callable[[AnyArray], AnyArray], ...] = (
        lambda X: np.hstack([X, np.full((len(X), 2), 7.0)]),
        lambda X: np.hstack([X, X[:, :3]]),
        lambda X: np.concatenate([X[:1], X[:1], X[:1], X[3:]]),
        lambda X: np.concatenate([np.zeros((3, X.shape[1])), X[3:]]),
    )
    for odd in oddities:
        assert np.isfinite(_fit(factory, _map(_pair(), odd)).W).all()


def check_scale_of_data(factory: Factory) -> None:
    """Data a thousand times smaller or larger still give a usable W."""
    for scale in (1e-3, 1e3):
        factors = _fit(factory, _map(_pair(), lambda X, scale=scale: X * scale))
        assert np.isfinite(factors.W).all()
        assert factors.W.any()


def check_far_apart_and_equal_domains(factory: Factory) -> None:
    """A target a hundred spreads away with one far outlier does not break the fit, nor do equal domains."""
    pair = _pair()
    target = pair.target.X + 100.0
    target[0] += 1e4
    for X in (target, pair.source.X):
        assert np.isfinite(_fit(factory, DomainPair(pair.source, Domain(X))).W).all()


def check_too_many_components(factory: Factory) -> None:
    """More components than the data have dimensions: fewer are given, and a warning says so."""
    if not _takes_components(factory):
        return
    pair = _pair(ns=7, nt=6, m=4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        W = factory(n_components=50, random_state=0).fit(pair).W
    told = any(issubclass(warning.category, L2TWarning) for warning in caught)
    assert told, "no L2TWarning was given"
    assert np.isfinite(W).all()
    assert 1 <= W.shape[1] < 50, W.shape


def check_bad_input(factory: Factory) -> None:
    """What cannot work is refused with a sentence."""
    pair = _pair()
    lonely = DomainPair(pair.source.take([0]), pair.target)
    _raises(lambda: _fit(factory, lonely), "a source of one row")
    _raises(lambda: _fit(factory, DomainPair(pair.source, pair.target.take([0]))), "one target row")
    flat = _map(pair, lambda X: np.ones_like(X))
    _raises(lambda: _fit(factory, flat), "rows that are all the same")
    _raises(lambda: _fit(factory, pair.source), "something that is no pair")  # type: ignore[arg-type]
    for bad in (0, -3, 2.5, "many", None, True) if _takes_components(factory) else ():
        _raises(partial(_make_and_fit, factory, bad, pair), f"n_components={bad!r}")


ALGORITHM_CHECKS: tuple[Callable[[Factory], None], ...] = tuple(
    each
    for name, each in list(globals().items())
    if name.startswith("check_") and each is not check_algorithm
)

COMPONENTS = 3


def _pair(ns: int = 36, nt: int = 30, m: int = 8) -> DomainPair:
    """Return two domains of three clusters each, shifted and scaled against each other."""
    rng = np.random.default_rng(0)
    spread = 1.5 ** -np.arange(m)
    ys, yt = np.arange(ns) % 3, np.arange(nt) % 3
    Xs = rng.normal(size=(3, m))[ys] * 2 + rng.normal(size=(ns, m)) * spread
    Xt = rng.normal(size=(3, m))[yt] * 2 + rng.normal(size=(nt, m)) * spread * 0.8 + 0.5
    return DomainPair(Domain(Xs, ys, name="source"), Domain(Xt, yt + 3, name="target"))


def _map(pair: DomainPair, change: Callable[..., AnyArray]) -> DomainPair:
    return DomainPair(
        *(Domain(change(domain.X), domain.y) for domain in (pair.source, pair.target))
    )


def _takes_components(factory: Factory) -> bool:
    """Tell whether the algorithm has a number of components; a soft one has none."""
    accepted = inspect.signature(factory).parameters.values()
    return any(each.name == "n_components" or each.kind is each.VAR_KEYWORD for each in accepted)


def _make(factory: Factory) -> Algorithm:
    components = {"n_components": COMPONENTS} if _takes_components(factory) else {}
    return factory(random_state=0, **components)


def _fit(factory: Factory, pair: DomainPair) -> LatentFactors:
    return _make(factory).fit(pair)


def _make_and_fit(factory: Factory, n_components: Any, pair: DomainPair) -> LatentFactors:
    return factory(n_components=n_components, random_state=0).fit(pair)


def _same_geometry(pair: DomainPair, first: AnyArray, second: AnyArray, tol: float) -> None:
    """Compare the relative distances of all rows under two W; columns and rotations are free."""
    X = np.concatenate([pair.source.X, pair.target.X]).astype(np.float64)
    D, E = (squared_distances(X @ np.asarray(W, dtype=np.float64)) for W in (first, second))
    np.testing.assert_allclose(D / D.mean(), E / E.mean(), rtol=0, atol=tol * 10)


def _raises(action: Callable[[], object], what: str) -> None:
    try:
        action()
    except L2TError as error:
        assert str(error), f"the error for {what} is empty"
    else:
        raise AssertionError(f"{what} must raise an L2TError")
