"""The choice among candidates: expectation and evidence of each, and the reason in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from l2t.algorithms import NO_TRANSFER, Algorithm, Traits
from l2t.domains import Domain, KnownClasses
from l2t.forecast import Expectation, Forecast, MetaFeatures
from l2t.inference.evidence import Evidence, LabelledRows
from l2t.inference.result import Candidate, Candidates, Inference
from l2t.rehearsal import MutualShare, Rehearsal
from l2t.statistics import mutual_share
from l2t.task import Task
from l2t.typing import AnyArray

#: Minimum `Rehearsal.skill` for a rehearsal to be used: one on classes that 1-NN cannot tell apart measures
#: noise (docs/adr/0014).
LEAST_SKILL = 0.1
#: Maximum number of target rows for the share of mutual neighbours, drawn at random: the cost is quadratic.
MAX_SHARE_ROWS = 240


def choose(
    task: Task,
    factors: dict[str, AnyArray],
    failed: dict[str, str],
    rehearsal: Rehearsal,
    known: KnownClasses,
    forecast: Forecast,
    n_components: int | None,
    algorithms: Mapping[str, Algorithm] | None = None,
) -> Inference:
    """Combine the expectation and the evidence of each candidate, and choose the best.

    `algorithms` are those of the candidates, as far as they are known.
    """
    algorithms = algorithms or {}
    target, n_labels, n_classes = task.target, task.n_labels, task.n_classes
    shots = n_labels / n_classes
    usable = rehearsal.skill >= LEAST_SKILL
    labelled = np.flatnonzero(target.labeled_rows(default=False))
    groups = None if target.group_codes is None else target.group_codes[labelled]
    rows = LabelledRows(target.X[labelled], target.codes[labelled], groups)
    meta = meta_features(task.drawn, known, rehearsal if usable else None, shots, n_classes)
    meta = replace(meta, n_test=max(len(task.whole_target) - n_labels, 1))
    if rows.without is not None:
        seen = rows.without
        meta = replace(meta, own_error=1.0 - seen.nearest, n_own=seen.n_rows)
    rehearsed = {name: rehearsal.log_ratio(name, shots)[0] for name in rehearsal.after}
    weighed: dict[str, tuple[Expectation, Evidence | None]] = {}
    for name, W in factors.items():
        if name == NO_TRANSFER:
            weighed[name] = Expectation(0.0, 0.0), None
            continue
        if n_components is not None:
            factors[name] = W = _compressed(W, n_components)
        traits = Traits.of(algorithms[name]) if name in algorithms else None
        log_ratio = rehearsed.get(name) if usable else None
        expected = forecast.expect(name, meta, log_ratio, shots, traits)
        evidence = rows.evidence(W, forecast)
        weighed[name] = (expected.weighed(evidence.suggests) if evidence else expected), evidence
    choice = max(weighed, key=lambda name: weighed[name][0].mean)  # of equals the first: identity
    plain = 1.0 - forecast.expected_error(meta, shots)
    half_width = forecast.half_width(meta)
    cap = 1.0 / plain  # the ratio at an accuracy of 1
    candidates = [
        Candidate(
            name,
            factors[name],
            float(np.exp(rehearsed[name])) if name in rehearsed else None,
            min(expected.ratio, cap),
            expected.interval(half_width),
            evidence,
            name == choice,
            algorithm=algorithms.get(name),
        )
        for name, (expected, evidence) in weighed.items()
    ]
    candidates += [
        Candidate(name, reason=reason, algorithm=algorithms.get(name))
        for name, reason in failed.items()
    ]
    reason = _reason(choice, min(weighed[choice][0].ratio, cap), rehearsal, known)
    if forecast.novelty(meta) > 1.0:
        reason += "; this pair is unlike all data that L2T was trained on, so the interval is wider"
    return Inference(
        choice,
        Candidates(candidates),
        reason,
        n_labels,
        n_classes,
        plain,
        rehearsal,
        misleading=forecast.misleading(meta),
    )


def _reason(choice: str, ratio: float, rehearsal: Rehearsal, known: KnownClasses) -> str:
    n, average = known.n_classes, "the expectation is an average over other data"
    removed = ""
    if known.n_removed:
        removed = f" after {known.n_removed} labelled rows that equal target rows were left out"
    if not rehearsal.n_plays and n >= 3:
        basis = f"the {n} known classes have too few rows for a rehearsal{removed}; {average}"
    elif not rehearsal.n_plays:
        needed = "a rehearsal needs three labelled classes besides the target"
        basis = f"{needed}, got {n}{removed}; {average}"
    elif rehearsal.skill < LEAST_SKILL:
        basis = (
            f"the rehearsal is not used, as 1-NN hardly separates the {n} known classes; {average}"
        )
    else:
        basis = f"rehearsed {rehearsal.n_plays} times on {n} known classes"
    if choice == NO_TRANSFER:
        return f"no candidate is expected to be better than the original features ({basis})"
    return f"{choice} is expected to multiply the accuracy by {ratio:.3f} ({basis})"


def meta_features(
    target: Domain, known: KnownClasses, rehearsal: Rehearsal | None, shots: float, n_classes: int
) -> MetaFeatures:
    """Return the meta-features of a target that need no label, with a rehearsal or without."""
    neighbours = rehearsal.neighbours if rehearsal is not None and rehearsal.n_plays else None
    meta = _without_labels(target.X, known, neighbours)
    if rehearsal is None or neighbours is None:
        return meta
    classes_ratio = float(np.log(n_classes) / np.log(rehearsal.n_classes))
    return replace(meta, error=1.0 - rehearsal.accuracy(shots), classes_ratio=classes_ratio)


def expected_to_mislead(
    X: AnyArray, known: KnownClasses, neighbours: MutualShare | None, forecast: Forecast
) -> float:
    """Return how far neighbourhoods are expected not to follow the classes of a target, from 0 to 1.

    Parameters
    ----------
    X : array of shape (n, m)
        Rows of the target.
    known : KnownClasses
        The known classes.
    neighbours : MutualShare or None
        The share of mutual neighbours in plays of the known classes, if there are any.
    forecast : Forecast
        The forecast, which has learned when neighbourhoods mislead.

    Returns
    -------
    float
    """
    return forecast.misleading(_without_labels(X, known, neighbours))


def _without_labels(
    X: AnyArray, known: KnownClasses, neighbours: MutualShare | None
) -> MetaFeatures:
    """Return the meta-features of neighbourhoods and distance."""
    share = mutual_share(X, MAX_SHARE_ROWS)
    if neighbours is None:
        return MetaFeatures(share)
    comparable = share  # at as many rows per class as in rehearsal
    if min(neighbours.n_rows, len(X)) != min(MAX_SHARE_ROWS, len(X)):
        comparable = mutual_share(X, neighbours.n_rows)
    return MetaFeatures(share, comparable - neighbours.share, gap=known.distance_to(X))


def _compressed(W: AnyArray, n_components: int) -> AnyArray:
    """Return W with at most `n_components` columns, by a truncated SVD."""
    if W.shape[1] <= n_components:
        return W
    U, s, _ = np.linalg.svd(W, full_matrices=False)
    return np.asarray(U[:, :n_components] * s[:n_components])
