"""Checks that every algorithm must pass, on small random pairs.

>>> from l2t.algorithms import GFK
>>> check_algorithm(GFK)

Each check takes a factory (the class, or any callable with the parameters `n_components` and `random_state`
that returns an `Algorithm`) and raises an AssertionError if the algorithm fails. With pytest::

    @pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=lambda check: check.__name__)
    def test_contract(check):
        check(MyAlgorithm)
"""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from l2t.algorithms import Algorithm, LatentFactors, Traits
from l2t.algorithms.base import plain_params, with_known
from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.exceptions import InvalidInputError, L2TError, L2TWarning
from l2t.numerics import gradient_error, squared_distances
from l2t.typing import AnyArray

__all__ = ["ALGORITHM_CHECKS", "check_algorithm", "gradient_error"]

Factory = Callable[..., Algorithm]


def check_algorithm(factory: Factory, *, skip: Iterable[str] = ()) -> None:
    """Run all checks on an algorithm.

    Parameters
    ----------
    factory : callable
        ``factory(n_components=..., random_state=...)`` returns the algorithm; `n_components` is optional.
    skip : iterable of str, default=()
        Names of checks that do not apply, such as ``"check_shift_of_both_domains"`` for an algorithm that
        needs non-negative features.

    Raises
    ------
    AssertionError
        A check fails.
    """
    checks = {check.__name__: check for check in ALGORITHM_CHECKS}
    skipped = set(skip)
    if unknown := skipped - checks.keys():
        raise InvalidInputError(f"skip must be names of checks, got {', '.join(sorted(unknown))}")
    for name in (name for name in checks if name not in skipped):
        try:
            checks[name](factory)
        except AssertionError as error:
            raise AssertionError(f"{name}: {checks[name].__doc__} But: {error}") from error


def check_shape_and_diagnostics(factory: Factory) -> None:
    """W is finite with a row per feature and at most two columns per component, and has diagnostics."""
    pair = _pair()
    factors = _fit(factory, pair)
    assert isinstance(factors, LatentFactors)
    assert factors.W.ndim == 2, factors.W.shape
    assert factors.W.shape[0] == pair.n_features, factors.W.shape
    if _takes_components(factory):
        assert 1 <= factors.W.shape[1] <= 2 * N_COMPONENTS, factors.W.shape
    assert np.isfinite(factors.W).all()
    assert factors.kind in ("linear", "fitted", "metric"), factors.kind
    diagnostics = factors.diagnostics
    assert diagnostics.stop_reason
    assert diagnostics.n_iter >= 0
    assert len(diagnostics.objective) >= 1
    assert (diagnostics.residual is not None) == (factors.kind == "fitted")


def check_params(factory: Factory) -> None:
    """`params`, or the fields of a dataclass, are plain values that tell other settings apart."""
    try:
        params = plain_params(_make(factory))
    except InvalidInputError as error:
        raise AssertionError(str(error)) from error
    if _takes_components(factory):
        assert plain_params(_make(factory, N_COMPONENTS + 1)) != params, params


def check_traits(factory: Factory) -> None:
    """Declared traits are booleans, and `uses_known_classes` is declared with a field `known`."""
    algorithm = _make(factory)
    for name in (trait.name for trait in dataclasses.fields(Traits)):
        value = getattr(algorithm, name, False)
        assert isinstance(value, bool), f"{name} is {value!r}"
    has_known = "known" in getattr(algorithm, "__dataclass_fields__", {})
    declared = getattr(algorithm, "uses_known_classes", False)
    assert declared == has_known, f"uses_known_classes is {declared}, a field `known`: {has_known}"


def check_known_classes(factory: Factory) -> None:
    """If it uses known classes, others than those of the source change W."""
    algorithm = _make(factory)
    if not Traits.of(algorithm).uses_known_classes:
        return
    pair, rng = _pair(), np.random.default_rng(6)
    known = KnownClasses([Domain(rng.normal(size=(40, pair.n_features)), np.arange(40) % 4)])
    with_others = with_known(algorithm, known).fit(pair).W
    assert not np.array_equal(with_others, algorithm.fit(pair).W), "W is the same"


def check_another_source(factory: Factory) -> None:
    """If it does not use the source, another one changes neither W W' nor the matrix of source rows."""
    if Traits.of(_make(factory)).uses_source:
        return
    pair = _pair()
    rows = np.random.default_rng(7).normal(size=(25, pair.n_features))
    other = DomainPair(Domain(rows, np.arange(25) % 2), pair.target)
    before, after = _fit(factory, pair), _fit(factory, other)
    for first, second in ((before.W, after.W), (before.source_W, after.source_W)):
        np.testing.assert_allclose(second @ second.T, first @ first.T, rtol=1e-8, atol=1e-12)


def check_source_without_labels(factory: Factory) -> None:
    """A source without labels raises an L2TError if and only if labels are needed."""
    pair = _pair()
    traits = Traits.of(_make(factory))
    unlabelled = DomainPair(Domain(pair.source.X), pair.target)
    if traits.needs_source_labels:
        _raises(partial(_fit, factory, unlabelled), "a source without labels")
    elif not traits.uses_known_classes:  # by default those of the source
        assert np.isfinite(_fit(factory, unlabelled).W).all()


def check_objective_never_rises(factory: Factory) -> None:
    """The objective never increases."""
    for pair in (_pair(), _pair(m=60)):
        trace = np.array(_fit(factory, pair).diagnostics.objective)
        assert np.isfinite(trace).all()
        assert (np.diff(trace) <= 1e-9 * np.abs(trace[:-1])).all(), trace


def check_transform_is_a_product(factory: Factory) -> None:
    """`transform` returns exactly X @ W for unseen rows."""
    factors = _fit(factory, _pair())
    unseen = np.random.default_rng(5).normal(size=(4, factors.W.shape[0]))
    np.testing.assert_array_equal(factors.transform(unseen), unseen @ factors.W)
    _raises(lambda: factors.transform(unseen[:, 1:]), "another number of features")


def check_deterministic(factory: Factory) -> None:
    """The same seed gives exactly the same W, also after pickling."""
    pair = _pair()
    W = _fit(factory, pair).W
    np.testing.assert_array_equal(_fit(factory, _pair()).W, W)
    algorithm, pair = pickle.loads(pickle.dumps((_make(factory), pair)))
    np.testing.assert_array_equal(algorithm.fit(pair).W, W)


def check_blind_to_target_labels(factory: Factory) -> None:
    """Neither target labels nor the mask of labelled rows change W."""
    pair = _pair()
    W, X, rows = _fit(factory, pair).W, pair.target.X, np.arange(len(pair.target))
    one_class = Domain(X, ["a"] * len(rows), labeled=rows % 2 == 0)
    for target in (Domain(X), Domain(X, rows), one_class):
        np.testing.assert_array_equal(_fit(factory, DomainPair(pair.source, target)).W, W)


def check_float32_is_kept(factory: Factory) -> None:
    """Float32 domains give a float32 W that is close to the float64 one."""
    pair = _pair()
    single = _fit(factory, _map(pair, lambda X: X.astype(np.float32)))
    assert single.W.dtype == np.float32, single.W.dtype
    _same_geometry(pair, single.W, _fit(factory, pair).W, 1e-2)


def check_rotation_of_features(factory: Factory) -> None:
    """A rotation of the features does not change the distances of X W, unless it needs the features."""
    if Traits.of(_make(factory)).needs_features:
        return
    pair = _pair()
    R = np.linalg.qr(np.random.default_rng(3).normal(size=(pair.n_features,) * 2))[0]
    rotated = _map(pair, lambda X: X @ R)
    _same_geometry(pair, R @ _fit(factory, rotated).W, _fit(factory, pair).W, 1e-5)


def check_shift_of_both_domains(factory: Factory) -> None:
    """A shift of both domains does not change the distances of X W."""
    pair = _pair()
    shifted = _map(pair, lambda X: X + np.linspace(0, 2, pair.n_features))
    _same_geometry(pair, _fit(factory, shifted).W, _fit(factory, pair).W, 1e-5)


def check_order_of_rows(factory: Factory) -> None:
    """The order of the rows within a domain does not matter."""
    pair = _pair()
    rng = np.random.default_rng(4)
    sides = (pair.source, pair.target)
    shuffled = DomainPair(*(side.take(rng.permutation(len(side))) for side in sides))
    _same_geometry(pair, _fit(factory, shuffled).W, _fit(factory, pair).W, 1e-5)


def check_more_features_than_rows(factory: Factory) -> None:
    """There may be more features than rows, and features that are always zero have no effect."""
    pair = _pair(ns=15, nt=12, m=40)
    W = _fit(factory, pair).W
    assert W.shape[0] == 40
    padded = _map(pair, lambda X: np.hstack([X, np.zeros((len(X), 30))]))
    wider = _fit(factory, padded).W
    assert wider.shape[0] == 70
    _same_geometry(pair, wider[:40], W, 1e-5)
    np.testing.assert_allclose(wider[40:], 0.0, atol=1e-8 * np.abs(wider).max())


def check_constant_and_duplicate_data(factory: Factory) -> None:
    """Constant features, duplicate columns, duplicate rows and zero rows give a finite W."""
    changes: tuple[Callable[[AnyArray], AnyArray], ...] = (
        lambda X: np.hstack([X, np.full((len(X), 2), 7.0)]),
        lambda X: np.hstack([X, X[:, :3]]),
        lambda X: np.concatenate([X[:1], X[:1], X[:1], X[3:]]),
        lambda X: np.concatenate([np.zeros((3, X.shape[1])), X[3:]]),
    )
    for change in changes:
        assert np.isfinite(_fit(factory, _map(_pair(), change)).W).all()


def check_scale_of_data(factory: Factory) -> None:
    """Data a thousand times smaller or larger give a finite W that is not zero."""
    for scale in (1e-3, 1e3):
        factors = _fit(factory, _map(_pair(), lambda X, scale=scale: X * scale))
        assert np.isfinite(factors.W).all()
        assert factors.W.any()


def check_far_apart_and_equal_domains(factory: Factory) -> None:
    """A distant target with an outlier gives a finite W, and so do equal domains."""
    pair = _pair()
    target = pair.target.X + 100.0
    target[0] += 1e4
    for X in (target, pair.source.X):
        assert np.isfinite(_fit(factory, DomainPair(pair.source, Domain(X))).W).all()


def check_too_many_components(factory: Factory) -> None:
    """More components than dimensions give fewer columns and an L2TWarning."""
    if not _takes_components(factory):
        return
    pair = _pair(ns=7, nt=6, m=4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        W = _fit(factory, pair, 50).W
    assert any(issubclass(warning.category, L2TWarning) for warning in caught), "no L2TWarning"
    assert np.isfinite(W).all()
    assert 1 <= W.shape[1] < 50, W.shape


def check_bad_input(factory: Factory) -> None:
    """Invalid data and parameters raise an L2TError."""
    pair = _pair()
    bad_pairs: dict[str, Any] = {
        "a source of one row": DomainPair(pair.source.take([0]), pair.target),
        "a target of one row": DomainPair(pair.source, pair.target.take([0])),
        "rows that are all the same": _map(pair, np.ones_like),
        "a domain instead of a pair": pair.source,
    }
    for what, bad_pair in bad_pairs.items():
        _raises(partial(_fit, factory, bad_pair), what)
    for bad in (0, -3, 2.5, "many", None, True) if _takes_components(factory) else ():
        _raises(partial(_fit, factory, pair, bad), f"n_components={bad!r}")


ALGORITHM_CHECKS: tuple[Callable[[Factory], None], ...] = tuple(
    value
    for name, value in list(globals().items())
    if name.startswith("check_") and value is not check_algorithm
)

N_COMPONENTS = 3


def _pair(ns: int = 36, nt: int = 30, m: int = 8) -> DomainPair:
    """Return two domains of three clusters each, of different mean and scale."""
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
    """Return whether the algorithm has a parameter n_components."""
    accepted = inspect.signature(factory).parameters
    kinds = {parameter.kind for parameter in accepted.values()}
    return "n_components" in accepted or inspect.Parameter.VAR_KEYWORD in kinds


def _make(factory: Factory, n_components: object = N_COMPONENTS) -> Algorithm:
    components = {"n_components": n_components} if _takes_components(factory) else {}
    return factory(random_state=0, **components)


def _fit(factory: Factory, pair: DomainPair, n_components: object = N_COMPONENTS) -> LatentFactors:
    return _make(factory, n_components).fit(pair)


def _same_geometry(pair: DomainPair, first: AnyArray, second: AnyArray, tol: float) -> None:
    """Assert that the relative distances between all rows are equal under two W."""
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
