"""Recognising equal rows of two domains, also after they were scaled or prepared.

A prepared domain records the shift b and the scale s of each column (`Domain.prepared`): a row x became
``z = (x - b) / s``. It may have been divided by its norm before or after that, so that
``a z s + b = c x`` for some a, c > 0. In the orthogonal complement of the shifts of both domains, the rows
``z s`` and ``z' s'`` of the same x are then positive multiples of each other.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import orth
from scipy.spatial import cKDTree

from l2t.domains.domain import Domain
from l2t.numerics import unit_rows
from l2t.typing import AnyArray, Indices, Mask

#: Unit rows closer than this are the same row, up to the rounding of float32.
SAME_ROW = 1e-5
#: Minimum standard deviation of a column in which rows are compared, relative to its largest absolute value.
LEAST_SPREAD = 1e-4
#: Random directions in which nearest neighbours are searched, and neighbours that are compared exactly.
DIRECTIONS = 4
CANDIDATES = 4
#: Rows of the other domain that are compared at a time.
BLOCK = 50_000


class Part(NamedTuple):
    """A class in one domain: the domain's number, the rows that no earlier class has, and their share."""

    domain: int
    rows: Indices
    share: float


def same_classes(domains: Sequence[tuple[AnyArray, Indices]]) -> list[list[Part]]:
    """Return the distinct classes of several domains, each as a list of parts; duplicate rows are used once.

    Classes of two domains with at least two rows in common are one class, because both are samples of the
    same data. Those with the most rows in common are merged first, but never two classes of one domain.

    Parameters
    ----------
    domains : sequence of (array of shape (n, m), int array of shape (n,))
        The rows of each domain and their classes; rows with a negative class are left out.

    Returns
    -------
    list of list of Part
        The parts of each class.
    """
    owner: dict[bytes, tuple[int, int]] = {}
    shared: dict[tuple[int, int, bytes], None] = {}  # an ordered set
    parts: list[Part] = []
    for number, (X, codes) in enumerate(domains):
        for code in np.unique(codes[codes >= 0]):
            rows = np.flatnonzero(codes == code)
            fresh = []
            for i in rows.tolist():
                # In float32, so that a row has the same key in float32 and float64.
                key = hashlib.blake2b(X[i].astype(np.float32).data, digest_size=16).digest()
                first = owner.setdefault(key, (len(parts), i))
                fresh.append(first == (len(parts), i))
                if first[0] != len(parts):
                    shared[first[0], len(parts), key] = None
            parts.append(Part(number, rows[fresh], float(np.mean(fresh))))
    classes = [[i] for i in range(len(parts))]
    for (a, b), n_rows in Counter((a, b) for a, b, _ in shared).most_common():
        ours, theirs = classes[a], classes[b]
        of_both = {parts[i].domain for i in ours} & {parts[i].domain for i in theirs}
        if n_rows > 1 and ours is not theirs and not of_both:
            ours += theirs
            for i in theirs:
                classes[i] = ours
    return [[parts[i] for i in each] for a, each in enumerate(classes) if each[0] == a]


def same_groups(groups: Sequence[AnyArray], classes: list[list[Part]]) -> list[Indices]:
    """Return the groups of several domains as integers; a row without a group forms its own.

    Equal groups are the same in domains that have a class in common, because these are samples of the same
    data, and different in others.

    Parameters
    ----------
    groups : sequence of array of shape (n,)
        The groups of the rows of each domain, None or NaN for a row without one.
    classes : list of list of Part
        The distinct classes of the domains (`same_classes`).

    Returns
    -------
    list of int array of shape (n,)
        The groups of each domain.
    """
    data = np.arange(len(groups))
    for parts in classes:
        common = data[[each.domain for each in parts]]
        data[np.isin(data, common)] = common.min()
    sizes = [len(each) for each in groups]
    names = np.concatenate([each.astype(object) for each in groups])
    codes = np.asarray(Domain(np.zeros((len(names), 1)), groups=names).group_codes)
    found = np.unique(np.stack([np.repeat(data, sizes), codes]), axis=1, return_inverse=True)[1]
    return np.split(found.ravel(), np.cumsum(sizes)[:-1])


def same_rows(
    X: AnyArray,
    others: AnyArray,
    prepared: AnyArray | None = None,
    others_prepared: AnyArray | None = None,
) -> Mask:
    """Return which rows of X are positive multiples of one of the others, before or after preparation.

    With one or two features, where different rows are often multiples of each other, rows must be equal.
    """
    found = np.zeros(len(X), dtype=np.bool_)
    for at in range(0, len(others), BLOCK):
        rows = np.flatnonzero(~found)
        found[rows] = _matching_rows(X[rows], others[at : at + BLOCK], prepared, others_prepared)
    return found


def _matching_rows(
    X: AnyArray, others: AnyArray, prepared: AnyArray | None, others_prepared: AnyArray | None
) -> Mask:
    m = X.shape[1]
    unit = _column_units(others)
    found = _occur_in(X / unit, others / unit, any_scale=m > 2)
    if prepared is None and others_prepared is None:
        return found
    plain = np.array([np.zeros(m), np.ones(m)])
    (shift, scale), (their_shift, their_scale) = (
        plain if each is None else each for each in (prepared, others_prepared)
    )
    unit = _column_units(others * their_scale)
    ours, theirs = X * scale / unit, others * their_scale / unit
    shift, their_shift = shift / unit, their_shift / unit
    shifts = orth(np.column_stack([shift, their_shift]))
    if m - shifts.shape[1] <= 2:
        return found | _occur_in(ours + shift, theirs + their_shift, any_scale=False)
    ours, theirs = (each - (each @ shifts) @ shifts.T for each in (ours, theirs))
    return found | _occur_in(ours, theirs, any_scale=True)


def _column_units(X: AnyArray) -> AnyArray:
    """Return the standard deviation of each column, so that one of large numbers does not hide all others.

    It is at least LEAST_SPREAD times the largest absolute value, so that rounding in a column that is nearly
    constant is not magnified; and 1 for a column of zeros.
    """
    most = np.abs(X).max(axis=0, initial=0.0)
    spread = np.maximum(X.std(axis=0, dtype=np.float64), LEAST_SPREAD * most)
    return np.where(spread > 0, spread, 1.0)


def _occur_in(ours: AnyArray, theirs: AnyArray, *, any_scale: bool) -> Mask:
    """Return which of our rows equal one of theirs or, with `any_scale`, a positive multiple of it.

    Equal rows have equal projections on a few random directions, in which a k-d tree is fast; the candidates
    that it finds are compared in all features.
    """
    if any_scale:
        ours, theirs = unit_rows(ours), unit_rows(theirs)
    slack = SAME_ROW * (1.0 if any_scale else float(np.abs(ours).max(initial=0.0)) or 1.0)
    m = ours.shape[1]
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(m, min(m, DIRECTIONS))))[0]
    bound = slack * (1.0 + 1e-6)
    places = list(range(1, CANDIDATES + 1))
    _, near = cKDTree(theirs @ axes).query(ours @ axes, places, distance_upper_bound=bound)
    found = np.zeros(len(ours), dtype=np.bool_)
    for place in near.T:
        rows = np.flatnonzero((place < len(theirs)) & ~found)
        found[rows] = np.linalg.norm(ours[rows] - theirs[place[rows]], axis=1) < slack
    crowded = np.flatnonzero((near[:, -1] < len(theirs)) & ~found)
    if len(crowded):  # more candidates than were compared
        distances, _ = cKDTree(theirs).query(ours[crowded], distance_upper_bound=slack)
        found[crowded] = np.isfinite(distances)  # infinite without a neighbour within the bound
    return found
