"""Predictions of classes that only the target has, by the ensemble or by a classifier that the user names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import softmax

from l2t.algorithms import NO_TRANSFER
from l2t.classifiers.classifiers import (
    CLASSIFIERS,
    CV_SHOTS,
    DEFAULT,
    Head,
    TrainingSet,
    fit_head,
)
from l2t.classifiers.feature_map import FeatureMap, change_first
from l2t.classifiers.trees import TreeHead
from l2t.domains import KnownClasses
from l2t.domains.draw import rank_in_class
from l2t.inference import Inference
from l2t.inference.inference import infer_paper, infer_task, predictor, separable_sources
from l2t.inference.result import divide_features
from l2t.inference.wide import Coordinates, is_wide
from l2t.paper.plan import Plan
from l2t.prediction.decisions import HeldOutRows
from l2t.prediction.ensemble import (
    FLOOR,
    Ensemble,
    Situation,
    class_shift,
    fit_ensemble,
)
from l2t.prediction.ensemble_report import basis_of, ensemble_report, main_view
from l2t.prediction.labelling import labels_needed
from l2t.prediction.model import EstimatorHead, Model, calibration_rows
from l2t.prediction.promise import Promise, expect_accuracy
from l2t.prediction.report import ENSEMBLE, PLAIN, TOO_FEW, Report, ReportRow
from l2t.prediction.result import Prediction
from l2t.prediction.training import Training
from l2t.prediction.trials import (
    LEARNERS,
    Learner,
    Trial,
    ViewRows,
    cross_validate,
    rehearse_learners,
)
from l2t.prediction.views import (
    N_NETWORKS,
    SPECTRUM,
    View,
    distance_to,
    fit_views,
)
from l2t.task import SHOTS, Task
from l2t.typing import AnyArray, Indices

#: Maximum number of rows that learners are trained on, labelled or not, and of labelled rows among them that
#: they are cross-validated on.
MAX_ROWS = 1500
MAX_TESTED_ROWS = 500
#: Multiples of the present number of labels at which the learning curve is rehearsed.
CURVE = (2, 4, 8)
SCALED = "Columns were divided by their standard deviation: their scales differ widely."


class NovelClasses:
    """The steps of one prediction; features are divided by `columns` unless that is None."""

    def __init__(self, task: Task, training: Training, columns: AnyArray | None) -> None:
        self.asked, self.task, self.training, self.columns = task, task, training, columns
        self.X = training.X
        if columns is not None:
            self.X = training.X / columns
            self.task = task.divided_by(columns)
        self.known = KnownClasses()

    def predict(
        self,
        classifier: Any,
        balanced: bool,
        reflection: Any,
        further: Sequence[KnownClasses],
        report: Callable[[str], None],
    ) -> Prediction:
        """Predict with the ensemble, or with a classifier that is not "auto".

        Parameters
        ----------
        classifier, balanced, reflection
            As for `predict`.
        further : sequence of KnownClasses
            Known classes besides those of the sources.
        report : callable
            Called with the name of each stage when it begins.

        Returns
        -------
        Prediction
        """
        inference = self._infer(reflection, further, report)
        if classifier != "auto" or self.training.shared:
            report("predicting")
            return self._by_name(inference, DEFAULT if classifier == "auto" else classifier)
        report("comparing classifiers")
        return self._by_ensemble(inference, balanced, report)

    def _infer(
        self, reflection: Any, further: Sequence[KnownClasses], report: Callable[[str], None]
    ) -> Inference:
        """Choose the features; the known classes are kept for the views and plays of learners."""
        report("known")
        separable, note = separable_sources(self.task)
        self.asked, self.task = self.asked.only(separable), self.task.only(separable)
        n_classes = max(len(self.training.classes), 2)
        n_labels = int(self.task.target.labeled_rows(default=False).sum()) or SHOTS * n_classes
        self.task = replace(self.task, n_classes=n_classes, n_labels=n_labels)
        # Rows of the target are recognised among all its rows, before columns are divided.
        self.known = self.asked.known_classes(further)
        if self.columns is not None:
            self.known = self.known.divided_by(self.columns)
        function, forecast = predictor(reflection, None, None)
        if forecast is None:
            return infer_paper(self.task, self.task.domains, function, Plan(), None)
        if further or not is_wide(self.task.domains, None):
            inference = infer_task(self.task, self.known, forecast, callback=report)
        else:  # few dense rows of very many features
            coordinates = Coordinates(self.task.domains)
            placed = coordinates.place(self.task)
            inference = infer_task(placed, placed.known_classes(), forecast, callback=report)
            inference = coordinates.lift(inference)
        return replace(inference, reason=inference.reason + note)

    def _by_ensemble(
        self, inference: Inference, balanced: bool, report: Callable[[str], None]
    ) -> Prediction:
        """Predict with all learners, weighted by their trials."""
        training, seed = self.training, self.task.random_state
        views = fit_views(
            self.known, self.X[: training.n_drawn], n_networks=N_NETWORKS, random_state=seed
        )
        if inference.search is not None and inference.choice != NO_TRANSFER:
            views[SPECTRUM] = self._searched(inference.W, views[PLAIN])
        rows = self._sample(MAX_ROWS)
        placed, codes = ViewRows(views, self.X[rows]), training.codes[rows]
        at, unlabeled = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        heads = placed.fit(LEARNERS, at, codes[at], len(training.classes))
        plays = self._rehearse(training.shots)
        own = cross_validate(placed, self._tested(codes), training.groups[rows])
        drawn = self.X[: training.n_drawn]
        situation = Situation(training.shots, inference.misleading, distance_to(self.known, drawn))
        if len(unlabeled):
            P = placed.probabilities(heads, LEARNERS, unlabeled)
            situation = situation.seen(Trial(LEARNERS, P, codes[unlabeled]), plays)
        ensemble = fit_ensemble(situation, plays, own)
        report("predicting")
        model = self._model(ensemble, views, heads)
        scores = model.decision_function(self.asked.target.X)
        free = calibration_rows(training.codes[: training.n_target] < 0, seed)
        shift = class_shift(scores[free], training.shots, balanced=balanced)
        if shift is not None:
            model, scores = replace(model, shift=tuple(shift.tolist())), scores + shift
        promise = expect_accuracy(
            softmax(scores[free], axis=1).max(axis=1),
            training.shots,
            len(np.unique(training.groups[free])),
            basis_of(plays, own, ensemble),
            own=None if own is None else (ensemble.accuracy([own]), len(own.codes)),
            randomness=ensemble.randomness,
            chance=1.0 / len(training.classes),
        )
        if promise is not None:
            model = model.calibrated(scores[free], promise.expected)
        P = np.asarray(softmax(scores / model.temperature, axis=1))
        needed = self._labels_needed(ensemble, situation, promise)
        notes = [*([] if self.columns is None else [SCALED]), *([needed] if needed else [])]
        return Prediction(
            labels=np.asarray(model.classes_[P.argmax(axis=1)]),
            probability=P.max(axis=1),
            probabilities=P,
            given=self.asked.target.labeled_rows(default=False),
            classes=model.classes_,
            choice=main_view(ensemble),
            classifier=ENSEMBLE,
            report=ensemble_report(ensemble, promise, plays, own, notes),
            model=model,
            labels_needed=needed,
            inference=self._on_columns(inference),
            target=self.asked.target,
            held_out=None if own is None else HeldOutRows(ensemble.probabilities(own), own.codes),
        )

    def _searched(self, W: AnyArray, plain: View) -> View:
        """Return the view of a W of the paper's search, which takes the place of the spectrum."""
        drawn = self.X[: self.training.n_drawn]
        return View(FeatureMap.of(drawn, W, unit=True), plain.variances)

    def _rehearse(self, shots: float, **settings: Any) -> tuple[Trial, ...]:
        n_classes = max(len(self.training.classes), 2)
        return rehearse_learners(
            self.known,
            n_classes=n_classes,
            rows_per_class=max(self.training.n_target // n_classes, 1),
            shots=shots,
            random_state=self.task.random_state,
            **settings,
        )

    def _sample(self, n_rows: int) -> Indices:
        """Return up to n_rows rows: labelled ones, those of the target first, then random target rows.

        Some labelled rows of every class are always among them.
        """
        codes, n = self.training.codes, self.training.n_target
        rng = np.random.default_rng(self.task.random_state)
        labeled = rng.permutation(np.flatnonzero(codes >= 0))
        labeled = labeled[np.argsort(labeled >= n, kind="stable")]
        if len(labeled) > n_rows:
            rank = np.minimum(rank_in_class(codes[labeled]), CV_SHOTS)
            n_rows = max(n_rows, len(self.training.classes))
            labeled = labeled[np.argsort(rank, kind="stable")][:n_rows]
        free = rng.permutation(np.flatnonzero(codes[:n] < 0))
        return np.sort(np.concatenate([labeled, free[: max(n_rows - len(labeled), 0)]]))

    def _tested(self, codes: Indices) -> Indices:
        """Return codes of which at most 500 are kept, evenly over the classes."""
        labeled = np.random.default_rng(0).permutation(np.flatnonzero(codes >= 0))
        if len(labeled) <= MAX_TESTED_ROWS:
            return codes
        order = labeled[np.argsort(rank_in_class(codes[labeled]), kind="stable")]
        kept = np.full_like(codes, -1)
        kept[order[:MAX_TESTED_ROWS]] = codes[order[:MAX_TESTED_ROWS]]
        return kept

    def _model(
        self,
        ensemble: Ensemble,
        views: dict[str, View],
        heads: dict[Learner, Head | TreeHead],
    ) -> Model:
        """Return the trained learners that are used, with their weights."""
        training, target = self.training, self.asked.target
        used = [learner for learner in ensemble.used if learner.view in views]
        every = np.flatnonzero(training.codes >= 0)
        if len(every) > MAX_ROWS:  # logistic regression takes all labelled rows
            linear = [learner for learner in used if learner.classifier == DEFAULT]
            some = ViewRows(
                {learner.view: views[learner.view] for learner in linear}, self.X[every]
            )
            codes, at = training.codes[every], np.arange(len(every))
            heads = heads | some.fit(linear, at, codes, len(training.classes))
        maps = [views[learner.view].features for learner in used]
        if self.columns is not None:
            maps = change_first(maps, lambda first: replace(first, columns=self.columns))
        return Model(
            training.labels,
            target.feature_names,
            tuple((features, heads[k]) for features, k in zip(maps, used, strict=True)),
            name=", ".join(learner.name for learner in used),
            means=target.X.mean(axis=0, dtype=np.float64),
            medians=np.median(target.X, axis=0),
            weights=tuple(ensemble.used[learner] for learner in used),
            floor=FLOOR,
        )

    def _labels_needed(
        self, ensemble: Ensemble, situation: Situation, promise: Promise | None
    ) -> str | None:
        """Return a sentence on more labels, from a rehearsed learning curve."""
        if promise is None or ensemble.doubt >= 1.0:
            return None
        curve = {}
        shots = max(1, round(self.training.shots))
        for times in (1, *CURVE):
            plays = self._rehearse(times * shots)
            if not plays:
                return None
            later = fit_ensemble(replace(situation, shots=times * shots), plays)
            curve[times * shots] = later.accuracy(plays)
        return labels_needed(self.training.shots, promise.expected, curve)

    def _by_name(self, inference: Inference, classifier: Any) -> Prediction:
        """Predict with one classifier on the features that inference chose."""
        training, target = self.training, self.asked.target
        features = PLAIN if inference.choice == NO_TRANSFER else inference.choice
        W = None if features == PLAIN else inference.W
        n, labels = training.n_target, training.labels
        compared: list[ReportRow] = []
        promise: Promise | None = None
        if isinstance(classifier, str):
            view = FeatureMap.of(self.X[:n], W, unit=CLASSIFIERS[classifier].unit)
            rows = self._sample(MAX_ROWS)
            if not CLASSIFIERS[classifier].relies_on_neighbours:
                rows = np.union1d(rows, np.flatnonzero(training.codes >= 0))
            codes = training.codes[rows]
            at = np.flatnonzero(codes >= 0)
            task = TrainingSet(view(self.X[rows]), at, codes[at], len(labels))
            head: Any = fit_head(classifier, task)
            used, promise = self._measured(Learner(classifier, features), view)
            if features != PLAIN:
                original = FeatureMap.of(self.X[:n], None, unit=CLASSIFIERS[classifier].unit)
                compared = [self._measured(Learner(classifier, PLAIN), original)[0]]
        else:
            view = FeatureMap(W, np.zeros(self.X.shape[1] if W is None else W.shape[1]))
            at = np.flatnonzero(training.codes >= 0)
            head = EstimatorHead(classifier.fit(view(self.X[at]), labels[training.codes[at]]))
            used = ReportRow(features, type(classifier).__name__)
        used = replace(used, used=True, reason="this classifier was requested")
        model = Model(
            labels,
            target.feature_names,
            ((replace(view, columns=self.columns), head),),
            name=used.name,
            means=target.X.mean(axis=0, dtype=np.float64),
            medians=np.median(target.X, axis=0),
        )
        scores = model.decision_function(target.X)
        free = calibration_rows(training.codes[:n] < 0, self.task.random_state)
        if used.expected is not None and len(free):
            model = model.calibrated(scores[free], used.expected)
        P = np.asarray(softmax(scores / model.temperature, axis=1))
        where = "original features" if features == PLAIN else f"features of {features!r}"
        sentences = [f"Used: {used.classifier} on the {where}; {used.reason}."]
        if used.expected is None:
            sentences.append(TOO_FEW)
        else:
            sentences.append(f"{used.outcome}.")
        if self.columns is not None:
            sentences.append(SCALED)
        return Prediction(
            labels=np.asarray(model.classes_[P.argmax(axis=1)]),
            probability=P.max(axis=1),
            probabilities=P,
            given=target.labeled_rows(default=False),
            classes=model.classes_,
            choice=inference.choice,
            classifier=used.classifier,
            report=Report((used, *compared), sentences, promise),
            model=model,
            labels_needed=None,
            inference=self._on_columns(inference),
            target=target,
        )

    def _measured(self, learner: Learner, features: FeatureMap) -> tuple[ReportRow, Promise | None]:
        """Return a learner with its cross-validated accuracy on labelled target rows, and its promise."""
        rows = self._sample(MAX_ROWS)
        of_target = rows < self.training.n_target
        codes = self._tested(np.where(of_target, self.training.codes[rows], -1))
        placed = ViewRows({learner.view: View(features)}, self.X[rows])
        also = np.flatnonzero(~of_target & (self.training.codes[rows] >= 0))
        row = ReportRow(learner.view, learner.classifier)
        trial = cross_validate(
            placed,
            codes,
            self.training.groups[rows],
            [learner],
            also=(also, self.training.codes[rows][also]),
        )
        if trial is None:
            return row, None
        accuracy, n = trial.accuracy(learner), len(trial.codes)
        free = self.training.codes[: self.training.n_target] < 0
        n_groups = len(np.unique(self.training.groups[: self.training.n_target][free]))
        promise = Promise.measured(accuracy, n, n_groups, f"cross-validated on {n} labelled rows")
        return row.with_measured(accuracy, n).promising(promise), promise

    def _on_columns(self, inference: Inference) -> Inference:
        """Return an inference on the features before they were divided."""
        return inference if self.columns is None else divide_features(inference, self.columns)
