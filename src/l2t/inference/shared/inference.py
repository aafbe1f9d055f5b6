"""Shared classes: which candidate and classifier predict the target from the source, without target labels.

Every candidate W is combined with every classifier, and each combination labels the target. The one is taken
whose labels are smoothest over the target's own neighbours, corrected for chance as Cohen's kappa is,

``(s - Σ_c q_c²) / (1 - Σ_c q_c²)``,  s the share of neighbours with the same predicted class, q the shares
of the predicted classes,

so that giving all rows one class is worth nothing. On development data this chose better than reverse
validation, accuracy on held-out source rows, balance of classes and agreement of the combinations
(docs/results/shared-classes.md). Labelled target rows are trained on and, cross-validated, decide between
training on the source, on the target and on both.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import StratifiedKFold

from l2t import algorithms as registry
from l2t.algorithms.jda import Codes, unit_rows
from l2t.domains import Domain, DomainPair
from l2t.domains.domain import feature_rows
from l2t.exceptions import InvalidInputError, L2TError, L2TWarning
from l2t.inference.shared.classes import SharedClasses, labelled, shared_classes
from l2t.inference.shared.classifiers import CrossDomainClassifier, make_classifier
from l2t.numerics import principal_axes
from l2t.typing import AnyArray, Array

__all__ = [
    "CANDIDATES",
    "CLASSIFIERS",
    "Combination",
    "SharedInference",
    "Task",
    "infer_shared",
    "smoothness",
]

#: "means" is identity with each domain centred by its own mean, as all but "identity" are.
CANDIDATES = ("identity", "means", "coral", "gfk", "jda")
CLASSIFIERS = ("1-nn", "logistic", "manifold")
#: So many random rows of each domain are fitted to; all others are predicted.
MAX_ROWS = 1200
#: Algorithms work in so many principal coordinates of both domains.
MAX_DIMENSIONS = 512
NEIGHBORS = 10
#: How much all labelled target rows together count beside the source rows.
TARGET_SHARE = 0.5
FOLDS = 3

TrainedOn = Literal["source", "target", "both"]


@dataclass(frozen=True, eq=False)
class Combination:
    """A candidate with a classifier, and what speaks for it.

    Attributes
    ----------
    candidate, classifier : str
        Their names.
    smoothness : float
        Of the predicted classes over the target's neighbours, corrected for chance: at most 1.
    predicted : int array of shape (n,)
        The classes of the target rows that were fitted to, as positions in the result's `classes`.
    """

    candidate: str
    classifier: str
    smoothness: float
    predicted: Codes = field(repr=False)


@dataclass(frozen=True, eq=False)
class SharedInference:
    """How the target is predicted from the source.

    Attributes
    ----------
    choice, classifier : str
        The candidate and the classifier.
    trained_on : {"source", "target", "both"}
        The labelled rows that the classifier was trained on.
    W, source_W : array of shape (m, u)
        What target rows and source rows are multiplied with; no target label was read for them.
    classes : tuple
        The classes that can be predicted.
    shared : SharedClasses
        The classes of both domains.
    combinations : tuple of Combination
        All that was compared, in order.
    weights : mapping of str to float
        How much the rows of each source count; 0 for a source that adds nothing.
    accuracies : mapping of str to float
        Accuracy on labelled target rows, cross-validated, by what was trained on; empty without any.
    rows : int array
        The target rows that were fitted to.
    failed : mapping of str to str
        Why a candidate could not be used.
    """

    choice: str
    classifier: str
    trained_on: TrainedOn
    W: AnyArray
    source_W: AnyArray
    classes: tuple[Any, ...]
    shared: SharedClasses
    combinations: tuple[Combination, ...]
    weights: Mapping[str, float]
    accuracies: Mapping[str, float]
    rows: Codes
    failed: Mapping[str, str]
    _model: CrossDomainClassifier = field(repr=False)
    _mean: AnyArray = field(repr=False)

    @property
    def expected(self) -> float | None:
        """The accuracy to expect, measured on the labelled target rows; None without them."""
        return self.accuracies.get(self.trained_on)

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of `classes` for rows of the target, seen before or not."""
        rows = feature_rows(X, self.W.shape[0])
        found = self._model.predict_proba(unit_rows(np.asarray(rows @ self.W) - self._mean))
        # Classes that no training row has come last.
        return np.pad(found, ((0, 0), (0, len(self.classes) - found.shape[1])))

    def predict(self, X: Any) -> AnyArray:
        """Return the classes of rows of the target."""
        return np.asarray(np.array(self.classes)[self.predict_proba(X).argmax(axis=1)])


def infer_shared(
    target: Domain,
    sources: Domain | Sequence[Domain],
    *,
    candidates: Sequence[str] = CANDIDATES,
    classifiers: Sequence[str] = CLASSIFIERS,
    random_state: int = 0,
) -> SharedInference:
    """Choose how to predict a target from sources with the same classes.

    Parameters
    ----------
    target : Domain
        The target; labels that `labeled` marks are used, no others.
    sources : Domain or sequence of Domain
        Labelled sources. Several are used together as far as each adds something.
    candidates : sequence of str, optional
        "means", or names that `l2t.algorithms.make` takes.
    classifiers : sequence of str, optional
        "1-nn", "logistic", "spreading" or "manifold".
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
    overlap = shared_classes(origins, target)
    n_classes = len(overlap.common + overlap.source_only)
    if n_classes < 2 or overlap.kind == "none":
        raise InvalidInputError(
            "sources must have at least two classes and share one with the labelled target rows, "
            f"got {n_classes} source classes and {len(overlap.common)} shared"
        )
    task = Task.of(target, origins, overlap, random_state)
    weights = {each.name: 1.0 for each in origins}
    if len(origins) > 1:
        task, kept = _useful(task, len(origins))
        weights = {each.name: float(i in kept) for i, each in enumerate(origins)}
    spaces, failed = task.spaces(candidates)
    found = [
        (task.combine(name, kind, space), space)
        for name, space in spaces.items()
        for kind in classifiers
    ]
    best, space = max(found, key=lambda each: each[0].smoothness)
    trained_on, accuracies = task.compare(best, space, spaces)
    model, space, best = task.fit(best, space, spaces, trained_on)
    return SharedInference(
        best.candidate, best.classifier, trained_on, space.W, space.source_W,
        overlap.common + overlap.source_only + overlap.target_only, overlap,
        tuple(each for each, _ in found), weights, accuracies, task.target_rows, failed,
        model, space.mean,
    )  # fmt: skip


def smoothness(neighbors: AnyArray, predicted: Codes) -> float:
    """Return the share of neighbours with the same predicted class, corrected for chance."""
    shares = np.bincount(predicted) / len(predicted)
    chance = float(shares @ shares)
    same = float(np.mean(predicted[neighbors] == predicted[:, None]))
    return (same - chance) / (1.0 - chance) if chance < 1.0 else 0.0


@dataclass(frozen=True, eq=False)
class _Space:
    """Rows of X W, each domain centred, of length 1; and the mean of the target that was taken off."""

    W: AnyArray
    source_W: AnyArray
    rows: Array
    mean: AnyArray


@dataclass(frozen=True, eq=False)
class Task:
    """Some rows of all domains: sources first, the target last; codes are -1 for unlabelled rows."""

    X: AnyArray
    codes: Codes
    origin: Codes
    target_rows: Codes
    random_state: int

    @classmethod
    def of(
        cls, target: Domain, sources: list[Domain], overlap: SharedClasses, random_state: int
    ) -> Task:
        """Return the rows to fit to; the labels of target rows that are not marked are not read."""
        order = overlap.common + overlap.source_only + overlap.target_only
        place = {name: code for code, name in enumerate(order)}
        X, codes, origin, taken = [], [], [], np.arange(0)
        for at, domain in enumerate([*sources, target]):
            last = at == len(sources)
            known = labelled(domain, not last and domain.y is not None) & (domain.codes >= 0)
            names = np.array([place.get(name, -1) for name in domain.classes] + [-1])
            taken = _some(known if last else np.zeros(len(domain), bool), random_state)
            X.append(domain.X[taken])
            codes.append(np.where(known, names[domain.codes], -1)[taken])
            origin.append(np.full(len(taken), at))
        rows = [np.concatenate(each) for each in (X, codes, origin)]
        return cls(rows[0], rows[1], rows[2], taken, random_state)

    @property
    def source(self) -> AnyArray:
        """Which rows are of a source."""
        return np.asarray(self.origin < self.origin[-1])

    @property
    def neighbors(self) -> AnyArray:
        """The nearest target rows of each target row, by cosine of the centred features."""
        if "_neighbors" not in self.__dict__:
            X = self.X[~self.source]
            cosines = unit_rows(X - X.mean(axis=0, dtype=np.float64))
            cosines = cosines @ cosines.T
            np.fill_diagonal(cosines, -np.inf)
            k = min(NEIGHBORS, len(X) - 1)
            nearest = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
            object.__setattr__(self, "_neighbors", nearest)
        return np.asarray(self.__dict__["_neighbors"])

    def spaces(self, candidates: Sequence[str]) -> tuple[dict[str, _Space], dict[str, str]]:
        """Return the rows under each candidate, and why others could not be fitted."""
        found: dict[str, _Space] = {}
        failed: dict[str, str] = {}
        basis = None
        if self.X.shape[1] > MAX_DIMENSIONS:
            basis = principal_axes(self.X - self.X.mean(axis=0, dtype=np.float64), MAX_DIMENSIONS)
        Xs, Xt = (self.X[rows] if basis is None else self.X[rows] @ basis
                  for rows in (self.source, ~self.source))  # fmt: skip
        pair = DomainPair(Domain(Xs, self.codes[self.source]), Domain(Xt))
        plain = registry.make("identity").fit(DomainPair(Domain(self.X[:2]), Domain(self.X[:2]))).W
        for name in candidates:
            if name in ("identity", "means"):
                found[name] = self._space(plain, plain, own=name == "means")
                continue
            (made,) = registry.make_all("candidates", name, random_state=self.random_state)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", L2TWarning)  # fewer components are fine here
                    fitted = made.fit(pair)
            except L2TError as error:
                failed[name] = str(error)
                continue
            maps = (fitted.W, fitted.source_W)
            W, source_W = maps if basis is None else (basis @ each for each in maps)
            found[name] = self._space(W, source_W, own=True)
        if not found:
            raise InvalidInputError(f"candidates must work for these domains, got {failed}")
        return found, failed

    def _space(self, W: AnyArray, source_W: AnyArray, *, own: bool) -> _Space:
        Z = np.concatenate([self.X[self.source] @ source_W, self.X[~self.source] @ W])
        Z = Z.astype(np.float64)
        mean = Z.mean(axis=0)
        for at in np.unique(self.origin) if own else ():
            rows = self.origin == at
            mean = Z[rows].mean(axis=0)
            Z[rows] -= mean
        return _Space(W, source_W, unit_rows(Z if own else Z - mean), mean)

    def combine(self, name: str, kind: str, space: _Space) -> Combination:
        """Return what a classifier trained on the source predicts."""
        model = self.train(kind, space, np.where(self.source, self.codes, -1))
        predicted = model.predict_proba(space.rows[~self.source]).argmax(axis=1)
        return Combination(name, kind, smoothness(self.neighbors, predicted), predicted)

    def train(self, kind: str, space: _Space, codes: Codes) -> CrossDomainClassifier:
        """Return a classifier fitted to the rows whose code is not -1; target rows together count half."""
        weights = np.ones(len(codes))
        taught = ~self.source & (codes >= 0)
        if taught.any() and (codes[self.source] >= 0).any():
            share = TARGET_SHARE * int(self.source.sum()) / int(taught.sum())
            weights[taught] = max(1.0, share)
        return make_classifier(kind).fit(space.rows, codes, self.source, weights)

    def compare(
        self, best: Combination, space: _Space, spaces: Mapping[str, _Space]
    ) -> tuple[TrainedOn, dict[str, float]]:
        """Return what to train on, and the accuracies on labelled target rows that say so."""
        rows = np.flatnonzero(~self.source & (self.codes >= 0))
        if not rows.size:
            return "source", {}
        offset = int(self.source.sum())
        truth = self.codes[rows]
        found = {"source": float(np.mean(best.predicted[rows - offset] == truth))}
        fewest = np.bincount(truth)[np.unique(truth)].min()
        if fewest < 2:  # a class that is left out cannot be predicted: nothing to cross-validate
            return "both", found
        parts = StratifiedKFold(min(FOLDS, int(fewest)), shuffle=True, random_state=0)
        hits: dict[str, list[bool]] = {"target": [], "both": []}
        for _, left_out in parts.split(rows, truth):
            codes = self.codes.copy()
            codes[rows[left_out]] = -1
            for trained_on, right in hits.items():
                model, where = self._trained(best, space, spaces, trained_on, codes)
                scores = model.predict_proba(where.rows[rows[left_out]])
                right.extend((scores.argmax(axis=1) == truth[left_out]).tolist())
        found |= {name: float(np.mean(right)) for name, right in hits.items()}
        order: tuple[TrainedOn, ...] = ("both", "target", "source")  # of equals, the first
        return max(order, key=lambda name: found[name]), found

    def fit(
        self, best: Combination, space: _Space, spaces: Mapping[str, _Space], trained_on: TrainedOn
    ) -> tuple[CrossDomainClassifier, _Space, Combination]:
        """Return the classifier to use, its rows, and its name."""
        codes = self.codes if trained_on != "source" else np.where(self.source, self.codes, -1)
        model, where = self._trained(best, space, spaces, trained_on, codes)
        if trained_on == "target":
            best = Combination("means", "logistic", best.smoothness, best.predicted)
        return model, where, best

    def _trained(
        self, best: Combination, space: _Space, spaces: Mapping[str, _Space], on: str, codes: Codes
    ) -> tuple[CrossDomainClassifier, _Space]:
        if on != "target":
            return self.train(best.classifier, space, codes), space
        plain = spaces.get("means") or self.spaces(("means",))[0]["means"]
        return self.train("logistic", plain, np.where(self.source, -1, codes)), plain


def _some(first: AnyArray, random_state: int) -> Codes:
    """Return at most MAX_ROWS random rows in order, those that are marked before others."""
    order = np.random.default_rng(random_state).permutation(len(first))
    order = order[np.argsort(~first[order], kind="stable")]
    return np.asarray(np.sort(order[:MAX_ROWS]))


def _useful(task: Task, n_sources: int) -> tuple[Task, list[int]]:
    """Return the task with those sources that make the predicted classes smoother, best first."""

    def score(kept: list[int]) -> tuple[float, Task]:
        rows = np.isin(task.origin, [*kept, n_sources])
        some = Task(
            task.X[rows], task.codes[rows], task.origin[rows], task.target_rows, task.random_state
        )
        space = some.spaces(("means",))[0]["means"]
        return some.combine("means", "manifold", space).smoothness, some

    alone = {at: score([at]) for at in range(n_sources)}
    order = sorted(alone, key=lambda at: -alone[at][0])
    kept, (best, chosen) = [order[0]], alone[order[0]]
    for at in order[1:]:
        value, some = score([*kept, at])
        if value > best:
            kept, best, chosen = [*kept, at], value, some
    return chosen, kept
