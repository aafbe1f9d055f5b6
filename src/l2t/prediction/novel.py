"""Predictions of classes that only the target has, by the ensemble."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import softmax

from l2t.algorithms import NO_TRANSFER
from l2t.classifiers.classifiers import DEFAULT, Head
from l2t.classifiers.feature_map import FeatureMap
from l2t.classifiers.trees import TreeHead
from l2t.domains import KnownClasses
from l2t.forecast import Forecast
from l2t.inference import Inference
from l2t.inference.choice import expected_to_mislead
from l2t.inference.coordinates import Coordinates
from l2t.inference.inference import separable_sources
from l2t.prediction.decisions import HeldOutRows
from l2t.prediction.ensemble import (
    FLOOR,
    Ensemble,
    Situation,
    balancing_shift,
    fit_ensemble,
)
from l2t.prediction.ensemble_report import basis_of, ensemble_report, main_view
from l2t.prediction.labelling import labels_needed
from l2t.prediction.model import Model, calibration_rows
from l2t.prediction.promise import OwnRows, Promise, expect_accuracy
from l2t.prediction.report import ENSEMBLE
from l2t.prediction.shared import note_on_sources
from l2t.prediction.solution import Solution
from l2t.prediction.training import Training, spread_over_classes
from l2t.prediction.trials import (
    LEARNERS,
    MAX_TESTED_ROWS,
    MAX_TRAINED_ROWS,
    Learner,
    Trial,
    ViewRows,
    cross_validate,
    rehearse_learners,
)
from l2t.prediction.views import N_NETWORKS, PLAIN, SPECTRUM, View, fit_views
from l2t.rehearsal import known_neighbours

#: Multiples of the present number of labels at which the learning curve is rehearsed.
CURVE = (2, 4, 8)
#: With fewer labels per class no curve is rehearsed: with one, further labels were expected to give .753, and
#: gave .679 (docs/results/promises.md).
LEAST_SHOTS_OF_CURVE = 2


class NovelClasses:
    """The steps of one prediction, in the coordinates of the task.

    Parameters
    ----------
    coordinates : Coordinates
        The task.
    training : Training
        Its rows, in the coordinates.
    further : sequence of KnownClasses
        Known classes besides those of the sources.
    """

    def __init__(
        self, coordinates: Coordinates, training: Training, further: Sequence[KnownClasses]
    ) -> None:
        separable, self.note = separable_sources(coordinates.task)
        self.coordinates, self.task, self.training = coordinates, coordinates.task, training
        self.known = coordinates.only(separable).known_classes(further)
        self.drawn = training.X[: training.n_drawn]
        self.n_classes = max(len(training.classes), 2)
        self.rows_per_class = max(training.n_target // self.n_classes, 1)

    def solve(
        self,
        forecast: Forecast,
        searched: Inference | None,
        report: Callable[[str], None],
        *,
        balanced: bool,
    ) -> Solution:
        """Predict with all learners, weighted by their trials.

        Parameters
        ----------
        forecast : Forecast
            What expects how far neighbourhoods mislead.
        searched : Inference or None
            The choice of the paper's search, if one was asked for; its W takes the place of the spectrum.
        report : callable
            Called with the name of each stage when it begins.
        balanced : bool
            Whether all classes are known to be equally frequent.

        Returns
        -------
        Solution
        """
        training, seed = self.training, self.task.random_state
        report("rehearsing")
        plays = self._rehearse(training.shots)
        report("comparing classifiers")
        views = fit_views(self.known, self.drawn, n_networks=N_NETWORKS, random_state=seed)
        if searched is not None and searched.choice != NO_TRANSFER:
            features = FeatureMap.of(self.drawn, searched.W, unit=True)
            views[SPECTRUM] = View(features, views[PLAIN].variances)
        rows = training.sample(MAX_TRAINED_ROWS, seed)
        placed, codes = ViewRows(views, training.X[rows]), training.codes[rows]
        at, unlabeled = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        heads = placed.fit(LEARNERS, at, codes[at], len(training.classes))
        own = cross_validate(
            placed, spread_over_classes(codes, MAX_TESTED_ROWS), training.groups[rows]
        )
        situation = self._situation(forecast)
        if len(unlabeled):
            P = placed.probabilities(heads, LEARNERS, unlabeled)
            situation = situation.seen(Trial(LEARNERS, P, codes[unlabeled]), plays)
        ensemble = fit_ensemble(situation, plays, own)
        report("predicting")
        X = training.X[: training.n_target]
        model = self._model(ensemble, views, heads)
        free = training.codes[: training.n_target] < 0
        scores = model.decision_function(X[calibration_rows(free, seed)])
        if balanced:
            shift = balancing_shift(scores)
            model, scores = replace(model, shift=tuple(shift.tolist())), scores + shift
        promise = expect_accuracy(
            softmax(scores, axis=1).max(axis=1),
            training.shots,
            len(training.classes),
            training.n_unlabeled_groups,
            basis_of(plays, own, ensemble),
            own=None if own is None else _held_out(ensemble, own),
            doubt=ensemble.doubt,
            randomness=ensemble.randomness,
        )
        expected = None if promise is None else promise.expected
        model, P = model.answering(X, free, expected, seed)
        needed = self._labels_needed(ensemble, situation, promise)
        notes = [*note_on_sources(self.note), *([needed] if needed else [])]
        return Solution(
            model,
            P,
            ensemble_report(ensemble, promise, plays, own, notes),
            main_view(ensemble),
            ENSEMBLE,
            held_out=None if own is None else HeldOutRows(ensemble.probabilities(own), own.codes),
            labels_needed=needed,
            inference=None if searched is None else self.coordinates.lift(searched),
        )

    def _situation(self, forecast: Forecast) -> Situation:
        """Return what is known of the target before learners answer for it."""
        neighbours = known_neighbours(
            self.known,
            n_classes=self.n_classes,
            rows_per_class=self.rows_per_class,
            random_state=self.task.random_state,
        )
        misleading = expected_to_mislead(self.drawn, self.known, neighbours, forecast)
        # Nothing is learned from a single known class.
        distance = self.known.distance_to(self.drawn) if self.known.n_classes > 1 else np.inf
        return Situation(self.training.shots, misleading, distance)

    def _rehearse(self, shots: float) -> tuple[Trial, ...]:
        return rehearse_learners(
            self.known,
            n_classes=self.n_classes,
            rows_per_class=self.rows_per_class,
            shots=shots,
            random_state=self.task.random_state,
        )

    def _model(
        self,
        ensemble: Ensemble,
        views: dict[str, View],
        heads: dict[Learner, Head | TreeHead],
    ) -> Model:
        """Return the trained learners that are used, with their weights."""
        training = self.training
        used = [learner for learner in ensemble.used if learner.view in views]
        every = np.flatnonzero(training.codes >= 0)
        if len(every) > MAX_TRAINED_ROWS:  # logistic regression takes all labelled rows
            linear = [learner for learner in used if learner.classifier == DEFAULT]
            some = ViewRows(
                {learner.view: views[learner.view] for learner in linear}, training.X[every]
            )
            codes, at = training.codes[every], np.arange(len(every))
            heads = heads | some.fit(linear, at, codes, len(training.classes))
        return Model(
            training.labels,
            None,
            tuple((views[learner.view].features, heads[learner]) for learner in used),
            name=", ".join(learner.name for learner in used),
            weights=tuple(ensemble.used[learner] for learner in used),
            floor=FLOOR,
        )

    def _labels_needed(
        self, ensemble: Ensemble, situation: Situation, promise: Promise | None
    ) -> str | None:
        """Return a sentence on more labels, from a rehearsed learning curve."""
        if promise is None or ensemble.doubt >= 1.0 or self.training.shots < LEAST_SHOTS_OF_CURVE:
            return None
        curve = {}
        shots = max(1, round(self.training.shots))
        for times in (1, *CURVE):
            plays = self._rehearse(times * shots)
            if not plays:
                return None
            later = fit_ensemble(replace(situation, shots=times * shots), plays)
            curve[times * shots] = later.accuracy(plays)
        n = self.training.n_unlabeled_groups
        return labels_needed(self.training.shots, promise, n, curve)


def _held_out(ensemble: Ensemble, own: Trial) -> OwnRows:
    """Return how an ensemble answers for labelled rows that were held out."""
    probability = ensemble.probabilities(own).max(axis=1).mean()
    return OwnRows(ensemble.accuracy([own]), len(own.codes), float(probability))
