"""Copies of rows (equal, scaled or nearly equal), and groups of rows over several domains.

Copies tell the label of a row that is held out, so they are removed or kept together wherever an accuracy is
measured. A prepared domain records the shift b and the scale s of each column (`Domain.prepared`): a row x
became ``z = (x - b) / s``. It may have been divided by its norm before or after that, so that
``a z s + b = c x`` for some a, c > 0. In the orthogonal complement of the shifts of both domains, the rows
``z s`` and ``z' s'`` of the same x are then positive multiples of each other.

In a table of few distinct values rows are equal by chance. Were the columns independent, the share of rows
with an equal one among n others would be ``n Π_j c_j``, c_j the share of pairs of rows with equal values in
column j. Equal rows are taken for copies where there are clearly more of them.

A row that was rounded, in whatever way, or shifted a little is far nearer to its original than different rows
are to each other. With the distance d_k of a row from its k-th nearest neighbour, in units of the columns'
spread, and the dimension ``D = log 2 / log(d_4 / d_2)`` of the data (medians over rows; the nearest neighbour
may be a copy), two rows are nearly equal if their distance is below ``e d_4``, ``e = min(0.05,
(0.05 / 4n)^(1/D))``: by chance ``4 e^D`` rows are as near to a row, and fewer than 0.05 of all n.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import orth
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from l2t.domains.domain import Domain
from l2t.domains.draw import row_hashes
from l2t.domains.labels import label_key
from l2t.numerics import squared_distances, unit_rows
from l2t.typing import AnyArray, Array, Indices, Mask, Matrix

#: Rows closer than this, relative to the spread of all rows, are the same row.
SAME_ROW = 1e-5
#: Rounding to float32, relative to the size of a row; at most the second number relative to the spread.
ROUNDING, MAX_ROUNDING = 1e-7, 1e-2
#: Minimum standard deviation of a column in which rows are compared, relative to its largest absolute value.
LEAST_SPREAD = 1e-4
#: Random directions in which equal rows are searched, and neighbours that are compared exactly.
N_DIRECTIONS = 4
N_CANDIDATES = 4
#: Random directions in which nearly equal rows are searched. The squared length of a difference in them is at
#: most this many times its expectation, for all but 1 in 10**6 (chi-squared with 8 degrees of freedom, by 8).
NEAR_DIRECTIONS, NEAR_SLACK = 8, 5.4
#: Nearly equal rows are at most as far apart as this share of the distance of the fourth nearest neighbour.
NEAR = 0.05
#: Number of rows whose distances from others, of at most as many, give the distance of different rows.
NEAR_SAMPLE, NEAR_OTHERS = 128, 5000
#: Minimum number of rows that are compared.
LEAST_ROWS = 12
#: Rows of the other domain that are compared at a time.
BLOCK = 50_000
#: Expected number of rows that look nearly equal by chance, and share of equal rows beyond those by chance.
MAX_CHANCE = 0.05
#: Number of rows from which this share is estimated.
CHANCE_ROWS = 5000


class ClassPart(NamedTuple):
    """A class in one domain: the domain's number, the rows that no earlier class has, and their share."""

    domain: int
    rows: Indices
    share: float


def same_classes(domains: Sequence[tuple[AnyArray, Indices]]) -> list[list[ClassPart]]:
    """Return the distinct classes of several domains, each as a list of parts; duplicate rows are used once.

    Classes of two domains with at least two rows in common are one class, because both are samples of the
    same data. Those with the most rows in common are merged first, but never two classes of one domain.

    Parameters
    ----------
    domains : sequence of (array of shape (n, m), int array of shape (n,))
        The rows of each domain and their classes; rows with a negative class are left out.

    Returns
    -------
    list of list of ClassPart
        The parts of each class.
    """
    owner: dict[bytes, tuple[int, int]] = {}
    shared: dict[tuple[int, int, bytes], None] = {}  # an ordered set
    parts: list[ClassPart] = []
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
            parts.append(ClassPart(number, rows[fresh], float(np.mean(fresh))))
    classes = [[i] for i in range(len(parts))]
    for (a, b), n_rows in Counter((a, b) for a, b, _ in shared).most_common():
        ours, theirs = classes[a], classes[b]
        of_both = {parts[i].domain for i in ours} & {parts[i].domain for i in theirs}
        if n_rows > 1 and ours is not theirs and not of_both:
            ours += theirs
            for i in theirs:
                classes[i] = ours
    return [[parts[i] for i in members] for a, members in enumerate(classes) if members[0] == a]


class Grouped(Protocol):
    """Anything with rows and groups, such as a domain."""

    @property
    def groups(self) -> AnyArray | None:
        """The groups of the rows, None if there are none."""

    def __len__(self) -> int: ...


def joint_groups(domains: Sequence[Grouped]) -> list[Indices]:
    """Return the groups of several domains as integers, equal groups as equal ones in all of them.

    Parameters
    ----------
    domains : sequence of Domain
        The domains. A row without a group forms its own.

    Returns
    -------
    list of int array of shape (n,)
        The groups of each domain.
    """
    names = np.concatenate([_declared_groups(domain) for domain in domains])
    names[:] = [label_key(name.strip() if isinstance(name, str) else name) for name in names]
    codes = np.asarray(Domain(np.zeros((len(names), 1)), groups=names).group_codes)
    return np.split(codes, np.cumsum([len(domain) for domain in domains])[:-1])


def _declared_groups(domain: Grouped) -> AnyArray:
    """Return the group of each row, None for rows without one."""
    return np.full(len(domain), None) if domain.groups is None else domain.groups.astype(object)


@dataclass(frozen=True, eq=False)
class Copies:
    """Domains, the target first, whose copies of rows are in one group, and how many there are.

    Attributes
    ----------
    target : Domain
        The target.
    sources : list of Domain
        The sources.
    n_in_sources : int
        Number of source rows that are copies of target rows.
    n_in_target : int
        Number of target rows that are copies of other target rows.
    """

    target: Domain
    sources: list[Domain]
    n_in_sources: int
    n_in_target: int

    @property
    def sentence(self) -> str:
        """What was found, or an empty string."""
        parts = []
        if self.n_in_sources:
            rows = (
                "1 row of the source repeats"
                if self.n_in_sources == 1
                else (f"{self.n_in_sources} rows of the source repeat")
            )
            parts.append(f"{rows} target rows")
        if self.n_in_target:
            parts.append(f"{self.n_in_target} rows of the target occur more than once")
        if not parts:
            return ""
        return f"{' and '.join(parts)}; copies are kept together where accuracies are measured."


def join_copies(target: Domain, sources: Sequence[Domain]) -> Copies:
    """Put copies of rows, within a domain and across domains, in one group together with declared groups.

    Parameters
    ----------
    target : Domain
        The target. Its labels are not read.
    sources : sequence of Domain
        Sources with the same features.

    Returns
    -------
    Copies
        The domains; those given if there are no copies.
    """
    domains = [target, *sources]
    ends = np.cumsum([len(domain) for domain in domains])
    n = int(ends[-1])
    X = domains[0].rows if len(domains) == 1 else _stacked([domain.rows for domain in domains])
    if target.encoder is None:
        unit = _column_units(X[: len(target)], ROUNDING / SAME_ROW)
    else:  # its features have a common scale: a direction of texts that the target lacks is no unit
        unit = np.ones(X.shape[1])
    pairs = _copies(X, len(target), unit)
    if not len(pairs):
        return Copies(target, list(sources), 0, 0)
    codes = np.concatenate(joint_groups(domains))
    copy = _components(n, pairs)
    links = np.concatenate([pairs, np.stack([np.arange(n), n + codes], axis=1)])
    together = _components(n + int(codes.max()) + 1, links)[:n]
    names = _group_names(together, np.concatenate(list(map(_declared_groups, domains))))
    joined = [
        replace(domain, X=domain.rows, groups=values)
        for domain, values in zip(domains, np.split(names, ends[:-1]), strict=True)
    ]
    of_target, counts = copy[: len(target)], np.bincount(copy[: len(target)], minlength=n)
    return Copies(
        joined[0],
        joined[1:],
        int((counts[copy[len(target) :]] > 0).sum()),
        int((counts[of_target] > 1).sum()),
    )


def _stacked(parts: Sequence[Matrix]) -> Matrix:
    if any(sparse.issparse(rows) for rows in parts):
        return sparse.vstack([sparse.csr_array(rows) for rows in parts], format="csr")
    return np.concatenate(parts)


def _components(n: int, pairs: Indices) -> Indices:
    """Return the connected component of each of n nodes."""
    links = sparse.coo_array((np.ones(len(pairs)), pairs.T), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1])


def _group_names(together: Indices, declared: AnyArray) -> AnyArray:
    """Return a group for each row: a declared one of its component, else a new one; None for a single row."""
    sizes, names = np.bincount(together), np.full(len(together), None)
    names[sizes[together] > 1] = [f"copies {c}" for c in together[sizes[together] > 1]]
    declares = np.array([name is not None for name in declared])
    first = dict(zip(together[declares][::-1], declared[declares][::-1], strict=True))
    for row in np.flatnonzero(np.isin(together, list(first))):
        names[row] = first[together[row]]
    return names


def _copies(X: Matrix, n_target: int, unit: AnyArray) -> Indices:
    """Return pairs of rows that are copies; each copy of a row is connected with it by some pairs."""
    links = [_near_pairs(X[:n_target], X, unit)]
    equal = _equal_pairs(X, unit, n_target, any_scale=False)
    multiples = _equal_pairs(X, unit, n_target, any_scale=True)
    # Different rows with one or two values that are not 0 are often multiples of each other.
    n_values = np.diff(X.indptr) if sparse.issparse(X) else np.count_nonzero(X, axis=1)
    multiples = multiples[(n_values[multiples] > 2).all(axis=1)]
    for pairs in (equal, multiples):
        if _more_than_by_chance(X, n_target, pairs):
            links.append(pairs)
    return np.concatenate(links)


def _equal_pairs(X: Matrix, unit: AnyArray, n_target: int, *, any_scale: bool) -> Indices:
    """Return pairs of equal rows or, with `any_scale`, of positive multiples, by cells of a fine grid.

    Rows are projected on a few random directions. Equal rows differ by rounding and may be on two sides of a
    cell's border, so a second grid is shifted by half a cell. Cells are fine compared with the spread of the
    target's rows, wherever those of the sources are.
    """
    n, m = X.shape
    axes = np.random.default_rng(0).normal(size=(m, N_DIRECTIONS)) / unit[:, None]
    Z = np.concatenate([np.asarray(X[i : i + BLOCK] @ axes) for i in range(0, n, BLOCK)])
    if any_scale:
        norms = np.concatenate([_norms(X[i : i + BLOCK], unit) for i in range(0, n, BLOCK)])
        Z = Z / np.where(norms > 0, norms, 1.0)[:, None]
    spread = _spread(Z[:n_target])
    Z = (Z - np.median(Z[:n_target], axis=0)) / (SAME_ROW * np.where(spread > 0, spread, 1.0))
    pairs = [np.empty((0, 2), np.intp)]
    for offset in (0.0, 0.5):
        _, first, cell = np.unique(
            row_hashes(np.floor(Z + offset)), return_index=True, return_inverse=True
        )
        others = np.flatnonzero(first[cell] != np.arange(n))
        pairs.append(np.stack([first[cell[others]], others], axis=1))
    return np.concatenate(pairs)


def _norms(X: Matrix, unit: AnyArray) -> Array:
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X, dtype=np.float64)
    return np.asarray(np.sqrt(squares @ (1.0 / unit**2)))


def _more_than_by_chance(X: Matrix, n_target: int, pairs: Indices) -> bool:
    """Return whether clearly more rows have an equal one than by chance (see the module's docstring)."""
    in_pairs = np.isin(np.arange(X.shape[0]), pairs)
    if not in_pairs.any():
        return False
    some = X[:CHANCE_ROWS]
    n = some.shape[0]
    if sparse.issparse(X):  # values of a column are at least 0 and not 0
        filled = np.bincount(some.indices, minlength=some.shape[1]) / n
        log_chance = np.log(filled**2 + (1.0 - filled) ** 2).sum()
    else:
        log_chance = 0.0
        for column in some.T:
            counts = np.unique(column, return_counts=True)[1].astype(float)
            equal = float(counts @ (counts - 1.0)) / (n * (n - 1.0))
            log_chance += np.log(equal) if equal > 0 else -np.inf
    by_chance = min(n_target * np.exp(log_chance), 1.0)
    parts = in_pairs[:n_target], in_pairs[n_target:]
    share = max(float(part.mean()) for part in parts if len(part))
    return bool(share > 2.0 * by_chance + (MAX_CHANCE if by_chance > MAX_CHANCE else 0.0))


def _near_pairs(target: Any, X: Matrix, unit: AnyArray) -> Indices:
    """Return pairs of a row of the target and one of X that are nearly equal (see the module's docstring)."""
    scales = sparse.diags_array(1.0 / unit)
    theirs, ours = (rows @ scales if sparse.issparse(X) else rows / unit for rows in (target, X))
    radius = _near_radius(theirs)
    if radius == 0:
        return np.empty((0, 2), np.intp)
    m = X.shape[1]
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(m, min(m, NEAR_DIRECTIONS))))[0]
    bound = radius * min(1.0, np.sqrt(NEAR_SLACK * axes.shape[1] / m))
    places = list(range(1, N_CANDIDATES + 2))  # a row of the target is its own neighbour
    tree = cKDTree(np.asarray(theirs @ axes))
    _, near = tree.query(np.asarray(ours @ axes), places, distance_upper_bound=bound)
    pairs = []
    for place in near.T:
        rows = np.flatnonzero((place < theirs.shape[0]) & (place != np.arange(len(place))))
        gaps = ours[rows] - theirs[place[rows]]
        squares = gaps.multiply(gaps).sum(axis=1) if sparse.issparse(gaps) else (gaps**2).sum(1)
        close = np.asarray(squares) < radius**2
        pairs.append(np.stack([place[rows[close]], rows[close]], axis=1))
    return np.concatenate(pairs)


def _near_radius(Z: Matrix) -> float:
    """Return the distance below which rows are nearly equal; 0 if few rows are different."""
    n = Z.shape[0]
    rng = np.random.default_rng(0)
    sample, others = rng.permutation(n)[:NEAR_SAMPLE], rng.permutation(n)[:NEAR_OTHERS]
    if n < LEAST_ROWS:
        return 0.0
    if sparse.issparse(Z):
        squares = [np.asarray(rows.multiply(rows).sum(axis=1)) for rows in (Z[sample], Z[others])]
        D = squares[0][:, None] + squares[1] - 2.0 * (Z[sample] @ Z[others].T).toarray()
    else:
        centre = np.median(Z[others], axis=0)  # distances far from the origin are not exact
        D = squared_distances(Z[sample] - centre, Z[others] - centre)
    equal = SAME_ROW**2 * float(np.median(D))
    D[equal > D] = np.inf  # the row itself, and equal ones
    second, fourth = np.sqrt(np.partition(D, (1, 3), axis=1)[:, [1, 3]]).T
    known = np.isfinite(fourth)
    growth = float(np.median(np.log(fourth[known] / second[known]))) if known.any() else 0.0
    if growth == 0 or 2 * known.sum() < len(sample):  # a lattice, or few different rows
        return 0.0
    dimension = np.log(2.0) / growth
    denser = (len(others) / n) ** (1.0 / dimension)
    share = min(NEAR, (MAX_CHANCE / (4.0 * n)) ** (1.0 / dimension))
    return float(share * denser * np.quantile(fourth[known], 0.1))


def same_rows(
    X: AnyArray,
    others: AnyArray,
    prepared: AnyArray | None = None,
    others_prepared: AnyArray | None = None,
) -> Mask:
    """Return which rows of X are positive multiples of one of the others, before or after preparation.

    With one or two features, where different rows are often multiples of each other, rows must be equal. A
    row is found too if it is nearly equal to another one, such as a rounded copy.
    """
    is_match = np.zeros(len(X), dtype=np.bool_)
    for start in range(0, len(others), BLOCK):
        rows, block = np.flatnonzero(~is_match), others[start : start + BLOCK]
        is_match[rows] = _matching_rows(X[rows], block, prepared, others_prepared)
        both = np.concatenate([block, X])
        near = _near_pairs(block, both, _column_units(block))[:, 1]
        is_match[near[near >= len(block)] - len(block)] = True
    return is_match


def _matching_rows(
    X: AnyArray, others: AnyArray, prepared: AnyArray | None, others_prepared: AnyArray | None
) -> Mask:
    m = X.shape[1]
    unit = _column_units(others)
    matches = _occur_in(X / unit, others / unit, any_scale=m > 2)
    if prepared is None and others_prepared is None:
        return matches
    plain = np.array([np.zeros(m), np.ones(m)])
    (shift, scale), (their_shift, their_scale) = (
        plain if steps is None else steps for steps in (prepared, others_prepared)
    )
    unit = _column_units(others * their_scale)
    ours, theirs = X * scale / unit, others * their_scale / unit
    shift, their_shift = shift / unit, their_shift / unit
    shifts = orth(np.column_stack([shift, their_shift]))
    if m - shifts.shape[1] <= 2:
        return matches | _occur_in(ours + shift, theirs + their_shift, any_scale=False)
    ours, theirs = (rows - (rows @ shifts) @ shifts.T for rows in (ours, theirs))
    return matches | _occur_in(ours, theirs, any_scale=True)


def _column_units(X: Matrix, least: float = LEAST_SPREAD) -> AnyArray:
    """Return the spread of each column, so that one of large numbers does not hide all others.

    It is at least `least` times the size of its values, so that rounding in a column that is nearly constant
    is not magnified; and 1 for a column of zeros.
    """
    if sparse.issparse(X):
        most = np.asarray(abs(X).max(axis=0).todense()).ravel()
        variances = X.multiply(X).mean(axis=0) - np.square(X.mean(axis=0))
        deviations = np.sqrt(np.maximum(np.asarray(variances).ravel(), 0.0))
    elif len(X):
        most, deviations = np.quantile(np.abs(X), 0.95, axis=0), _spread(X)
    else:
        most = deviations = np.zeros(X.shape[1])
    spread = np.maximum(deviations, least * most)
    return np.where(spread > 0, spread, 1.0)


def _spread(X: AnyArray) -> Array:
    """Return the interquartile range of each column, or the standard deviation where that is 0.

    The interquartile range does not depend on single rows, however far away.
    """
    low, high = np.quantile(X, [0.25, 0.75], axis=0)
    deviations = X.std(axis=0, dtype=np.float64)
    return np.asarray(np.where(high > low, high - low, deviations))


def _occur_in(ours: AnyArray, theirs: AnyArray, *, any_scale: bool) -> Mask:
    """Return which of our rows equal one of theirs or, with `any_scale`, a positive multiple of it.

    Equal rows have equal projections on a few random directions, in which a k-d tree is fast; the candidates
    that it finds are compared in all features. Rows are equal if their distance is small compared with that
    between different rows, also far from the origin, where the directions of all rows are similar.
    """
    if any_scale:
        ours, theirs = unit_rows(ours), unit_rows(theirs)
    both = np.concatenate([ours, theirs])
    spread = float(np.sqrt(both.var(axis=0, dtype=np.float64).sum())) or 1.0
    size = float(np.abs(both).max(initial=0.0)) or 1.0
    slack = max(SAME_ROW * spread, min(ROUNDING * size, MAX_ROUNDING * spread))
    m = ours.shape[1]
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(m, min(m, N_DIRECTIONS))))[0]
    bound = slack * (1.0 + 1e-6)
    places = list(range(1, N_CANDIDATES + 1))
    _, near = cKDTree(theirs @ axes).query(ours @ axes, places, distance_upper_bound=bound)
    is_match = np.zeros(len(ours), dtype=np.bool_)
    for place in near.T:
        rows = np.flatnonzero((place < len(theirs)) & ~is_match)
        is_match[rows] = np.linalg.norm(ours[rows] - theirs[place[rows]], axis=1) < slack
    crowded = np.flatnonzero((near[:, -1] < len(theirs)) & ~is_match)
    if len(crowded):  # more candidates than were compared
        distances, _ = cKDTree(theirs).query(ours[crowded], distance_upper_bound=slack)
        is_match[crowded] = np.isfinite(distances)  # infinite without a neighbour within the bound
    return is_match
