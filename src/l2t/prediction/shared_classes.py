"""Predictions where source and target share classes: plain classifiers, and a vote of adapted ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from l2t.algorithms import NO_TRANSFER
from l2t.inference import Inference
from l2t.inference.coordinates import Coordinates
from l2t.inference.inference import separable_sources
from l2t.inference.result import Candidate, Candidates
from l2t.inference.shared import as_inference, infer_shared
from l2t.prediction.decisions import HeldOutRows
from l2t.prediction.model import Model, calibration_rows
from l2t.prediction.pooled import LEAST_SHARE, MAX_SHARE, Pool, fit_pool, is_table
from l2t.prediction.pooled_rows import LEARNERS
from l2t.prediction.report import AVERAGE, Report
from l2t.prediction.shared import note_on_sources, pool_report, shared_model, shared_report
from l2t.prediction.solution import Solution
from l2t.prediction.training import Training, TrainOn, training_rows


class SharedClasses:
    """The steps of one prediction, in the coordinates of the task.

    Parameters
    ----------
    coordinates : Coordinates
        The task.
    training : Training
        Its rows, in the coordinates.
    """

    def __init__(self, coordinates: Coordinates, training: Training) -> None:
        self.coordinates, self.task, self.training = coordinates, coordinates.task, training
        self.X = training.X[: training.n_target]
        labeled = self.task.target.labeled_rows(default=False)
        #: The rows that probabilities are calibrated on: all, if each has a label.
        self.free = ~labeled if not labeled.all() else labeled

    def solve(self, train_on: TrainOn, report: Callable[[str], None]) -> Solution:
        """Predict with the sources' labels: by plain classifiers, and by a vote of adapted ones.

        The vote counts as far as neighbourhoods in the source follow its classes (`Pool.adaptation_share`);
        alone if there are many features. An adaptation moves the source onto the target, which presumes that
        the target has no further classes: on tables with such classes there is no vote.

        Parameters
        ----------
        train_on : {"auto", "target", "source", "both"}
            The domains whose labelled rows are trained on.
        report : callable
            Called with the name of each stage when it begins.

        Returns
        -------
        Solution
        """
        report("comparing ways to train on the source")
        encoded = self.task.given.encoder is not None
        pool, roles = None, self.task.roles
        one_class = bool(roles.target_only) and not roles.both  # and those of the source
        note = ""
        if one_class or is_table(self.training, encoded=encoded):
            training, note = self._separable_rows(train_on)
            pool = fit_pool(training, encoded=encoded, random_state=self.task.random_state)
            if roles.target_only or not pool.check.adaptation_share:
                report("predicting")
                return self._pooled(pool, note)
        target, *sources = self.task.domains
        seed = self.task.random_state
        vote = infer_shared(target, sources, source_alone=train_on == "source", random_state=seed)
        labels = self.training.labels
        labels = labels[[label in vote.classes for label in labels.tolist()]]
        share = 1.0
        if pool is not None and len(labels) == len(self.training.labels):
            share = pool.share_of(vote.decision.accuracy)
        report("predicting")
        if pool is not None and share < LEAST_SHARE:
            return self._pooled(pool, note)
        model = self._calibrated(
            shared_model(vote, labels),
            vote.confidence if vote.expected is None else vote.expected,
        )
        if pool is not None and vote.expected is None:
            # what differs within the source counts here, too
            model = self._calibrated(model, pool.check.carried(vote.confidence))
        words = shared_report(vote, sources, target)
        if pool is not None and share <= MAX_SHARE:
            model, words = self._blended(model, words, pool, share)
        inference = as_inference(vote, target, vote.n_labelled, len(labels))
        return Solution(
            model,
            model.predict_proba(self.X),
            words,
            vote.choice,
            "logistic" if vote.trained_on == "target" else "vote",
            inference=self.coordinates.lift(inference),
        )

    def _blended(
        self, model: Model, report: Report, pool: Pool, share: float
    ) -> tuple[Model, Report]:
        """Return the average of a vote and a pool, and the report of what has the larger weight."""
        blended = replace(
            model,
            parts=(*model.parts, *pool.parts),
            temperature=1.0,
            weights=(share, *((1.0 - share) * weight for weight in pool.weights)),
        )
        expected = float(model.predict_proba(self.X).max(axis=1).mean())
        other = f"plain classifiers of the columns ({100 * (1 - share):.0f} % of the weight)"
        if share < 0.5:
            blended, names = _with_shares(blended, pool), self._class_names
            report = pool_report(pool, self.task.roles, self.task.target, names)
            expected = self._accuracy_of(pool, blended) or expected
            other = f"a vote of adapted classifiers ({100 * share:.0f} % of the weight)"
        report.sentences.insert(1, f"Averaged with {other}.")
        return self._calibrated(blended, expected), report

    def _accuracy_of(self, pool: Pool, model: Model) -> float | None:
        """Return the accuracy to calibrate to: that expected or, if unknown, what the source lets expect."""
        accuracy = pool.check.accuracy
        if pool.promise is not None:
            return pool.promise.expected
        if accuracy is None:
            return None
        P = model.predict_proba(self.X)
        return pool.check.carried(min(float(P.max(axis=1).mean()), accuracy))

    def _separable_rows(self, train_on: TrainOn) -> tuple[Training, str]:
        """Return the rows to train on without sources that are noise, and a sentence on several sources."""
        separable, note = separable_sources(self.task)
        if len(separable) == len(self.task.sources):
            return self.training, note
        training = training_rows(self.task.only(separable), train_on)
        if training.classes != self.training.classes:  # a source alone has some of them
            return self.training, ""
        return training, note

    def _pooled(self, pool: Pool, note: str) -> Solution:
        """Return the prediction of plain classifiers alone; `note` is on the weights of sources."""
        target, labels = self.task.target, self.training.labels
        name = f"average of {', '.join(LEARNERS)}"
        model = Model(labels, None, pool.parts, name=name, weights=pool.weights)
        model = _with_shares(model, pool)
        accuracy = self._accuracy_of(pool, model)
        if accuracy is not None:
            model = self._calibrated(model, accuracy)
        report = pool_report(pool, self.task.roles, target, self._class_names)
        report.sentences.extend(note_on_sources(note))
        identity = Candidate(NO_TRANSFER, np.eye(target.n_features), predicted=1.0, chosen=True)
        inference = Inference(
            NO_TRANSFER,
            Candidates([identity]),
            report.sentences[0].removesuffix("."),
            int(target.labeled_rows(default=False).sum()),
            len(labels),
            accuracy_without=None if pool.promise is None else pool.promise.expected,
        )
        held_out = pool.held_out
        return Solution(
            model,
            model.predict_proba(self.X),
            report,
            NO_TRANSFER,
            AVERAGE,
            held_out=None if held_out is None else HeldOutRows(held_out.average, held_out.truth),
            inference=self.coordinates.lift(inference),
        )

    @property
    def _class_names(self) -> list[str]:
        return list(map(str, self.training.classes))

    def _calibrated(self, model: Model, accuracy: float) -> Model:
        """Return the model whose mean probability of unlabelled rows is the accuracy."""
        rows = calibration_rows(self.free, self.task.random_state)
        return model.calibrated(model.decision_function(self.X[rows]), accuracy)


def _with_shares(model: Model, pool: Pool) -> Model:
    """Return the model with the class shares that are found in the target."""
    if pool.shares is None:
        return model
    return replace(model, shift=tuple(pool.shares[0].tolist()))
