"""Predictions by one classifier that the user names, on the features that `l2t.infer` chooses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from l2t.algorithms import NO_TRANSFER
from l2t.classifiers.classifiers import CLASSIFIERS, TrainingSet, fit_head
from l2t.classifiers.feature_map import FeatureMap
from l2t.inference import Inference
from l2t.inference.coordinates import Coordinates
from l2t.prediction.model import EstimatorHead, Model
from l2t.prediction.promise import Promise
from l2t.prediction.report import PLAIN, TOO_FEW, Report, ReportRow
from l2t.prediction.solution import Solution
from l2t.prediction.training import Training, spread_over_classes
from l2t.prediction.trials import (
    MAX_TESTED_ROWS,
    MAX_TRAINED_ROWS,
    Learner,
    ViewRows,
    cross_validate,
)
from l2t.prediction.views import View


def solve_by_name(
    classifier: Any, coordinates: Coordinates, training: Training, inference: Inference
) -> Solution:
    """Train one classifier.

    Parameters
    ----------
    classifier : str or classifier of scikit-learn
        The classifier, or its name.
    coordinates : Coordinates
        The task.
    training : Training
        Its rows, in the coordinates.
    inference : Inference
        The choice of features, in the coordinates.

    Returns
    -------
    Solution
    """
    seed = coordinates.task.random_state
    W = None if inference.choice == NO_TRANSFER else inference.W
    features = PLAIN if W is None else inference.choice
    rows_of_target = training.X[: training.n_target]
    compared: list[ReportRow] = []
    promise: Promise | None = None
    head: Any
    if isinstance(classifier, str):
        traits = CLASSIFIERS[classifier]
        view = FeatureMap.of(rows_of_target, W, unit=traits.unit)
        rows = training.sample(MAX_TRAINED_ROWS, seed)
        if not traits.relies_on_neighbours:
            rows = np.union1d(rows, np.flatnonzero(training.codes >= 0))
        codes = training.codes[rows]
        at = np.flatnonzero(codes >= 0)
        task = TrainingSet(view(training.X[rows]), at, codes[at], len(training.classes))
        head = fit_head(classifier, task)
        used, promise = _measured(Learner(classifier, features), view, training, seed)
        if features != PLAIN:
            original = FeatureMap.of(rows_of_target, None, unit=traits.unit)
            compared = [_measured(Learner(classifier, PLAIN), original, training, seed)[0]]
    else:
        view = FeatureMap(W, np.zeros(training.X.shape[1] if W is None else W.shape[1]))
        at = np.flatnonzero(training.codes >= 0)
        labels = training.labels[training.codes[at]]
        head = EstimatorHead(classifier.fit(view(training.X[at]), labels))
        used = ReportRow(features, type(classifier).__name__)
    used = replace(used, used=True, reason="this classifier was requested")
    model = Model(training.labels, None, ((view, head),), name=used.name)
    free = training.codes[: training.n_target] < 0
    model, P = model.answering(rows_of_target, free, used.expected, seed)
    where = "original features" if features == PLAIN else f"features of {features!r}"
    sentences = [f"Used: {used.classifier} on the {where}; {used.reason}."]
    sentences.append(TOO_FEW if used.expected is None else f"{used.outcome}.")
    return Solution(
        model,
        P,
        Report((used, *compared), sentences, promise),
        inference.choice,
        used.classifier,
        inference=coordinates.lift(inference),
    )


def _measured(
    learner: Learner, features: FeatureMap, training: Training, seed: int
) -> tuple[ReportRow, Promise | None]:
    """Return a learner with its cross-validated accuracy on labelled target rows, and its promise."""
    rows = training.sample(MAX_TRAINED_ROWS, seed)
    codes, of_target = training.codes[rows], rows < training.n_target
    of_source = np.flatnonzero(~of_target & (codes >= 0))
    row = ReportRow(learner.view, learner.classifier)
    trial = cross_validate(
        ViewRows({learner.view: View(features)}, training.X[rows]),
        spread_over_classes(np.where(of_target, codes, -1), MAX_TESTED_ROWS),
        training.groups[rows],
        [learner],
        also=(of_source, codes[of_source]),
    )
    if trial is None:
        return row, None
    accuracy, n = trial.accuracy(learner), len(trial.codes)
    basis = f"cross-validated on {n} labelled rows"
    promise = Promise.measured(accuracy, n, training.n_unlabeled_groups, basis)
    return row.with_measured(accuracy, n).promising(promise), promise
