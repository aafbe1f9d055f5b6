"""Labels: which are missing, what type they have, and which labels of several domains are the same.

1, 1.0 and "1" are one label, and so are True and "true", and a date with and without a time of midnight. This
is decided over the known labels of all domains together, and a label is
spelled as the target spells it. Labels that the user does not have (hidden ones) decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from l2t.exceptions import InvalidInputError
from l2t.typing import AnyArray, Indices, Label, Mask

if TYPE_CHECKING:
    from l2t.domains.domain import Domain

#: Names of columns that hold labels, in lower case.
LABEL_NAMES = ("label", "labels", "class", "target", "y")
#: The target label that means "not labelled", as in skada and in semi-supervised scikit-learn.
UNLABELED = -1

# No leading zeros and at most 18 digits, which fit into int64: any other label is a name, not a number.
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,17})")
_FRACTION = re.compile(
    r"[+-]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|[0-9]+e[+-]?[0-9]+|inf)", re.IGNORECASE
)
_ZERO_FRACTION = re.compile(r"\.0*$")
_MIDNIGHT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]00:00(?::00(?:\.0+)?)?")
_TRUTHS = ("true", "false")


def is_missing(value: object) -> bool:
    """Return whether a label is None, NaN or another value that does not equal itself."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # the comparison of pandas.NA has no truth value
        return True


def known_labels(y: AnyArray, target: bool | Mask = True) -> Mask:
    """Return which labels of an array are known: neither None nor NaN nor, in target rows, -1.

    `target` is the mask of target rows, or True or False for all rows. Texts such as "?" and "NA" are labels:
    only files have words for a missing cell.

    >>> known_labels(np.array([0, -1, -1]), target=np.array([False, False, True])).tolist()
    [True, True, False]
    """
    rows = zip(y.tolist(), np.broadcast_to(target, len(y)), strict=True)
    return np.array(
        [not (is_missing(label) or (of_target and is_mark(label))) for label, of_target in rows],
        dtype=bool,
    )


def is_mark(label: Label) -> bool:
    """Return whether a target label is -1, also as a text, which numpy makes of it beside other texts."""
    key = label_key(label.strip() if isinstance(label, str) else label)
    return isinstance(key, Real) and key == UNLABELED


def check_unmasked(parameter: str, values: Any) -> None:
    """Reject masked values, which numpy would replace by what lies under the mask."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        count = int(np.ma.getmaskarray(values).sum())
        raise InvalidInputError(f"{parameter} must have no masked values, got {count}; fill them")


def label_array(values: Any, parameter: str = "y") -> AnyArray:
    """Return labels as an array; those that are missing leave the others as they are.

    NaN in a list of strings becomes None, where numpy makes it "nan"; whole numbers in a column of pandas or
    polars stay whole numbers, where numpy makes them floats.
    """
    check_unmasked(parameter, values)
    array = np.asarray(values)
    if array.dtype.kind == "f" and hasattr(values, "to_list"):
        listed = values.to_list()
        if any(isinstance(value, int) for value in listed):
            known = [None if is_missing(value) else value for value in listed]
            array = np.array(known, dtype=object)
    if array.dtype.kind != "U" or array.ndim != 1 or isinstance(values, np.ndarray):
        return array
    texts = [None if is_missing(value) else str(value) for value in values]
    return np.array(texts, dtype=object) if None in texts else array


def class_codes(values: AnyArray) -> tuple[tuple[Label, ...], Indices]:
    """Return the sorted distinct values, and the index of each value among them; -1 if it is missing."""
    known = [None if is_missing(value) else value for value in values.tolist()]
    distinct = {value for value in known if value is not None}
    try:
        with np.errstate(over="ignore"):  # when a float64 is compared with a float32
            classes = tuple(sorted(distinct))
    except TypeError:  # labels of mixed types cannot be compared
        classes = tuple(sorted(distinct, key=lambda value: (type(value).__name__, str(value))))
    index = {value: code for code, value in enumerate(classes)}
    return classes, np.array([index.get(value, -1) for value in known], dtype=np.intp)


def label_key(label: Label) -> Label:
    """Return a value that is equal for all spellings of one label: 1, 1.0, "1" and "1.0".

    A text with another fraction is a number only if Python writes that number so: "1.10" may be a version.

    >>> label_key("2.0"), label_key(0.5), label_key("0.5"), label_key("007"), label_key("1.10")
    (2, 0.5, 0.5, '007', '1.10')
    >>> label_key(True), label_key("TRUE"), label_key("2020-01-01 00:00:00")
    ('true', 'true', '2020-01-01')
    """
    if isinstance(label, bool | np.bool_ | date):
        label = str(label)
    if isinstance(label, str):
        if label.lower() in _TRUTHS:
            return label.lower()
        if day := _MIDNIGHT.fullmatch(label):
            return day[1]
        whole = _ZERO_FRACTION.sub("", label)
        if _WHOLE.fullmatch(whole):
            return int(whole)
        return float(label) if _FRACTION.fullmatch(label) and repr(float(label)) == label else label
    if isinstance(label, Real) and not isinstance(label, Integral):
        number = float(label)
        return int(number) if number.is_integer() else number
    return label


def unify_labels(domains: Sequence[Domain]) -> list[Domain]:
    """Return domains whose equal labels compare equal, spelled as in the target.

    Parameters
    ----------
    domains : sequence of Domain
        The sources, and the target last.

    Returns
    -------
    list of Domain
        In the same order; a domain whose labels need no change is returned itself.

    Examples
    --------
    >>> from l2t.domains import Domain
    >>> source, target = Domain([[0.0], [1.0]], [1.0, 2.0]), Domain([[2.0]], ["1"], labeled=[True])
    >>> [domain.classes for domain in unify_labels([source, target])]
    [('1', '2'), ('1',)]
    """
    last, unified = len(domains) - 1, list(domains)
    places = [place for place, domain in enumerate(domains) if domain.y is not None]
    known = [domains[place].labeled_rows(default=place < last) for place in places]
    encoded = [(domains[place].classes, domains[place].codes) for place in places]
    spelled = _spelled(encoded, known)
    for place, (classes, codes), labels in zip(places, encoded, spelled, strict=True):
        if list(map(type, classes)) != list(map(type, labels)) or list(classes) != labels:
            y = _decoded(labels, codes)
            unified[place] = replace(domains[place], X=domains[place].rows, y=y)
    return unified


def infer_labels(
    columns: Sequence[AnyArray], known: Sequence[Mask], untyped: Sequence[bool]
) -> list[AnyArray]:
    """Return the labels of files that are read together, in one type for all files.

    Numbers if all known labels are numbers, bool if all are true or false, otherwise text. The text of an
    untyped file (csv, svmlight) may stand for a number; that of another file is text, so that all labels
    become text.

    Parameters
    ----------
    columns : sequence of object arrays
        The labels of each file, the target last; None where a label is missing.
    known : sequence of bool arrays
        The labels that decide on the type.
    untyped : sequence of bool
        Whether a file has no types.

    Returns
    -------
    list of arrays
        The labels, where equal ones compare equal, spelled as in the target.
    """
    encoded = [class_codes(column) for column in columns]
    deciding = _known_labels(encoded, known)
    if not any(deciding):  # then their type changes no prediction
        deciding = [list(classes) for classes, _ in encoded]
    labels = [label for some in deciding for label in some]
    typed = [some for some, free in zip(deciding, untyped, strict=True) if not free]
    convert: Callable[[Label], Label] = _as_text
    if not any(isinstance(label, str) for some in typed for label in some):
        if all(isinstance(label, bool) or str(label).lower() in _TRUTHS for label in labels):
            convert = _as_truth
        elif not any(isinstance(_as_number(label), str) for label in labels):
            convert = _as_number
    converted = []
    for (classes, codes), own in zip(encoded, deciding, strict=True):
        numbers = [convert(label) for label in classes]
        if {type(convert(label)) for label in own} == {int, float}:
            numbers = [float(label) if type(label) is int else label for label in numbers]
        converted.append((tuple(numbers), codes))
    spelled = _spelled(converted, known)
    return [_decoded(labels, codes) for labels, (_, codes) in zip(spelled, encoded, strict=True)]


def _known_labels(
    encoded: Sequence[tuple[tuple[Label, ...], Indices]], known: Sequence[Mask]
) -> list[list[Label]]:
    """Return the distinct known labels of each domain."""
    return [
        [classes[code] for code in np.unique(codes[mask & (codes >= 0)])]
        for (classes, codes), mask in zip(encoded, known, strict=True)
    ]


def _spelled(
    encoded: Sequence[tuple[tuple[Label, ...], Indices]], known: Sequence[Mask]
) -> list[list[Label]]:
    """Return the classes of each domain, as the last domain that knows a label spells it."""
    labels = _known_labels(encoded, known)[::-1]
    kinds = {_kind(label) for label in next(filter(None, labels), [])}
    spelling: dict[Label, Label] = {}
    for some in labels:
        # One domain may spell a label in two ways; the order of its rows must not choose.
        for label in sorted(some, key=lambda label: (len(str(label)), str(label))):
            spelling.setdefault(label_key(label), _in_kind(label, kinds))
    return [[spelling.get(label_key(label), label) for label in classes] for classes, _ in encoded]


def _kind(label: Label) -> type:
    kinds: tuple[type, ...] = (str, bool, np.bool_, Integral, Real)
    return next((kind for kind in kinds if isinstance(label, kind)), object)


def _in_kind(label: Label, kinds: set[type]) -> Label:
    """Return a label as text or as a number if all labels of the target are."""
    if kinds == {str}:
        return _as_text(label) if isinstance(label, Real | np.bool_ | date) else label
    if kinds == {Integral} or (kinds == {Real} and isinstance(label, str)):
        return label_key(label)
    return label


def _as_text(label: Label) -> str:
    if isinstance(label, str | bool | np.bool_):
        return str(label)
    return str(label_key(label))


def _as_truth(label: Label) -> Label:
    text = str(label).lower()
    return text == "true" if text in _TRUTHS else label


def _as_number(label: Label) -> Label:
    """Return text as a number if it is one; anything else unchanged."""
    if not isinstance(label, str):
        return label
    if _WHOLE.fullmatch(label):
        return int(label)
    return float(label) if _FRACTION.fullmatch(label) else label


def _decoded(classes: Sequence[Any], codes: Indices) -> AnyArray:
    """Return the labels for the codes of classes, None for -1; of dtype object unless all have one type."""
    names = np.empty(len(classes) + 1, dtype=object)
    names[:-1] = list(classes)  # index -1 is the last, None
    labels = names[codes]
    types = {type(label) for label in labels.tolist()}
    if types == {int} and not -(2**63) <= min(labels) <= max(labels) < 2**63:
        return labels
    return labels.astype(types.pop()) if types in ({bool}, {int}, {float}) else labels
