"""What to transfer, as a transformer of scikit-learn."""

from __future__ import annotations

import os
import warnings
from typing import Any, ClassVar, Self

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
from l2t.algorithms import Algorithm, LatentFactors
from l2t.domains import DomainPair
from l2t.domains.domain import label_array
from l2t.exceptions import InvalidInputError, L2TWarning
from l2t.inference import infer
from l2t.interfaces.estimators.stacking import Stack
from l2t.reflection import ReflectionFunction
from l2t.reflection.plan import Constraint

__all__ = ["L2TTransformer"]

#: The floating types that are kept; anything else becomes the first.
FLOATS = (np.float64, np.float32)


class L2TTransformer(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn has no types
    OneToOneFeatureMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Map rows of both domains to where knowledge transfers from the source to the target.

    ``X -> X W``, with the W that a reflection function expects most of, or that of a base algorithm; X
    itself where the verdict is not to transfer.

    Parameters
    ----------
    method : str or Algorithm
        "l2t", the name of a base algorithm (`l2t.algorithms.names`), or an algorithm with settings of
        its own, to which `n_components` and `random_state` then do not apply.
    reflection : ReflectionFunction, str or path, optional
        For "l2t": a function, the name of one that ships with the package, or a file; by default the
        one that ships.
    n_components : int, optional
        Columns of W at most (for "gfk" half of them). By default what the function's plan says, and for a
        base algorithm 20 or as many as there can be.
    n_labels : int, optional
        For "l2t": how many labelled target rows there will be, where none are labelled yet.
    constraint : {"soft", "grassmann", "sphere"}, optional
        For "l2t": where W is searched; by default what the function's plan says.
    n_iter : int, optional
        For "l2t": steps of the search; by default what the plan says.
    random_state : int, RandomState or None
        The seed.

    Attributes
    ----------
    W_ : array of shape (n_features_in_, u)
        What was found. No target label was read for it.
    verdict_ : {"transfer", "no-transfer"}
        Whether `transform` uses it; for a base algorithm always "transfer".
    predicted_ : float or None
        The improvement ratio that is predicted for it; None for a base algorithm.
    inference_ : Inference or None
        Everything else about it, for "l2t".
    factors_ : LatentFactors or None
        Everything else about it, for a base algorithm.
    n_features_in_ : int
        Features seen in `fit`.
    feature_names_in_ : array of str
        Their names, where X had any.

    See Also
    --------
    L2TClassifier : The same in front of a classifier, trained on the right rows.

    Notes
    -----
    Rows are neither scaled nor centred. In a plain Pipeline the classifier behind the transformer is trained
    on every row, with -1 as a class of its own; `L2TClassifier` and skada's `make_da_pipeline` are not so.

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

    # Under metadata routing `sample_domain` is passed on without being asked for.
    __metadata_request__fit: ClassVar = {"sample_domain": True}
    __metadata_request__transform: ClassVar = {"sample_domain": True, "allow_source": True}

    def __init__(
        self,
        method: str | Algorithm = "l2t",
        *,
        reflection: ReflectionFunction | str | os.PathLike[str] | None = None,
        n_components: int | None = None,
        n_labels: int | None = None,
        constraint: Constraint | None = None,
        n_iter: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.method = method
        self.reflection = reflection
        self.n_components = n_components
        self.n_labels = n_labels
        self.constraint = constraint
        self.n_iter = n_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, sample_domain: Any = None) -> Self:
        """Find W.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, m)
            Rows of both domains.
        y : array-like of shape (n,), optional
            Labels. Those of the source are for base algorithms that use them ("itl"); labelled target
            rows vote on the verdict. Target rows with -1, NaN or None are not labelled. A y of several
            columns is not used.
        sample_domain : array-like of shape (n,), optional
            Above 0 for source rows, below 0 for target rows; without it X stands for both domains.

        Returns
        -------
        self : L2TTransformer
            The fitted transformer.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, ensure_min_samples=2)
        pair = Stack.of(X, _one_column(y), sample_domain).pair
        if y is None and self._name == "itl":
            raise InvalidInputError(
                "method='itl' requires y to be passed, but the target y is None; it uses source labels"
            )
        self.inference_ = self.factors_ = self.predicted_ = None
        if self._name == "l2t":
            found = self.inference_ = infer(
                pair,
                self.reflection,
                self.n_components,
                self.n_labels,
                constraint=self.constraint,
                n_iter=self.n_iter,
                random_state=self._seed(),
            )
            self.verdict_, self.predicted_ = found.verdict, found.predicted
            self.W_ = found.W
        else:
            self.factors_ = self._base(pair)
            self.verdict_, self.W_ = "transfer", self.factors_.W
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_domain: Any = None,
        allow_source: bool = True,
    ) -> npt.NDArray[Any]:
        """Find W and transform the rows of both domains with it; see `fit` and `transform`."""
        return self.fit(X, y, sample_domain=sample_domain).transform(X)

    def transform(
        self, X: Any, *, sample_domain: Any = None, allow_source: bool = True
    ) -> npt.NDArray[Any]:
        """Return ``X W``, or X itself where the verdict is not to transfer, in the floating type of X.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n, m)
            Rows of either domain, seen before or not.
        sample_domain, allow_source
            Not used: both domains have one map. Pipelines of skada pass them.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        if self.verdict_ == "no-transfer":
            return np.asarray(X.toarray() if sparse.issparse(X) else X)
        return np.asarray(X @ self.W_.astype(X.dtype, copy=False))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return "l2ttransformer0", "l2ttransformer1" ..., or the input's names if nothing is transferred."""
        check_is_fitted(self)
        if self.verdict_ == "no-transfer":
            names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        else:
            names = ClassNamePrefixFeaturesOutMixin.get_feature_names_out(self, input_features)
        return np.asarray(names)

    @property
    def _n_features_out(self) -> int:
        return int(self.W_.shape[1])

    @property
    def _name(self) -> str:
        method = self.method
        return method.lower() if isinstance(method, str) else str(getattr(method, "name", None))

    def _base(self, pair: DomainPair) -> LatentFactors:
        """Fit a base algorithm."""
        if not isinstance(self.method, str) and isinstance(self.method, Algorithm):
            return self.method.fit(pair)
        if self._name not in algorithms.names():
            raise InvalidInputError(
                f"method must be l2t, one of {', '.join(algorithms.names())}, or an algorithm, "
                f"got {self.method!r}"
            )
        params = {} if self.n_components is None else {"n_components": self.n_components}
        algorithm = algorithms.make(self._name, random_state=self._seed(), **params)
        with warnings.catch_warnings():
            if self.n_components is None:
                warnings.simplefilter("ignore", L2TWarning)  # as many as there can be
            return algorithm.fit(pair)

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self._name == "itl"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _one_column(y: Any) -> Any:
    """Return labels of one column; None for several, which are no classes."""
    if y is None:
        return None
    array = label_array(y)
    if array.ndim == 2:
        return array[:, 0] if array.shape[1] == 1 else None
    return array
