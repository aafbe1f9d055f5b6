"""What the steps of a prediction arrive at, in the coordinates of the task."""

from __future__ import annotations

from dataclasses import dataclass, replace

from l2t.classifiers.feature_map import change_first
from l2t.inference import Inference
from l2t.inference.coordinates import Coordinates
from l2t.prediction.decisions import HeldOutRows
from l2t.prediction.model import Model, means_and_medians
from l2t.prediction.report import Report
from l2t.typing import Array


@dataclass(frozen=True, eq=False)
class Solution:
    """A model of the target of a task, and what is expected of it.

    Attributes
    ----------
    model : Model
        The model, which takes rows in the coordinates of the task.
    probabilities : array of shape (n, n_classes)
        The probabilities of all classes for the rows of the task's target.
    report : Report
        The accuracy to expect, and why.
    choice, classifier : str
        The features with the largest weight, "identity" for the original ones; and the classifier.
    held_out : HeldOutRows or None, default=None
        The cross-validated probabilities of labelled rows, if they are known.
    labels_needed : str or None, default=None
        How many more labels a higher accuracy needs, in a sentence; None if unknown.
    inference : Inference or None, default=None
        The choice of features, on those of the user, if one was made.
    """

    model: Model
    probabilities: Array
    report: Report
    choice: str
    classifier: str
    held_out: HeldOutRows | None = None
    labels_needed: str | None = None
    inference: Inference | None = None

    def model_of_features(self, coordinates: Coordinates) -> Model:
        """Return the model as one that takes the features of the user, with what tables are encoded by."""
        target = coordinates.asked.target
        maps = change_first([features for features, _ in self.model.parts], coordinates.lift_map)
        means, medians = means_and_medians(target.rows)
        return replace(
            self.model,
            parts=tuple(zip(maps, (head for _, head in self.model.parts), strict=True)),
            feature_names=target.feature_names,
            means=means,
            medians=medians,
            encoder=coordinates.asked.whole_target.encoder,
        )
