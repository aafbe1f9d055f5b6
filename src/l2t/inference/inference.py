"""Inference for a new pair: the choice among candidates, and the improvement to expect."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from l2t import algorithms as registry
from l2t.algorithms import NO_TRANSFER, Algorithm
from l2t.algorithms.matrices import check_matrices
from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.domains.domain import is_wide
from l2t.domains.draw import LANDMARKS
from l2t.domains.pair import match_columns
from l2t.exceptions import InvalidInputError
from l2t.forecast import Forecast
from l2t.inference.candidates import Wanted, candidate_algorithms, fit_candidates
from l2t.inference.choice import choose
from l2t.inference.coordinates import Coordinates, are_few_and_wide, need_features
from l2t.inference.result import Candidate, Candidates, Inference
from l2t.inference.shared.inference import SHARED_CANDIDATES, as_inference, infer_shared
from l2t.inference.shared.rows import SharedRows, weights_sentence
from l2t.numerics import few_threads
from l2t.paper import Reflection, load_reflection
from l2t.paper.plan import Plan
from l2t.paper.search import search
from l2t.paper.starts import Starts
from l2t.rehearsal import Rehearsal, rehearse
from l2t.rehearsal.rehearsal import NO_REHEARSAL
from l2t.task import Task
from l2t.typing import AnyArray
from l2t.validation import instance_of, seed, whole_number

if TYPE_CHECKING:
    from l2t.experiences import ExperienceStore

Method = Literal["l2t", "paper"]


def infer(  # noqa: PLR0913
    pair: DomainPair | Domain,
    reflection: Reflection | str | os.PathLike[str] | None = None,
    n_components: int | None = None,
    n_labels: int | None = None,
    *,
    n_classes: int | None = None,
    sources: Sequence[Domain] | None = None,
    candidates: Wanted | None = None,
    known: KnownClasses | None = None,
    store: ExperienceStore | None = None,
    n_rehearsals: int = 8,
    method: Method | None = None,
    plan: Plan | None = None,
    starts: Starts | None = None,
    shared: bool | None = None,
    random_state: int = 0,
    callback: Callable[[str], None] | None = None,
) -> Inference:
    """Choose what to transfer for a pair.

    Candidates are rehearsed on the known classes: those of the source and of `known`. The one with the
    highest expected improvement is chosen; "identity" is among them, and stands for no transfer. Labelled
    target rows are evidence for the choice, but are never used to compute the W of a candidate.

    Parameters
    ----------
    pair : DomainPair or Domain
        The domains, or only the target if `sources` is given.
    reflection : ReflectionFunction, str or path, optional
        The predictor of improvement ratios, or its file or name; by default the one that ships with the
        package. One without a forecast, such as one written by hand, implies ``method="paper"``.
    n_components : int, optional
        Maximum number of columns of W; by default no limit, and that of `plan` for ``method="paper"``.
    n_labels : int, optional
        The number of target rows that are or will be labelled; by default that of rows marked as labelled, or
        five per class.
    n_classes : int, optional
        The number of target classes; by default that of the labelled rows, or 3.
    sources : sequence of Domain, optional
        The sources, if `pair` is only the target. The list may be empty.
    candidates : sequence of names or algorithms, or mapping from names to W, optional
        The candidates besides "identity"; by default "spectrum", "classes" and "classes+spectrum".
    known : KnownClasses, optional
        Further labelled rows in the same feature space, such as ``KnownClasses.of(store)``. Rows of the
        target are removed from it.
    store : ExperienceStore, optional
        A store whose labelled targets are used as known classes, and which caches rehearsals.
    n_rehearsals : int, default=8
        The number of plays in rehearsal; 0 for no rehearsal.
    method : {"l2t", "paper"}, optional
        "paper" searches W by conjugate gradient on f, in the geometry of `known` and of the targets in
        `store`, and compares it with "identity" by f alone. By default "l2t", unless `reflection` has no
        forecast.
    plan : Plan, optional
        The settings of the search for ``method="paper"``.
    starts : sequence of names or algorithms, or mapping from names to W, optional
        The starts of the search for ``method="paper"``, besides PCA; by default "tca" and "gfk".
    shared : bool, optional
        Whether equal labels mean equal classes, so that classifiers can be trained on the source's labels:
        then the choice is made by `l2t.inference.shared.infer_shared`, whose result is `Inference.shared`,
        without known classes or rehearsals. By default True if a labelled target row has a class of the
        source.
    random_state : int, default=0
        The seed.
    callback : callable, optional
        Called with the name of each stage: "known", "rehearsing", "fitting", "choosing".

    Returns
    -------
    Inference
        The choice, its W and expected improvement, and the same for all candidates.

    Raises
    ------
    InvalidInputError
        A parameter is invalid, or contradicts another one.

    Examples
    --------
    >>> from l2t.domains import PairSampler, digits, mnist, normalize
    >>> pair = PairSampler(normalize(digits()), normalize(mnist()), 1, n_classes=5)[0]
    >>> inference = infer(pair, n_labels=5)
    >>> list(inference.candidates)
    ['identity', 'spectrum', 'classes', 'classes+spectrum']
    >>> Z = inference.transform(pair.target)
    >>> inference.choice in inference.candidates, len(Z) == len(pair.target)
    (True, True)
    """
    *origins, target = _domains(pair, sources)
    _check_options(n_components, plan, n_rehearsals, known, random_state)
    task = Task.of(
        origins,
        target,
        shared=shared,
        n_labels=n_labels,
        n_classes=n_classes,
        random_state=random_state,
    )
    special = n_components is not None or plan is not None or starts is not None
    special = special or reflection not in (None, "default") or method not in (None, "l2t")
    if _uses_shared_classes(task, candidates, shared, special):
        return _infer_shared(task, candidates)
    function, forecast = predictor(reflection, method, candidates)
    if forecast is None:
        plan = plan or Plan(n_components=n_components or Plan().n_components)
        memory = _memory(known, past_classes(store, task.whole_target))
        return infer_paper(task, [target, *origins], function, plan, starts, memory)
    further = [classes for classes in (known, past_classes(store, task.whole_target)) if classes]
    only_sources = known is None and store is None and not need_features(candidates)
    coordinates = Coordinates.of(task, in_span=only_sources and are_few_and_wide(task.domains))
    inference = infer_in(
        coordinates,
        forecast,
        further,
        candidates=candidates,
        n_components=n_components,
        n_rehearsals=n_rehearsals,
        store=store,
        callback=callback,
    )
    return coordinates.lift(inference)


def infer_in(
    coordinates: Coordinates,
    forecast: Forecast,
    further: Sequence[KnownClasses] = (),
    *,
    callback: Callable[[str], None] | None = None,
    **options: Any,
) -> Inference:
    """Choose what to transfer for a task in its coordinates.

    Parameters
    ----------
    coordinates : Coordinates
        The task in its coordinates.
    forecast : Forecast
        The forecast of improvement ratios.
    further : sequence of KnownClasses, default=()
        Known classes besides those of the sources.
    callback : callable, optional
        Called with the name of each stage.
    **options
        As for `infer_task`.

    Returns
    -------
    Inference
        What was chosen, in the coordinates.
    """
    report = callback or (lambda stage: None)
    report("known")
    separable, note = separable_sources(coordinates.task)
    coordinates = coordinates.only(separable)
    known = coordinates.known_classes(further)
    inference = infer_task(coordinates.task, known, forecast, callback=report, **options)
    return replace(inference, reason=inference.reason + note)


def infer_task(
    task: Task,
    classes: KnownClasses,
    forecast: Forecast,
    *,
    candidates: Wanted | None = None,
    n_components: int | None = None,
    n_rehearsals: int = 8,
    store: ExperienceStore | None = None,
    callback: Callable[[str], None] | None = None,
) -> Inference:
    """Choose what to transfer for a task, by rehearsal, forecast and evidence.

    Parameters
    ----------
    task : Task
        The task.
    classes : KnownClasses
        The known classes, without rows of the target.
    forecast : Forecast
        The forecast of improvement ratios.
    candidates, n_components, n_rehearsals, store, callback
        As for `infer`.

    Returns
    -------
    Inference
    """
    report = callback or (lambda stage: None)
    drawn = task.drawn
    pair = DomainPair(_pooled(task.sources, drawn), drawn)
    with few_threads((len(pair.source) + len(drawn)) * drawn.n_features):
        factors, failed, rehearsal, algorithms = _rehearse_and_fit(
            task, pair, candidates, classes, n_rehearsals, store, report
        )
        report("choosing")
        inference = choose(
            task, factors, failed, rehearsal, classes, forecast, n_components, algorithms
        )
    return replace(inference, feature_names=task.target.feature_names)


def past_classes(store: ExperienceStore | None, target: Domain) -> KnownClasses | None:
    """Return the classes of the labelled targets in a store that have the features of the target."""
    if store is None:
        return None
    return KnownClasses.of(store, target.n_features, target.feature_names)


def _memory(*several: KnownClasses | None) -> KnownClasses | None:
    """Return known classes together; None if there is none."""
    known = KnownClasses()
    for classes in several:
        known = known if classes is None else known.merge(classes)
    return known if known.n_classes else None


def _infer_shared(task: Task, candidates: Wanted | None) -> Inference:
    """Infer with classifiers that are trained on the source's labels."""
    candidates = (candidates,) if isinstance(candidates, str) else candidates
    names = SHARED_CANDIDATES if candidates is None else (NO_TRANSFER, *candidates)
    coordinates = Coordinates.of(task, in_span=are_few_and_wide(task.domains))
    target, *sources = coordinates.task.domains
    shared = infer_shared(target, sources, candidates=names, random_state=task.random_state)
    return coordinates.lift(as_inference(shared, target, task.n_labels, task.n_classes))


def predictor(
    reflection: Reflection | str | os.PathLike[str] | None,
    method: Method | None,
    candidates: Wanted | None,
) -> tuple[Reflection | None, Forecast | None]:
    """Return the reflection function and the forecast; without a forecast the paper's method is used."""
    if method not in (None, "l2t", "paper"):
        raise InvalidInputError(f"method must be 'l2t' or 'paper', got {method!r}")
    if reflection is not None and not isinstance(reflection, Reflection):
        reflection = load_reflection(reflection)
    if reflection is not None and reflection.trained_on != "target":
        raise InvalidInputError(
            "reflection must be learned from classifiers trained on the target, got "
            f"trained_on={reflection.trained_on!r}; shared classes need no reflection function"
        )
    forecast = Forecast.default() if reflection is None else reflection.forecast
    if forecast is None and method == "l2t":
        raise InvalidInputError("reflection must have a forecast for method='l2t', got one without")
    forecast = None if method == "paper" else forecast
    if forecast is None and candidates is not None:
        raise InvalidInputError(
            f"candidates must be left out for the paper's method, which searches W; got {candidates!r:.80}"
        )
    return reflection, forecast


def _rehearse_and_fit(
    task: Task,
    pair: DomainPair,
    candidates: Wanted | None,
    known: KnownClasses,
    n_rehearsals: int,
    store: ExperienceStore | None,
    report: Callable[[str], None],
) -> tuple[dict[str, AnyArray], dict[str, str], Rehearsal, dict[str, Algorithm]]:
    """Return the W of each candidate by name, the error messages of others, rehearsal and algorithms."""
    if isinstance(candidates, Mapping):
        identity = registry.make(NO_TRANSFER).fit(pair).W
        factors = {NO_TRANSFER: identity} | check_matrices(candidates, pair.n_features)
        return factors, {}, NO_REHEARSAL, {}
    algorithms = candidate_algorithms(candidates, task.random_state)
    tried = {name: algorithm for name, algorithm in algorithms.items() if name != NO_TRANSFER}
    report("rehearsing")
    rehearsal = rehearse(
        known,
        tried,
        n_classes=task.n_classes,
        rows_per_class=max(len(pair.target) // task.n_classes, 1),
        n_plays=n_rehearsals,
        store=store,
        random_state=task.random_state,
    )
    report("fitting")
    return *fit_candidates(algorithms, pair, known, task.random_state), rehearsal, algorithms


def infer_paper(
    task: Task,
    user_domains: list[Domain],
    reflection: Reflection | None,
    plan: Plan,
    starts: Starts | None,
    known: KnownClasses | None = None,
) -> Inference:
    """Search W as in the paper, and choose it if its predicted ratio is above 1.

    Known classes, such as those of past targets, are the memory that the search uses. The rows keep the order
    of the user (`user_domains`, the target first), because the paper's statistics pair them by position.
    """
    domains = task.domains if is_wide(task.whole_target.rows) and task.is_sampled else user_domains
    in_span = starts is None and known is None and are_few_and_wide(domains)
    coordinates = Coordinates.of(task.with_domains(domains), in_span=in_span)
    target, *sources = coordinates.task.domains
    target = target.sample(LANDMARKS, task.random_state)
    separable, _ = separable_sources(task.with_domains([target, *sources]))
    pair = DomainPair(_pooled([sources[place] for place in separable], target), target)
    function = reflection or load_reflection("default")
    n_labels, n_classes = task.n_labels, task.n_classes
    with few_threads((len(pair.source) + len(target)) * target.n_features):
        searched = search(
            pair,
            function,
            plan,
            n_labels=n_labels,
            starts=starts,
            known=known,
            random_state=task.random_state,
        )
    better, identity = searched.predicted > 1, registry.make(NO_TRANSFER).fit(pair).W
    candidates = [
        Candidate(NO_TRANSFER, identity, None, 1.0, (1.0, 1.0), None, not better),
        Candidate("paper", searched.W, None, searched.predicted, searched.interval, None, better),
    ]
    choice = "paper" if better else NO_TRANSFER
    reason = f"the reflection function predicts an improvement ratio of {searched.predicted:.3f}"
    inference = Inference(
        choice,
        Candidates(candidates),
        reason,
        n_labels,
        n_classes,
        search=searched,
        feature_names=task.whole_target.feature_names,
    )
    return coordinates.lift(inference)


def _domains(pair: DomainPair | Domain, sources: Sequence[Domain] | None) -> list[Domain]:
    """Return the sources, and the target last."""
    if isinstance(pair, DomainPair) and sources is None:
        return [pair.source, pair.target]
    if isinstance(pair, Domain) and sources is not None:
        origins: list[Domain] = [sources] if isinstance(sources, Domain) else list(sources)
        return [*(match_columns(source, pair) for source in origins), pair]
    raise InvalidInputError(
        "pair must be a DomainPair, or a target Domain together with sources=[...], "
        f"got {type(pair).__name__} and sources={'None' if sources is None else 'given'}"
    )


def _uses_shared_classes(
    task: Task, candidates: Wanted | None, shared: bool | None, special: bool
) -> bool:
    """Return whether to train on the source's labels; `special` options are for other classes."""
    named = not isinstance(candidates, Mapping)
    named = named and all(isinstance(name, str) for name in candidates or ())
    if special or not named:
        if shared:
            raise InvalidInputError(
                "shared=True needs candidates by name, and neither a reflection function, n_components, "
                f"plan, starts nor method='paper', got candidates={candidates!r:.80}"
            )
        return False
    return task.shared and (shared is True or len(task.roles.of_sources) > 1)


def separable_sources(task: Task) -> tuple[list[int], str]:
    """Return the places of the sources whose own classes are separable and, if there are several, a note."""
    sources = task.sources
    if len(sources) < 2:
        return list(range(len(sources))), ""
    rows = SharedRows.of(Domain(task.drawn.X), list(sources), task.random_state)
    kept = rows.informative_sources()
    weights = [float(place in kept) for place in range(len(sources))]
    return kept, f"; {weights_sentence(sources, weights)}"


def _pooled(origins: Sequence[Domain], target: Domain) -> Domain:
    """Return the rows of all sources, or those of the target if there is no source.

    Equal labels of different sources are different classes.
    """
    if len(origins) == 1:
        return origins[0]
    if not origins:
        return Domain(target.X, name="no source")
    first = np.cumsum([0, *(len(origin.classes) for origin in origins)])
    codes = np.concatenate(
        [start + origin.codes for start, origin in zip(first, origins, strict=False)]
    )
    labeled = np.concatenate([origin.labeled_rows(default=True) for origin in origins])
    rows = np.concatenate([origin.X for origin in origins])
    names = target.feature_names
    return Domain(rows, codes, labeled=labeled, name="sources", feature_names=names)


def _check_options(
    n_components: int | None, plan: Plan | None, n_rehearsals: int, known: Any, random_state: int
) -> None:
    """Raise an error if an option is invalid, or contradicts another one."""
    if n_components is not None:
        whole_number("n_components", n_components, least=1)
        if plan is not None:
            raise InvalidInputError(
                f"n_components must be left out if plan is given, got {n_components!r}; "
                "use Plan(n_components=...)"
            )
    whole_number("n_rehearsals", n_rehearsals, least=0)
    seed(random_state)
    if known is not None:
        instance_of("known", known, KnownClasses)
