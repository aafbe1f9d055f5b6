"""Shared classes: the target is predicted from the source by a vote of candidates and classifiers.

Every candidate W is combined with logistic regression and with the manifold-regularised classifier, and each
combination predicts the target. They vote with the weight ``exp(20 s)``, where s is the smoothness of the
predicted classes over the target's nearest neighbours, corrected for chance like Cohen's kappa:

``s = (a - Σ_c q_c²) / (1 - Σ_c q_c²)``,  a the share of neighbours with the same predicted class, q the
shares of the predicted classes,

so that predicting a single class has s = 0. On development data the vote is better than the smoothest
combination alone, which is better than the choice by reverse validation, accuracy on held-out source rows,
class balance or agreement (docs/results/shared-classes.md). The manifold classifier is left out with few
columns, and where 1-NN separates the source's own classes much worse than logistic regression does, as in
bags of words. Labelled target rows are used for training, and cross-validation on them sets the weight of the
vote relative to a classifier trained on the target alone (`voting`). Logistic regression is then trained on
the predictions as pseudo-labels, to classify new rows one by one.

Several sources are used together, each centred by its own mean and weighted by how often its rows are nearest
to target rows; a source whose own classes are not separable, such as noise, is left out. Half of the vote is
for combinations trained on the nearest source alone, because other sources do not always help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import softmax

from l2t.algorithms import NO_TRANSFER
from l2t.domains import Domain
from l2t.domains.domain import columns_in_order, feature_rows
from l2t.domains.pair import match_columns
from l2t.exceptions import InvalidInputError
from l2t.experiences.evaluation import expected_accuracy
from l2t.experiences.experience import TrainedOn
from l2t.inference.result import Candidate, Candidates, Inference
from l2t.inference.shared.rows import FEW_COLUMNS, MAX_SHARED_ROWS, Combination, SharedRows
from l2t.inference.shared.voting import Decision, LinearModel, decide_share, distill
from l2t.numerics import unit_rows
from l2t.task import ClassRoles
from l2t.typing import AnyArray, Array, Label, MatrixLike

#: "means" is the identity with each domain centred by its own mean; all but "identity" are centred so.
SHARED_CANDIDATES = (NO_TRANSFER, "means", "coral", "gfk", "jda")
VOTING_CLASSIFIERS = ("logistic", "manifold")
#: Growth of the log weight in the vote with smoothness.
SMOOTHNESS_WEIGHT = 20.0
#: Maximum number of rows of all sources together, because time grows with the cube of this number.
MAX_POOLED_ROWS = 2 * MAX_SHARED_ROWS
#: Below this `SharedRows.neighbour_skill`, logistic regression is used alone.
LEAST_NEIGHBOUR_SKILL = 0.7


@dataclass(frozen=True, eq=False)
class SharedInference:
    """A classifier of the target, trained on sources with the same classes.

    Attributes
    ----------
    members : tuple of Combination
        The combinations that vote, largest weight first; no target label was read for any W (``space.W``).
    decision : Decision
        The rows that were trained on, and the weight of the vote.
    roles : ClassRoles
        The classes of labelled rows in both domains, in sources only, and in the target only.
    weights : tuple of float
        The weight of each source; 0 if its own classes are not separable.
    n_labelled : int
        Number of labelled target rows that are used.
    confidence : float
        The accuracy to assume without labelled target rows: the mean share of members that predict the class
        with the most votes, but not more than the accuracy on held-out rows of the source itself.
    failed : mapping of str to str
        Error messages of candidates that could not be used.
    linear : LinearModel
        The classifier of new rows.
    feature_names : tuple of str or None
        The names of the target's columns, if they have names.
    """

    members: tuple[Combination, ...]
    decision: Decision
    roles: ClassRoles
    weights: tuple[float, ...]
    n_labelled: int
    confidence: float
    failed: Mapping[str, str]
    linear: LinearModel = field(repr=False)
    feature_names: tuple[str, ...] | None = None

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes that can be predicted."""
        return self.linear.classes

    @property
    def choice(self) -> str:
        """The candidate with the largest weight in the vote; "identity" without a vote."""
        return NO_TRANSFER if self.trained_on == "target" else self.members[0].candidate

    @property
    def trained_on(self) -> TrainedOn:
        """The labelled rows that were trained on: "source", "target" or "both"."""
        return self.decision.trained_on

    @property
    def used(self) -> str:
        """A description of the classifiers."""
        if self.trained_on == "target":
            return "logistic regression on the original features, trained on the target"
        names = [f"{member.candidate} with {member.classifier}" for member in self.members[:3]]
        vote = f"vote of {len(self.members)} combinations, led by {', '.join(names)}"
        share = f"{100 * self.decision.share:.0f} % of the weight"
        both = f"both domains ({share}), and logistic regression trained on the target"
        return f"{vote}, trained on {both if self.trained_on == 'both' else 'the source'}"

    @property
    def expected(self) -> float | None:
        """The expected accuracy, from that on labelled target rows; None if they are too few."""
        accuracy = self.decision.accuracy
        return None if accuracy is None else expected_accuracy(accuracy, self.n_labelled)

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return the probabilities of `classes` for rows of the target.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Domain of shape (n, m)
            Rows of the target, which may be new. Columns of a DataFrame are selected by name.

        Returns
        -------
        array of shape (n, n_classes)
        """
        _, mean, scale, coef, intercept = self.linear
        Z = np.asarray(feature_rows(columns_in_order(X, self.feature_names), len(mean)) - mean)
        Z = unit_rows(Z) if scale is None else Z / scale
        return np.asarray(softmax(Z @ coef + intercept, axis=1))

    def predict(self, X: MatrixLike) -> AnyArray:
        """Return the predicted classes of rows of the target.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Domain of shape (n, m)
            Rows of the target, which may be new.

        Returns
        -------
        array of shape (n,)
        """
        return np.asarray(np.array(self.classes)[self.predict_proba(X).argmax(axis=1)])


def infer_shared(
    target: Domain,
    sources: Domain | Sequence[Domain],
    *,
    candidates: Sequence[str] = SHARED_CANDIDATES,
    classifiers: Sequence[str] | None = None,
    source_alone: bool = False,
    random_state: int = 0,
) -> SharedInference:
    """Train a classifier of a target on sources with the same classes.

    Parameters
    ----------
    target : Domain
        The target; only labels of rows marked by `labeled` are used. Of more than 2,000 labelled rows some
        of each class are drawn.
    sources : Domain or sequence of Domain
        Labelled sources. Of several, those whose own classes are separable are used together.
    candidates : sequence of str, default=("identity", "means", "coral", "gfk", "jda")
        "means", or names of algorithms (`l2t.algorithms.make`).
    classifiers : sequence of str, optional
        Some of "1-nn", "logistic" and "manifold"; by default the last two, or "logistic" alone where 1-NN
        does not separate the source's classes.
    source_alone : bool, default=False
        Whether labelled target rows are used only to measure accuracies.
    random_state : int, default=0
        The seed for sampling domains of more than 1,200 rows.

    Returns
    -------
    SharedInference
        The classifier, and the combinations that vote.

    Raises
    ------
    InvalidInputError
        The domains share no class, or the sources have fewer than two.

    Examples
    --------
    >>> from l2t.domains import digits, mnist, normalize
    >>> some = digits().take(np.arange(300))
    >>> inference = infer_shared(Domain(normalize(mnist()).X[::20]), normalize(some), candidates=("means",))
    >>> inference.choice, inference.trained_on, inference.predict_proba(mnist().X[:5]).shape
    ('means', 'source', (5, 10))
    """
    several = [sources] if isinstance(sources, Domain) else list(sources)
    origins = [match_columns(source, target) for source in several]
    roles = ClassRoles.of(origins, target)
    if len(roles.of_sources) < 2 or (roles.target_only and not roles.both):
        raise InvalidInputError(
            "sources must have at least two classes and share one with the labelled target rows, "
            f"got {len(roles.of_sources)} source classes and {len(roles.both)} shared"
        )
    task = SharedRows.of(target, origins, random_state)
    tasks = [task]
    if len(origins) > 1:
        useful = task.informative_sources()
        weights = task.shares(useful)
        most = MAX_POOLED_ROWS // len(useful)
        if most < MAX_SHARED_ROWS:
            task = SharedRows.of(target, origins, random_state, most)
        task = replace(task.only(useful), weights=weights)
        tasks = [task, task.only([int(weights.argmax())])]
    members, failed = _members(tasks, candidates, classifiers)
    decision = decide_share(task, members, source_alone=source_alone)
    return SharedInference(
        tuple(members),
        decision,
        roles,
        tuple(task.weights.tolist()),
        int((task.codes[~task.source] >= 0).sum()),
        _confidence(task, members, decision),
        failed,
        distill(task, decision),
        target.feature_names,
    )


def _confidence(task: SharedRows, members: Sequence[Combination], decision: Decision) -> float:
    """Return the share of members that agree, but not more than the accuracy on held-out source rows."""
    agreement = float(np.mean([member.predicted == decision.predicted for member in members]))
    source_accuracy = max(task.held_out_accuracies.values())
    return min(agreement, source_accuracy) if source_accuracy > 0 else agreement


def _members(
    tasks: list[SharedRows], candidates: Sequence[str], classifiers: Sequence[str] | None
) -> tuple[list[Combination], dict[str, str]]:
    """Return all combinations for each task, with equal weights of the tasks, and the failed candidates."""
    members: list[Combination] = []
    failed: dict[str, str] = {}
    for task in tasks:
        spaces, errors = task.spaces(candidates)
        if not spaces:
            raise InvalidInputError(f"candidates must work for these domains, got {errors}")
        failed |= errors
        near = task.X.shape[1] >= FEW_COLUMNS and task.neighbour_skill >= LEAST_NEIGHBOUR_SKILL
        kinds = classifiers or (VOTING_CLASSIFIERS if near else VOTING_CLASSIFIERS[:1])
        combinations = [task.combine(name, kind, spaces[name]) for name in spaces for kind in kinds]
        members += vote_weights(combinations, 1.0 / len(tasks))
    for member in members:
        failed.pop(member.candidate, None)  # it works for one of the tasks
    return sorted(members, key=lambda member: -member.weight), failed


def vote_weights(members: Sequence[Combination], total: float = 1.0) -> list[Combination]:
    """Return the combinations with their weights in the vote, which add up to `total`."""
    weights = total * softmax([SMOOTHNESS_WEIGHT * member.smoothness for member in members])
    return [replace(member, weight=float(w)) for member, w in zip(members, weights, strict=True)]


def as_inference(vote: SharedInference, target: Domain, n_labels: int, n_classes: int) -> Inference:
    """Return the result as an `Inference`.

    The ratio is that of the expected accuracy to the better of two baselines: logistic regression trained on
    the source, and on the target; at least 1, because the vote is expected to be no worse. It is near 1 with
    few labelled rows, and 1 without any.
    """
    identity = vote.members[0].task.plain.W
    candidates = {NO_TRANSFER: Candidate(NO_TRANSFER, identity, predicted=1.0)}
    for member in vote.members:
        candidates.setdefault(member.candidate, Candidate(member.candidate, member.space.W))
    measured = vote.decision.accuracies
    plain = max(measured.get(way, 0.0) for way in ("plain source", "target"))
    ratio, without = 1.0, None
    if vote.expected is not None:
        without = expected_accuracy(plain, vote.n_labelled)
        ratio = max(vote.expected / without, 1.0) if vote.choice != NO_TRANSFER else 1.0
    chosen = replace(candidates[vote.choice], predicted=ratio, chosen=True)
    candidates |= {vote.choice: chosen} | {
        name: Candidate(name, reason=why) for name, why in vote.failed.items()
    }
    reason = f"{vote.used}; equal labels of source and target mean equal classes"
    return Inference(
        vote.choice,
        Candidates(list(candidates.values())),
        reason,
        n_labels,
        n_classes,
        accuracy_without=without,
        shared=vote,
        feature_names=target.feature_names,
    )
