"""The rows of all domains under each candidate, and the predictions of classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from l2t import algorithms as registry
from l2t.algorithms import NO_TRANSFER
from l2t.algorithms.base import fit_quietly
from l2t.classifiers.cross_domain import make_classifier
from l2t.domains import Domain, DomainPair
from l2t.domains.copies import joint_groups
from l2t.domains.draw import of_each_class
from l2t.exceptions import L2TError
from l2t.numerics import principal_axes, squared_distances, unit_rows
from l2t.task import ClassRoles
from l2t.typing import AnyArray, Array, Indices

#: Maximum number of rows per domain, drawn at random, that are fitted to.
MAX_SHARED_ROWS = 1200
#: Maximum number of labelled target rows that are used besides: time and memory grow with their square.
MAX_LABELLED = 2000
#: Maximum number of principal coordinates of both domains for algorithms.
MAX_SHARED_DIMENSIONS = 512
#: From so many columns on, rows have norm 1. With fewer the norm of a row carries much of the information: on
#: iris, with four columns, accuracy falls from 0.92 to 0.81 without it.
FEW_COLUMNS = 10
N_GRAPH_NEIGHBORS = 10
#: Total weight of the labelled target rows relative to the source rows.
TARGET_SHARE = 0.5
HELD_OUT = 0.3
#: Minimum accuracy above chance, as a share, for a source's own classes to be separable.
LEAST_SOURCE_SKILL = 0.1
#: Number of nearest source rows of a target row, by which sources are weighted.
N_NEAREST = 5
PLAIN_CLASSIFIERS = ("1-nn", "logistic")


@dataclass(frozen=True, eq=False)
class Space:
    """Rows of X W, centred per domain and scaled to unit norm; and the mean of the target rows.

    With few columns all rows are divided by `scale` instead, which is None otherwise.
    """

    W: AnyArray
    source_W: AnyArray
    rows: Array
    mean: AnyArray
    scale: float | None = None


@dataclass(frozen=True, eq=False)
class Combination:
    """A candidate with a classifier, and its predictions."""

    candidate: str
    classifier: str
    #: Smoothness of the predicted classes over the target's neighbours, corrected for chance: at most 1.
    smoothness: float
    #: Predicted probabilities of the fitted target rows, after training on the source alone.
    probabilities: Array = field(repr=False)
    #: The rows that are trained on, and their values under the candidate.
    task: SharedRows = field(repr=False)
    space: Space = field(repr=False)
    #: Weight in the vote; all weights sum to 1.
    weight: float = 0.0

    @property
    def predicted(self) -> Indices:
        """The predicted classes of the target rows."""
        return np.asarray(self.probabilities.argmax(axis=1))


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Some rows of all domains, sources first, and the number of the domain of each (`origin`).

    `codes` are positions in `classes`, and -1 for unlabelled rows. Every W is fitted to the random rows that
    are `drawn`, which include labelled rows of every class of a source; the others are labelled target rows,
    used only for training. `target_rows` are the indices of the target's rows in their order here, `weights`
    are those of the rows of each source, and `groups` are those of all rows, equal groups being equal in all
    domains; a row without one is its own.
    """

    X: AnyArray
    codes: Indices
    origin: Indices
    drawn: AnyArray
    target_rows: Indices
    classes: tuple[Any, ...]
    weights: Array
    random_state: int
    groups: Indices

    @classmethod
    def of(
        cls,
        target: Domain,
        sources: list[Domain],
        random_state: int,
        max_source_rows: int | None = None,
    ) -> SharedRows:
        """Return the rows of some domains, with labels only of target rows that are marked as labelled.

        Of each source at most `max_source_rows` rows are used, by default 1,200.
        """
        classes = ClassRoles.of(sources, target).every
        place = {name: code for code, name in enumerate(classes)}
        parts: list[list[AnyArray]] = []
        rows, groups = np.arange(0), joint_groups([*sources, target])
        for number, domain in enumerate([*sources, target]):
            is_target = number == len(sources)
            known = domain.labeled_rows(default=not is_target)
            names = np.array([place.get(name, -1) for name in domain.classes] + [-1])
            codes = np.where(known, names[domain.codes], -1)
            order = np.random.default_rng(random_state).permutation(len(domain))
            most = MAX_SHARED_ROWS if is_target or max_source_rows is None else max_source_rows
            if not is_target:
                order = _labelled_first(order, codes, random_state, most)
            drawn = np.isin(np.arange(len(domain)), order[:most])
            rows = np.flatnonzero(drawn)
            if is_target:
                rows = np.union1d(rows, of_each_class(codes, random_state, MAX_LABELLED))
            columns = domain.X, codes, np.full(len(domain), number), drawn, groups[number]
            parts.append([column[rows] for column in columns])
        X, codes, origin, drawn, group = (
            np.concatenate(column) for column in zip(*parts, strict=True)
        )
        shares = np.ones(len(sources))
        return cls(X, codes, origin, drawn, rows, classes, shares, random_state, group)

    def only(self, origins: Sequence[int]) -> SharedRows:
        """Return the task with only some of the sources."""
        rows = np.isin(self.origin, [*origins, self.origin[-1]])
        of_rows = ("X", "codes", "origin", "drawn", "groups")
        return replace(self, **{name: getattr(self, name)[rows] for name in of_rows})

    @property
    def source(self) -> AnyArray:
        """The mask of source rows."""
        return np.asarray(self.origin < self.origin[-1])

    @cached_property
    def neighbors(self) -> AnyArray:
        """The nearest target rows of each target row, by cosine similarity of the centred features."""
        X = self.X[~self.source]
        unit = unit_rows(X - X.mean(axis=0, dtype=np.float64))
        cosines = unit @ unit.T
        np.fill_diagonal(cosines, -np.inf)
        k = min(N_GRAPH_NEIGHBORS, len(X) - 1)
        return np.argpartition(-cosines, k - 1, axis=1)[:, :k]

    @cached_property
    def plain(self) -> Space:
        """The original features, each domain centred by its own mean."""
        return self._identity(own_means=True)

    def _identity(self, *, own_means: bool) -> Space:
        two_rows = Domain(self.X[:2])
        identity = registry.make(NO_TRANSFER).fit(DomainPair(two_rows, two_rows)).W
        return self._space(identity, identity, own_means=own_means)

    @cached_property
    def _pair(self) -> tuple[DomainPair, AnyArray]:
        """The pair that every W is fitted to, in principal coordinates if these are fewer, and their axes."""
        X = self.X
        if X.shape[1] > MAX_SHARED_DIMENSIONS:
            axes = principal_axes(X[self.drawn].astype(np.float64), MAX_SHARED_DIMENSIONS)
            X = X @ axes
        else:
            axes = np.eye(X.shape[1], dtype=X.dtype)
        source, target = (X[rows & self.drawn] for rows in (self.source, ~self.source))
        codes = self.codes[self.source]
        return DomainPair(Domain(source, codes, labeled=codes >= 0), Domain(target)), axes

    def spaces(self, candidates: Sequence[str]) -> tuple[dict[str, Space], dict[str, str]]:
        """Return the rows under each candidate, and the error messages of those that failed."""
        spaces: dict[str, Space] = {}
        failed: dict[str, str] = {}
        for name in candidates:
            if name in ("means", NO_TRANSFER):
                spaces[name] = self.plain if name == "means" else self._identity(own_means=False)
                continue
            (algorithm,) = registry.make_all("candidates", name, random_state=self.random_state)
            pair, axes = self._pair
            try:
                fitted = fit_quietly(algorithm, pair)
            except L2TError as error:
                failed[name] = str(error)
                continue
            spaces[name] = self._space(axes @ fitted.W, axes @ fitted.source_W, own_means=True)
        return spaces, failed

    def _space(self, W: AnyArray, source_W: AnyArray, *, own_means: bool) -> Space:
        # Means and scale are those of the drawn rows, which are multiplied alone: the rounding of a
        # product depends on its number of rows, and so on how many others are labelled.
        Z = self._product(self.drawn, W, source_W)
        origin = self.origin[self.drawn]
        means = np.tile(Z.mean(axis=0), (origin[-1] + 1, 1))
        for place in np.unique(origin) if own_means else ():
            means[place] = Z[origin == place].mean(axis=0)
        centred = self._product(np.ones(len(self.X), dtype=bool), W, source_W) - means[self.origin]
        if self.X.shape[1] >= FEW_COLUMNS:
            return Space(W, source_W, unit_rows(centred), means[-1])
        scale = float(np.linalg.norm(Z - means[origin]) / np.sqrt(len(Z))) or 1.0
        return Space(W, source_W, centred / scale, means[-1], scale)

    def _product(self, rows: AnyArray, W: AnyArray, source_W: AnyArray) -> Array:
        """Return some rows under the W of their domain."""
        of_source, of_target = self.X[rows & self.source], self.X[rows & ~self.source]
        return np.concatenate([of_source @ source_W, of_target @ W], dtype=np.float64)

    @cached_property
    def neighbour_skill(self) -> float:
        """Held-out accuracy of 1-NN on the source relative to logistic regression, both above chance."""
        nearest, linear = (
            self.held_out_accuracies[kind] - self._chance for kind in PLAIN_CLASSIFIERS
        )
        return float(nearest / linear) if linear > 0 else 1.0

    @cached_property
    def held_out_accuracies(self) -> dict[str, float]:
        """The accuracies of plain classifiers on held-out source rows."""
        return {kind: self.held_out(kind, self.plain) for kind in PLAIN_CLASSIFIERS}

    def shares(self, sources: Sequence[int]) -> Array:
        """Return how often rows nearest to target rows are of each source, relative to the most frequent."""
        parts = [np.flatnonzero(self.origin == place) for place in sources]
        rng = np.random.default_rng(0)
        n_rows = min(map(len, parts))
        rows = np.concatenate([rng.permutation(part)[:n_rows] for part in parts])
        D = squared_distances(self.plain.rows[~self.source], self.plain.rows[rows])
        k = min(N_NEAREST, len(rows))
        nearest = self.origin[rows][np.argpartition(D, k - 1, axis=1)[:, :k]]
        counts = np.bincount(nearest.ravel(), minlength=len(self.weights))
        return np.where(np.isin(np.arange(len(counts)), sources), counts / counts.max(), 0.0)

    def informative_sources(self) -> list[int]:
        """Return the sources whose own classes are separable; all if there is none."""
        every = list(range(len(self.weights)))
        if len(every) == 1:
            return every
        return [place for place in every if self.only([place])._separates_classes()] or every

    def _separates_classes(self) -> bool:
        """Tell whether a classifier of held-out source rows is significantly better than chance."""
        n_rows = HELD_OUT * int((self.codes[self.source] >= 0).sum())
        if not n_rows:
            return False
        error = 2.5 * np.sqrt(self._chance * (1 - self._chance) / n_rows)
        least = self._chance + error + LEAST_SOURCE_SKILL * (1.0 - self._chance)
        return any(accuracy > least for accuracy in self.held_out_accuracies.values())

    @property
    def _chance(self) -> float:
        """The share of the largest class of the source."""
        sizes = np.bincount(self.codes[self.source & (self.codes >= 0)])
        return float(sizes.max() / sizes.sum())

    def held_out(self, kind: str, space: Space) -> float:
        """Return the accuracy of a classifier on held-out source rows; groups are held out together."""
        Z, codes = space.rows[self.source], self.codes[self.source]
        group = np.unique(self.groups[self.source], return_inverse=True)[1]
        hidden = (np.random.default_rng(1).random(len(codes))[group] < HELD_OUT) & (codes >= 0)
        if not hidden.any() or len(np.unique(codes[~hidden & (codes >= 0)])) < 2:
            return 0.0
        ones = np.ones(len(codes))
        model = make_classifier(kind).fit(Z, np.where(hidden, -1, codes), ones > 0, ones)
        return float(np.mean(model.predict_proba(Z[hidden]).argmax(axis=1) == codes[hidden]))

    def combine(self, name: str, kind: str, space: Space) -> Combination:
        """Return the combination of a candidate with a classifier trained on the source."""
        P = self.predict(kind, space)
        smooth = smoothness(self.neighbors, P.argmax(axis=1))
        return Combination(name, kind, smooth, P, self, space)

    def predict(
        self,
        kind: str,
        space: Space,
        target: Indices | None = None,
        *,
        source: bool = True,
        held_out: Indices | None = None,
    ) -> Array:
        """Return probabilities of the target rows, trained on the source, on target codes, or on both.

        Source rows of the groups that are `held_out` are not trained on.
        """
        used = self.source & source
        if held_out is not None:
            used &= ~np.isin(self.groups, held_out)
        codes = np.where(used, self.codes, -1)
        weights = np.append(self.weights, 1.0)[self.origin]
        labelled = np.zeros(len(codes), dtype=bool)
        if target is not None:
            codes[~self.source] = target
            labelled = ~self.source & (codes >= 0)
        if (codes < 0).all():  # all source rows are held out
            return np.full((int((~self.source).sum()), len(self.classes)), 1 / len(self.classes))
        if labelled.any() and source:
            share = TARGET_SHARE * float(weights[self.source].sum()) / int(labelled.sum())
            weights[labelled] = max(1.0, share)
        model = make_classifier(kind).fit(space.rows, codes, self.source, weights)
        P = model.predict_proba(space.rows[~self.source])
        # Classes without training rows come last.
        return np.pad(P, ((0, 0), (0, len(self.classes) - P.shape[1])))


def _labelled_first(order: Indices, codes: Indices, random_state: int, most: int) -> Indices:
    """Return the order in which `most` rows of a source are drawn, with rows of each class first if need be.

    It is unchanged if all rows are labelled and every class is among those drawn.
    """
    if (codes >= 0).all() and np.isin(codes, codes[order[:most]]).all():
        return order
    first = of_each_class(codes, random_state, most)
    return np.concatenate([first, np.setdiff1d(order, first, assume_unique=True)])


def weights_sentence(sources: Sequence[Domain], weights: Sequence[float]) -> str:
    """Return a sentence with the weight of each source."""
    parts = [
        f"{source.name or 'source'} ({place}) {f'{weight:.2f}' if weight else 'not used'}"
        for place, (source, weight) in enumerate(zip(sources, weights, strict=True), 1)
    ]
    return f"weights of the sources: {', '.join(parts)}"


def smoothness(neighbors: AnyArray, predicted: Indices) -> float:
    """Return the share of neighbours with the same predicted class, corrected for chance."""
    if not neighbors.size:
        return 0.0
    shares = np.bincount(predicted) / len(predicted)
    chance = float(shares @ shares)
    same = float(np.mean(predicted[neighbors] == predicted[:, None]))
    return (same - chance) / (1.0 - chance) if chance < 1.0 else 0.0
