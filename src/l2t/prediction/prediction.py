"""Predicted classes of a target, what to expect of them, and the model that made them."""

from __future__ import annotations

import dataclasses
import html
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.algorithms import Algorithm
from l2t.domains import Domain, KnownClasses
from l2t.exceptions import InvalidInputError
from l2t.experiences import ExperienceStore, open_store
from l2t.inference import Inference, infer
from l2t.inference.candidates import candidate_algorithms
from l2t.numerics import few_threads
from l2t.prediction.choice import Outlook, choose
from l2t.prediction.classifiers import (
    BALANCED,
    CLASSIFIERS,
    EstimatorHead,
    Head,
    Task,
    fit_head,
)
from l2t.prediction.labelling import labels_needed, suggest_rows
from l2t.prediction.model import Features, Model
from l2t.prediction.report import Report, ReportRow
from l2t.prediction.scoring import PLAIN, Scores, cross_validate, rehearse_combinations
from l2t.prediction.training import Training, TrainOn, as_domain, column_scales, training_rows
from l2t.reflection import ReflectionFunction
from l2t.typing import AnyArray, Array
from l2t.validation import instance_of, one_of, seed, whole_number

__all__ = ["Prediction", "predict"]

#: Rows that are cross-validated on, and that classifiers of all rows see, at most.
MAX_ROWS = 1500
#: Multiples of the present number of labels that the curve of accuracy is rehearsed at.
CURVE = (2, 4, 8)
#: With shared classes there are many labels, and these are compared.
FOR_MANY = ("nearest neighbour", "nearest centroid", "logistic", "logistic (centred)")


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted classes of all rows of a target.

    Attributes
    ----------
    labels : array of shape (n,)
        The predicted class of every row.
    probability : array of shape (n,)
        The probability of that class.
    probabilities : array of shape (n, n_classes)
        The probabilities of all classes.
    given : bool array of shape (n,)
        Which rows came with a label.
    classes : array of shape (n_classes,)
        The classes of the target.
    choice : str
        The candidate whose features are used; "identity" for the features as they are.
    classifier : str
        The classifier.
    report : Report
        What to expect, and why.
    model : Model
        What classifies further rows.
    labels_needed : str or None
        About how many labels more would bring the next round accuracy.
    inference : Inference
        What was transferred.
    """

    labels: AnyArray
    probability: Array
    probabilities: Array
    given: npt.NDArray[np.bool_]
    classes: AnyArray
    choice: str
    classifier: str
    report: Report
    model: Model
    labels_needed: str | None
    inference: Inference
    _rows: Array = field(repr=False)

    def __repr__(self) -> str:
        n, k = self.probabilities.shape
        return f"Prediction({n} rows, {k} classes, {self.classifier} on {self.choice})"

    def suggest(self, n: int) -> npt.NDArray[np.intp]:
        """Return the places of n rows to label next: typical ones of those that are least certain."""
        whole_number("n", n, least=1)
        return suggest_rows(self._rows, self.probabilities, self.given, n)

    def plot(self) -> Any:
        """Return a figure of the accuracies to expect (needs matplotlib)."""
        from l2t.prediction.plotting import plot_report

        return plot_report(self.report)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>" + self.report._repr_html_()


def predict(
    sources: Any,
    target: Any,
    *,
    classifier: Any = "auto",
    train_on: TrainOn = "auto",
    balanced: bool = False,
    known: KnownClasses | None = None,
    store: str | os.PathLike[str] | ExperienceStore | None = None,
    reflection: ReflectionFunction | str | os.PathLike[str] | None = None,
    random_state: int = 0,
    callback: Callable[[str], None] | None = None,
) -> Prediction:
    """Predict the class of every row of a target.

    Features of several candidates (`l2t.infer`) and several classifiers are rehearsed together on the known
    classes and cross-validated on the labelled rows; what should be best is used, the plain features among
    them. No target label is read for the features.

    Parameters
    ----------
    sources : Domain, (X, y) or X, or a list of them
        Labelled rows of other classes, or of the same ones; arrays, pandas or polars frames.
    target : Domain, (X, y) or X
        The rows to classify. Of a Domain those that are marked by `labeled` are labelled; of (X, y) all but
        those with None, NaN or -1.
    classifier : str or classifier of scikit-learn, default="auto"
        "auto" to choose, one of `l2t.prediction.CLASSIFIERS` by name, or a classifier of your own, which is
        trained on the features that `l2t.infer` chooses.
    train_on : {"auto", "target", "source", "both"}, default="auto"
        Which labelled rows the classifier is trained on; by default those of the target, and those of the
        sources as well where these have the target's classes.
    balanced : bool, default=False
        Whether all classes of the target are known to have about as many rows: then classifiers that assume
        so are considered.
    known : KnownClasses, optional
        Further labelled rows in the same feature space.
    store : str, path or ExperienceStore, optional
        An experience store, or its URL: the classes of its labelled targets are known as well.
    reflection : ReflectionFunction, str or path, optional
        A reflection function: features are then those of the paper's search.
    random_state : int, default=0
        The seed.
    callback : callable, optional
        Is called with the name of each stage.

    Returns
    -------
    Prediction
        The predicted labels with their probabilities, the report and the model.

    Examples
    --------
    >>> from l2t.domains import PairSampler, digits, normalize
    >>> pair = PairSampler(normalize(digits()), normalize(digits()), 1, n_classes=4)[0]
    >>> codes = pair.target.codes
    >>> few = np.isin(np.arange(len(codes)), [np.flatnonzero(codes == c)[:5] for c in range(4)])
    >>> found = predict(pair.source, Domain(pair.target.X, pair.target.y, labeled=few))
    >>> len(found.labels) == len(codes), bool(np.mean(found.labels == pair.target.y) > 0.8)
    (True, True)
    """
    if isinstance(classifier, str) or not hasattr(classifier, "fit"):
        one_of("classifier", classifier, ("auto", *CLASSIFIERS))
    aim = as_domain(target, "target")
    several = sources if isinstance(sources, list) else [sources]
    origins = [as_domain(each, "source") for each in several]
    training = training_rows(origins, aim, train_on)
    known = _known(known, store, aim.n_features)
    with few_threads(sum(len(each) for each in (aim, *origins)) * aim.n_features):
        work = _Work(origins, aim, training, known, seed(random_state), callback)
        return work.predict(classifier, balanced, reflection)


def _known(
    known: KnownClasses | None,
    store: str | os.PathLike[str] | ExperienceStore | None,
    n_features: int,
) -> KnownClasses | None:
    """Return the known classes beside those of the sources."""
    if known is not None:
        instance_of("known", known, KnownClasses)
    if store is None:
        return known
    if isinstance(store, ExperienceStore):
        past = KnownClasses.of(store, n_features)
    else:
        with open_store(store, create=False) as opened:
            past = KnownClasses.of(opened, n_features)
    return past if known is None else known.merge(past)


class _Work:
    """One prediction, step by step."""

    def __init__(
        self,
        sources: list[Domain],
        target: Domain,
        training: Training,
        known: KnownClasses | None,
        random_state: int,
        callback: Callable[[str], None] | None,
    ) -> None:
        self.seed, self.say = random_state, callback or (lambda stage: None)
        self.training, self.names = training, target.feature_names
        self.groups = target.group_codes
        self.columns = column_scales(training.X)
        self.target, self.X = self._scaled(target), self._divided(training.X)
        self.sources, self.known = [self._scaled(each) for each in sources], known
        if known is not None and self.columns is not None:
            self.known = KnownClasses([Domain(self._divided(known.X), known.codes)])

    def _divided(self, X: AnyArray) -> AnyArray:
        return X if self.columns is None else X / self.columns

    def _scaled(self, domain: Domain) -> Domain:
        if self.columns is None:
            return domain
        names = domain.feature_names
        return domain.with_features(self._divided(domain.X), feature_names=names)

    def predict(self, classifier: Any, balanced: bool, reflection: Any) -> Prediction:
        """Infer, score, choose, train and predict."""
        training = self.training
        found = infer(
            self.target,
            reflection,
            sources=self.sources,
            known=self.known,
            n_classes=max(len(training.classes), 2),
            n_labels=None if self._n_labelled else round(5 * len(training.classes)),
            random_state=self.seed,
            callback=self.say,
        )
        self.say("comparing classifiers")
        self.factors: dict[str, AnyArray | None] = {PLAIN: None}
        self.factors |= {
            name: each.W
            for name, each in found.candidates.items()
            if name != "identity" and each.W is not None
        }
        features = PLAIN if found.choice == "identity" else found.choice
        rehearsed = measured = None
        if isinstance(classifier, str):
            names = _considered(classifier, balanced, training)
            rehearsed = None if training.shared else self._rehearse(names, training.shots)
            measured = self._measure(names)
            used, outlooks = choose(
                [(features, name) for features in self.factors for name in names],
                rehearsed,
                measured,
                _corrections(found),
                features=features,
                shots=training.shots,
                n_classes=len(training.classes),
                balanced=balanced or classifier in BALANCED,
            )
        else:
            used = Outlook(features, type(classifier).__name__, 0.0, None, None, None)
            outlooks = [used]
        self.say("predicting")
        model, rows = self._train(used, classifier)
        probabilities = model.predict_proba(self._raw_target())
        curve = self._curve(used, rehearsed)
        needed = None
        if curve and used.expected is not None:
            needed = labels_needed(training.shots, used.expected, curve)
        return Prediction(
            np.asarray(model.classes_[probabilities.argmax(axis=1)]),
            probabilities.max(axis=1),
            probabilities,
            training.codes[: training.n_target] >= 0,
            model.classes_,
            "identity" if used.features == PLAIN else used.features,
            used.classifier,
            self._report(used, outlooks, rehearsed, measured, classifier, needed),
            model,
            needed,
            found,
            rows,
        )

    @property
    def _n_labelled(self) -> int:
        return 0 if self.target.labeled is None else int(self.target.labeled.sum())

    def _raw_target(self) -> AnyArray:
        return self.training.X[: self.training.n_target]

    def _rehearse(self, names: Sequence[str], shots: float, **settings: Any) -> Scores | None:
        classes = KnownClasses(self.sources)
        if self.known is not None:
            classes = classes.merge(self.known)
        algorithms: dict[str, Algorithm] = candidate_algorithms(None, self.seed)
        n_classes = max(len(self.training.classes), 2)
        return rehearse_combinations(
            classes.without(self.target),
            {name: each for name, each in algorithms.items() if name in self.factors},
            n_classes=n_classes,
            rows_per_class=max(self.training.n_target // n_classes, 1),
            shots=shots,
            random_state=self.seed,
            classifiers=names,
            **settings,
        )

    def _some(self, n_free: int) -> npt.NDArray[np.intp]:
        """Return the labelled rows, and random others of the target."""
        codes, n = self.training.codes, self.training.n_target
        rng = np.random.default_rng(self.seed)
        labelled = rng.permutation(np.flatnonzero(codes >= 0))
        if len(labelled) > MAX_ROWS:  # the target's own first
            labelled = labelled[np.argsort(labelled >= n, kind="stable")][:MAX_ROWS]
        free = rng.permutation(np.flatnonzero(codes[:n] < 0))
        return np.sort(np.concatenate([labelled, free[: max(n_free - len(labelled), 0)]]))

    def _measure(self, names: Sequence[str]) -> Scores | None:
        """Cross-validate on the labelled target rows; on those of the source where there are none."""
        rows = self._some(MAX_ROWS // 2)
        ours = rows < self.training.n_target
        codes = self.training.codes[rows]
        tested = ours if (ours & (codes >= 0)).any() else ~ours
        groups = None
        if self.groups is not None:
            more = np.arange(len(self.training.X) - len(self.groups)) + self.groups.max() + 1
            groups = np.concatenate([self.groups, more])[rows]
        return cross_validate(self.X[rows], self.factors, codes, tested, groups, classifiers=names)

    def _train(self, used: Outlook, classifier: Any) -> tuple[Model, Array]:
        """Return the calibrated model, and the rows of the target as it sees them."""
        training, W = self.training, self.factors[used.features]
        labels = np.empty(len(training.classes), dtype=object)
        labels[:] = training.classes
        labels = plain_labels(labels)
        at = np.flatnonzero(training.codes >= 0)
        head: Head | EstimatorHead
        if isinstance(classifier, str):
            features = Features.of(self.X[: training.n_target], W)
            features = dataclasses.replace(features, unit=CLASSIFIERS[used.classifier].unit)
            rows = np.union1d(self._some(MAX_ROWS), at)
            codes = training.codes[rows]
            at = np.flatnonzero(codes >= 0)
            task = Task(features(self.X[rows]), at, codes[at], len(training.classes))
            head = fit_head(used.classifier, task)
        else:
            width = self.X.shape[1] if W is None else W.shape[1]
            features = Features(W, np.zeros(width), 1.0)
            head = EstimatorHead(classifier.fit(features(self.X[at]), labels[training.codes[at]]))
        model = Model(
            labels,
            self.names,
            dataclasses.replace(features, columns=self.columns),
            head,
            name=f"{used.classifier}, {used.features} features",
        )
        Z = features(self.X[: training.n_target])
        free = np.flatnonzero(training.codes[: training.n_target] < 0)
        if used.expected is not None and len(free):
            model = model.calibrated(head.scores(Z[free[:: -(-len(free) // 5000)]]), used.expected)
        return model, Z

    def _curve(self, used: Outlook, rehearsed: Scores | None) -> dict[int, float]:
        """Return rehearsed accuracies of the combination that is used, by labels per class."""
        if rehearsed is None or used.features not in rehearsed.features:
            return {}
        shots = max(1, round(self.training.shots))
        curve = {shots: float(rehearsed.of(used.features, used.classifier).mean())}
        for times in CURVE:
            found = self._rehearse([used.classifier], times * shots, n_plays=3)
            if found is not None and used.features in found.features:
                curve[times * shots] = float(found.of(used.features, used.classifier).mean())
        return curve

    def _report(
        self,
        used: Outlook,
        outlooks: list[Outlook],
        rehearsed: Scores | None,
        measured: Scores | None,
        wanted: Any,
        needed: str | None,
    ) -> Report:
        shown = [each for each in outlooks if each.features == PLAIN]
        for features in self.factors:
            theirs = [each for each in outlooks if each.features == features != PLAIN]
            if theirs:
                best = max(theirs, key=lambda each: (each == used, each.gain))
                shown.append(best)
        why = _why(rehearsed, measured, wanted)
        rows = tuple(
            ReportRow(
                each.classifier + ("" if each.features == PLAIN else f" on {each.features}"),
                each.features,
                each.classifier,
                each.measured,
                each.error,
                each.expected,
                each == used,
                why if each == used else "",
            )
            for each in shown
        )
        return Report(rows, self._sentences(used, shown, measured, why, needed))

    def _sentences(
        self,
        used: Outlook,
        shown: list[Outlook],
        measured: Scores | None,
        why: str,
        needed: str | None,
    ) -> list[str]:
        where = "the features as they are"
        if used.features != PLAIN:
            where = f"the features of {used.features!r}"
        found = [f"Used: {used.classifier} on {where}; {why}."]
        if used.expected is not None:
            found.append(f"About {100 * used.expected:.0f} % of the predictions should be right.")
        plain = [each for each in shown if each.features == PLAIN and each.expected is not None]
        if plain and used.features != PLAIN and used.expected is not None:
            best = max(plain, key=lambda each: each.expected or 0.0)
            gain = 100 * (used.expected - (best.expected or 0.0))
            found.append(
                f"That is {gain:+.1f} points over {best.classifier} without transfer, the best plain way."
            )
        if measured is None:
            found.append("There are too few labelled rows to measure the accuracy on them.")
        if self.columns is not None:
            found.append(
                "Columns were divided by their standard deviation, because their scales differ widely."
            )
        if self.training.shared:
            found.append(
                "Source and target have the same classes: rows of the source were trained on as well."
            )
        return found + ([needed] if needed else [])


def _considered(classifier: str, balanced: bool, training: Training) -> tuple[str, ...]:
    if classifier != "auto":
        return (classifier,)
    names = FOR_MANY if training.shared else tuple(CLASSIFIERS)
    return tuple(name for name in names if balanced or name not in BALANCED)


def _corrections(found: Inference) -> dict[str, float]:
    """Return what inference expects of features beyond what they rehearsed, as log ratios."""
    return {
        name: float(np.log(each.predicted / each.rehearsed))
        for name, each in found.candidates.items()
        if each.predicted and each.rehearsed
    }


def _why(rehearsed: Scores | None, measured: Scores | None, wanted: Any) -> str:
    if not isinstance(wanted, str):
        return "this classifier was given"
    if wanted != "auto":
        return "this classifier was asked for"
    basis = []
    if rehearsed is not None:
        basis.append(f"rehearsed {len(rehearsed)} times on known classes")
    if measured is not None:
        basis.append(f"cross-validated on {measured.n_rows} labelled rows")
    if not basis:
        return "a safe default, because nothing can be measured"
    return " and ".join(basis)


def plain_labels(labels: AnyArray) -> AnyArray:
    """Return labels without the `object` that holds them, where they are no texts."""
    if any(isinstance(label, str) for label in labels):
        return labels
    try:
        return np.array(labels.tolist())
    except ValueError:
        raise InvalidInputError(f"labels must be plain values, got {labels[0]!r:.80}") from None
