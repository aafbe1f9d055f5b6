"""The input of a prediction: domains from what users pass, and the rows that it is trained on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from l2t.classifiers.classifiers import CV_SHOTS
from l2t.classifiers.feature_map import FeatureMap
from l2t.domains import Domain, KnownClasses
from l2t.domains.copies import joint_groups
from l2t.domains.draw import rank_in_class
from l2t.domains.encoding import TableEncoder, needs_encoding
from l2t.domains.labels import known_labels
from l2t.domains.pair import match_columns
from l2t.exceptions import InvalidInputError
from l2t.task import Task
from l2t.typing import AnyArray, Indices, JsonObject, Label, Mask, Matrix, MatrixLike
from l2t.validation import instance_of, some_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from l2t.experiences import ExperienceStore

TrainOn = Literal["auto", "target", "source", "both"]
Normalize = Literal["auto", "none", "rows", "centred", "zscore"]

#: Maximum number of classes that a sentence names.
NAMED = 8
#: More different numbers than this are amounts, not classes, if they are not whole or have fewer rows each.
MAX_NUMBERS = 30
ROWS_PER_NUMBER = 3
#: Labelled rows of each class that come before others when some are drawn.
KEPT_PER_CLASS = CV_SHOTS
#: Columns are divided by their standard deviation if the largest one exceeds this many times the lower
#: quartile. It does for tables of several units, but for no embeddings, images or bags of words that L2T is
#: measured on: there it is at most 22 times (docs/results/families.md has the kinds of data).
UNEVEN_COLUMNS = 30.0


def as_domains(
    sources: Sequence[Any], target: Any, text_encoder: str | None = None
) -> tuple[list[Domain], Domain]:
    """Return Domains, (X, y) or X as domains with the columns of the target.

    In (X, y) the labels that are not missing are known. If a frame has columns that are not numbers, or
    missing cells, features are made of the columns of all frames together.
    """
    tables = [
        *(_features_and_labels(source, "source") for source in sources),
        _features_and_labels(target, "target"),
    ]
    encoder = None
    if any(needs_encoding(X) for X, _ in tables):
        encoder = TableEncoder.fit([X for X, _ in tables], text_encoder=text_encoder)
    *origins, whole = (
        _as_domain(X, y, encoder, "target" if place == len(sources) else "source")
        for place, (X, y) in enumerate(tables)
    )
    return [match_columns(source, whole) for source in origins], whole


def _features_and_labels(argument: Any, role: str) -> tuple[Any, Any]:
    """Return X and y of (X, y) or X; a Domain, and None."""
    if not isinstance(argument, tuple):
        return argument, None
    if len(argument) != 2:
        raise InvalidInputError(
            f"{role} must be a Domain, (X, y) or X, got a tuple of length {len(argument)}"
        )
    return argument


def _as_domain(
    X: MatrixLike | Domain, y: npt.ArrayLike | None, encoder: TableEncoder | None, role: str
) -> Domain:
    if isinstance(X, Domain):
        return X
    names = None
    if encoder is not None:
        X, names = encoder.transform(X), encoder.feature_names
    domain = Domain(X, y, name=role, feature_names=names, encoder=encoder)
    if domain.y is None:
        return domain
    return domain.with_rows(labeled=known_labels(domain.y, role == "target"))


def further_classes(
    known: KnownClasses | None,
    store: ExperienceStore | str | os.PathLike[str] | None,
    target: Domain,
) -> list[KnownClasses]:
    """Return known classes besides those of the sources: given ones, and those of a store or its URL."""
    if known is not None:
        instance_of("known", known, KnownClasses)
    further = [] if known is None else [known]
    if store is None:
        return further
    from l2t.experiences import ExperienceStore, open_store

    if isinstance(store, ExperienceStore):
        return [*further, KnownClasses.of(store, target.n_features, target.feature_names)]
    if not isinstance(store, str | os.PathLike):
        raise InvalidInputError(
            f"store must be an ExperienceStore, a URL or a path, got {type(store).__name__}"
        )
    with open_store(store, create=False) as opened:
        return further_classes(known, opened, target)


@dataclass(frozen=True, eq=False)
class Training:
    """All `n_target` rows of the target, followed by the source rows that are trained on.

    Attributes
    ----------
    domains : tuple of Domain
        The target, and the sources after it.
    used : tuple of int arrays
        The rows of each domain; all rows of the target.
    codes : int array of shape (n,)
        Indices into `classes`, -1 for unlabelled rows.
    classes : tuple
        The classes that can be predicted.
    n_target, n_drawn : int
        The number of target rows, and of the first of them, which were drawn without regard to labels.
    groups : int array of shape (n,)
        The group of each row, equal ones being equal in all domains; a row without one is its own.
    """

    domains: tuple[Domain, ...]
    used: tuple[Indices, ...]
    codes: Indices
    classes: tuple[Label, ...]
    n_target: int
    n_drawn: int
    groups: Indices

    @cached_property
    def X(self) -> AnyArray:
        """The rows."""
        parts = zip(self.domains, self.used, strict=True)
        return np.concatenate([domain.X[rows] for domain, rows in parts])

    @property
    def unmarked(self) -> Matrix:
        """The rows without target rows that are used only because they are labelled; perhaps sparse."""
        target, *sources = self.used
        used = zip(self.domains, (target[: self.n_drawn], *sources), strict=True)
        parts = [domain.rows[rows] for domain, rows in used if len(rows)]
        some = any(sparse.issparse(part) for part in parts)
        return sparse.vstack(parts, "csr") if some else np.concatenate(parts)

    def within(self, task: Task) -> Training:
        """Return the same rows with the features of a task in other coordinates."""
        return replace(self, domains=tuple(task.domains))

    def sample(self, n_rows: int, random_state: int) -> Indices:
        """Return up to n_rows rows: labelled ones, those of the target first, then random target rows.

        Some labelled rows of every class are always among them.
        """
        rng = np.random.default_rng(random_state)
        labeled = rng.permutation(np.flatnonzero(self.codes >= 0))
        labeled = labeled[np.argsort(labeled >= self.n_target, kind="stable")]
        if len(labeled) > n_rows:
            rank = np.minimum(rank_in_class(self.codes[labeled]), KEPT_PER_CLASS)
            n_rows = max(n_rows, len(self.classes))
            labeled = labeled[np.argsort(rank, kind="stable")][:n_rows]
        free = rng.permutation(np.flatnonzero(self.codes[: self.n_target] < 0))
        return np.sort(np.concatenate([labeled, free[: max(n_rows - len(labeled), 0)]]))

    @property
    def n_unlabeled_groups(self) -> int:
        """The number of groups of unlabelled target rows."""
        free = self.codes[: self.n_target] < 0
        return len(np.unique(self.groups[: self.n_target][free]))

    @property
    def shared(self) -> bool:
        """Whether source rows are trained on."""
        return len(self.codes) > self.n_target

    @property
    def shots(self) -> float:
        """Labelled rows per class."""
        return float((self.codes >= 0).sum() / len(self.classes))

    @property
    def labels(self) -> AnyArray:
        """The classes as an array, of dtype object if any is a string."""
        if any(isinstance(label, str) for label in self.classes):
            return np.array(self.classes, dtype=object)
        return np.array(self.classes)


def training_rows(task: Task, train_on: TrainOn = "auto") -> Training:
    """Return the rows to train on; "auto" includes source rows if classes are shared with the target."""
    target, sources = task.target, task.sources
    labels, known = _labels(target, default=False)
    parts = [(domain, *_labels(domain, default=True)) for domain in sources]
    of_target = set(labels[known].tolist())
    offered = {label for _, y, labelled in parts for label in y[labelled].tolist()}
    if train_on == "auto":
        train_on = ("both" if of_target else "source") if task.shared else "target"
    _check_classes(train_on, of_target, offered, known)
    _check_not_amounts([labels[known], *(y[labelled] for _, y, labelled in parts)])
    used = [np.arange(len(target)), *(np.empty(0, dtype=np.intp) for _ in parts)]
    values, labelled = [labels], [known & (train_on != "source")]
    groups = joint_groups([target, *sources])
    if train_on != "target":
        used[1:] = [np.flatnonzero(rows) for _, _, rows in parts]
        values += [y[rows] for _, y, rows in parts]
        labelled += [rows[rows] for _, _, rows in parts]
    y = np.concatenate(values)
    y[~np.concatenate(labelled)] = None
    encoded = Domain(np.zeros((len(y), 1)), y)
    return Training(
        (target, *sources),
        tuple(used),
        encoded.codes,
        encoded.classes,
        len(target),
        task.n_drawn,
        np.concatenate([codes[rows] for codes, rows in zip(groups, used, strict=True)]),
    )


def spread_over_classes(codes: Indices, n_rows: int) -> Indices:
    """Return codes of which at most n_rows are kept, evenly over the classes; the others become -1."""
    labeled = np.random.default_rng(0).permutation(np.flatnonzero(codes >= 0))
    if len(labeled) <= n_rows:
        return codes
    order = labeled[np.argsort(rank_in_class(codes[labeled]), kind="stable")]
    kept = np.full_like(codes, -1)
    kept[order[:n_rows]] = codes[order[:n_rows]]
    return kept


def _labels(domain: Domain, *, default: bool) -> tuple[AnyArray, Mask]:
    """Return the labels of a domain as objects, and which of them are known."""
    if domain.y is None:
        return np.full(len(domain), None), np.zeros(len(domain), dtype=bool)
    known = np.full(len(domain), default) if domain.labeled is None else domain.labeled
    return domain.y.astype(object), known


def _check_classes(train_on: str, of_target: set[Label], offered: set[Label], known: Mask) -> None:
    """Raise an error if the target's classes cannot be learned from the labels to train on."""
    if train_on != "target" and not offered:
        raise InvalidInputError(f"train_on={train_on!r} needs labelled source rows, got none")
    if train_on != "source" and not of_target:
        advice = "use train_on='source' if both domains have the same classes"
        raise InvalidInputError(
            f"the target must have labelled rows, got none of {len(known)}; label a few rows of each "
            f"class, or {advice if offered else 'add a source with the same classes'}"
        )
    if train_on == "target" and len(of_target) == 1:
        raise InvalidInputError(
            "the labelled target rows must be of at least two classes, got "
            f"{int(known.sum())} of class {next(iter(of_target))!r}"
        )
    unknown = of_target - offered
    # A single class needs others, those of the source.
    is_disjoint = unknown == of_target and len(of_target) > 1
    if train_on != "target" and unknown and (train_on == "source" or is_disjoint):
        raise InvalidInputError(
            f"train_on={train_on!r} needs classes that both domains share, got the target's "
            f"{sorted(unknown, key=str)[0]!r}, which no source row has; use train_on='target'"
        )


def _check_not_amounts(labels: Sequence[AnyArray]) -> None:
    """Raise an error if the labels of a domain are numbers that hardly repeat."""
    for own in labels:
        values = own.tolist()
        different = len(set(values))
        if different <= MAX_NUMBERS or not all(isinstance(value, int | float) for value in values):
            continue
        whole = all(float(value).is_integer() for value in values)
        if not whole or different * ROWS_PER_NUMBER > len(values):
            raise InvalidInputError(
                f"labels must be classes, got {different} different numbers in {len(values)} labelled rows; "
                "if they are amounts, replace them by ranges, such as pandas.cut(y, 5)"
            )


def parts_to_scale(task: Task, training: Training) -> list[Matrix]:
    """Return the rows whose columns decide on scaling, in parts whose means may differ.

    Where classes differ, the source counts as well, because columns that hardly vary in the few classes of a
    target do vary there; the distance between the domains says nothing on units.
    """
    return [training.unmarked] + ([] if training.shared else [one.rows for one in task.sources])


def column_scales(*parts: Matrix) -> AnyArray | None:
    """Return the standard deviation of each column within parts if they differ widely, otherwise None."""
    deviations = _deviations(*parts)
    positive = deviations[deviations > 0]
    if len(positive) < 2 or positive.max() <= UNEVEN_COLUMNS * np.quantile(positive, 0.25):
        return None
    return np.where(deviations > 0, deviations, 1.0)


def _deviations(*parts: Matrix) -> AnyArray:
    """Return the standard deviation of each column within arrays or sparse matrices."""
    sizes = [X.shape[0] for X in parts]
    return np.asarray(np.sqrt(np.average([_variances(X) for X in parts], axis=0, weights=sizes)))


def _variances(X: Matrix) -> AnyArray:
    if not sparse.issparse(X):
        return np.asarray(X.var(axis=0, dtype=np.float64))
    squares = X.multiply(X).mean(axis=0) - X.mean(axis=0) ** 2
    return np.asarray(np.maximum(squares, 0.0))


def scaling_map(original: Domain, scaled: Domain, *, unit: bool) -> FeatureMap:
    """Return what `normalize` did to the rows of a domain as a map, for further rows.

    `unit` is whether it divided rows by their norm.
    """
    first, last = (
        np.array([np.zeros(original.n_features), np.ones(original.n_features)])
        if domain.prepared is None
        else domain.prepared
        for domain in (original, scaled)
    )
    shift, scale = (last[0] - first[0]) / first[1], last[1] / first[1]
    return FeatureMap(None, shift / scale, unit=unit, columns=scale)


def describe_task(sources: list[Domain], target: Domain) -> JsonObject:
    """Return sentences and warnings that describe what `predict` would do with these domains.

    Raises
    ------
    InvalidInputError
        The target's classes cannot be learned from these rows, or the features differ.
    """
    origins = [match_columns(source, target) for source in sources]
    task = Task.of(origins, target, shared_if_unlabeled=True)
    training = training_rows(task)
    codes, names = training.codes[: training.n_target], list(map(str, training.classes))
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    sentences = [
        f"Classes: {some_of(names, NAMED)}. {int(counts.sum())} of {len(target)} rows have a label.",
        _describe_features(target),
        f"Scaling: {_scaling(parts_to_scale(task, training))}.",
    ]
    if training.shared:
        sentences.append("Source: it has classes of the target, so its labels are used as well.")
    elif sources:
        sentences.append("Source: it has other classes; candidates are rehearsed on them.")
    single = [name for name, count in zip(names, counts, strict=True) if count == 1]
    warnings = []
    if single and not training.shared:
        warnings.append(f"Only one row is labelled as {', '.join(single[:NAMED])}.")
    if not sources:
        warnings.append(
            "There is no source: nothing can be rehearsed on it or transferred from it."
        )
    return {"sentences": sentences, "warnings": warnings}


def _describe_features(target: Domain) -> str:
    """Return how many columns are used and, if they are encoded, what they hold, in words."""
    if target.encoder is None:
        return f"Features: {target.n_features} columns that all files have."
    words = [f"Features: {len(target.encoder.names)} columns that all files have."]
    return " ".join(words + target.encoder.sentences())


def _scaling(parts: list[Matrix]) -> str:
    """Return whether columns are scaled, and why, in words."""
    deviations = _deviations(*parts)
    quartile = np.quantile(deviations[deviations > 0], 0.25) if deviations.any() else 1.0
    times = deviations.max() / quartile
    largest = f"the largest standard deviation of a column is {times:.3g} times the lower quartile"
    if column_scales(*parts) is None:
        return f"none, because {largest}"
    return f"columns are divided by their standard deviation, because {largest}"
