"""A classifier of target rows: features and classifier chosen together, trained on the right rows."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils import assert_all_finite
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from l2t.domains import Domain, KnownClasses
from l2t.domains.domain import check_whole, label_array
from l2t.exceptions import InvalidInputError
from l2t.experiences import ExperienceStore
from l2t.interfaces.estimators.stacking import is_source, known_labels, split_domains
from l2t.interfaces.estimators.transformer import FLOATS, seed_of
from l2t.prediction import predict
from l2t.prediction.training import TrainOn
from l2t.reflection import ReflectionFunction
from l2t.typing import AnyArray
from l2t.validation import one_of


def _delegated(name: str, returned: str) -> Any:
    """Return a method that exists where the classifier has it; those that L2T chooses have probabilities."""

    def exists(own: L2TClassifier) -> bool:
        if not isinstance(own.classifier, str):
            behind = getattr(own, "estimator_", own.classifier)
            return bool(getattr(behind, name))  # its AttributeError tells more
        return name != "decision_function"

    def method(
        self: L2TClassifier, X: Any, *, sample_domain: Any = None, allow_source: bool = True
    ) -> AnyArray:
        return self._ask(name, X)

    method.__name__, method.__doc__ = name, f"Return {returned}; see `predict`."
    method.__qualname__ = f"L2TClassifier.{name}"
    return available_if(exists)(method)


class L2TClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Classify target rows from few labels, with the help of a source (`l2t.predict`).

    A plain Pipeline trains its classifier on the rows of both domains, and so predicts source classes. This
    one trains on rows that know the target's classes.

    Parameters
    ----------
    classifier : str or classifier, default="auto"
        "auto" to choose; one of `l2t.prediction.CLASSIFIERS` by name, such as "nearest neighbour", the
        paper's; or a classifier of scikit-learn, which is trained on the features that `l2t.infer` chooses.
    train_on : {"auto", "target", "source", "both"}, default="auto"
        The rows that it is trained on: the labelled target rows; or, where both domains have the same
        classes, the labelled source rows, for which no target label is needed, or all labelled rows. "auto"
        is the target, and both where the source has the target's classes. Without `sample_domain` X stands
        for both domains, and all rows are trained on.
    shared : bool, optional
        Whether equal labels of source and target mean equal classes, as for `l2t.predict`. By default they
        do, and a target without a labelled row has the classes of the source.
    known, store, reflection : optional
        Further known classes, the store of past targets and the reflection function, as for `l2t.predict`.
    balanced : bool, default=False
        Whether all classes of the target have about as many rows, as for `l2t.predict`.
    random_state : int, RandomState or None, default=0
        The seed.

    Attributes
    ----------
    classes_ : array
        The classes of the target, which can be predicted.
    choice_, classifier_ : str
        The candidate whose features are used, "identity" for the rows as they are, and the classifier.
    report_ : Report
        Accuracies to expect, with transfer and without, and why this is used.
    model_ : Model or None
        What predicts, and can be saved; None for a classifier of scikit-learn, which is `estimator_`.
    inference_ : Inference
        What was transferred.
    n_features_in_, feature_names_in_ : int, array of str
        Features seen in `fit`, and their names where X had any.

    See Also
    --------
    l2t.predict : The same for domains, arrays and frames, with more to look at.
    L2TTransformer : The features alone, for other uses.

    Notes
    -----
    In a search or a cross-validation `score` counts the labelled target rows alone if `sample_domain` reaches
    it, which takes ``sklearn.set_config(enable_metadata_routing=True)``. Stratified splitters, the default
    for classifiers, sort labels: they take the -1 of unlabelled rows ("-1" among texts), but neither NaN nor
    None.

    Examples
    --------
    Three new digits with five labels each, and three others as the source:

    >>> from l2t.domains import PairSampler, digits, mnist, normalize
    >>> from l2t.interfaces.estimators import stack_domains
    >>> pair = PairSampler(normalize(digits()), normalize(mnist()), 1)[0]
    >>> codes = pair.target.codes
    >>> few = np.isin(np.arange(len(codes)), [np.flatnonzero(codes == c)[:5] for c in range(3)])
    >>> target = Domain(pair.target.X, pair.target.y, labeled=few)
    >>> X, y, sample_domain = stack_domains(pair.source, target)
    >>> classifier = L2TClassifier().fit(X, y, sample_domain=sample_domain)
    >>> classifier.classes_.tolist() == list(pair.target.classes)
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
        self,
        classifier: Any = "auto",
        *,
        train_on: TrainOn = "auto",
        shared: bool | None = None,
        known: KnownClasses | None = None,
        store: str | os.PathLike[str] | ExperienceStore | None = None,
        reflection: ReflectionFunction | str | os.PathLike[str] | None = None,
        balanced: bool = False,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.classifier = classifier
        self.train_on = train_on
        self.shared = shared
        self.known = known
        self.store = store
        self.reflection = reflection
        self.balanced = balanced
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, sample_domain: Any = None) -> Self:
        """Choose features and classifier, and train it on rows that know the target's classes.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, m)
            Rows of both domains.
        y : array-like of shape (n,)
            Labels. Target rows with -1, NaN or None are not labelled; among texts so are those with "-1",
            "?", "", "NA", "N/A", "NaN", "null" and "None".
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
        check_whole("X", X)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, ensure_min_samples=2)
        labels = column_or_1d(label_array(y), warn=True)
        pair, alone = split_domains(X, labels, sample_domain), sample_domain is None
        known = known_labels(labels, sample_domain)
        assert_all_finite(_plain(labels[known]), input_name="y")
        check_classification_targets(_plain(labels[known]))
        if alone and not known.all():
            raise InvalidInputError(
                "y must not be missing where sample_domain is not given, "
                f"got NaN or None at row {int(known.argmin())}"
            )
        names = getattr(self, "feature_names_in_", None)
        found = predict(
            [] if alone else pair.source,
            Domain(pair.target.X, pair.target.y, labeled=pair.target.labeled, feature_names=names),
            classifier=clone(self.classifier, safe=False),
            train_on="target" if alone else self.train_on,
            shared=self.shared,
            balanced=self.balanced,
            known=self.known,
            store=self.store,
            reflection=self.reflection,
            random_state=seed_of(self.random_state),
        )
        self.choice_, self.classifier_, self.report_ = found.choice, found.classifier, found.report
        self.inference_, self.model_ = found.inference, found.model
        kept = found.classes.dtype if labels.dtype == object else labels.dtype
        self.classes_ = found.classes.astype(kept)
        return self

    def predict(self, X: Any, *, sample_domain: Any = None, allow_source: bool = True) -> AnyArray:
        """Return the classes of rows.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, m)
            Rows of the target, seen before or not.
        sample_domain, allow_source : default=None and True
            Not used. Scorers of skada pass them.

        Returns
        -------
        array of shape (n,)
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
        X, y, sample_weight : array-like of shape (n, m), (n,) and (n,)
            Rows, their labels and, optionally, their weights.
        sample_domain : array-like of shape (n,), optional
            Where it is given, the labelled target rows alone count, so that a cross-validation on rows
            of both domains measures what is wanted.
        allow_source : bool, default=False
            Whether the labelled source rows count as well.

        Returns
        -------
        float
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
    def estimator_(self) -> Any:
        """The trained classifier of scikit-learn, where one was given."""
        return vars(self.model_.parts[0][1])["estimator"]

    def _ask(self, method: str, X: Any) -> AnyArray:
        check_is_fitted(self)
        check_whole("X", X)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        if not isinstance(self.classifier, str):
            return np.asarray(getattr(self.estimator_, method)(self.model_.parts[0][0](X)))
        found = self.model_.predict_proba(X)
        if method == "predict":
            return np.asarray(self.classes_[found.argmax(axis=1)])
        return np.log(found) if method == "predict_log_proba" else found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _plain(labels: AnyArray) -> AnyArray:
    """Return labels without the `object` that held their None, where they are no texts."""
    if labels.dtype != object or any(isinstance(label, str) for label in labels):
        return labels
    return np.array(labels.tolist())
