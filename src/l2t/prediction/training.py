"""What a prediction starts from: domains as people have them, and the rows that it is trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.domains.domain import is_missing
from l2t.exceptions import InvalidInputError
from l2t.experiences import ExperienceStore, open_store
from l2t.typing import AnyArray, Indices, Mask
from l2t.validation import instance_of

TrainOn = Literal["auto", "target", "source", "both"]

#: Classes that a sentence names, at most.
NAMED = 8
#: A target label that means "not labelled" in arrays, beside NaN and None; and those that are texts.
UNLABELED = -1
UNLABELED_TEXTS = frozenset(("", "-1", "?", "NA", "N/A", "NaN", "nan", "null", "None"))
#: Columns are divided by their standard deviation where the largest exceeds this many times the median.
UNEVEN = 30.0


def as_domain(given: Any, role: str) -> Domain:
    """Return a Domain, (X, y) or X as a domain; in (X, y) every label that is no mark of a gap is known."""
    if isinstance(given, Domain):
        return given
    if not isinstance(given, tuple):
        return Domain(given, name=role)
    if len(given) != 2:
        raise InvalidInputError(
            f"{role} must be a Domain, (X, y) or X, got a tuple of {len(given)}"
        )
    X, y = given
    domain = Domain(X, y, name=role)
    if domain.y is None:
        return domain
    return Domain(X, y, labeled=known_labels(domain.y, marked=role == "target"), name=role)


def known_classes(known: Any, store: Any, n_features: int) -> KnownClasses | None:
    """Return the known classes, and those of a store or its URL as well."""
    if known is not None:
        instance_of("known", known, KnownClasses)
    if store is None:
        return known  # type: ignore[no-any-return]
    if not isinstance(store, ExperienceStore):
        with open_store(store, create=False) as opened:
            return known_classes(known, opened, n_features)
    past = KnownClasses.of(store, n_features)
    return past if known is None else known.merge(past)


def known_labels(y: AnyArray, *, marked: bool) -> Mask:
    """Tell which labels are known; -1 means that one is not, where it is a mark."""
    gone = (is_missing(label) or (marked and is_mark(label)) for label in y.tolist())
    return ~np.fromiter(gone, dtype=bool, count=len(y))


def is_mark(label: Any) -> bool:
    """Tell whether a label marks a row that is not labelled."""
    if isinstance(label, str):
        return label in UNLABELED_TEXTS
    return isinstance(label, int | float) and label == UNLABELED


@dataclass(frozen=True, eq=False)
class Training:
    """All `n_target` rows of the target, then the rows of sources that are trained on.

    Indices are positions in `classes`, those that can be predicted; -1 for rows without a label.
    """

    X: AnyArray
    codes: Indices
    classes: tuple[Any, ...]
    n_target: int

    @property
    def shared(self) -> bool:
        """Whether rows of a source are among those that are trained on."""
        return len(self.X) > self.n_target

    @property
    def shots(self) -> float:
        """Labelled rows per class."""
        return float((self.codes >= 0).sum() / len(self.classes))

    @property
    def labels(self) -> AnyArray:
        """The classes as an array: of numbers where all are numbers, of objects otherwise."""
        if any(isinstance(label, str) for label in self.classes):
            return np.array(self.classes, dtype=object)
        return np.array(self.classes)


def training_rows(
    sources: list[Domain], target: Domain, train_on: TrainOn = "auto", shared: bool | None = None
) -> Training:
    """Return the rows to train on; "auto" has the sources' where these have a class of the target."""
    labels, known = _labels(target, default=False)
    ours = [(each.X, *_labels(each, default=True)) for each in sources]
    given = set(labels[known].tolist())
    offered = {label for _, y, there in ours for label in y[there].tolist()}
    if shared is False and train_on in ("source", "both"):
        raise InvalidInputError(
            f"train_on must be 'auto' or 'target' with shared=False, got {train_on!r}"
        )
    if train_on == "auto":
        if shared is None:
            shared = bool(offered) and not (given and given.isdisjoint(offered))
        train_on = ("both" if given else "source") if shared else "target"
    _check(train_on, given, offered, len(target))
    parts = [(target.X, labels, known & (train_on != "source"))]
    if train_on != "target":
        parts += [(X[there], y[there], there[there]) for X, y, there in ours]
    X, y, there = (np.concatenate(each) for each in zip(*parts, strict=True))
    y[~there] = None
    encoded = Domain(np.zeros((len(y), 1)), y)
    return Training(X, encoded.codes, encoded.classes, len(target))


def _labels(domain: Domain, *, default: bool) -> tuple[AnyArray, Mask]:
    """Return the labels of a domain as objects, and which of them are known."""
    if domain.y is None:
        return np.full(len(domain), None), np.zeros(len(domain), dtype=bool)
    known = np.full(len(domain), default) if domain.labeled is None else domain.labeled
    return domain.y.astype(object), known


def _check(train_on: str, given: set[Any], offered: set[Any], n_rows: int) -> None:
    """Say why rows cannot teach the target's classes."""
    if train_on != "target" and not offered:
        raise InvalidInputError(f"train_on={train_on!r} needs labelled source rows, got none")
    if train_on != "source" and not given:
        instead = "label a few, or take" if train_on == "target" else "take"
        raise InvalidInputError(
            f"train_on={train_on!r} needs labelled target rows, got none of {n_rows}; {instead} "
            "train_on='source' if both domains have the same classes"
        )
    strange = given - offered
    if train_on != "target" and strange and (train_on == "source" or strange == given):
        raise InvalidInputError(
            f"train_on={train_on!r} needs classes that both domains share, got the target's "
            f"{sorted(strange, key=str)[0]!r} which no source row has; take train_on='target'"
        )


def column_scales(X: Any) -> AnyArray | None:
    """Return the standard deviation of each column where they are very uneven; None where they are not."""
    spread = _spread(X)
    some = spread[spread > 0]
    if len(some) < 2 or some.max() <= UNEVEN * np.median(some):
        return None
    return np.where(spread > 0, spread, 1.0)


def _spread(X: Any) -> AnyArray:
    """Return the standard deviation of each column of an array or a sparse matrix."""
    if not sparse.issparse(X):
        return np.asarray(X.std(axis=0, dtype=np.float64))
    squares = X.multiply(X).mean(axis=0) - X.mean(axis=0) ** 2
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def describe_task(sources: list[Domain], target: Domain) -> dict[str, Any]:
    """Say what `predict` would be asked, before it is: sentences for people, and warnings.

    Raises
    ------
    InvalidInputError
        The rows cannot teach the target's classes, or the features differ.
    """
    for each in sources:
        DomainPair(each, target)  # refuses other features
    training = training_rows(sources, target)
    codes, names = training.codes[: training.n_target], list(map(str, training.classes))
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    sentences = [
        f"Classes: {', '.join(names[:NAMED])}{more}. "
        f"{int(counts.sum())} of {len(target)} rows have a label.",
        f"Features: {target.n_features} columns that all files have.",
        f"Scaling: {_scaling(training.X)}.",
    ]
    if training.shared:
        sentences.append("Source: its labels are used as well, as it has classes of the target.")
    elif sources:
        sentences.append(
            "Source: it has other classes; ways to tell them apart are rehearsed on it."
        )
    single = [name for name, count in zip(names, counts, strict=True) if count == 1]
    warnings = []
    if single and not training.shared:
        warnings.append(f"Only one row is labelled as {', '.join(single[:NAMED])}.")
    if not sources:
        warnings.append("There is no source: nothing can be rehearsed or transferred.")
    return {"sentences": sentences, "warnings": warnings}


def _scaling(X: AnyArray) -> str:
    """Say whether columns are scaled, and why."""
    spread = _spread(X)
    times = spread.max() / (np.median(spread[spread > 0]) if spread.any() else 1.0)
    largest = f"the largest standard deviation of a column is {times:.3g} times the median"
    if column_scales(X) is None:
        return f"none, because {largest}"
    return f"columns are divided by their standard deviation, because {largest}"
