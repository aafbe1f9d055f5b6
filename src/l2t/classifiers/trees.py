"""Random forests and boosted trees of scikit-learn, as arrays that score rows in numpy.

A tree sends a row z to the left child of a node if ``z[feature] <= threshold`` and to the right one
otherwise, down to a leaf. With the leaf l(t) that z reaches in tree t:

===============  =============================  ============================================================
ensemble         trees                          scores of a row z
===============  =============================  ============================================================
random forest    100, of bootstrapped rows      log of the mean of ``value[l(t)]``, which are class shares
boosted trees    60 for each class, or 60 if    ``baseline`` plus ``value[l(t)]`` of the trees of each class
                 the rows have two classes
===============  =============================  ============================================================

The softmax of the scores is what scikit-learn predicts.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from l2t.typing import AnyArray, Array, Indices

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

#: Trees of a random forest; scikit-learn's default.
FOREST_TREES = 100
#: Maximum number of rows that a tree of a forest is trained on.
FOREST_ROWS = 5000
#: Boosted trees of each class, and the minimum number of rows in their leaves (docs/results/tables.md).
BOOSTING_STEPS = 60
BOOSTING_LEAF = 5
#: The class share that a share of zero counts as; 100 of them change no probability by more than 1e-12.
SMALLEST_SHARE = 1e-14
#: The score of a class without labelled rows in boosting.
ABSENT = -1e4
#: Rows per block, and maximum number of pairs of a row and a tree that go down at the same time.
BLOCK = 2048
BLOCK_PAIRS = 2**15
#: The largest score of a leaf that is read from a file; sums of them do not overflow.
MAX_LEAF_SCORE = 1e100

#: Numbers of nodes, features and classes.
Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class TreeHead:
    """An ensemble of decision trees as arrays.

    Attributes
    ----------
    feature : array of shape (n_nodes,)
        The column that a node compares; -1 for a leaf.
    threshold : array of shape (n_nodes,)
        Rows with ``z[feature] <= threshold`` go left.
    left, right : array of shape (n_nodes,)
        The numbers of the children, which are greater than that of the node; -1 for a leaf.
    value : array of shape (n_nodes, n_classes) or (n_nodes, 1)
        The class shares of a node in a forest; what a leaf adds to the score of one class in boosting.
    roots : array of shape (n_trees,)
        The node that each tree starts at.
    column : array of shape (n_trees,) or (0,)
        The class that each boosted tree adds to; empty for a forest.
    baseline : array of shape (n_classes,) or (0,)
        The scores before the first boosted tree; empty for a forest.
    single : bool
        Whether rows are rounded to float32 first, as forests of scikit-learn do.
    """

    feature: Numbers
    threshold: Array
    left: Numbers
    right: Numbers
    value: Array
    roots: Numbers
    column: Numbers
    baseline: Array
    single: bool

    @property
    def is_forest(self) -> bool:
        """Whether the trees average class shares; otherwise they add to scores."""
        return len(self.baseline) == 0

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.value.shape[1]) if self.is_forest else len(self.baseline)

    def scores(self, Z: Array) -> Array:
        """Return one score per row and class; their softmax is the probability.

        Scores of a forest are logarithms of class shares. Those of boosting are the decision values r of
        scikit-learn; for two classes, they are ``[-r / 2, r / 2]``.
        """
        totals = np.zeros((len(Z), self.n_classes))
        totals += 0.0 if self.is_forest else self.baseline
        paths = _Paths.of(self)
        for start in range(0, len(Z), BLOCK):
            self._add_trees(paths, Z[start : start + BLOCK], totals[start : start + BLOCK])
        if self.is_forest:
            totals /= len(self.roots)
            return np.log(np.maximum(totals, SMALLEST_SHARE, out=totals), out=totals)
        return totals - totals.mean(axis=1, keepdims=True) if self.n_classes == 2 else totals

    def with_classes(self, present: Indices, n_classes: int) -> TreeHead:
        """Return the ensemble for `n_classes`, of which its own are those `present`."""
        if self.is_forest:
            value = np.zeros((len(self.value), n_classes))
            value[:, present] = self.value
            return replace(self, value=value)
        baseline = np.full(n_classes, ABSENT)
        baseline[present] = self.baseline
        column = present[self.column].astype(np.int32)
        return replace(self, baseline=baseline, column=column)

    def _add_trees(self, paths: _Paths, Z: Array, totals: Array) -> None:
        """Add the values of the leaves that rows Z reach to `totals`, in the order of the trees."""
        if self.single:
            with np.errstate(over="ignore"):  # what is too large is infinite, and goes right
                Z = Z.astype(np.float32)
        cells = np.ascontiguousarray(Z, dtype=np.float64)
        step = max(BLOCK_PAIRS // len(Z), 1)
        for first in range(0, len(self.roots), step):
            leaves = paths.leaves(cells, self.roots[first : first + step])
            for tree, leaf in enumerate(leaves, start=first):
                if self.is_forest:
                    totals += self.value[leaf]
                else:
                    totals[:, self.column[tree]] += self.value[leaf, 0]

    def check(self, n_features: int) -> None:
        """Raise a ValueError unless rows of `n_features` columns can be scored."""
        self._check_types()
        n_nodes, n_trees = len(self.feature), len(self.roots)
        lengths = {len(self.threshold), len(self.left), len(self.right), len(self.value)}
        if lengths != {n_nodes} or len(self.column) != (0 if self.is_forest else n_trees):
            raise ValueError("the arrays of its trees must have the same lengths")
        if not _within(self.feature, -1, n_features) or not _within(self.roots, 0, n_nodes):
            raise ValueError("its trees have features or roots out of range")
        is_leaf, number = self.feature == -1, np.arange(n_nodes)
        for child in (self.left, self.right):
            if not np.where(is_leaf, child == -1, (child > number) & (child < n_nodes)).all():
                raise ValueError("children in its trees must come after their parents")
        if not np.isfinite(self.threshold).all():
            raise ValueError("the thresholds of its trees must be finite")
        self._check_values()

    def _check_types(self) -> None:
        """Raise a ValueError unless all arrays have the type and the number of dimensions that they need."""
        integers = self.feature, self.left, self.right, self.roots, self.column
        floats = self.threshold, self.baseline, self.value
        fit = (
            isinstance(array, np.ndarray)
            and array.dtype.kind == ("i" if i < len(integers) else "f")
            and array.ndim == (2 if array is self.value else 1)
            for i, array in enumerate((*integers, *floats))
        )
        if not all(fit) or not isinstance(self.single, bool | np.bool_):
            raise ValueError("the arrays of its trees have wrong types or dimensions")

    def _check_values(self) -> None:
        """Raise a ValueError unless a forest has class shares, or boosting scores of its classes."""
        if self.is_forest:
            in_range = bool(((self.value >= 0) & (self.value <= 1 + 1e-6)).all())
            if not len(self.roots) or not in_range or not np.allclose(self.value.sum(axis=1), 1.0):
                raise ValueError("a forest must have trees, whose values are class shares")
            return
        small = all(
            (np.abs(array) <= MAX_LEAF_SCORE).all() for array in (self.value, self.baseline)
        )
        if not small or self.value.shape[1] != 1 or not _within(self.column, 0, self.n_classes):
            raise ValueError("boosted trees must add finite values to one of the classes")


def fit_random_forest(rows: Array, codes: Indices, n_classes: int) -> TreeHead:
    """Train a random forest.

    Parameters
    ----------
    rows : array of shape (n, n_features)
        The labelled rows.
    codes : array of shape (n,)
        Their classes, from 0 to n_classes - 1. The share of a class without rows is zero.
    n_classes : int
        The number of classes.

    Returns
    -------
    TreeHead
    """
    from sklearn.ensemble import RandomForestClassifier

    n_rows = FOREST_ROWS if len(rows) > FOREST_ROWS else None
    model = RandomForestClassifier(FOREST_TREES, max_samples=n_rows, random_state=0, n_jobs=1)
    classes = _train(model, rows, codes)
    trees = []
    for estimator in model.estimators_:
        tree = estimator.tree_
        value = np.zeros((tree.node_count, n_classes))
        value[:, classes] = tree.value[:, 0, : len(classes)]
        is_leaf = tree.children_left < 0
        trees.append(
            _Tree(
                tree.feature,
                tree.threshold,
                tree.children_left,
                tree.children_right,
                is_leaf,
                value,
            )
        )
    return _head(trees, np.empty(0), np.empty(0), single=True)


def fit_boosting(rows: Array, codes: Indices, n_classes: int) -> TreeHead:
    """Train boosted trees.

    Parameters
    ----------
    rows : array of shape (n, n_features)
        The labelled rows.
    codes : array of shape (n,)
        Their classes, from 0 to n_classes - 1. A class without rows has the score `ABSENT`.
    n_classes : int
        The number of classes.

    Returns
    -------
    TreeHead
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    baseline = np.full(n_classes, ABSENT)
    baseline[codes] = 0.0
    if (codes == codes[0]).all():
        return _head([], np.empty(0), baseline, single=False)
    model = HistGradientBoostingClassifier(
        max_iter=BOOSTING_STEPS,
        min_samples_leaf=BOOSTING_LEAF,
        early_stopping=False,
        random_state=0,
    )
    classes = _train(model, rows, codes)
    raised = (
        classes[1:] if len(classes) == 2 else classes
    )  # of two classes, the first keeps score 0
    baseline[raised] = np.ravel(model._baseline_prediction)
    trees, column = [], []
    for predictors in model._predictors:
        for code, predictor in zip(raised, predictors, strict=True):
            nodes = predictor.nodes
            is_leaf = nodes["is_leaf"].astype(bool)
            value = np.where(is_leaf, nodes["value"], 0.0)[:, None]
            split = nodes["feature_idx"], nodes["num_threshold"], nodes["left"], nodes["right"]
            trees.append(_Tree(*split, is_leaf, value))
            column.append(code)
    return _head(trees, np.array(column), baseline, single=False)


def _train(model: ClassifierMixin, rows: Array, codes: Indices) -> Indices:
    """Train an estimator in one thread, and return the classes it knows."""
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(limits=1, user_api="openmp"):
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        model.fit(rows, codes)
    return np.asarray(model.classes_, dtype=np.intp)


class _Tree(NamedTuple):
    """A tree of scikit-learn, whose nodes have numbers from 0; at leaves, only `value` has a meaning."""

    feature: AnyArray
    threshold: AnyArray
    left: AnyArray
    right: AnyArray
    is_leaf: AnyArray
    value: Array


def _head(trees: Sequence[_Tree], column: AnyArray, baseline: Array, *, single: bool) -> TreeHead:
    """Return trees as one ensemble: the nodes of a tree follow those of the tree before it."""
    sizes = np.array([len(tree.value) for tree in trees], dtype=np.intp)
    roots = np.cumsum(sizes) - sizes

    def numbers(name: str, offsets: Indices) -> Numbers:
        parts = [
            np.where(tree.is_leaf, -1, getattr(tree, name).astype(np.intp) + offset)
            for tree, offset in zip(trees, offsets, strict=True)
        ]
        return np.concatenate([np.empty(0, dtype=np.intp), *parts]).astype(np.int32)

    thresholds = [np.where(tree.is_leaf, 0.0, tree.threshold) for tree in trees]
    return TreeHead(
        feature=numbers("feature", np.zeros_like(roots)),
        threshold=np.concatenate([np.empty(0), *thresholds]),
        left=numbers("left", roots),
        right=numbers("right", roots),
        value=np.concatenate([tree.value for tree in trees]) if trees else np.empty((0, 1)),
        roots=roots.astype(np.int32),
        column=column.astype(np.int32),
        baseline=baseline,
        single=single,
    )


class _Paths(NamedTuple):
    """The nodes of an ensemble as they are looked up.

    `children` has shape (2 n_nodes,): the right child of node i is at 2 i, and its left child at 2 i + 1.
    """

    feature: Indices
    threshold: Array
    children: Indices

    @classmethod
    def of(cls, head: TreeHead) -> _Paths:
        """Return the nodes of an ensemble."""
        children = np.stack([head.right, head.left], axis=1).ravel().astype(np.intp)
        return cls(head.feature.astype(np.intp), head.threshold, children)

    def leaves(self, Z: Array, roots: Numbers) -> Indices:
        """Return the leaf of each row below each root, of shape (n_roots, n_rows), level by level."""
        n_rows, n_features = Z.shape
        cells = Z.ravel()
        reached = np.repeat(roots.astype(np.intp), n_rows)
        pair = np.flatnonzero(self.feature[reached] >= 0)  # pairs of a row and a tree above a leaf
        node = reached[pair]
        cell = pair % n_rows * n_features
        feature = self.feature[node]
        while len(pair):
            goes_left = cells[cell + feature] <= self.threshold[node]
            node = self.children[2 * node + goes_left]
            reached[pair] = node
            feature = self.feature[node]
            inner = np.flatnonzero(feature >= 0)
            pair, node, cell, feature = pair[inner], node[inner], cell[inner], feature[inner]
        return reached.reshape(len(roots), n_rows)


def _within(numbers: Numbers, low: int, high: int) -> bool:
    """Whether all numbers are at least `low` and less than `high`."""
    return bool(((numbers >= low) & (numbers < high)).all())
