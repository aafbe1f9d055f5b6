"""Inference for a new pair: the choice among candidates, and the improvement to expect."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from l2t import algorithms as registry
from l2t.algorithms.given import given_factors
from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.domains.copies import join_copies
from l2t.domains.draw import LANDMARKS, representative, target_rows
from l2t.domains.labels import unify_labels
from l2t.exceptions import InvalidInputError
from l2t.forecast import Forecast
from l2t.inference.candidates import Wanted, candidate_algorithms, fit_candidates
from l2t.inference.choice import choose
from l2t.inference.result import Candidate, Candidates, Inference
from l2t.inference.shared.inference import CANDIDATES, as_inference, infer_shared
from l2t.inference.shared.task import Task, shared_classes, weights_sentence
from l2t.inference.wide import Coordinates, is_wide, landmark_counts
from l2t.numerics import few_threads
from l2t.paper import ReflectionFunction, load_reflection
from l2t.paper.plan import Plan
from l2t.paper.search import search
from l2t.paper.starts import Starts
from l2t.rehearsal import Rehearsal, rehearse
from l2t.rehearsal.rehearsal import NO_REHEARSAL
from l2t.typing import AnyArray
from l2t.validation import instance_of, seed, whole_number

if TYPE_CHECKING:
    from l2t.experiences import ExperienceStore

Method = Literal["l2t", "paper"]
#: Defaults for the number of classes and of labels per class of a target without labelled rows.
N_CLASSES = 3
SHOTS = 5


def infer(  # noqa: PLR0913
    pair: DomainPair | Domain,
    reflection: ReflectionFunction | str | os.PathLike[str] | None = None,
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
    rows: npt.ArrayLike | None = None,
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
        Maximum number of columns of W; by default no limit, and 20 for ``method="paper"``.
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
        A store whose labelled targets are used as known classes, and which caches rehearsals. The paper's
        method uses neither `known` nor `store`.
    n_rehearsals : int, default=8
        The number of plays in rehearsal; 0 for no rehearsal.
    method : {"l2t", "paper"}, optional
        "paper" searches W by conjugate gradient on the paper's form of f, and compares it with "identity" by
        f alone. By default "l2t", unless `reflection` has no forecast.
    plan : Plan, optional
        The settings of the search for ``method="paper"``.
    starts : sequence of names or algorithms, or mapping from names to W, optional
        The starts of the search for ``method="paper"``, besides PCA; by default "tca" and "gfk".
    shared : bool, optional
        Whether equal labels mean equal classes, so that classifiers can be trained on the source's labels:
        then the choice is made by `l2t.inference.shared.infer_shared`, whose result is `Inference.shared`,
        without known classes or rehearsals. By default True if a labelled target row has a class of the
        source.
    rows : int array, optional
        The indices of the target rows that candidates are fitted to; by default all, or 20,000 at random.
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
    >>> found = infer(pair, n_labels=5)
    >>> list(found.candidates)
    ['identity', 'spectrum', 'classes', 'classes+spectrum']
    >>> found.choice in found.candidates, found.transform(pair.target).shape[0] == len(pair.target)
    (True, True)
    """
    *origins, target = unify_labels(_domains(pair, sources))
    _check_options(n_components, plan, n_rehearsals, known, random_state)
    n_classes = _class_count(target, n_classes)
    n_labels = _label_count(target, n_labels, n_classes)
    excluded = any(each is not None for each in (n_components, plan, starts))
    excluded = excluded or reflection not in (None, "default") or method not in (None, "l2t")
    use_shared = _uses_shared_classes(target, origins, candidates, shared, excluded)
    function, forecast = (None, None) if use_shared else _predictor(reflection, method, candidates)
    wide, whole = None, target
    n_rows = landmark_counts(target, origins)
    if not use_shared:
        n_rows[1] = 0  # labels must not decide what W is fitted to
    if use_shared or forecast is not None or n_rows[0] < LANDMARKS:
        target, origins = _by_content(target, origins, n_rows, rows is not None, random_state)
    needed = None if use_shared else candidates
    if starts is None and known is None and store is None and is_wide(target, origins, needed):
        wide = Coordinates([target, *origins])
        target, *origins = wide.domains
        if len(target) < len(whole) and not use_shared:
            origins = [wide.unlabel_rows(each, whole) for each in origins]
    if use_shared:
        found = _infer_shared(target, origins, candidates, n_labels, n_classes, random_state)
        return found if wide is None else wide.lift(found)
    drawn = target.sample(LANDMARKS, random_state) if rows is None else target.take(rows)
    origins, note = _informative_sources(origins, drawn, random_state)
    task = DomainPair(_pooled(origins, drawn), drawn)
    with few_threads((len(task.source) + len(drawn)) * target.n_features):
        if forecast is None:
            plan = plan or Plan(n_components=n_components or Plan().n_components)
            found = _infer_paper(task, function, plan, starts, n_labels, n_classes, random_state)
        else:
            report = callback or (lambda stage: None)
            report("known")
            classes = _known_classes(target, origins, known, store)
            factors, failed, rehearsal = _rehearse_and_fit(
                task, candidates, classes, n_classes, n_rehearsals, store, random_state, report
            )
            report("choosing")
            counts = n_components, n_labels, n_classes
            found = choose(target, factors, failed, rehearsal, classes, forecast, *counts, drawn)
            found = replace(found, reason=found.reason + note)
    found = replace(found, feature_names=target.feature_names)
    return found if wide is None else wide.lift(found)


def _by_content(
    target: Domain,
    origins: list[Domain],
    n_rows: Sequence[int],
    is_drawn: bool,
    random_state: int,
) -> tuple[Domain, list[Domain]]:
    """Return the domains with rows in an order that depends on their content, and copies in one group.

    The paper's method keeps the order, because its statistics pair rows by position. So does a caller that
    has drawn rows (`is_drawn`). Landmarks of a large target are drawn later, unless its rows are very wide.
    """
    n_drawn, n_labeled, *of_sources = n_rows
    if is_drawn and all(
        len(source) <= most for source, most in zip(origins, of_sources, strict=True)
    ):
        return target, origins
    origins = [
        representative(source, random_state, most)
        for source, most in zip(origins, of_sources, strict=True)
    ]
    if is_drawn or len(target) > n_drawn == LANDMARKS:
        return target, origins
    target = target.take(target_rows(target, random_state, n_drawn, n_labeled))
    copies = join_copies(target, origins)
    return copies.target, copies.sources


def _infer_shared(
    target: Domain,
    origins: list[Domain],
    candidates: Any,
    n_labels: int,
    n_classes: int,
    random_state: int,
) -> Inference:
    """Infer with classifiers that are trained on the source's labels."""
    candidates = (candidates,) if isinstance(candidates, str) else candidates
    names = CANDIDATES if candidates is None else ("identity", *candidates)
    found = infer_shared(target, origins, candidates=names, random_state=random_state)
    return as_inference(found, target, n_labels, n_classes)


def _predictor(
    reflection: ReflectionFunction | str | os.PathLike[str] | None,
    method: Method | None,
    candidates: Wanted | None,
) -> tuple[ReflectionFunction | None, Forecast | None]:
    """Return the reflection function and the forecast; without a forecast the paper's method is used."""
    if method not in (None, "l2t", "paper"):
        raise InvalidInputError(f"method must be 'l2t' or 'paper', got {method!r}")
    if reflection is not None and not isinstance(reflection, ReflectionFunction):
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


def _known_classes(
    target: Domain,
    origins: list[Domain],
    known: KnownClasses | None,
    store: ExperienceStore | None,
) -> KnownClasses:
    """Return the classes of the sources, of `known` and of a store, without rows of the target."""
    names = target.feature_names
    past = None if store is None else KnownClasses.of(store, target.n_features, names)
    classes = KnownClasses.in_given_order(origins).without(target)
    for further in (each for each in (known, past) if each is not None):
        classes = classes.merge(further.without(target))
    return classes


def _rehearse_and_fit(
    pair: DomainPair,
    candidates: Wanted | None,
    known: KnownClasses,
    n_classes: int,
    n_rehearsals: int,
    store: ExperienceStore | None,
    random_state: int,
    report: Callable[[str], None],
) -> tuple[dict[str, AnyArray], dict[str, str], Rehearsal]:
    """Return the W of each candidate by name, the error messages of others, and the rehearsal."""
    if isinstance(candidates, Mapping):
        identity = registry.make("identity").fit(pair).W
        return {"identity": identity} | given_factors(candidates, pair.n_features), {}, NO_REHEARSAL
    algorithms = candidate_algorithms(candidates, random_state)
    tried = {name: each for name, each in algorithms.items() if name != "identity"}
    report("rehearsing")
    rehearsal = rehearse(
        known,
        tried,
        n_classes=n_classes,
        rows_per_class=max(len(pair.target) // n_classes, 1),
        n_plays=n_rehearsals,
        store=store,
        random_state=random_state,
    )
    report("fitting")
    return *fit_candidates(algorithms, pair, known, random_state), rehearsal


def _infer_paper(
    pair: DomainPair,
    reflection: ReflectionFunction | None,
    plan: Plan,
    starts: Starts | None,
    n_labels: int,
    n_classes: int,
    random_state: int,
) -> Inference:
    """Search W as in the paper, and choose it if its predicted ratio is above 1."""
    function = reflection or load_reflection("default")
    found = search(
        pair, function, plan, n_labels=n_labels, starts=starts, random_state=random_state
    )
    better, identity = found.predicted > 1, registry.make("identity").fit(pair).W
    candidates = [
        Candidate("identity", identity, None, 1.0, (1.0, 1.0), None, not better),
        Candidate("paper", found.W, None, found.predicted, found.interval, None, better),
    ]
    choice = "paper" if better else "identity"
    reason = f"the reflection function predicts an improvement ratio of {found.predicted:.3f}"
    return Inference(choice, Candidates(candidates), reason, n_labels, n_classes, search=found)


def _domains(pair: DomainPair | Domain, sources: Sequence[Domain] | None) -> list[Domain]:
    """Return the sources, and the target last."""
    if isinstance(pair, DomainPair) and sources is None:
        return [pair.source, pair.target]
    if isinstance(pair, Domain) and sources is not None:
        origins: list[Domain] = [sources] if isinstance(sources, Domain) else list(sources)
        return [*(DomainPair(source, pair).source for source in origins), pair]  # columns by name
    raise InvalidInputError(
        "pair must be a DomainPair, or a target Domain together with sources=[...], "
        f"got {type(pair).__name__} and sources={'None' if sources is None else 'given'}"
    )


def _uses_shared_classes(
    target: Domain,
    origins: list[Domain],
    candidates: Wanted | None,
    shared: bool | None,
    excluded: bool,
) -> bool:
    """Return whether to train on the source's labels: `shared`, or whether target labels are among them."""
    named = not isinstance(candidates, Mapping)
    named = named and all(isinstance(each, str) for each in candidates or ())
    if excluded or not named:
        if shared:
            raise InvalidInputError(
                "shared=True needs candidates by name, and neither a reflection function, n_components, "
                f"plan, starts nor method='paper', got candidates={candidates!r:.80}"
            )
        return False
    both, source_only, _ = shared_classes(origins, target)
    return bool(both and len(both + source_only) > 1) if shared is None else shared


def _informative_sources(
    origins: list[Domain], target: Domain, random_state: int
) -> tuple[list[Domain], str]:
    """Return the sources whose own classes are separable and, if there are several, a note on them."""
    if len(origins) < 2:
        return origins, ""
    kept = Task.of(Domain(target.X), origins, random_state).informative_sources()
    weights = [float(at in kept) for at in range(len(origins))]
    return [origins[at] for at in kept], f"; {weights_sentence(origins, weights)}"


def _pooled(origins: list[Domain], target: Domain) -> Domain:
    """Return the rows of all sources, or those of the target if there is no source.

    Equal labels of different sources are different classes.
    """
    if len(origins) == 1:
        return origins[0]
    if not origins:
        return Domain(target.X, name="no source")
    first = np.cumsum([0, *(len(each.classes) for each in origins)])
    codes = np.concatenate([at + each.codes for at, each in zip(first, origins, strict=False)])
    labeled = np.concatenate([each.labeled_rows(default=True) for each in origins])
    rows = np.concatenate([each.X for each in origins])
    return Domain(rows, codes, labeled=labeled, name="sources")


def _label_count(target: Domain, n_labels: int | None, n_classes: int) -> int:
    """Return the number of labelled target rows: of those marked, or else as given, or five per class."""
    marked = int(target.labeled_rows(default=False).sum())
    if not marked:
        return (
            SHOTS * n_classes if n_labels is None else whole_number("n_labels", n_labels, least=1)
        )
    if n_labels not in (None, marked):
        raise InvalidInputError(
            f"n_labels must be the number of labelled target rows ({marked}) or be left out, "
            f"got {n_labels!r}"
        )
    return marked


def _class_count(target: Domain, n_classes: int | None) -> int:
    """Return the number of target classes: as given, or of the labelled rows, or 3."""
    seen = len(np.unique(target.codes[target.labeled_rows(default=False)]))
    if n_classes is None:
        return seen if seen > 1 else N_CLASSES
    wanted = whole_number("n_classes", n_classes, least=2)
    if wanted < seen:
        raise InvalidInputError(
            f"n_classes must be at least {seen}, the classes of the labelled rows, got {n_classes!r}"
        )
    return wanted


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
