"""Predicted classes of a target, the accuracy to expect, and the model."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from l2t.classifiers.classifiers import CLASSIFIERS, DEFAULT
from l2t.display import frame_like
from l2t.domains import KnownClasses, preparation
from l2t.domains.preparation import PREPARATIONS
from l2t.exceptions import InvalidInputError
from l2t.forecast import Forecast
from l2t.inference import Inference
from l2t.inference.coordinates import Coordinates, are_few_and_sparse
from l2t.inference.inference import infer_in, infer_paper, predictor
from l2t.numerics import few_threads
from l2t.paper import Reflection
from l2t.paper.plan import Plan
from l2t.prediction.decisions import (
    METRICS,
    Metric,
    Quality,
    decision_offsets,
    promised,
)
from l2t.prediction.named import solve_by_name
from l2t.prediction.novel import NovelClasses
from l2t.prediction.result import Prediction
from l2t.prediction.shared_classes import SharedClasses
from l2t.prediction.solution import Solution
from l2t.prediction.training import (
    Normalize,
    TrainOn,
    as_domains,
    column_scales,
    further_classes,
    parts_to_scale,
    scaling_map,
    training_rows,
)
from l2t.task import Task
from l2t.validation import one_of

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

    from l2t.experiences import ExperienceStore

#: The share of unlabelled rows, of at least so many, from which a prediction is of one class.
NEARLY_ALL = 0.98
MIN_ROWS = 20
SCALED = "Columns were divided by their standard deviation: their scales differ widely."


def predict(  # noqa: PLR0913
    sources: Any,
    target: Any,
    *,
    classifier: str | ClassifierMixin = "auto",
    train_on: TrainOn = "auto",
    shared: bool | None = None,
    balanced: bool = False,
    metric: Metric = "accuracy",
    normalize: Normalize = "auto",
    text_encoder: str | os.PathLike[str] | None = None,
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
    normalize : {"auto", "none", "rows", "centred", "zscore"}, default="auto"
        "auto" divides columns by their standard deviation if their scales differ widely. The others scale the
        features of each domain as `l2t.normalize` does; the model scales further rows like those of the
        target.
    text_encoder : str, path or None, default=None
        The folder of a model of sentence-transformers, or the name of one that was downloaded before, which
        makes features of the texts in frames; None for TF-IDF. Nothing is downloaded. The model that is
        returned loads it from there for further rows.
    known : KnownClasses or None, default=None
        Further labelled rows with the same features, scaled like those of the target.
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
    >>> labeled = np.isin(np.arange(len(codes)), [np.flatnonzero(codes == c)[:5] for c in range(4)])
    >>> prediction = predict(pair.source, Domain(pair.target.X, pair.target.y, labeled=labeled))
    >>> len(prediction.labels) == len(codes), bool(np.mean(prediction.labels == pair.target.y) > 0.8)
    (True, True)
    """
    if isinstance(classifier, str | type) or not _is_classifier(classifier):
        one_of("classifier", classifier, ("auto", *CLASSIFIERS))
    one_of("train_on", train_on, ("auto", "target", "source", "both"))
    one_of("metric", metric, METRICS)
    one_of("normalize", normalize, ("auto", *PREPARATIONS))
    if shared is False and train_on in ("source", "both"):
        raise InvalidInputError(
            f"train_on must be 'auto' or 'target' with shared=False, got {train_on!r}"
        )
    texts = None if text_encoder is None else os.fspath(text_encoder)
    origins, user_target = as_domains(
        sources if isinstance(sources, list) else [sources], target, texts
    )
    whole = user_target
    if normalize != "auto":
        *origins, whole = (
            preparation.normalize(domain, normalize) for domain in (*origins, user_target)
        )
    task = Task.of(
        origins, whole, shared=shared, shared_if_unlabeled=True, random_state=random_state
    )
    training = training_rows(task, train_on)
    task = task.with_classes(max(len(training.classes), 2))
    further = further_classes(known, store, whole)
    function, forecast = predictor(reflection, None, None)
    report = callback or (lambda stage: None)
    named = not isinstance(classifier, str) or classifier != "auto"
    with few_threads(sum(map(len, task.domains)) * task.target.n_features):
        columns = None
        if normalize == "auto":
            columns = column_scales(*parts_to_scale(task, training))
        # A classifier of the user is trained on features; further classes have no coordinates in the span.
        in_span = isinstance(classifier, str) and not further and are_few_and_sparse(task.domains)
        coordinates = Coordinates.of(task, columns, in_span=in_span)
        training = training.within(coordinates.task)

        def choose() -> Inference:
            if forecast is not None:
                return infer_in(coordinates, forecast, further)
            inside = coordinates.task
            return infer_paper(inside, inside.domains, function, Plan(), None)

        if training.shared and len(training.classes) > 1 and not named and reflection is None:
            solution = SharedClasses(coordinates, training).solve(train_on, report)
        elif named or training.shared:
            report("predicting")
            name = classifier if named else DEFAULT
            solution = solve_by_name(name, coordinates, training, choose())
        else:
            solution = NovelClasses(coordinates, training, further).solve(
                forecast or Forecast.default(),
                choose() if forecast is None else None,
                report,
                balanced=balanced,
            )
        answer = _answer(solution, coordinates, metric, lambda: coordinates.lift(choose()))
    notes = [SCALED] if columns is not None else []
    if normalize != "auto":
        scaling = scaling_map(user_target, whole, unit=normalize in ("rows", "centred"))
        answer = dataclasses.replace(answer, model=answer.model.after(scaling, user_target.rows))
        notes += [f"Scaling as requested: {PREPARATIONS[normalize]}."]
    notes += [task.copies] if task.copies else []
    notes += [] if whole.encoder is None else whole.encoder.sentences()
    answer.report.sentences.extend([*notes, *_note_single_class(answer)])
    columns_of_answer = {
        "predicted": answer.labels,
        "probability": answer.probability,
        "given": answer.given,
    }
    frame = frame_like(target[0] if isinstance(target, tuple) else target, columns_of_answer)
    return dataclasses.replace(answer, frame=frame, sources=tuple(origins))


def _is_classifier(estimator: object) -> bool:
    """Return whether an object is a classifier as scikit-learn has them."""
    if hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba"):
        return True
    from sklearn.base import BaseEstimator, is_classifier  # slow to import

    return isinstance(estimator, BaseEstimator) and bool(is_classifier(estimator))


def _answer(
    solution: Solution, coordinates: Coordinates, metric: Metric, choose: Callable[[], Inference]
) -> Prediction:
    """Return the prediction of all rows of the target in their order, by the classes that maximise a metric.

    If rows were drawn, the model is applied to all rows. `choose` computes the choice of features, if none
    was made.
    """
    task, model = coordinates.asked, solution.model_of_features(coordinates)
    P = solution.probabilities
    if task.is_sampled:
        P = model.predict_proba(task.whole_target)
    else:
        P = np.empty_like(P)
        P[task.rows] = solution.probabilities
    is_labelled = task.whole_target.labeled_rows(default=False)
    free = P[~is_labelled] if not is_labelled.all() else P
    offsets = decision_offsets(free, metric)
    if offsets is not None:
        model = dataclasses.replace(model, offsets=tuple(offsets.tolist()))
    codes, classes = model.decide(P), model.classes_
    expected, measured = Quality.expected_of(free, model.decide(free)), None
    report = solution.report
    if solution.held_out is not None:
        held_out = softmax(np.log(solution.held_out.probabilities) / model.temperature, axis=1)
        truth = solution.held_out.truth
        measured = Quality.measured_of(model.decide(held_out), truth, P.shape[1])
        report.sentences.append(measured.sentence(classes))
    if metric != "accuracy":
        if measured is None:
            report.sentences.append(expected.sentence(classes))
        value = None if measured is None else measured.of(metric)
        report = report.for_metric(metric, promised(metric, expected, measured), value)
    elif report.promise is not None and report.promise.reason:
        report.sentences.append(report.promise.reason)
    known = solution.inference
    return Prediction(
        labels=np.asarray(classes[codes]),
        probability=np.take_along_axis(P, codes[:, None], axis=1)[:, 0],
        probabilities=P,
        given=is_labelled,
        classes=classes,
        choice=solution.choice,
        classifier=solution.classifier,
        report=report,
        model=model,
        labels_needed=solution.labels_needed,
        target=task.whole_target,
        metric=metric,
        expected=expected,
        measured=measured,
        held_out=solution.held_out,
        choose=choose if known is None else lambda: known,
    )


def _note_single_class(answer: Prediction) -> list[str]:
    """Return a sentence if nearly all unlabelled rows are predicted as one class."""
    labels = answer.labels[~answer.given]
    names, counts = np.unique(labels.astype(str), return_counts=True)
    if len(answer.classes) < 2 or len(labels) < MIN_ROWS or counts.max() < NEARLY_ALL * len(labels):
        return []
    share = 100.0 * counts.max() / len(labels)
    return [
        f"Nearly all rows ({share:.0f} %) are predicted as {names[counts.argmax()]}: the other classes are "
        "rare, or the columns do not tell them apart; probabilities show which rows are nearest to them."
    ]
