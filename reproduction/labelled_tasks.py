"""Tasks of every family with few labels: a source, a target of other classes, and the labelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from l2t.domains import Domain, normalize, read_domain
from l2t.numerics import principal_axes
from reproduction.kinds import KINDS, MOST_SOURCE_ROWS
from reproduction.kinds import _split as split
from reproduction.kinds import read_scaled as load

__all__ = ["FAMILIES", "SETTINGS", "Setting", "draw_task"]


@dataclass(frozen=True)
class Setting:
    """How a target is labelled and made.

    Labels per class; whether classes are in the ratio 8:1; and the strength of offsets that random groups of
    rows share, whatever their class (an adverse target).
    """

    shots: int
    uneven: bool = False
    adverse: float = 0.0


SETTINGS = {
    "1": Setting(1),
    "5": Setting(5),
    "20": Setting(20),
    "8:1": Setting(5, uneven=True),
    "1, adverse": Setting(1, adverse=1.0),
    "5, adverse": Setting(5, adverse=1.0),
}
#: Families by the kinds of data that they hold; all but "activity" are those of `kinds`.
FAMILIES = {
    group: tuple(kind for kind, each in KINDS.items() if each.group == group)
    for group in dict.fromkeys(each.group for each in KINDS.values())
} | {"activity": ("activity",)}
#: Classes of a target; digits have four to choose from, activity three.
CLASSES = {
    "photo-sketch": 6,
    "photo-style": 4,
    "intents": 6,
    "characters": 6,
    "letters": 6,
    "digits": 3,
    "mnist": 3,
    "sounds": 5,
    "activity": 3,
}
RATIO = 8.0
COORDINATES = 256
#: Logs of probabilities are kept in half precision, from here on.
LEAST = -60.0
#: Rows of a target, at most.
MOST_ROWS = 300


@cache
def _domains(kind: str, data: Path, coordinates: int | None) -> tuple[Domain, Domain]:
    """Return the rows that sources and targets of a kind are drawn from.

    Wide ones are in principal coordinates of their source, if their number is given.
    """
    if kind == "activity":
        whole = normalize(read_domain(data / "activity/wisdm.npz"), "zscore")
        return whole, whole
    source, target = load(data, KINDS[kind].source), load(data, KINDS[kind].target)
    if coordinates is None or source.n_features <= coordinates:
        return source, target
    rows = np.random.default_rng(0).permutation(len(source))[:MOST_SOURCE_ROWS]
    mean = source.X[rows].mean(axis=0, dtype=np.float64)
    axes = principal_axes(source.X[rows] - mean, coordinates)
    ours = source.with_features((source.X - mean) @ axes)
    return ours, ours if source is target else target.with_features((target.X - mean) @ axes)


def draw_task(
    kind: str, number: int, setting: Setting, data: Path, coordinates: int | None = COORDINATES
) -> tuple[Domain, Domain, Any, Any]:
    """Return a source, a target with all labels, the labelled rows and the tested rows.

    The source has all classes that the target may not have, in at most 3,000 rows. Wide rows are in 256
    principal coordinates of the source, which is faster, or with ``coordinates=None`` as they are.
    """
    ours, theirs = _domains(kind, data, coordinates)
    family = "activity" if kind == "activity" else KINDS[kind].group
    rng = np.random.default_rng([number, sorted([*KINDS, "activity"]).index(kind)])
    if kind == "activity":
        base, novel = np.split(rng.permutation(len(ours.classes)), 2)
    else:
        base, novel = split(ours, theirs, rng)
    rows = rng.permutation(np.flatnonzero(np.isin(ours.codes, base)))[:MOST_SOURCE_ROWS]
    source = Domain(ours.X[rows], ours.codes[rows], name="source")
    some = np.flatnonzero(np.isin(theirs.codes, novel[: CLASSES[family]]))
    target = theirs.take(some)
    codes = np.unique(target.codes, return_inverse=True)[1]
    members = [rng.permutation(np.flatnonzero(codes == c)) for c in range(codes.max() + 1)]
    most = max(MOST_ROWS // len(members), 20)
    members = [m[:most] for m in members]
    if setting.uneven:
        shares = RATIO ** -np.linspace(0, 1, len(members))
        members = [m[: max(round(len(m) * s), 4)] for m, s in zip(members, shares, strict=True)]
    rows = np.concatenate(members)
    X = target.X[rows].astype(np.float64)
    if setting.adverse:
        offsets = rng.normal(size=(rng.integers(6, 20), X.shape[1])) * X.std(axis=0)
        offsets *= setting.adverse * np.sqrt(X.var(axis=0).sum() / offsets.var(axis=0).sum())
        X += offsets[rng.integers(0, len(offsets), len(X))]
    target = Domain(X, codes[rows])
    codes, at = codes[rows], []
    for code, m in enumerate(members):
        there = np.flatnonzero(codes == code)
        at.append(there[: min(setting.shots, len(m) // 2)])
    labelled = np.concatenate(at)
    return source, target, labelled, np.setdiff1d(np.arange(len(codes)), labelled)
