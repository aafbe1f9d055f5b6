"""Shared classes: which candidate and classifier predict the target from the source, without target labels.

Every candidate W is combined with logistic regression and with the manifold-regularised classifier, and each
combination labels the target. The one is taken whose labels are smoothest over the target's own neighbours,
corrected for chance as Cohen's kappa is,

``(s - Σ_c q_c²) / (1 - Σ_c q_c²)``,  s the share of neighbours with the same predicted class, q the shares
of the predicted classes,

so that giving all rows one class is worth nothing. On development data this chose better than reverse
validation, accuracy on held-out source rows, balance of classes and agreement of the combinations
(docs/results/shared-classes.md). Where neighbours tell the source's own classes much worse than logistic
regression does, as in bags of words, the manifold is not trusted and takes no part. Labelled target rows are
trained on and, cross-validated, decide between training on the source, on the target and on both.

Several sources are used together, each centred by its own mean. One whose features do not tell its own
classes, such as noise, is left out. Smoothness does not choose between sources: a source far away can label
the target as smoothly as a near one, and wrongly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from l2t.algorithms.jda import unit_rows
from l2t.domains import Domain
from l2t.domains.domain import feature_rows
from l2t.exceptions import InvalidInputError
from l2t.inference.shared.classifiers import CrossDomainClassifier
from l2t.inference.shared.task import Combination, Task, TrainedOn, shared_classes
from l2t.typing import AnyArray, Array

#: "means" is identity with each domain centred by its own mean, as all but "identity" are.
CANDIDATES = ("identity", "means", "coral", "gfk", "jda")
CLASSIFIERS = ("logistic", "manifold")
#: Where neighbours are trusted less, logistic regression is used alone.
LEAST_TRUST = 0.7
#: A source whose classes its own features tell no better than this is not used beside others.
LEAST_SKILL = 0.1


@dataclass(frozen=True, eq=False)
class SharedInference:
    """How the target is predicted from the source.

    Attributes
    ----------
    chosen : Combination
        The candidate and the classifier, with its W (``chosen.space.W``), for which no target label was read.
    trained_on : {"source", "target", "both"}
        The labelled rows that the classifier was trained on.
    classes : tuple
        The classes that can be predicted: those of both domains, of the sources and of the target alone.
    combinations : tuple of Combination
        All that was compared, in order.
    weights : tuple of float
        For each source in order, 1 where it is used and 0 where its features do not tell its own classes.
    accuracies, failed : mapping from str
        Accuracies on labelled target rows by what was trained on; and why candidates could not be used.
    """

    chosen: Combination
    trained_on: TrainedOn
    classes: tuple[Any, ...]
    combinations: tuple[Combination, ...]
    weights: tuple[float, ...]
    accuracies: Mapping[str, float]
    failed: Mapping[str, str]
    _model: CrossDomainClassifier = field(repr=False)

    @property
    def expected(self) -> float | None:
        """The accuracy to expect, measured on the labelled target rows; None without them."""
        return self.accuracies.get(self.trained_on)

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of `classes` for rows of the target, seen before or not."""
        space = self.chosen.space
        rows = feature_rows(X, space.W.shape[0])
        found = self._model.predict_proba(unit_rows(np.asarray(rows @ space.W) - space.mean))
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
    classifiers: Sequence[str] | None = None,
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
    >>> found.chosen.candidate, found.trained_on, found.predict_proba(mnist().X[:5]).shape
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
    kept = list(range(len(origins)))
    if len(origins) > 1:
        kept = [at for at in kept if task.only([at]).skill > LEAST_SKILL] or kept
        task = task.only(kept)
    spaces, failed = task.spaces(candidates)
    if not spaces:
        raise InvalidInputError(f"candidates must work for these domains, got {failed}")
    if classifiers is None:
        classifiers = CLASSIFIERS if task.trust >= LEAST_TRUST else CLASSIFIERS[:1]
    found = tuple(
        task.combine(name, kind, space) for name, space in spaces.items() for kind in classifiers
    )
    best = max(found, key=lambda each: each.smoothness)
    trained_on, accuracies = task.compare(best)
    model, chosen = task.fit(best, trained_on)
    weights = tuple(float(at in kept) for at in range(len(origins)))
    return SharedInference(
        chosen, trained_on, task.classes, found, weights, accuracies, failed, model
    )
