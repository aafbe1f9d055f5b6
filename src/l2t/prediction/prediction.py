"""Predicted classes of a target, the accuracy to expect, and the model."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from l2t.algorithms import NO_TRANSFER
from l2t.display import frame_like
from l2t.domains import KnownClasses
from l2t.domains.draw import rank_in_class
from l2t.exceptions import InvalidInputError
from l2t.inference import Inference
from l2t.inference.candidates import candidate_algorithms
from l2t.inference.inference import infer_paper, infer_task, predictor, separable_sources
from l2t.inference.result import Candidate, Candidates, divide_features
from l2t.inference.shared import as_inference, infer_shared
from l2t.inference.shared.rows import FEW_COLUMNS
from l2t.inference.wide import Coordinates as RowCoordinates
from l2t.inference.wide import is_wide
from l2t.numerics import few_threads
from l2t.paper import Reflection
from l2t.paper.plan import Plan
from l2t.prediction.choice import Comparison, choose
from l2t.prediction.classifiers import (
    BALANCED,
    CLASSIFIERS,
    CV_SHOTS,
    DEFAULT,
    TrainingSet,
    fit_head,
)
from l2t.prediction.labelling import labels_needed
from l2t.prediction.model import EstimatorHead, Features, Model, Part, calibration_rows
from l2t.prediction.pooled import LEARNERS, LEAST_SHARE, MAX_SHARE, Pool, fit_pool, is_table
from l2t.prediction.report import AVERAGE, PLAIN, Report, ReportRow
from l2t.prediction.result import Prediction
from l2t.prediction.scoring import Scores, folds, rehearse_combinations, score
from l2t.prediction.shared import pool_report, shared_model, shared_report
from l2t.prediction.training import (
    Training,
    TrainOn,
    as_domains,
    column_scales,
    further_classes,
    training_rows,
)
from l2t.prediction.wide import Coordinates, are_few_and_wide
from l2t.task import SHOTS, Task
from l2t.typing import AnyArray, Array, Indices
from l2t.validation import one_of

if TYPE_CHECKING:
    from l2t.experiences import ExperienceStore

#: Maximum number of rows that a classifier is trained on, labelled or not; half of it in cross-validation.
MAX_ROWS = 1500
#: Maximum number of labelled rows for classifiers on a graph, whose memory grows with their square.
MOST_ROWS = 5000
SPREADING = ("label spreading", "smoothed logistic")
#: Multiples of the present number of labels at which the learning curve is rehearsed.
CURVE = (2, 4, 8)
#: The share of unlabelled rows, of at least so many, from which a prediction is of one class.
NEARLY_ALL = 0.98
MIN_ROWS = 20
SCALED = "Columns were divided by their standard deviation: their scales differ widely."


def predict(  # noqa: PLR0913
    sources: Any,
    target: Any,
    *,
    classifier: Any = "auto",
    train_on: TrainOn = "auto",
    shared: bool | None = None,
    balanced: bool = False,
    known: KnownClasses | None = None,
    store: str | os.PathLike[str] | ExperienceStore | None = None,
    reflection: Reflection | str | os.PathLike[str] | None = None,
    random_state: int = 0,
    callback: Callable[[str], None] | None = None,
) -> Prediction:
    """Predict the class of every row of a target.

    The prediction is the average of logistic regression, label spreading and smoothed logistic regression
    (label spreading of its predictions) on the features that `l2t.infer` chooses, and of any combination of
    features and classifier that is clearly better on the labelled rows. All combinations are rehearsed on
    the known classes and cross-validated on the labelled rows. The features do not depend on target labels.

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
        columns = None if coordinates is not None else column_scales(training.unmarked)
        steps = _Steps(task, training, columns)
        report = callback or (lambda stage: None)
        named = not isinstance(classifier, str) or classifier != "auto"
        if training.shared and len(training.classes) > 1 and not named and reflection is None:
            found = steps.predict_shared(train_on, report)
        else:
            further = further_classes(known, store, whole)
            found = steps.predict(classifier, balanced, reflection, further, report)
        if coordinates is not None:
            found.report.sentences.extend([SCALED] if coordinates.are_scaled else [])
            found = coordinates.lifted(found)
        found.report.sentences.extend([task.copies] if task.copies else [])
        if whole.encoder is not None:
            found.report.sentences.extend(whole.encoder.sentences())
            model = dataclasses.replace(found.model, encoder=whole.encoder)
            found = dataclasses.replace(found, model=model)
        found = _in_given_order(found, asked)
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
        labels=np.asarray(found.classes[P.argmax(axis=1)]),
        probability=P.max(axis=1),
        probabilities=P,
        given=task.given.labeled_rows(default=False),
        target=task.given,
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


class _Steps:
    """The steps of one prediction; features are divided by `columns` unless that is None."""

    def __init__(self, task: Task, training: Training, columns: AnyArray | None) -> None:
        self.asked, self.task, self.training, self.columns = task, task, training, columns
        self.X = training.X
        if columns is not None:
            self.X = training.X / columns
            self.task = task.with_domains(
                [
                    domain.with_features(domain.X / columns, feature_names=domain.feature_names)
                    for domain in task.domains
                ]
            )
        self.factors: dict[str, AnyArray | None] = {PLAIN: None}
        self.classes = KnownClasses()

    def predict(
        self,
        classifier: Any,
        balanced: bool,
        reflection: Any,
        further: Sequence[KnownClasses],
        callback: Callable[[str], None],
    ) -> Prediction:
        """Infer, score, choose, train and predict."""
        found = self._infer(reflection, further, callback)
        callback("comparing classifiers")
        for name, each in found.candidates.items():
            if name != NO_TRANSFER and each.W is not None:
                self.factors[name] = each.W
        averaged, rows, rehearsed, (reason, *notes) = self._choose(found, classifier, balanced)
        used = averaged[0]
        callback("predicting")
        model, P = self._train(averaged, classifier)
        needed = self._labels_needed(used, rehearsed)
        if self.columns is not None:
            notes.insert(0, SCALED)
        if needed is not None:
            notes.append(needed)
        return Prediction(
            labels=np.asarray(model.classes_[P.argmax(axis=1)]),
            probability=P.max(axis=1),
            probabilities=P,
            given=self.asked.target.labeled_rows(default=False),
            classes=model.classes_,
            choice=NO_TRANSFER if used.features == PLAIN else used.features,
            classifier=used.classifier,
            report=Report.of(averaged, rows, reason, notes),
            model=model,
            labels_needed=needed,
            inference=found if self.columns is None else divide_features(found, self.columns),
            target=self.asked.target,
        )

    def _infer(
        self, reflection: Any, further: Sequence[KnownClasses], callback: Callable[[str], None]
    ) -> Inference:
        """Choose the features; the known classes are kept for the rehearsal of classifiers."""
        callback("known")
        separable, note = separable_sources(self.task)
        self.asked, self.task = self.asked.only(separable), self.task.only(separable)
        n_classes = max(len(self.training.classes), 2)
        n_labels = int(self.task.target.labeled_rows(default=False).sum()) or SHOTS * n_classes
        self.task = dataclasses.replace(self.task, n_classes=n_classes, n_labels=n_labels)
        function, forecast = predictor(reflection, None, None)
        if forecast is None:
            return infer_paper(self.task, self.task.domains, function, Plan(), None)
        task, coordinates = self.task, None
        if not further and is_wide(task.domains, None):  # few dense rows of very many features
            coordinates = RowCoordinates(task.domains)
            task = coordinates.place(task)
            self.classes = task.known_classes()
        else:  # rows of the target are recognised among all its rows, before columns are divided
            self.classes = self.asked.known_classes(further)
            if self.columns is not None:
                self.classes = self.classes.divided_by(self.columns)
        found = infer_task(task, self.classes, forecast, callback=callback)
        found = dataclasses.replace(found, reason=found.reason + note)
        return found if coordinates is None else coordinates.lift(found)

    def predict_shared(self, train_on: TrainOn, callback: Callable[[str], None]) -> Prediction:
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
            if apart or not pool.adaptation_share:
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
            share = pool.share_of(found.decision.accuracies.get(found.trained_on))
        callback("predicting")
        if pool is not None and share < LEAST_SHARE:
            return self._pooled(pool, note)
        model = shared_model(found, self.asked.target, labels, self.columns, seed)
        report = shared_report(found, sources)
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
            report = pool_report(pool, self.task.roles, self.asked.target)
            expected = self._accuracy_of(pool, blended) or expected
            other = f"a vote of adapted classifiers ({100 * share:.0f} % of the weight)"
        report.sentences.insert(1, f"Averaged with {other}.")
        return self._calibrated(blended, expected), report

    def _accuracy_of(self, pool: Pool, model: Model) -> float | None:
        """Return the accuracy to calibrate to: that expected or, if unknown, not more than on the source."""
        if pool.expected is not None or pool.source_accuracy is None:
            return pool.expected
        P = model.predict_proba(self.asked.target)
        return min(float(P.max(axis=1).mean()), pool.source_accuracy)

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
        accuracy = self._accuracy_of(pool, model)
        if accuracy is not None:
            model = self._calibrated(model, accuracy)
        report = pool_report(pool, self.task.roles, target)
        if note:
            report.sentences.append(f"W{note.removeprefix('; w')}.")
        identity = Candidate(NO_TRANSFER, np.eye(target.n_features), predicted=1.0, chosen=True)
        whole = Inference(
            NO_TRANSFER,
            Candidates([identity]),
            report.sentences[0].removesuffix("."),
            int(target.labeled_rows(default=False).sum()),
            len(labels),
            accuracy_without=pool.expected,
            feature_names=target.feature_names,
        )
        return self._prediction(model, report, whole, choice=NO_TRANSFER, classifier=AVERAGE)

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

    def _choose(
        self, found: Inference, classifier: Any, balanced: bool
    ) -> tuple[list[ReportRow], list[ReportRow], Scores | None, list[str]]:
        """Return the combinations to average, all combinations, the rehearsal, and sentences."""
        training = self.training
        features = PLAIN if found.choice == NO_TRANSFER else found.choice
        if not isinstance(classifier, str):
            used = ReportRow(features, type(classifier).__name__)
            return [used], [used], None, ["this classifier was requested"]
        names = [classifier]
        if classifier == "auto":
            names = [
                name
                for name, each in CLASSIFIERS.items()
                if not each.for_tables and (balanced or name not in BALANCED)
            ]
        # With few columns the norm of a row, which unit rows lose, carries much of the information.
        usual = DEFAULT if self.X.shape[1] >= FEW_COLUMNS else "logistic"
        default = features, usual if usual in names else names[0]
        rehearsed = None if training.shared else self._rehearse(names, training.shots)
        if rehearsed is not None and features not in rehearsed.features:
            rehearsed = None  # the candidate could not be fitted in every play
        measured = self._measure(names)
        known = rehearsed, measured, expected_beyond_rehearsal(found)
        comparison = Comparison(*known, default, len(training.classes))
        combinations = [(each, name) for each in self.factors for name in names]
        balanced = balanced or classifier in BALANCED
        single = training.shared or classifier != "auto"
        averaged, rows = choose(combinations, comparison, balanced=balanced, single=single)
        basis = []
        if rehearsed is not None and comparison.rehearsal_counts:
            basis.append(f"rehearsed {len(rehearsed.values)} times on known classes")
        if measured is not None:
            n, labelled = measured.n_rows, int((training.codes[: training.n_target] >= 0).sum())
            of_all = "" if n == labelled else f" of {labelled}"
            basis.append(f"cross-validated on {n}{of_all} labelled rows")
        why = " and ".join(basis) or "the default, because nothing can be measured"
        sentences = [why if classifier == "auto" else "this classifier was requested"]
        if measured is None:
            sentences.append("There are too few labelled rows to measure the accuracy on them.")
        if rehearsed is not None and not comparison.rehearsal_counts:
            sentences.append(
                "The target differs from the known classes, so the rehearsal on them counts neither for the "
                "choice of the classifier nor for its accuracy."
            )
        return averaged, rows, rehearsed, sentences

    def _rehearse(self, names: Sequence[str], shots: float, **settings: Any) -> Scores | None:
        algorithms = candidate_algorithms(None, self.task.random_state)
        n_classes = max(len(self.training.classes), 2)
        return rehearse_combinations(
            self.classes,
            {name: each for name, each in algorithms.items() if name in self.factors},
            names,
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
        labelled = rng.permutation(np.flatnonzero(codes >= 0))
        labelled = labelled[np.argsort(labelled >= n, kind="stable")]
        if len(labelled) > n_rows:
            rank = np.minimum(rank_in_class(codes[labelled]), CV_SHOTS)
            n_rows = max(n_rows, len(self.training.classes))
            labelled = labelled[np.argsort(rank, kind="stable")][:n_rows]
        free = rng.permutation(np.flatnonzero(codes[:n] < 0))
        return np.sort(np.concatenate([labelled, free[: max(n_rows - len(labelled), 0)]]))

    def _measure(self, names: Sequence[str]) -> Scores | None:
        """Cross-validate on the labelled rows of the target; those of the sources are only trained on."""
        rows = self._sample(MAX_ROWS // 2)
        codes, of_target = self.training.codes[rows], rows < self.training.n_target
        groups, source = self.training.groups[rows], np.flatnonzero(~of_target)
        splits = []
        for labelled, test in folds(np.where(of_target, codes, -1), groups):
            others = source[~np.isin(groups[source], groups[test])]
            trained_on = np.concatenate([labelled, others])
            if len(np.unique(codes[trained_on])) == len(np.unique(codes[codes >= 0])):
                splits.append((trained_on, test))
        return score(self.X[rows], self.factors, codes, splits, names) if splits else None

    def _train(self, averaged: list[ReportRow], classifier: Any) -> tuple[Model, Array]:
        """Return the calibrated model, and the probabilities of the target's rows."""
        training, n, X = self.training, self.training.n_target, self.asked.target.X
        parts = [self._part(each, classifier) for each in averaged]
        means, medians = X.mean(axis=0, dtype=np.float64), np.median(X, axis=0)
        described = ", ".join(each.name for each in averaged), means, medians
        model = Model(
            training.labels, self.asked.target.feature_names, tuple(parts), 1.0, *described
        )
        scores = model.decision_function(X)
        free = calibration_rows(training.codes[:n] < 0, self.task.random_state)
        if averaged[0].expected is not None and len(free):
            model = model.calibrated(scores[free], averaged[0].expected)
        return model, softmax(scores / model.temperature, axis=1)

    def _part(self, used: ReportRow, classifier: Any) -> Part:
        """Return features and a trained classifier."""
        training, W = self.training, self.factors[used.features]
        n, labels = training.n_target, training.labels
        at = np.flatnonzero(training.codes >= 0)
        if isinstance(classifier, str):
            features = Features.of(self.X[:n], W, unit=CLASSIFIERS[used.classifier].unit)
            rows = np.union1d(self._sample(MAX_ROWS), at)
            if len(rows) > MOST_ROWS and used.classifier in SPREADING:
                rows = self._sample(MOST_ROWS)
            codes = training.codes[rows]
            at = np.flatnonzero(codes >= 0)
            rows_to_fit = TrainingSet(features(self.X[rows]), at, codes[at], len(labels))
            head: Any = fit_head(used.classifier, rows_to_fit)
        else:
            features = Features(W, np.zeros(self.X.shape[1] if W is None else W.shape[1]), 1.0)
            head = EstimatorHead(classifier.fit(features(self.X[at]), labels[training.codes[at]]))
        return dataclasses.replace(features, columns=self.columns), head

    def _labels_needed(self, used: ReportRow, rehearsed: Scores | None) -> str | None:
        """Return a sentence on more labels, from a rehearsed learning curve of the used combination."""
        if rehearsed is None or used.expected is None or used.features not in rehearsed.features:
            return None
        shots, combination = max(1, round(self.training.shots)), (used.features, used.classifier)
        curve = {shots: float(rehearsed.of(*combination).mean())}
        for times in CURVE:
            found = self._rehearse(
                [used.classifier], times * shots, features=used.features, n_plays=3
            )
            if found is not None and used.features in found.features:
                curve[times * shots] = float(found.of(*combination).mean())
        return labels_needed(self.training.shots, used.expected, curve)


def expected_beyond_rehearsal(found: Inference) -> dict[str, float]:
    """Return the log of the expected over the rehearsed improvement ratio of each candidate."""
    return {
        name: float(np.log(each.predicted / each.rehearsed))
        for name, each in found.candidates.items()
        if each.predicted and each.rehearsed
    }
