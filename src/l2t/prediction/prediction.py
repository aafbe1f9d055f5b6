"""Predicted classes of a target, the accuracy to expect, and the model."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from l2t.algorithms import NO_TRANSFER
from l2t.classifiers.classifiers import (
    CLASSIFIERS,
)
from l2t.display import frame_like
from l2t.domains import KnownClasses
from l2t.exceptions import InvalidInputError
from l2t.inference import Inference
from l2t.inference.inference import separable_sources
from l2t.inference.result import Candidate, Candidates, divide_features
from l2t.inference.shared import as_inference, infer_shared
from l2t.numerics import few_threads
from l2t.paper import Reflection
from l2t.prediction.decisions import (
    METRICS,
    HeldOutRows,
    Metric,
    Quality,
    decision_offsets,
    promised,
)
from l2t.prediction.model import Model, calibration_rows
from l2t.prediction.novel import SCALED, NovelClasses
from l2t.prediction.pooled import LEAST_SHARE, MAX_SHARE, Pool, fit_pool, is_table
from l2t.prediction.pooled_rows import LEARNERS
from l2t.prediction.report import AVERAGE, Report
from l2t.prediction.result import Prediction
from l2t.prediction.shared import pool_report, shared_model, shared_report
from l2t.prediction.training import (
    Training,
    TrainOn,
    as_domains,
    column_scales,
    further_classes,
    parts_to_scale,
    training_rows,
)
from l2t.prediction.wide import Coordinates, are_few_and_wide
from l2t.task import Task
from l2t.typing import AnyArray
from l2t.validation import one_of

if TYPE_CHECKING:
    from l2t.experiences import ExperienceStore

#: The share of unlabelled rows, of at least so many, from which a prediction is of one class.
NEARLY_ALL = 0.98
MIN_ROWS = 20


def predict(  # noqa: PLR0913
    sources: Any,
    target: Any,
    *,
    classifier: Any = "auto",
    train_on: TrainOn = "auto",
    shared: bool | None = None,
    balanced: bool = False,
    metric: Metric = "accuracy",
    known: KnownClasses | None = None,
    store: str | os.PathLike[str] | ExperienceStore | None = None,
    reflection: Reflection | str | os.PathLike[str] | None = None,
    random_state: int = 0,
    callback: Callable[[str], None] | None = None,
) -> Prediction:
    """Predict the class of every row of a target.

    An ensemble of classifiers answers in six views of the rows: as they are, in the geometry of the known
    classes, in the hidden layer of a network trained to tell the known classes apart, and in the target's own
    spectrum after each. Their weights are fitted to rehearsals on known classes and to held-out labelled rows
    (`l2t.prediction.ensemble`). The views do not depend on target labels.

    Columns of frames are matched by name. If some of them are not numbers (categories, text, dates), or cells
    are missing, features are made of all columns (`l2t.domains.encoding`). The order of rows does not matter,
    and rows that are copies of each other are never on both sides of a split into training and test rows.

    If a target has more than 20,000 rows, the model is trained on 20,000 random ones and the labelled ones,
    and applied to all rows in blocks, so that little memory is needed beyond X, which may be a read-only
    memory map. Sparse matrices of more than 4,096 features are not made dense: the model is trained on at
    most 2,000 rows of all domains together, an equal number of each if it has as many, and applied to all.

    Parameters
    ----------
    sources : Domain, (X, y) or X, or a list of them
        Labelled rows of other classes, or of the same ones; arrays, pandas or polars frames.
    target : Domain, (X, y) or X
        The rows to classify. In a Domain, the rows marked by `labeled` are labelled; in (X, y), all but those
        whose label is None, NaN or -1.
    classifier : str or classifier of scikit-learn, default="auto"
        "auto" to choose, a name in `l2t.prediction.CLASSIFIERS`, or a classifier of your own, which is
        trained on the features that `l2t.infer` chooses.
    train_on : {"auto", "target", "source", "both"}, default="auto"
        The domains whose labelled rows the classifier is trained on; "auto" is the target, and the sources as
        well if they have classes of the target.
    shared : bool or None, default=None
        Whether equal labels of source and target mean equal classes. None means that they do, and that a
        target without a labelled row has the classes of the sources. If classes are shared, classifiers
        trained on the sources' labels are averaged (`l2t.prediction.pooled`, `l2t.inference.shared`).
    balanced : bool, default=False
        Whether all classes of the target are known to have about the same number of rows; if so, classifiers
        that assume this are considered as well.
    metric : {"accuracy", "balanced", "f1"}, default="accuracy"
        What the predicted classes maximise and the report promises: the accuracy, the balanced accuracy (the
        mean recall of the classes) or the mean F1 of the classes. Probabilities are the same for all.
    known : KnownClasses or None, default=None
        Further labelled rows with the same features.
    store : str, path, ExperienceStore or None, default=None
        An experience store, or its URL, whose labelled targets are known classes as well.
    reflection : ReflectionFunction, str, path or None, default=None
        A reflection function or its file, for the choice of features; see `l2t.infer`.
    random_state : int, default=0
        The seed.
    callback : callable or None, default=None
        Called with the name of each stage when it begins.

    Returns
    -------
    Prediction
        The predicted labels with their probabilities, the report and the model.

    Raises
    ------
    InvalidInputError
        The domains have different features, or the target's classes cannot be learned from the labels.

    Examples
    --------
    >>> from l2t.domains import Domain, PairSampler, digits, normalize
    >>> pair = PairSampler(normalize(digits()), normalize(digits()), 1, n_classes=4)[0]
    >>> codes = pair.target.codes
    >>> few = np.isin(np.arange(len(codes)), [np.flatnonzero(codes == c)[:5] for c in range(4)])
    >>> found = predict(pair.source, Domain(pair.target.X, pair.target.y, labeled=few))
    >>> len(found.labels) == len(codes), bool(np.mean(found.labels == pair.target.y) > 0.8)
    (True, True)
    """
    if isinstance(classifier, str | type) or not _is_classifier(classifier):
        one_of("classifier", classifier, ("auto", *CLASSIFIERS))
    one_of("train_on", train_on, ("auto", "target", "source", "both"))
    one_of("metric", metric, METRICS)
    if shared is False and train_on in ("source", "both"):
        raise InvalidInputError(
            f"train_on must be 'auto' or 'target' with shared=False, got {train_on!r}"
        )
    origins, whole = as_domains(sources if isinstance(sources, list) else [sources], target)
    task = asked = Task.of(
        origins, whole, shared=shared, shared_if_unlabeled=True, random_state=random_state
    )
    coordinates = None
    if isinstance(classifier, str) and known is None and store is None:
        coordinates = Coordinates(task, train_on) if are_few_and_wide(task.domains) else None
        task = task if coordinates is None else coordinates.place(task)
    training = training_rows(task, train_on)
    with few_threads(sum(map(len, task.domains)) * task.target.n_features):
        columns = (
            None if coordinates is not None else column_scales(*parts_to_scale(task, training))
        )
        report = callback or (lambda stage: None)
        named = not isinstance(classifier, str) or classifier != "auto"
        if training.shared and len(training.classes) > 1 and not named and reflection is None:
            found = _SharedClasses(task, training, columns).predict(train_on, report)
        else:
            further = further_classes(known, store, whole)
            steps = NovelClasses(task, training, columns)
            found = steps.predict(classifier, balanced, reflection, further, report)
        if coordinates is not None:
            found.report.sentences.extend([SCALED] if coordinates.are_scaled else [])
            found = coordinates.lifted(found)
        found.report.sentences.extend([task.copies] if task.copies else [])
        if whole.encoder is not None:
            found.report.sentences.extend(whole.encoder.sentences())
            model = dataclasses.replace(found.model, encoder=whole.encoder)
            found = dataclasses.replace(found, model=model)
        found = _decided(_in_given_order(found, asked), metric)
        found.report.sentences.extend(_note_single_class(found))
    answers = {"predicted": found.labels, "probability": found.probability, "given": found.given}
    frame = frame_like(target[0] if isinstance(target, tuple) else target, answers)
    return dataclasses.replace(found, frame=frame)


def _is_classifier(estimator: Any) -> bool:
    """Return whether an object is a classifier as scikit-learn has them."""
    if hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba"):
        return True
    from sklearn.base import BaseEstimator, is_classifier  # slow to import

    return isinstance(estimator, BaseEstimator) and bool(is_classifier(estimator))


def _in_given_order(found: Prediction, task: Task) -> Prediction:
    """Return the prediction for all rows of the target in their order.

    If rows were drawn, the model is applied to all rows.
    """
    if task.is_sampled:
        P = found.model.predict_proba(task.given)
    else:
        P = np.empty_like(found.probabilities)
        P[task.rows] = found.probabilities
    return dataclasses.replace(
        found,
        probabilities=P,
        given=task.given.labeled_rows(default=False),
        target=task.given,
    )


def _decided(found: Prediction, metric: Metric) -> Prediction:
    """Return the prediction with the classes that maximise a metric, and what to expect of them."""
    P = found.probabilities
    free = P[~found.given] if not found.given.all() else P
    offsets = decision_offsets(free, metric)
    if offsets is not None:
        found = dataclasses.replace(
            found, model=dataclasses.replace(found.model, offsets=tuple(offsets.tolist()))
        )
    codes = found.model.decide(P)
    expected, measured = Quality.expected_of(free, found.model.decide(free)), found.measured
    if found.held_out is not None:
        held_out = softmax(np.log(found.held_out.probabilities) / found.model.temperature, axis=1)
        decided, truth = found.model.decide(held_out), found.held_out.truth
        measured = Quality.measured_of(decided, truth, P.shape[1])
        found.report.sentences.append(measured.sentence(found.classes))
    report = found.report
    if metric != "accuracy":
        if measured is None:
            report.sentences.append(expected.sentence(found.classes))
        value = None if measured is None else measured.of(metric)
        report = report.for_metric(metric, promised(metric, expected, measured), value)
    return dataclasses.replace(
        found,
        labels=np.asarray(found.classes[codes]),
        probability=np.take_along_axis(P, codes[:, None], axis=1)[:, 0],
        report=report,
        metric=metric,
        expected=expected,
        measured=measured,
    )


def _note_single_class(found: Prediction) -> list[str]:
    """Return a sentence if nearly all unlabelled rows are predicted as one class."""
    labels = found.labels[~found.given]
    names, counts = np.unique(labels.astype(str), return_counts=True)
    if len(found.classes) < 2 or len(labels) < MIN_ROWS or counts.max() < NEARLY_ALL * len(labels):
        return []
    share = 100.0 * counts.max() / len(labels)
    return [
        f"Nearly all rows ({share:.0f} %) are predicted as {names[counts.argmax()]}: the other classes are "
        "rare, or the columns do not tell them apart; probabilities show which rows are nearest to them."
    ]


class _SharedClasses:
    """The steps of one prediction; features are divided by `columns` unless that is None."""

    def __init__(self, task: Task, training: Training, columns: AnyArray | None) -> None:
        self.asked, self.task, self.training, self.columns = task, task, training, columns
        self.X = training.X
        if columns is not None:
            self.X = training.X / columns
            self.task = task.divided_by(columns)

    def predict(self, train_on: TrainOn, callback: Callable[[str], None]) -> Prediction:
        """Predict with the sources' labels: by plain classifiers, and by a vote of adapted ones.

        The vote counts as far as neighbourhoods in the source follow its classes (`Pool.adaptation_share`);
        alone if there are many features.
        """
        callback("comparing ways to train on the source")
        encoded = self.asked.given.encoder is not None
        pool, roles = None, self.task.roles
        apart = bool(roles.target_only) and not roles.both  # one class, and those of the source
        note = ""
        if apart or is_table(self.training, encoded=encoded):
            training, note = self._separable_rows(train_on)
            pool = fit_pool(training, encoded=encoded, random_state=self.task.random_state)
            if apart or not pool.check.adaptation_share:
                callback("predicting")
                return self._pooled(pool, note)
        target, *sources = self.task.domains
        seed = self.task.random_state
        alone = train_on == "source"
        found = infer_shared(target, sources, source_alone=alone, random_state=seed)
        labels = self.training.labels
        labels = labels[[label in found.classes for label in labels.tolist()]]
        share = 1.0
        if pool is not None and len(labels) == len(self.training.labels):
            share = pool.share_of(found.decision.accuracy)
        callback("predicting")
        if pool is not None and share < LEAST_SHARE:
            return self._pooled(pool, note)
        model = shared_model(found, self.asked.target, labels, self.columns, seed)
        if (
            pool is not None and found.expected is None
        ):  # what differs within the source counts here, too
            model = self._calibrated(model, pool.check.carried(found.confidence))
        report = shared_report(found, sources, self.asked.target)
        if pool is not None and share <= MAX_SHARE:
            model, report = self._blended(model, report, pool, share)
        if self.columns is not None:
            report.sentences.append(SCALED)
        whole = as_inference(found, target, found.n_labelled, len(labels))
        return self._prediction(
            model,
            report,
            whole,
            choice=found.choice,
            classifier="logistic" if found.trained_on == "target" else "vote",
        )

    def _blended(
        self, model: Model, report: Report, pool: Pool, share: float
    ) -> tuple[Model, Report]:
        """Return the average of a vote and a pool, and the report of what has the larger weight."""
        blended = dataclasses.replace(
            model,
            parts=(*model.parts, *pool.parts),
            temperature=1.0,
            weights=(share, *((1.0 - share) * weight for weight in pool.weights)),
        )
        P = model.predict_proba(self.asked.target)
        expected = float(P.max(axis=1).mean())
        other = f"plain classifiers of the columns ({100 * (1 - share):.0f} % of the weight)"
        if share < 0.5:
            blended, names = _with_shares(blended, pool), self._class_names
            report = pool_report(pool, self.task.roles, self.asked.target, names)
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
        P = model.predict_proba(self.asked.target)
        return pool.check.carried(min(float(P.max(axis=1).mean()), accuracy))

    def _separable_rows(self, train_on: TrainOn) -> tuple[Training, str]:
        """Return the rows to train on without sources that are noise, and a sentence on several sources."""
        separable, note = separable_sources(self.task)
        if len(separable) == len(self.task.sources):
            return self.training, note
        training = training_rows(self.asked.only(separable), train_on)
        if training.classes != self.training.classes:  # a source alone has some of them
            return self.training, ""
        return training, note

    def _pooled(self, pool: Pool, note: str) -> Prediction:
        """Return the prediction of plain classifiers alone; `note` is on the weights of sources."""
        target, labels = self.asked.target, self.training.labels
        means, medians = target.X.mean(axis=0, dtype=np.float64), np.median(target.X, axis=0)
        model = Model(
            labels,
            target.feature_names,
            pool.parts,
            1.0,
            f"average of {', '.join(LEARNERS)}",
            means,
            medians,
            weights=pool.weights,
        )
        model = _with_shares(model, pool)
        accuracy = self._accuracy_of(pool, model)
        if accuracy is not None:
            model = self._calibrated(model, accuracy)
        report = pool_report(pool, self.task.roles, target, self._class_names)
        if note:
            report.sentences.append(f"W{note.removeprefix('; w')}.")
        identity = Candidate(NO_TRANSFER, np.eye(target.n_features), predicted=1.0, chosen=True)
        whole = Inference(
            NO_TRANSFER,
            Candidates([identity]),
            report.sentences[0].removesuffix("."),
            int(target.labeled_rows(default=False).sum()),
            len(labels),
            accuracy_without=None if pool.promise is None else pool.promise.expected,
            feature_names=target.feature_names,
        )
        found = self._prediction(model, report, whole, choice=NO_TRANSFER, classifier=AVERAGE)
        if pool.held_out is None:
            return found
        held_out = HeldOutRows(pool.held_out.average, pool.held_out.truth)
        return dataclasses.replace(found, held_out=held_out)

    @property
    def _class_names(self) -> list[str]:
        return list(map(str, self.training.classes))

    def _calibrated(self, model: Model, accuracy: float) -> Model:
        """Return the model whose mean probability of unlabelled rows is the accuracy."""
        target = self.asked.target
        free = ~target.labeled_rows(default=False)
        rows = calibration_rows(free if free.any() else ~free, self.task.random_state)
        return model.calibrated(model.decision_function(target.X[rows]), accuracy)

    def _prediction(
        self, model: Model, report: Report, inference: Inference, *, choice: str, classifier: str
    ) -> Prediction:
        """Return the prediction of a model that was trained with the sources' labels."""
        P = model.predict_proba(self.asked.target)
        if self.columns is not None:
            inference = divide_features(inference, self.columns)
        return Prediction(
            labels=np.asarray(model.classes_[P.argmax(axis=1)]),
            probability=P.max(axis=1),
            probabilities=P,
            given=self.asked.target.labeled_rows(default=False),
            classes=model.classes_,
            choice=choice,
            classifier=classifier,
            report=report,
            model=model,
            labels_needed=None,
            inference=inference,
            target=self.asked.target,
        )


def _with_shares(model: Model, pool: Pool) -> Model:
    """Return the model with the class shares that are found in the target."""
    if pool.shares is None:
        return model
    return dataclasses.replace(model, shift=tuple(pool.shares[0].tolist()))
