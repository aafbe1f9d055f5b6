"""Domains in the form of scikit-learn: one X, one y, and `sample_domain` for the domain of each row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length

from l2t.domains import Domain, DomainPair
from l2t.domains.labels import UNLABELED, is_mark, known_labels, label_key
from l2t.exceptions import InvalidInputError
from l2t.prediction.training import as_domains
from l2t.typing import AnyArray, Label, Mask, MatrixLike

#: The labels of a binary problem in which -1 is a class.
SAMPLE_DOMAIN_SIGNS = {-1, 1}

Stacked = tuple[AnyArray, AnyArray | None, npt.NDArray[np.int64]]


def stack_domains(source: Domain, target: Domain) -> Stacked:
    """Stack two domains into X, y and `sample_domain` for the estimators.

    Parameters
    ----------
    source, target : Domain, or (X, y), or X
        In a tuple (X, y), every target label is known except -1, NaN and None. In a target Domain, those
        marked by `labeled` are known, and none without that mask. Groups of a Domain are not stacked: pass
        them to a splitter such as scikit-learn's `GroupKFold`.

    Returns
    -------
    X : array of shape (ns + nt, m)
        The rows of the source, followed by those of the target.
    y : array of shape (ns + nt,) or None
        The labels; None if there are none. An unlabelled target row has -1 if all labels are integers, NaN if
        they are floats, and None otherwise; an unlabelled source row has NaN or None, as -1 may be a class
        there.
    sample_domain : int array of shape (ns + nt,)
        1 for source rows, -1 for target rows.

    Examples
    --------
    >>> X, y, sample_domain = stack_domains(([[0.0], [1.0]], [0, 1]), ([[5.0], [6.0]], [2, -1]))
    >>> y.tolist(), sample_domain.tolist()
    ([0, 1, 2, -1], [1, 1, -1, -1])
    """
    (origin,), aim = as_domains([source], target)
    pair = DomainPair(origin, aim)
    ns, nt = len(pair.source), len(pair.target)
    values = _labels(pair.source, pair.source_labeled) + _labels(pair.target, pair.target_labeled)
    if any(is_mark(value) for value in values[ns:]):
        raise InvalidInputError(
            f"target must not have a class {UNLABELED}, which marks unlabelled rows; rename it"
        )
    X = np.concatenate([pair.source.X, pair.target.X])
    return X, _column(values, ns), np.repeat([1, -1], [ns, nt])


def _labels(domain: Domain, known: Mask) -> list[Label]:
    if domain.y is None:
        return [None] * len(domain)
    return [label if there else None for label, there in zip(domain.y.tolist(), known, strict=True)]


def _column(values: list[Label], ns: int) -> AnyArray | None:
    """Return labels as an array of a dtype that can mark those that are None."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return None
    if len(kinds) == 1 and None not in values:
        return np.array(values)
    if kinds == {int} and None not in values[:ns]:
        return np.array([UNLABELED if value is None else value for value in values])
    numbers = float in kinds and kinds <= {int, float}
    return np.array(values, dtype=float if numbers else object)


def split_domains(
    X: MatrixLike,
    y: AnyArray | None,
    sample_domain: npt.ArrayLike | None,
    *,
    feature_names: Sequence[str] | None = None,
    pooled: bool = False,
) -> tuple[list[Domain], Domain]:
    """Return the sources in the order of their ids, and the target, with the labelled rows marked.

    All rows below 0 are the target. If `pooled`, all rows above 0 are one source. Without `sample_domain`, X
    is the source and the target. `feature_names` are those of X, or None.
    """
    ids, target = np.ones(X.shape[0]), np.ones(X.shape[0], dtype=bool)
    if sample_domain is not None:
        source = is_source(sample_domain)
        check_consistent_length(X, source)
        target = ~source
        if not (source.any() and target.any()):
            raise InvalidInputError(
                f"sample_domain must mark rows of both domains, got {int(source.sum())} source "
                f"and {int(target.sum())} target rows; leave it out to use X as both"
            )
        ids = np.where(target, 0, 1 if pooled else sample_domain)
    check_consistent_length(X, y)
    labeled = None if y is None else labeled_rows(y, sample_domain)

    def part(rows: Mask, name: str) -> Domain:
        return Domain(
            X[rows],
            None if y is None else y[rows],
            labeled=None if labeled is None else labeled[rows],
            name=name,
            feature_names=feature_names,
        )

    names = {number: f"source {number:g}" for number in np.unique(ids[ids > 0]).tolist()}
    if len(names) == 1:
        names = dict.fromkeys(names, "source")
    return [part(ids == number, name) for number, name in names.items()], part(target, "target")


def is_source(sample_domain: npt.ArrayLike) -> Mask:
    """Return which rows are source rows (above 0), the others being target rows (below 0)."""
    marks = np.asarray(sample_domain)
    rule = (
        "sample_domain must be one number per row, above 0 for source and below 0 for target rows"
    )
    if marks.ndim != 1 or marks.dtype.kind not in "iuf":
        raise InvalidInputError(f"{rule}, got shape {marks.shape} and dtype {marks.dtype}")
    bad = ~(np.abs(marks) > 0)
    if bad.any():
        raise InvalidInputError(f"{rule}, got {marks[bad][0]} at row {int(bad.argmax())}")
    return np.asarray(marks > 0)


def labeled_rows(y: AnyArray, sample_domain: npt.ArrayLike | None) -> Mask:
    """Return which rows are labelled; without `sample_domain`, -1 is a class if all labels are -1 and 1."""
    if sample_domain is not None:
        return known_labels(y, ~is_source(sample_domain))
    return known_labels(y, {label_key(label) for label in y.tolist()} != SAMPLE_DOMAIN_SIGNS)
