"""The result of a prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from l2t.domains import Domain
from l2t.domains.draw import LANDMARKS
from l2t.exceptions import InvalidInputError
from l2t.inference import Inference
from l2t.prediction.decisions import HeldOutRows, Metric, Quality
from l2t.prediction.explanation import LabeledNeighbor, column_importance, nearest_labeled
from l2t.prediction.labelling import DEFAULT_STRATEGY, suggest_rows
from l2t.prediction.model import Model
from l2t.prediction.page import fragment, page
from l2t.prediction.promise import Promise
from l2t.prediction.report import Report
from l2t.prediction.summary import summarize
from l2t.typing import AnyArray, Array, Indices, JsonObject, Mask
from l2t.validation import whole_number

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted classes of all rows of a target.

    Attributes
    ----------
    labels, probability : array of shape (n,)
        The predicted class of every row, and its probability.
    probabilities : array of shape (n, n_classes)
        The probabilities of all classes.
    given : bool array of shape (n,)
        Which rows came with a label.
    classes : array of shape (n_classes,)
        The classes of the target.
    choice, classifier : str
        The features with the largest weight, "identity" for the original ones; and the classifier, "ensemble"
        for several.
    report : Report
        The accuracy to expect, and why.
    model : Model
        The trained model, which classifies further rows.
    labels_needed : str or None
        How many more labels a higher accuracy needs, in a sentence; None if unknown.
    target : Domain
        The target as it was given.
    frame : DataFrame or None, default=None
        The columns predicted, probability and given, if the target was a frame of pandas or polars.
    metric : {"accuracy", "balanced", "f1"}, default="accuracy"
        The metric that the predicted classes maximise.
    expected, measured : Quality or None, default=None
        Accuracy, balanced accuracy, mean F1 and recalls: as expected from the probabilities of unlabelled
        rows, and as cross-validated on the labelled rows, if they were.
    held_out : HeldOutRows or None, default=None
        The cross-validated probabilities of labelled rows, if they are known.
    sources : tuple of Domain, default=()
        The sources as they were given, with the columns of the target.
    choose : callable
        Returns `inference`.
    """

    labels: AnyArray
    probability: Array
    probabilities: Array
    given: Mask
    classes: AnyArray
    choice: str
    classifier: str
    report: Report
    model: Model
    labels_needed: str | None
    target: Domain = field(repr=False)
    choose: Callable[[], Inference] = field(repr=False)
    frame: pd.DataFrame | None = None
    metric: Metric = "accuracy"
    expected: Quality | None = None
    measured: Quality | None = None
    held_out: HeldOutRows | None = field(default=None, repr=False)
    sources: tuple[Domain, ...] = field(default=(), repr=False)

    @cached_property
    def inference(self) -> Inference:
        """What `l2t.infer` chooses for the same task, and why; computed on first access if not used."""
        return self.choose()

    @property
    def promise(self) -> Promise | None:
        """The accuracy to expect on unlabelled rows, with its interval; None if nothing tells it."""
        return self.report.promise

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows that are predicted as each class."""
        names, counts = np.unique(self.labels.astype(str), return_counts=True)
        count_of = dict(zip(names.tolist(), counts.tolist(), strict=True))
        return {name: count_of.get(name, 0) for name in map(str, self.classes.tolist())}

    def __repr__(self) -> str:
        n, k = self.probabilities.shape
        return f"Prediction({n} rows, {k} classes, {self.classifier} on {self.choice})"

    def suggest(
        self, n: int, *, strategy: str = DEFAULT_STRATEGY, random_state: int = 0
    ) -> Indices:
        """Return rows to label next.

        Parameters
        ----------
        n : int
            The number of rows.
        strategy : {"informative", "diverse", "balanced", "random"}, default="informative"
            "informative" chooses rows that tell most about the uncertain ones (`l2t.prediction.labelling`);
            "diverse" the centres of clusters of all rows, weighted by their uncertainty; "balanced" central
            rows among the least certain of the classes with the fewest labels; "random" any rows.
        random_state : int, default=0
            The seed of clusters and random rows.

        Returns
        -------
        int array of shape (n,)
            Indices of rows of the target, fewer if fewer are unlabelled.
        """
        whole_number("n", n, least=1)
        (features, _), X = self.model.parts[0], self.target.rows
        many = len(self.target) > LANDMARKS or sparse.issparse(X)
        every = None if many else features(X)
        return suggest_rows(
            lambda rows: features(X[rows]) if every is None else every[rows],
            self.probabilities,
            self.given,
            n,
            strategy,
            random_state,
        )

    def importance(self, random_state: int = 0) -> dict[str, float]:
        """Return how much each column matters, the most important first.

        It is the share of rows whose predicted class changes when the cells of the column are shuffled among
        300 rows, in the mean of three times (`l2t.prediction.explanation`). Of two columns that say the same,
        neither may matter alone.

        Parameters
        ----------
        random_state : int, default=0
            The seed of the rows and of their order.

        Returns
        -------
        dict
            From the name of each column, "x0", "x1", ... without names, to a number from 0 to 1.

        Raises
        ------
        InvalidInputError
            The target has more than 100 columns.
        """
        return column_importance(self.model, self.target, random_state)

    def nearest(self, row: int, n: int = 5) -> list[LabeledNeighbor]:
        """Return the labelled rows of the target and the sources that are nearest to a row.

        Distances are in the features of the model's first view, in which sources and target are compared.

        Parameters
        ----------
        row : int
            The index of a row of the target.
        n : int, default=5
            The number of labelled rows.

        Returns
        -------
        list of Neighbor
            The nearest first; each has the `source` (None for the target), the `row` there, its `label` and
            its `distance`.
        """
        whole_number("row", row, least=0)
        whole_number("n", n, least=1)
        if row >= len(self.target):
            raise InvalidInputError(f"row must be below {len(self.target)}, got {row}")
        return self.nearest_of(np.array([row]), n)[0]

    def nearest_of(self, rows: Indices, n: int = 5) -> list[list[LabeledNeighbor]]:
        """Return what `nearest` does for each of several rows."""
        features = self.model.parts[0][0]
        return nearest_labeled(features, self.target, self.given, self.sources, rows, n)

    def summary(self) -> JsonObject:
        """Return a dict with the content of its page as numbers and text; see `l2t.prediction.summary`."""
        return summarize(self)

    def to_html(self) -> str:
        """Return a self-contained HTML page: expected accuracy, the target before and after, and why."""
        return page(self.summary())

    def plot(self) -> Any:
        """Return a `matplotlib.figure.Figure` of the expected accuracies; see `Report.plot`."""
        return self.report.plot()

    def _repr_html_(self) -> str:
        return fragment(self.summary())
