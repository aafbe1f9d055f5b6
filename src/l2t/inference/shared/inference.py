"""Shared classes: the target is predicted from the source by a vote of candidates and classifiers.

Every candidate W is combined with logistic regression and with the manifold-regularised classifier, and each
combination labels the target. They vote, the smoother their labels are over the target's own neighbours the
more: with the weight ``exp(20 s)``, s the smoothness, which is corrected for chance as Cohen's kappa is,

``s = (a - Σ_c q_c²) / (1 - Σ_c q_c²)``,  a the share of neighbours with the same predicted class, q the
shares of the predicted classes,

so that giving all rows one class is worth nothing. On development data this is better than the smoothest
combination alone, and that better than what reverse validation, accuracy on held-out source rows, balance of
classes or agreement choose (docs/results/shared-classes.md). Where neighbours tell the source's own classes
much worse than logistic regression does, as in bags of words, and with few columns, the manifold is left out.
Labelled target rows are trained on and, cross-validated, say how much the vote counts beside what knows the
target alone (`ways`). What is predicted teaches logistic regression, which classifies rows one by one.

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

from l2t.domains import Domain
from l2t.domains.domain import feature_rows
from l2t.exceptions import InvalidInputError
from l2t.experiences.evaluation import expected_accuracy
from l2t.experiences.experience import TrainedOn
from l2t.inference.result import Candidate, Candidates, Inference
from l2t.inference.shared.task import FEW_COLUMNS, Combination, Task, shared_classes
from l2t.inference.shared.ways import Decision, Linear, decide, teach
from l2t.numerics import unit_rows
from l2t.typing import AnyArray, Array

#: "means" is identity with each domain centred by its own mean, as all but "identity" are.
CANDIDATES = ("identity", "means", "coral", "gfk", "jda")
CLASSIFIERS = ("logistic", "manifold")
#: How fast the weight in the vote grows with smoothness.
SHARPNESS = 20.0
#: Where neighbours are trusted less, logistic regression is used alone.
LEAST_TRUST = 0.7


@dataclass(frozen=True, eq=False)
class SharedInference:
    """How the target is predicted from the source."""

    #: What votes, the largest weight first; no target label was read for any W (``space.W``).
    members: tuple[Combination, ...]
    #: What was trained on, and how much the vote counts.
    decision: Decision
    #: The classes that labelled rows of both domains have, of the sources alone and of the target alone.
    occurrence: tuple[tuple[Any, ...], ...]
    #: How much each source counts; 0 where its features do not tell its own classes.
    weights: tuple[float, ...]
    n_labelled: int
    #: The share of members that predict what was voted for, over all target rows.
    agreement: float
    #: Why candidates could not be used.
    failed: Mapping[str, str]
    #: What classifies rows one by one.
    linear: Linear = field(repr=False)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes that can be predicted."""
        return self.linear.classes

    @property
    def choice(self) -> str:
        """The candidate that counts most in the vote; "identity" where there is none."""
        return "identity" if self.trained_on == "target" else self.members[0].candidate

    @property
    def trained_on(self) -> TrainedOn:
        """The labelled rows that were trained on: "source", "target" or "both"."""
        return self.decision.way

    @property
    def used(self) -> str:
        """What is used, for people."""
        if self.trained_on == "target":
            return "logistic regression on the features as they are, trained on the target"
        names = [f"{each.candidate} with {each.classifier}" for each in self.members[:3]]
        vote = f"vote of {len(self.members)} combinations, first {', '.join(names)}"
        share = f"{100 * self.decision.share:.0f} %"
        both = f"both domains ({share}), and logistic regression trained on the target"
        return f"{vote}, trained on {both if self.trained_on == 'both' else 'the source'}"

    @property
    def expected(self) -> float | None:
        """The accuracy to expect, from that on the labelled target rows; None where they are too few."""
        accuracy = self.decision.accuracies.get(self.trained_on)
        return None if accuracy is None else expected_accuracy(accuracy, self.n_labelled)

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
    source_alone: bool = False,
    random_state: int = 0,
) -> SharedInference:
    """Choose how to predict a target from sources with the same classes.

    Parameters
    ----------
    target : Domain
        The target; labels that `labeled` marks are used, no others.
    sources : Domain or sequence of Domain
        Labelled sources. Of several, those are used together whose features tell their own classes.
    candidates : sequence of str, default=("identity", "means", "coral", "gfk", "jda")
        "means", or names that `l2t.algorithms.make` takes.
    classifiers : sequence of str, optional
        Some of "1-nn", "logistic" and "manifold"; by default the last two, without "manifold" where
        neighbours do not tell the source's classes.
    source_alone : bool, default=False
        Whether labelled target rows are for measuring alone.
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
        useful = task.telling_sources()
        weights = task.shares(useful)
        task = replace(task.only(useful), weights=weights)
        tasks = [task, task.only([int(weights.argmax())])]
    members, failed = _members(tasks, candidates, classifiers)
    decision = decide(task, members, source_alone=source_alone)
    return SharedInference(
        tuple(members),
        decision,
        (both, source_only, target_only),
        tuple(task.weights.tolist()),
        int((task.codes[~task.source] >= 0).sum()),
        float(np.mean([each.predicted == decision.predicted for each in members])),
        failed,
        teach(task, decision),
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
        near = task.X.shape[1] >= FEW_COLUMNS and task.trust >= LEAST_TRUST
        kinds = classifiers or (CLASSIFIERS if near else CLASSIFIERS[:1])
        found = [task.combine(name, kind, spaces[name]) for name in spaces for kind in kinds]
        members += vote_weights(found, 1.0 / len(tasks))
    return sorted(members, key=lambda each: -each.weight), failed


def vote_weights(members: Sequence[Combination], total: float = 1.0) -> list[Combination]:
    """Return the combinations with their weights in the vote, which add up to `total`."""
    weights = total * softmax([SHARPNESS * each.smoothness for each in members])
    return [replace(each, weight=float(w)) for each, w in zip(members, weights, strict=True)]


def as_inference(
    found: SharedInference, target: Domain, n_labels: int, n_classes: int
) -> Inference:
    """Return what was found as `infer` does.

    The ratio is that of accuracies on labelled rows, to the better plain way. With few rows it is near 1, and
    without any it is 1: nothing is known of it.
    """
    identity = found.members[0].task.plain.W
    candidates = {"identity": Candidate("identity", identity, predicted=1.0)}
    for each in found.members:
        candidates.setdefault(each.candidate, Candidate(each.candidate, each.space.W))
    measured = found.decision.accuracies
    plain = max(measured.get(way, 0.0) for way in ("plain source", "target"))
    ratio = 1.0
    if found.expected is not None and found.choice != "identity":
        ratio = found.expected / expected_accuracy(plain, found.n_labelled)
    chosen = replace(candidates[found.choice], predicted=ratio, chosen=True)
    candidates |= {found.choice: chosen} | {
        name: Candidate(name, reason=why) for name, why in found.failed.items()
    }
    reason = f"{found.used}; equal labels of source and target mean equal classes"
    without = plain if measured else None
    every = Candidates(list(candidates.values()))
    parts = found.choice, every, reason, n_labels, n_classes, without
    return Inference(*parts, shared=found, feature_names=target.feature_names)
