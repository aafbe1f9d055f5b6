"""For a new pair: the W that the reflection function expects most of, and whether to use it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from itertools import count

import numpy as np

from l2t.domains import Domain, DomainPair
from l2t.exceptions import InvalidInputError
from l2t.inference.objective import Objective
from l2t.inference.past import PastTargets
from l2t.inference.result import Candidate, Inference, Step
from l2t.inference.starts import Starts, gauge, spectrum_of, starting_points
from l2t.inference.verdict import decide, triple_vote
from l2t.numerics import minimize_on_manifold
from l2t.reflection import ReflectionFunction, load_reflection
from l2t.reflection.function import count_of
from l2t.reflection.plan import Constraint, Plan
from l2t.statistics import pair_statistics
from l2t.typing import Array
from l2t.validation import instance_of, seed, whole_number

__all__ = ["Prepared", "infer", "label_count"]

#: The reflection function that is used when none is given.
DEFAULT = "default"


def infer(
    pair: DomainPair,
    reflection: ReflectionFunction | str | os.PathLike[str] | None = None,
    n_components: int | None = None,
    n_labels: int | None = None,
    *,
    constraint: Constraint | None = None,
    n_iter: int | None = None,
    plan: Plan | None = None,
    starts: Starts | None = None,
    past: PastTargets | None = None,
    max_rows: int = 1000,
    random_state: int = 0,
    callback: Callable[[Step], None] | None = None,
) -> Inference:
    """Find what to transfer for a pair.

    Parameters
    ----------
    pair : DomainPair
        The domains. Target rows that are marked as labelled vote on the verdict; W never sees a label of
        the target.
    reflection : ReflectionFunction, str or path, optional
        A function, the name of one that ships with the package, or the path of a file; by default the
        one that ships.
    n_components : int, optional
        Columns of W at most; by default what the function's plan says.
    n_labels : int, optional
        How many labelled target rows there are or will be; follows from the marked rows if there are any.
    constraint : {"soft", "grassmann", "sphere"}, optional
        Where W is searched (`Plan`); by default what the function's plan says.
    n_iter : int, optional
        Steps of the search; by default what the plan says.
    plan : Plan, optional
        All of that together, instead of the function's own plan for the number of labels.
    starts : "all", sequence of names or algorithms, or mapping from names to W
        Where to begin beside PCA (and the spectrum, for "soft"); the start that f expects most of is gone
        on from. By default "soft" begins at the spectrum, and the others at the best of PCA, TCA and GFK.
    past : PastTargets, optional
        Labelled targets of the past in the same feature space: the spectrum is then that of the target as
        they see it. Other constraints than "soft" do without.
    max_rows : int
        Larger domains are searched on so many random rows; W itself fits all rows.
    random_state : int
        The seed of the pairing in Q, of base algorithms and of the rows.
    callback : callable, optional
        Is given a `Step` for each start and after every step of the search, to watch it.

    Examples
    --------
    >>> from l2t.domains import PairSampler, digits, mnist, normalize
    >>> pair = PairSampler(normalize(digits()), normalize(mnist()), 1)[0]
    >>> found = infer(pair, n_labels=3)
    >>> found.verdict, found.transform(pair.target).shape[0] == len(pair.target)
    ('transfer', True)
    """
    instance_of("pair", pair, DomainPair)
    if plan is not None:
        instance_of("plan", plan, Plan)
    if past is not None:
        instance_of("past", past, PastTargets)
    seed(random_state)
    if not isinstance(reflection, ReflectionFunction | str | os.PathLike | None):
        raise InvalidInputError(
            f"reflection must be a ReflectionFunction, a name or a path, got {type(reflection).__name__}"
        )
    if not isinstance(reflection, ReflectionFunction):
        reflection = load_reflection(DEFAULT if reflection is None else reflection)
    n_labels = label_count(pair, n_labels)
    plan = _plan(plan or reflection.plan(n_labels), constraint, n_components, n_iter)
    prepared = Prepared(pair, reflection, past=past, max_rows=max_rows, random_state=random_state)
    return prepared.infer(plan, n_labels, starts, callback)


class Prepared:
    """A pair made ready for searches with several plans; the arguments are those of `infer`."""

    def __init__(
        self,
        pair: DomainPair,
        reflection: ReflectionFunction,
        *,
        past: PastTargets | None = None,
        max_rows: int = 1000,
        random_state: int = 0,
    ) -> None:
        self._pair, self._reflection = pair, reflection
        self._past, self._seed = past, random_state
        self._part = _part(pair, max_rows, random_state)
        self._objective = Objective(self._part, reflection, random_state)

    @cached_property
    def _spectrum(self) -> Callable[[float], Array | None]:
        return spectrum_of(self._part, self._past)

    def infer(
        self,
        plan: Plan,
        n_labels: int | None,
        starts: Starts | None = None,
        callback: Callable[[Step], None] | None = None,
    ) -> Inference:
        """Search W by a plan."""
        part, reflection, objective = self._part, self._reflection, self._objective.in_span
        factors, failed = starting_points(
            part, plan, starts, self._seed, lambda power: self._spectrum(power)
        )
        values = {name: objective(V)[0] for name, V in factors.items()}
        best = min(values, key=values.__getitem__)  # the first of equals
        watch = None
        if callback is not None:
            for name, value in values.items():
                callback(Step(name, None, value + reflection.b, part.span.lift(factors[name])))
            watch = _watched(callback, best, part, reflection.b)
        found = minimize_on_manifold(
            objective,
            factors[best],
            gauge(plan, factors[best]),
            max_iter=plan.n_iter,
            tol=0.0,
            callback=watch,
        )
        W = part.span.lift(found.W)
        statistics = pair_statistics(
            part,
            part.span.lift(found.W, np.float64),
            kernels=reflection.kernels,
            n_neighbors=reflection.n_neighbors,
            random_state=self._seed,
        )
        predicted = reflection.predict(statistics, n_labels)
        vote = triple_vote(self._pair, W)
        verdict, reason = decide(reflection.rule, predicted, vote)
        candidates = [
            Candidate(name, reflection.ratio(value + reflection.b, n_labels))
            for name, value in values.items()
        ]
        candidates += [Candidate(name, None, reason) for name, reason in failed.items()]
        return Inference(
            W=W,
            predicted=predicted,
            interval=reflection.interval(statistics, n_labels) if reflection.calibration else None,
            verdict=verdict,
            reason=reason,
            start=best,
            candidates=tuple(candidates),
            history=tuple(value + reflection.b for value in found.trace),
            stop_reason=found.stop_reason,
            plan=plan,
            vote=vote,
            statistics=statistics,
            explanation=reflection.explain(statistics, n_labels),
            n_labels=n_labels,
        )


def _watched(
    callback: Callable[[Step], None], name: str, pair: DomainPair, b: float
) -> Callable[[Array, float], None]:
    numbers = count()

    def watch(V: Array, value: float) -> None:
        callback(Step(name, next(numbers), value + b, pair.span.lift(V)))

    return watch


def label_count(pair: DomainPair, n_labels: int | None) -> int | None:
    """Return the number of labelled target rows: those that are marked, or else what is told."""
    marked = int(pair.target_labeled.sum())
    if not marked:
        return count_of(n_labels)
    if n_labels not in (None, marked):
        raise InvalidInputError(
            f"n_labels must be the number of labelled target rows ({marked}) or be left out, "
            f"got {n_labels!r}"
        )
    return marked


def _plan(
    plan: Plan, constraint: Constraint | None, n_components: int | None, n_iter: int | None
) -> Plan:
    if constraint not in (None, plan.constraint):
        plan = Plan.of(constraint)
    if n_components is not None:
        plan = replace(plan, n_components=n_components)
    return plan if n_iter is None else replace(plan, n_iter=n_iter)


def _part(pair: DomainPair, max_rows: int, random_state: int) -> DomainPair:
    """Return the pair with at most max_rows random rows a domain."""
    whole_number("max_rows", max_rows, least=2)
    if max(len(pair.source), len(pair.target)) <= max_rows:
        return pair
    rng = np.random.default_rng(random_state)

    def some(domain: Domain) -> Domain:
        if len(domain) <= max_rows:
            return domain
        return domain.take(np.sort(rng.permutation(len(domain))[:max_rows]))

    return DomainPair(some(pair.source), some(pair.target))
