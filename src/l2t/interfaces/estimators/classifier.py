"""A classifier of target rows behind the transfer, trained on rows that can teach it their classes."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from l2t.domains.domain import label_array
from l2t.exceptions import InvalidInputError
from l2t.interfaces.estimators.stacking import Mask, Stack, is_source, known_labels
from l2t.interfaces.estimators.transformer import FLOATS, L2TTransformer
from l2t.validation import one_of

__all__ = ["L2TClassifier"]

TrainOn = Literal["target", "source", "both"]


def _delegated(name: str, returned: str) -> Any:
    """Return a method that exists where the classifier behind the transfer has it."""

    def exists(own: L2TClassifier) -> bool:
        getattr(getattr(own, "estimator_", own._classifier), name)  # its AttributeError tells more
        return True

    def method(
        self: L2TClassifier, X: Any, *, sample_domain: Any = None, allow_source: bool = True
    ) -> npt.NDArray[Any]:
        return self._ask(name, X)

    method.__name__, method.__doc__ = name, f"Return {returned}; see `predict`."
    method.__qualname__ = f"L2TClassifier.{name}"
    return available_if(exists)(method)


class L2TClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Transfer, then classify target rows.

    The transformer chooses what to transfer; where it is better not to, the rows reach the classifier as they
    are.

    A plain Pipeline trains its classifier on the rows of both domains, and so predicts source classes. This
    one trains on rows that know the target's classes.

    Parameters
    ----------
    estimator : classifier, optional
        By default 1-nearest-neighbour.
    transformer : transformer, optional
        What comes before it, by default ``L2TTransformer()``; its `fit` takes `sample_domain`. Known
        classes, candidates and the number of labels are its parameters:
        ``L2TTransformer(store="experiences.db")``.
    train_on : {"target", "source", "both"}
        The rows that the classifier is trained on: the labelled target rows; or, where both domains have
        the same classes, the labelled source rows, for which no target label is needed, or all labelled
        rows. Without `sample_domain` X stands for both domains, and all rows are trained on.

    Attributes
    ----------
    classes_ : array
        The classes that can be predicted.
    transformer_, estimator_ : estimators
        The fitted parts; ``transformer_.choice_`` and ``transformer_.predicted_`` say what was transferred
        and what it should bring.
    n_features_in_ : int
        Features seen in `fit`.
    feature_names_in_ : array of str
        Their names, where X had any.

    See Also
    --------
    L2TTransformer : The first half of it, for other uses.

    Notes
    -----
    In a search or a cross-validation `score` counts the labelled target rows alone if `sample_domain` reaches
    it, which takes ``sklearn.set_config(enable_metadata_routing=True)``. Stratified splitters, the default
    for classifiers, sort labels: they take the -1 of unlabelled rows, but neither NaN nor None.

    Examples
    --------
    Three new digits with five labels each, and three others as the source:

    >>> from l2t.domains import PairSampler, digits, mnist, normalize
    >>> from l2t.interfaces.estimators import stack_domains
    >>> pair = PairSampler(normalize(digits()), normalize(mnist()), 1)[0]
    >>> names, codes = np.array(pair.target.classes), pair.target.codes
    >>> few = np.concatenate([np.flatnonzero(codes == c)[:5] for c in range(3)])
    >>> yt = np.full(len(codes), None)
    >>> yt[few] = names[codes[few]]
    >>> X, y, sample_domain = stack_domains(pair.source, (pair.target.X, yt))
    >>> classifier = L2TClassifier().fit(X, y, sample_domain=sample_domain)
    >>> classifier.classes_.tolist() == names.tolist()
    True
    """

    # Under metadata routing `sample_domain` is passed on without being asked for.
    __metadata_request__fit: ClassVar = {"sample_domain": True}
    __metadata_request__predict: ClassVar = {"sample_domain": True, "allow_source": True}
    __metadata_request__predict_proba: ClassVar = __metadata_request__predict
    __metadata_request__predict_log_proba: ClassVar = __metadata_request__predict
    __metadata_request__decision_function: ClassVar = __metadata_request__predict
    __metadata_request__score: ClassVar = __metadata_request__predict

    def __init__(
        self, estimator: Any = None, *, transformer: Any = None, train_on: TrainOn = "target"
    ) -> None:
        self.estimator = estimator
        self.transformer = transformer
        self.train_on = train_on

    def fit(self, X: Any, y: Any, *, sample_domain: Any = None) -> Self:
        """Find what to transfer, and train the classifier on rows that were transformed.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, m)
            Rows of both domains.
        y : array-like of shape (n,)
            Labels. Target rows with -1, NaN or None are not labelled.
        sample_domain : array-like of shape (n,), optional
            Above 0 for source rows, below 0 for target rows; without it X stands for both domains.

        Returns
        -------
        self : L2TClassifier
            The fitted classifier.
        """
        one_of("train_on", self.train_on, get_args(TrainOn))
        if y is None:
            raise InvalidInputError(
                "L2TClassifier requires y to be passed, but the target y is None"
            )
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, ensure_min_samples=2)
        stack = Stack.of(X, column_or_1d(label_array(y), warn=True), sample_domain)
        rows = _all_known(stack) if sample_domain is None else _training_rows(stack, self.train_on)
        labels = _plain(np.asarray(stack.y)[rows])
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        front = L2TTransformer() if self.transformer is None else clone(self.transformer)
        marks = {} if sample_domain is None else {"sample_domain": sample_domain}
        self.transformer_ = front.fit(X, stack.y, **marks)
        Z = self.transformer_.transform(X[rows])
        self.estimator_ = clone(self._classifier).fit(Z, labels)
        self.classes_ = self.estimator_.classes_
        return self

    def predict(
        self, X: Any, *, sample_domain: Any = None, allow_source: bool = True
    ) -> npt.NDArray[Any]:
        """Return the classes of rows.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, m)
            Rows of the target, seen before or not.
        sample_domain, allow_source
            Not used. Scorers of skada pass them.
        """
        return self._ask("predict", X)

    predict_proba = _delegated(
        "predict_proba", "the probabilities of the classes, in the order of `classes_`"
    )
    predict_log_proba = _delegated(
        "predict_log_proba", "the logarithms of the probabilities of the classes"
    )
    decision_function = _delegated("decision_function", "the decision function of the classifier")

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        sample_domain: Any = None,
        allow_source: bool = False,
    ) -> float:
        """Return the accuracy.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, m)
            Rows.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        sample_domain : array-like of shape (n,), optional
            Where it is given, the labelled target rows alone count, so that a cross-validation on rows
            of both domains measures what is wanted.
        allow_source : bool
            Whether the labelled source rows count as well.
        """
        predicted = self._ask("predict", X)
        y = column_or_1d(label_array(y))
        rows = np.ones(len(y), dtype=bool)
        if sample_domain is not None:
            rows = known_labels(y, sample_domain)
            rows &= np.asarray(allow_source) | ~is_source(sample_domain)
            if not rows.any():
                raise InvalidInputError(
                    "score needs labelled target rows, got none; without target labels take a scorer "
                    "that needs none"
                )
        weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
        return float(accuracy_score(_plain(y[rows]), predicted[rows], sample_weight=weights))

    @property
    def _classifier(self) -> Any:
        return KNeighborsClassifier(1) if self.estimator is None else self.estimator

    def _ask(self, method: str, X: Any) -> npt.NDArray[Any]:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        return np.asarray(getattr(self.estimator_, method)(self.transformer_.transform(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        front = get_tags(L2TTransformer() if self.transformer is None else self.transformer)
        tags.input_tags.sparse = front.input_tags.sparse
        tags.classifier_tags.multi_class = get_tags(self._classifier).classifier_tags.multi_class
        return tags


def _all_known(stack: Stack) -> Mask:
    """Return all rows, which must be labelled where X stands for both domains."""
    if stack.known.all():
        return stack.known
    raise InvalidInputError(
        "y must not be missing where sample_domain is not given, "
        f"got NaN or None at row {int(stack.known.argmin())}"
    )


def _training_rows(stack: Stack, train_on: TrainOn) -> Mask:
    """Return the rows to train on, or say why they cannot teach the target's classes."""
    ours, theirs = stack.known & stack.source, stack.known & stack.target
    unlabeled = f"got none of {int(stack.target.sum())} (-1, NaN and None mean unlabelled)"
    if train_on == "target":
        if theirs.any():
            return theirs
        raise InvalidInputError(
            f"train_on='target' needs labelled target rows, {unlabeled}; label a few, or take "
            "train_on='source' if both domains have the same classes"
        )
    if not ours.any():
        raise InvalidInputError(f"train_on={train_on!r} needs labelled source rows, got none")
    if train_on == "both" and not theirs.any():
        raise InvalidInputError(
            f"train_on='both' needs labelled target rows, {unlabeled}; take train_on='source' if both "
            "domains have the same classes"
        )
    labels = np.asarray(stack.y)
    source, target = ({*labels[rows].tolist()} for rows in (ours, theirs))
    strange = target - source
    if strange and (train_on == "source" or strange == target):
        raise InvalidInputError(
            f"train_on={train_on!r} needs classes that both domains share, got the target's "
            f"{sorted(strange, key=str)[0]!r} which no source row has; take train_on='target'"
        )
    return ours if train_on == "source" else ours | theirs


def _plain(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels without the `object` that held their None, where they are no texts."""
    if labels.dtype != object or any(isinstance(label, str) for label in labels):
        return labels
    return np.array(labels.tolist())
