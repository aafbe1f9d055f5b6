"""A transformer of scikit-learn that maps rows to features that transfer."""

from __future__ import annotations

import os
import warnings
from functools import reduce
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    OneToOneFeatureMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from l2t import algorithms
from l2t.algorithms import NO_TRANSFER, Algorithm, LatentFactors
from l2t.algorithms.base import with_known
from l2t.domains import DomainPair, KnownClasses
from l2t.domains.domain import check_whole
from l2t.domains.labels import UNLABELED, known_labels, label_array
from l2t.exceptions import InvalidInputError, L2TWarning
from l2t.inference import infer
from l2t.inference.candidates import Wanted
from l2t.interfaces.estimators.stacking import is_source, split_domains
from l2t.paper import Reflection
from l2t.prediction.training import further_classes
from l2t.typing import AnyArray, Mask, MatrixLike

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from l2t.experiences import ExperienceStore

#: Float types that are kept; any other type becomes the first.
FLOATS = (np.float64, np.float32)
#: Methods that choose by a prediction; all others are single algorithms.
CHOOSING = ("l2t", "paper")


class L2TTransformer(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn has no types
    OneToOneFeatureMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Map rows of both domains to features in which the source improves classification of the target.

    ``X -> X W``, with the W of the candidate that is expected to improve accuracy most (`l2t.infer`), or of
    one algorithm; X itself if it is better not to transfer.

    Parameters
    ----------
    method : str or Algorithm, default="l2t"
        "l2t" to choose among candidates; "paper" for the search of the paper; or one algorithm, by name
        (`l2t.algorithms.names`) or as an object, whose own settings then take the place of `n_components` and
        `random_state`.
    candidates : sequence of names or algorithms, mapping from names to W, or None, default=None
        For "l2t": the candidates in addition to "identity"; by default "spectrum", "classes" and
        "classes+spectrum". Without source labels and other known classes, only "spectrum" and "identity".
    known : KnownClasses or None, default=None
        Further labelled rows with the same features.
    store : str, path, ExperienceStore or None, default=None
        An experience store, or its URL, whose labelled targets are known classes as well. `fit` opens a URL
        and closes it again; clones share an ExperienceStore.
    reflection : ReflectionFunction, str, path or None, default=None
        The reflection function, as in `l2t.infer`; by default the one that ships. One without a forecast
        implies "paper".
    n_components : int or None, default=None
        Maximum number of columns of W (for "gfk", half of it). By default all columns of a candidate, and at
        most 20 for "paper" and base algorithms. A single "identity", "spectrum", "classes" or
        "classes+spectrum" keeps all its columns.
    n_labels, n_classes : int or None, default=None
        Number of labelled rows and of classes of the target, if it has no labelled rows; see `l2t.infer`.
    random_state : int, RandomState or None, default=0
        The seed, as in scikit-learn, but with the default of `l2t.infer`; None uses
        the global state of `numpy.random`.

    Attributes
    ----------
    W_ : array of shape (n_features, u)
        The linear map that `transform` applies; it does not depend on target labels.
    choice_ : str
        The chosen candidate, or the name of the algorithm.
    verdict_ : {"transfer", "no-transfer"}
        "no-transfer" if the choice is "identity"; then `transform` returns X.
    predicted_ : float or None
        The predicted improvement ratio of the choice; None for a single algorithm.
    inference_, factors_ : Inference or None, LatentFactors or None
        The complete result: of a method that chooses, or of a single algorithm.
    n_features_in_, feature_names_in_ : int, array of str
        Number of features seen in `fit`, and their names if X had any.

    See Also
    --------
    L2TClassifier : The same with a classifier that is trained on labelled rows with classes of the target.

    Notes
    -----
    Rows are neither scaled nor centred. In a plain Pipeline the classifier behind the transformer is trained
    on every row, and takes the mark of unlabelled rows, -1, for a class. skada's `make_da_pipeline` leaves
    unlabelled rows out, and by default hides all target labels, so that the classifier predicts classes of
    the source. `L2TClassifier` predicts classes of the target; in `make_da_pipeline` it needs
    ``mask_target_labels=False`` to know them.

    Examples
    --------
    >>> from l2t.domains import PairSampler, digits, mnist, normalize
    >>> from l2t.interfaces.estimators import stack_domains
    >>> pair = PairSampler(normalize(digits()), normalize(mnist()), 1)[0]
    >>> X, y, sample_domain = stack_domains(pair.source, pair.target)
    >>> transformer = L2TTransformer(method="gfk", n_components=10)
    >>> transformer.fit(X, y, sample_domain=sample_domain).transform(pair.target.X).shape[1]
    20
    """

    # With metadata routing, `sample_domain` is requested by default.
    __metadata_request__fit: ClassVar = {"sample_domain": True}
    __metadata_request__transform: ClassVar = {"sample_domain": True, "allow_source": True}

    def __init__(  # noqa: PLR0913
        self,
        method: str | Algorithm = "l2t",
        *,
        candidates: Wanted | None = None,
        known: KnownClasses | None = None,
        store: str | os.PathLike[str] | ExperienceStore | None = None,
        reflection: Reflection | str | os.PathLike[str] | None = None,
        n_components: int | None = None,
        n_labels: int | None = None,
        n_classes: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.method = method
        self.candidates = candidates
        self.known = known
        self.store = store
        self.reflection = reflection
        self.n_components = n_components
        self.n_labels = n_labels
        self.n_classes = n_classes
        self.random_state = random_state

    def fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None = None,
        *,
        sample_domain: npt.ArrayLike | None = None,
    ) -> Self:
        """Fit the linear map W.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, m)
            Rows of both domains.
        y : array-like of shape (n,) or None, default=None
            Labels. Candidates are fitted to and rehearsed on those of the source; those of the target are
            evidence in the choice. Target rows with -1, NaN or None are not labelled. A y of several columns
            is ignored.
        sample_domain : array-like of shape (n,) or None, default=None
            Above 0 for source rows, below 0 for target rows; without it, X is used as both domains, and its
            labels are only evidence in the choice. Rows with different numbers above 0 are different sources,
            as for `l2t.infer`; a single algorithm is fitted to all of them together.

        Returns
        -------
        self : L2TTransformer
            The fitted transformer.
        """
        check_whole("X", X)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, ensure_min_samples=2)
        labels = None if y is None else label_array(y)
        if labels is not None and labels.ndim == 2:  # several columns are not classes
            labels = labels[:, 0] if labels.shape[1] == 1 else None
        choosing = self._name in CHOOSING
        names = getattr(self, "feature_names_in_", None)
        sources, target = split_domains(
            X, labels, sample_domain, feature_names=names, pooled=not choosing
        )
        further = further_classes(self.known, self.store, target)
        known = reduce(KnownClasses.merge, further) if further else None
        if y is None and self._traits.needs_source_labels:
            raise InvalidInputError(
                f"method={self._name!r} requires y to be passed, but the target y is None; it needs source "
                "labels"
            )
        self.inference_ = self.factors_ = self.predicted_ = None
        if choosing:
            inference = self.inference_ = infer(
                target,
                self.reflection,
                self.n_components,
                self.n_labels,
                n_classes=self.n_classes,
                sources=sources,
                candidates=self.candidates,
                known=known,
                method="paper" if self._name == "paper" else None,
                shared=False,
                random_state=seed_of(self.random_state),
            )
            self.choice_ = inference.choice
            self.predicted_ = inference.predicted
            W = inference.W
        else:
            self.factors_ = self._fit_algorithm(DomainPair(sources[0], target), known)
            self.choice_, W = self.factors_.algorithm, self.factors_.W
        self.verdict_ = "no-transfer" if self.choice_ == NO_TRANSFER else "transfer"
        self.W_ = W.astype(X.dtype, copy=False)
        return self

    def fit_transform(
        self,
        X: MatrixLike,
        y: npt.ArrayLike | None = None,
        *,
        sample_domain: npt.ArrayLike | None = None,
        allow_source: bool = True,
    ) -> AnyArray:
        """Fit, and return the transformed rows of both domains; see `fit` and `transform`.

        It warns if some target rows are labelled and others have -1, because a classifier behind it in a
        plain Pipeline would learn -1 as a class.
        """
        if y is not None and sample_domain is not None:
            _warn_of_marks(label_array(y), ~is_source(sample_domain))
        return self.fit(X, y, sample_domain=sample_domain).transform(X)

    def transform(
        self,
        X: MatrixLike,
        *,
        sample_domain: npt.ArrayLike | None = None,
        allow_source: bool = True,
    ) -> AnyArray:
        """Return ``X W``, or X itself if it is better not to transfer, in the float type of X.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, m)
            Rows of either domain, seen in `fit` or not.
        sample_domain, allow_source : default=None and True
            Ignored, as both domains have one map; accepted because pipelines of skada pass them.

        Returns
        -------
        array of shape (n, u)
        """
        check_is_fitted(self)
        check_whole("X", X)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        if self.verdict_ == "no-transfer":
            return np.asarray(X.toarray() if sparse.issparse(X) else X)
        return np.asarray(X @ self.W_.astype(X.dtype, copy=False))

    def get_feature_names_out(
        self, input_features: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.object_]:
        """Return "l2ttransformer0", "l2ttransformer1" ..., or the input names if nothing is transferred.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features of X; by default those seen in `fit`.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        same = self.verdict_ == "no-transfer"
        mixin = OneToOneFeatureMixin if same else ClassNamePrefixFeaturesOutMixin
        return np.asarray(mixin.get_feature_names_out(self, input_features))

    @property
    def _n_features_out(self) -> int:
        return int(self.W_.shape[1])

    @property
    def _name(self) -> str:
        method = self.method
        return method.lower() if isinstance(method, str) else str(getattr(method, "name", None))

    @property
    def _traits(self) -> algorithms.Traits:
        named = isinstance(self.method, str)
        return algorithms.traits_by_name(self._name) if named else algorithms.Traits.of(self.method)

    def _fit_algorithm(self, pair: DomainPair, known: KnownClasses | None) -> LatentFactors:
        """Fit a single algorithm, with the known classes if it uses any."""
        named = isinstance(self.method, str) or not isinstance(self.method, Algorithm)
        if named and self._name not in algorithms.names():
            raise InvalidInputError(
                f"method must be {', '.join(CHOOSING)}, one of {', '.join(algorithms.names())}, or an "
                f"algorithm, got {self.method!r}"
            )
        params = {"n_components": self.n_components, "random_state": seed_of(self.random_state)}
        wanted = self._name if named else self.method
        (algorithm,) = algorithms.make_all("method", wanted, **params)
        if known is not None:
            known = KnownClasses([pair.source]).merge(known).without(pair.target)
            algorithm = with_known(algorithm, known)
        with warnings.catch_warnings():
            if self.n_components is None and named:
                warnings.simplefilter("ignore", L2TWarning)  # fewer components than 20 are fine
            return algorithm.fit(pair)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self._traits.needs_source_labels
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _warn_of_marks(y: AnyArray, target: Mask) -> None:
    """Warn of -1 in a partly labelled target; None and NaN are errors in classifiers of scikit-learn."""
    if y.shape != target.shape:
        return
    labels = y[target]
    known = known_labels(labels)
    marked = known_labels(labels, target=False) & ~known
    if known.any() and marked.any():
        warnings.warn(
            f"{int(marked.sum())} of {len(labels)} target rows are unlabelled, which a classifier behind "
            f"L2TTransformer in a plain Pipeline would learn as the class {UNLABELED}: use L2TClassifier "
            "instead of both, or call fit and then transform",
            L2TWarning,
            stacklevel=3,
        )


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed that a random state of scikit-learn gives."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
