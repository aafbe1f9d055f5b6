"""A classifier of target rows that chooses features and classifier together."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils import assert_all_finite
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from l2t.domains import Domain, KnownClasses
from l2t.domains.domain import check_whole
from l2t.domains.encoding import TableEncoder, is_frame, needs_encoding
from l2t.domains.labels import label_array, label_key
from l2t.exceptions import InvalidInputError, L2TWarning
from l2t.interfaces.estimators.stacking import is_source, labeled_rows, split_domains
from l2t.interfaces.estimators.transformer import FLOATS, seed_of
from l2t.paper import Reflection
from l2t.prediction import predict
from l2t.prediction.decisions import Metric
from l2t.prediction.model import EstimatorHead
from l2t.prediction.training import NAMED, TrainOn
from l2t.task import ClassRoles
from l2t.typing import AnyArray, MatrixLike
from l2t.validation import one_of, some_of

if TYPE_CHECKING:
    import numpy.typing as npt
    from sklearn.utils import Tags

    from l2t.experiences import ExperienceStore


def _delegated(name: str, returned: str) -> Any:
    """Return a method that exists if the classifier has it; the classifiers of L2T have probabilities."""

    def exists(self: L2TClassifier) -> bool:
        if not isinstance(self.classifier, str):
            behind = getattr(self, "estimator_", self.classifier)
            return bool(getattr(behind, name))  # its AttributeError is more specific
        return name != "decision_function"

    def method(
        self: L2TClassifier,
        X: MatrixLike,
        *,
        sample_domain: npt.ArrayLike | None = None,
        allow_source: bool = True,
    ) -> AnyArray:
        return self._predict_with(name, X)

    method.__name__, method.__doc__ = name, f"Return {returned}; see `predict`."
    method.__qualname__ = f"L2TClassifier.{name}"
    return available_if(exists)(method)


class L2TClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Classify target rows from few labels, with the help of a source (`l2t.predict`).

    A plain Pipeline trains its classifier on the rows of both domains, and so predicts source classes. This
    classifier is trained on rows whose labels are classes of the target.

    Parameters
    ----------
    classifier : str or classifier, default="auto"
        "auto" to choose; a name in `l2t.prediction.CLASSIFIERS`, such as "nearest neighbour" as in the paper;
        or a classifier of scikit-learn, which is trained on the features that `l2t.infer` chooses.
    train_on : {"auto", "target", "source", "both"}, default="auto"
        The domains whose labelled rows it is trained on. "source" and "both" need shared classes, and
        "source" needs no target labels. "auto" is "both" if source and target share classes, otherwise
        "target". Without `sample_domain`, it is trained on all rows.
    shared : bool or None, default=None
        Whether equal labels of source and target mean equal classes, as for `l2t.predict`. None means that
        they do, and that a target without a labelled row has the classes of the source, with a warning.
    known : KnownClasses or None, default=None
        Further labelled rows with the same features.
    store : str, path, ExperienceStore or None, default=None
        An experience store, or its URL, whose labelled targets are known classes as well. `fit` opens a URL
        and closes it again; clones share an ExperienceStore.
    reflection : ReflectionFunction, str, path or None, default=None
        A reflection function or its file, for the choice of features; see `l2t.infer`.
    balanced : bool, default=False
        Whether all classes of the target have about the same number of rows, as for `l2t.predict`.
    metric : {"accuracy", "balanced", "f1"}, default="accuracy"
        What `predict` maximises: the accuracy, the balanced accuracy or the mean F1 of the classes.
    random_state : int, RandomState or None, default=0
        The seed, as in scikit-learn, but with the default of `l2t.predict`; None uses
        the global state of `numpy.random`.

    Attributes
    ----------
    classes_ : array
        The classes of the target.
    choice_, classifier_ : str
        The candidate whose features are used, "identity" for the original features, and the classifier.
    report_ : Report
        The expected accuracies with and without transfer, and why this one is used.
    model_ : Model
        The trained model, which can be saved unless `classifier` is an estimator of scikit-learn.
    estimator_ : classifier
        The trained estimator of scikit-learn, if `classifier` is one.
    encoder_ : TableEncoder or None
        What makes features of the columns of a frame that are not all numbers.
    n_features_in_, feature_names_in_ : int, array of str
        Number of columns seen in `fit`, and their names if X had any.

    See Also
    --------
    l2t.predict : The same for domains, arrays and frames, with a more detailed result.
    L2TTransformer : Only the transformation of the features.

    Notes
    -----
    In a search or a cross-validation, `score` uses only the labelled target rows if it is passed
    `sample_domain`, which needs ``sklearn.set_config(enable_metadata_routing=True)``. Stratified splitters,
    the default for classifiers, sort labels: they accept -1 for unlabelled rows ("-1" among strings), but
    neither NaN nor None.

    Examples
    --------
    Three new digits with five labels each, and three others as the source:

    >>> from l2t.domains import PairSampler, digits, mnist, normalize
    >>> from l2t.interfaces.estimators import stack_domains
    >>> pair = PairSampler(normalize(digits()), normalize(mnist()), 1)[0]
    >>> codes = pair.target.codes
    >>> labeled = np.isin(np.arange(len(codes)), [np.flatnonzero(codes == c)[:5] for c in range(3)])
    >>> target = Domain(pair.target.X, pair.target.y, labeled=labeled)
    >>> X, y, sample_domain = stack_domains(pair.source, target)
    >>> classifier = L2TClassifier().fit(X, y, sample_domain=sample_domain)
    >>> classifier.classes_.tolist() == list(pair.target.classes)
    True
    """

    # With metadata routing, `sample_domain` is requested by default.
    __metadata_request__fit: ClassVar = {"sample_domain": True}
    __metadata_request__predict: ClassVar = {"sample_domain": True, "allow_source": True}
    __metadata_request__predict_proba: ClassVar = __metadata_request__predict
    __metadata_request__predict_log_proba: ClassVar = __metadata_request__predict
    __metadata_request__decision_function: ClassVar = __metadata_request__predict
    __metadata_request__score: ClassVar = __metadata_request__predict

    def __init__(  # noqa: PLR0913
        self,
        classifier: str | ClassifierMixin = "auto",
        *,
        train_on: TrainOn = "auto",
        shared: bool | None = None,
        known: KnownClasses | None = None,
        store: str | os.PathLike[str] | ExperienceStore | None = None,
        reflection: Reflection | str | os.PathLike[str] | None = None,
        balanced: bool = False,
        metric: Metric = "accuracy",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.classifier = classifier
        self.train_on = train_on
        self.shared = shared
        self.known = known
        self.store = store
        self.reflection = reflection
        self.balanced = balanced
        self.metric = metric
        self.random_state = random_state

    def fit(
        self, X: MatrixLike, y: npt.ArrayLike, *, sample_domain: npt.ArrayLike | None = None
    ) -> Self:
        """Choose features and classifier, and train the classifier.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, m)
            Rows of both domains; the columns of a frame may hold categories, text, dates and missing cells.
        y : array-like of shape (n,)
            Labels. Target rows with -1, NaN or None are not labelled; any string but "-1" is a label. Without
            `sample_domain`, all rows must be labelled, and -1 is a class only if the others are 1.
        sample_domain : array-like of shape (n,) or None, default=None
            Above 0 for source rows, below 0 for target rows; without it, X is used as both domains. Rows with
            different numbers above 0 are different sources, weighted as by `l2t.predict`.

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
        self.encoder_ = TableEncoder.fit([X]) if needs_encoding(X) else None
        X = self._features(X, ensure_min_samples=2)
        labels = column_or_1d(label_array(y), warn=True)
        names = getattr(self, "feature_names_in_", None)
        names = names if self.encoder_ is None else self.encoder_.feature_names
        sources, target = split_domains(X, labels, sample_domain, feature_names=names)
        only_target = sample_domain is None
        known = labeled_rows(labels, sample_domain)
        assert_all_finite(_as_numbers(labels[known]), input_name="y")
        check_classification_targets(_as_numbers(labels[known]))
        if only_target and not known.all():
            raise InvalidInputError(
                "y must be known for every row where sample_domain is not given, "
                f"got {labels[known.argmin()]} at row {int(known.argmin())}"
            )
        self._warn_of_source_classes(sources, target)
        prediction = predict(
            [] if only_target else sources,
            target,
            classifier=clone(self.classifier, safe=False),
            train_on="target" if only_target else self.train_on,
            shared=self.shared,
            balanced=self.balanced,
            metric=self.metric,
            known=self.known,
            store=self.store,
            reflection=self.reflection,
            random_state=seed_of(self.random_state),
        )
        self.choice_ = prediction.choice
        self.classifier_ = prediction.classifier
        self.report_ = prediction.report
        self.model_ = replace(prediction.model, encoder=self.encoder_)
        kept = prediction.classes.dtype if labels.dtype == object else labels.dtype
        self.classes_ = prediction.classes.astype(kept)
        return self

    def predict(
        self,
        X: MatrixLike,
        *,
        sample_domain: npt.ArrayLike | None = None,
        allow_source: bool = True,
    ) -> AnyArray:
        """Return the classes of rows.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, m)
            Rows of the target, seen in `fit` or not.
        sample_domain, allow_source : default=None and True
            Ignored; accepted because scorers of skada pass them.

        Returns
        -------
        array of shape (n,)
        """
        return self._predict_with("predict", X)

    predict_proba = _delegated(
        "predict_proba", "the probabilities of the classes, in the order of `classes_`"
    )
    predict_log_proba = _delegated(
        "predict_log_proba", "the logarithms of the probabilities of the classes"
    )
    decision_function = _delegated("decision_function", "the decision function of the classifier")

    def score(
        self,
        X: MatrixLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        *,
        sample_domain: npt.ArrayLike | None = None,
        allow_source: bool = False,
    ) -> float:
        """Return the accuracy.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, m)
            Rows.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,) or None, default=None
            Weights of the rows.
        sample_domain : array-like of shape (n,) or None, default=None
            If given, only labelled target rows are used, as is right in a cross-validation on both domains.
        allow_source : bool, default=False
            Whether labelled source rows are used as well.

        Returns
        -------
        float
        """
        predicted = self._predict_with("predict", X)
        labels = column_or_1d(label_array(y))
        rows = np.ones(len(labels), dtype=np.bool_)
        if sample_domain is not None:
            rows = labeled_rows(labels, sample_domain)
            rows &= np.asarray(allow_source) | ~is_source(sample_domain)
            if not rows.any():
                raise InvalidInputError(
                    "score needs labelled target rows, got none; without target labels, use a scorer that "
                    "needs none"
                )
        weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
        return float(
            accuracy_score(_as_numbers(labels[rows]), predicted[rows], sample_weight=weights)
        )

    @property
    def estimator_(self) -> ClassifierMixin:
        """The trained estimator of scikit-learn, if one was given."""
        head = self.model_.parts[0][1]
        if not isinstance(head, EstimatorHead):
            raise AttributeError("estimator_ exists only if classifier is one of scikit-learn")
        return head.estimator

    def _warn_of_source_classes(self, sources: list[Domain], target: Domain) -> None:
        """Warn that the source's classes are predicted, unless a parameter says that they are shared."""
        roles = ClassRoles.of(sources, target)
        declared = self.train_on != "auto" or self.shared is not None
        if declared or roles.both or roles.target_only or not roles.source_only:
            return
        names = some_of(roles.source_only, NAMED)
        warnings.warn(
            f"no target row is labelled, so the classes of the source ({names}) are "
            "predicted: set shared=True if the target has these classes, otherwise pass labels of target "
            "rows, in skada with make_da_pipeline(..., mask_target_labels=False) and an unmasked y",
            L2TWarning,
            stacklevel=3,
        )

    def _predict_with(self, method: str, X: MatrixLike) -> AnyArray:
        check_is_fitted(self)
        check_whole("X", X)
        X = self._features(X, reset=False)
        decided = method == "predict" and self.model_.offsets is not None
        if hasattr(self, "estimator_") and not decided:
            return np.asarray(getattr(self.estimator_, method)(self.model_.parts[0][0](X)))
        probabilities = self.model_.predict_proba(X)
        if method == "predict":
            return np.asarray(self.classes_[self.model_.decide(probabilities)])
        return np.log(probabilities) if method == "predict_log_proba" else probabilities

    def _features(self, X: MatrixLike, **checks: bool | int | str) -> MatrixLike:
        """Return X as numbers, validated; the columns of a table as features."""
        if self.encoder_ is not None and is_frame(X):
            return self.encoder_.transform(
                validate_data(self, X, skip_check_array=True, reset=checks.get("reset", True))
            )
        return validate_data(self, X, accept_sparse="csr", dtype=FLOATS, **checks)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _as_numbers(labels: AnyArray) -> AnyArray:
    """Return labels of dtype object as an array of numbers, or of strings if one is a string."""
    if labels.dtype != object:
        return labels
    is_text = [isinstance(label, str) for label in labels]
    if any(is_text):
        return labels if all(is_text) else np.array([str(label_key(label)) for label in labels])
    return np.array(labels.tolist())
