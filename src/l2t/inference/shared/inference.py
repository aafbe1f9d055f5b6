"""Shared classes: the target is predicted from the source by a vote of candidates and classifiers.

Every candidate W is combined with logistic regression and with the manifold-regularised classifier, and each
combination labels the target. They vote, the smoother their labels are over the target's own neighbours the
more: with the weight ``exp(20 s)``, s the smoothness, which is corrected for chance as Cohen's kappa is,

``s = (a - Σ_c q_c²) / (1 - Σ_c q_c²)``,  a the share of neighbours with the same predicted class, q the
shares of the predicted classes,

so that giving all rows one class is worth nothing. On development data this is better than the smoothest
combination alone, and that better than what reverse validation, accuracy on held-out source rows, balance of
classes or agreement choose (docs/results/shared-classes.md). Where neighbours tell the source's own classes
much worse than logistic regression does, as in bags of words, the manifold is not trusted and takes no part.
Labelled target rows are trained on and, cross-validated, decide between training on the source, on the target
and on both. What was voted for teaches logistic regression, which classifies rows one by one.

Several sources are used together, each centred by its own mean and weighted by how often its rows are nearest
to target rows; one whose features do not tell its own classes, such as noise, is left out. Half of the vote
is for what is trained on the nearest source alone: others are not always a help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import softmax

from l2t import algorithms as registry
from l2t.algorithms.jda import unit_rows
from l2t.domains import Domain, DomainPair
from l2t.domains.domain import feature_rows
from l2t.exceptions import InvalidInputError
from l2t.inference.result import Candidate, Candidates, Inference
from l2t.inference.shared.task import Combination, Task, shared_classes
from l2t.inference.shared.ways import WAYS, Linear, Way, answers, compare, teach
from l2t.typing import AnyArray, Array

__all__ = ["CANDIDATES", "CLASSIFIERS", "LEAST_TRUST", "SharedInference", "infer_shared"]

#: "means" is identity with each domain centred by its own mean, as all but "identity" are.
CANDIDATES = ("identity", "means", "coral", "gfk", "jda")
CLASSIFIERS = ("logistic", "manifold")
#: How fast the weight in the vote grows with smoothness.
SHARPNESS = 20.0
#: Where neighbours are trusted less, logistic regression is used alone.
LEAST_TRUST = 0.7


@dataclass(frozen=True, eq=False)
class SharedInference:
    """How the target is predicted from the source.

    Attributes
    ----------
    members : tuple of Combination
        What votes, the largest weight first; no target label was read for any W (``space.W``).
    way : {"source", "both", "target", "plain source"}
        How the vote was trained; in the last two there is none, but logistic regression on the features.
    shared, source_only, target_only : tuple
        The classes by where labelled rows have them.
    weights : tuple of float
        How much each source counts, in order: 0 for one whose features do not tell its own classes.
    n_labelled, agreement : int, float
        Labelled target rows; and the share of members that predict what was voted for, over all rows.
    accuracies, failed : mapping from str
        Accuracies on labelled target rows by `way`; and why candidates could not be used.
    linear : Linear
        What classifies rows one by one.
    """

    members: tuple[Combination, ...]
    way: Way
    shared: tuple[Any, ...]
    source_only: tuple[Any, ...]
    target_only: tuple[Any, ...]
    weights: tuple[float, ...]
    n_labelled: int
    agreement: float
    accuracies: Mapping[str, float]
    failed: Mapping[str, str]
    linear: Linear = field(repr=False)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes that can be predicted."""
        return self.linear.classes

    @property
    def voted(self) -> bool:
        """Whether the members are used, rather than logistic regression on the features as they are."""
        return self.way in ("source", "both")

    @property
    def choice(self) -> str:
        """The candidate that counts most in the vote; "identity" where there is none."""
        return self.members[0].candidate if self.voted else "identity"

    @property
    def trained_on(self) -> str:
        """The labelled rows that were trained on: "source", "target" or "both"."""
        return self.way.removeprefix("plain ")

    @property
    def used(self) -> str:
        """What is used, for people."""
        if not self.voted:
            return (
                f"logistic regression on the features as they are, trained on the {self.trained_on}"
            )
        first = ", ".join(
            f"{each.candidate} with {each.classifier} {100 * each.weight:.0f} %"
            for each in self.members[:3]
        )
        rows = "both domains" if self.way == "both" else "the source"
        return f"a vote of {len(self.members)} combinations ({first}, ...), trained on {rows}"

    @property
    def expected(self) -> float | None:
        """The accuracy to expect, measured on the labelled target rows; None where they are too few."""
        return self.accuracies.get(self.way)

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of `classes` for rows of the target, seen before or not."""
        _, mean, scale, coef, intercept = self.linear
        Z = np.asarray(feature_rows(X, len(mean)) - mean)
        Z = unit_rows(Z) if scale is None else Z / scale
        return np.asarray(softmax(Z @ coef + intercept, axis=1))

    def predict(self, X: Any) -> AnyArray:
        """Return the classes of rows of the target."""
        return np.asarray(np.array(self.classes)[self.predict_proba(X).argmax(axis=1)])


def infer_shared(
    target: Domain,
    sources: Domain | Sequence[Domain],
    *,
    candidates: Sequence[str] = CANDIDATES,
    classifiers: Sequence[str] | None = None,
    ways: Sequence[Way] = WAYS,
    random_state: int = 0,
) -> SharedInference:
    """Choose how to predict a target from sources with the same classes.

    Parameters
    ----------
    target : Domain
        The target; labels that `labeled` marks are used, no others.
    sources : Domain or sequence of Domain
        Labelled sources. Of several, those are used together whose features tell their own classes.
    candidates : sequence of str, optional
        "means", or names that `l2t.algorithms.make` takes.
    classifiers : sequence of str, optional
        Some of "1-nn", "logistic" and "manifold"; by default the last two, without "manifold" where
        neighbours do not tell the source's classes.
    ways : sequence of str, optional
        Which ways labelled target rows may choose from, as in `SharedInference`.
    random_state : int, default=0
        The seed of the rows that represent larger domains.

    Returns
    -------
    SharedInference
        The choice, its predictions, and what was compared.

    Examples
    --------
    >>> from l2t.domains import digits, mnist, normalize
    >>> few = digits().take(np.arange(300))
    >>> found = infer_shared(Domain(normalize(mnist()).X[::20]), normalize(few), candidates=("means",))
    >>> found.choice, found.trained_on, found.predict_proba(mnist().X[:5]).shape
    ('means', 'source', (5, 10))
    """
    origins = [sources] if isinstance(sources, Domain) else list(sources)
    both, source_only, target_only = shared_classes(origins, target)
    if len(both + source_only) < 2 or (target_only and not both):
        raise InvalidInputError(
            "sources must have at least two classes and share one with the labelled target rows, "
            f"got {len(both + source_only)} source classes and {len(both)} shared"
        )
    task = Task.of(target, origins, random_state)
    tasks = [task]
    if len(origins) > 1:
        useful = [at for at in range(len(origins)) if task.only([at]).tells_classes]
        useful = useful or list(range(len(origins)))
        weights = task.shares(useful)
        task = replace(task.only(useful), weights=weights)
        tasks = [task, task.only([int(weights.argmax())])]
    members, failed = _members(tasks, candidates, classifiers)
    way, accuracies = compare(task, members, ways)
    predicted = answers(task, way, members, task.codes[~task.source])
    return SharedInference(
        tuple(members),
        way,
        *(both, source_only, target_only),
        tuple(task.weights.tolist()),
        int((task.codes[~task.source] >= 0).sum()),
        float(np.mean([each.predicted == predicted for each in members])),
        accuracies,
        failed,
        teach(task, way, predicted),
    )


def _members(
    tasks: list[Task], candidates: Sequence[str], classifiers: Sequence[str] | None
) -> tuple[list[Combination], dict[str, str]]:
    """Return all combinations for each of some tasks, which have equal shares of the vote, and failures."""
    members: list[Combination] = []
    for task in tasks:
        spaces, failed = task.spaces(candidates)
        if not spaces:
            raise InvalidInputError(f"candidates must work for these domains, got {failed}")
        kinds = classifiers or CLASSIFIERS[: 1 + (task.trust >= LEAST_TRUST)]
        found = [task.combine(name, kind, spaces[name]) for name in spaces for kind in kinds]
        shares = softmax([SHARPNESS * each.smoothness for each in found]) / len(tasks)
        members += [replace(each, weight=float(w)) for each, w in zip(found, shares, strict=True)]
    return sorted(members, key=lambda each: -each.weight), failed


def classes_are_shared(
    target: Domain, sources: Sequence[Domain], *, default: bool, wanted: bool | None = None
) -> bool:
    """Tell whether source and target have the same classes, wholly or partly, as the labels say.

    `default` is the answer without labelled target rows, and `wanted` that of the user.
    """
    both, source_only, target_only = shared_classes(sources, target)
    if wanted is None:
        return len(both + source_only) > 1 and bool(both or (default and not target_only))
    return wanted


def as_inference(
    found: SharedInference, target: Domain, n_labels: int, n_classes: int
) -> Inference:
    """Return what was found as `infer` does; ratios are of accuracies on the labelled target rows.

    With few labelled rows a ratio is near 1, and without any it is 1: nothing is known of it.
    """
    n = found.n_labelled

    def ratio(accuracy: float | None, plain: float | None) -> float:
        if accuracy is None or plain is None:
            return 1.0
        return (n * accuracy + 1.0) / (n * plain + 1.0)

    plain = max(found.accuracies.get(way, 0.0) for way in ("plain source", "target"))
    identity = registry.make("identity").fit(DomainPair(target, target)).W
    candidates = {"identity": Candidate("identity", identity, None, 1.0, (1.0, 1.0))}
    for each in found.members:
        if each.candidate not in candidates:
            candidates[each.candidate] = Candidate(each.candidate, each.space.W, None, 1.0)
    if found.choice != "identity":
        better = ratio(found.expected, plain)
        candidates[found.choice] = replace(candidates[found.choice], predicted=better)
    candidates[found.choice] = replace(candidates[found.choice], chosen=True)
    every = [*candidates.values(), *(Candidate(k, reason=why) for k, why in found.failed.items())]
    reason = (
        f"{found.used}; source and target have the same classes (shared=False if they have not)"
    )
    without = plain if n and found.accuracies else None
    return Inference(
        found.choice, Candidates(every), reason, n_labels, n_classes, without, shared=found
    )
