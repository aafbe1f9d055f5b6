"""Kinds of data, and tasks drawn from them: a source, and a target with other classes.

A task is a pair as a user would have it, with all labels of the target for evaluation. Source and target come
from one file ("base to novel classes") or from two of one feature space. Controls replace the source by noise
of its mean and spread, or permute its labels; adverse tasks add to the target offsets that random groups of
its rows share, whatever their class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.domains import Domain, digits, normalize, read_domain
from l2t.domains.sampling import spelling

__all__ = ["KINDS", "MODES", "SHIPPABLE", "Draw", "Kind", "draw"]

#: What is done to the source or, with a number, to the target; and its number in the seed of a draw.
SEEDS = {"true": 0, "noise": 1, "adverse 0.6": 4, "adverse 1.0": 5, "unbalanced": 7}
MODES = tuple(SEEDS)
#: Draws are of these sizes: classes of the target, rows per class.
CLASSES = (2, 3, 5, 8, 12, 20)
ROWS = (20, 40, 80, 160)
MOST_SOURCE_ROWS = 3000
MOST_TARGET_ROWS = 2000


@dataclass(frozen=True)
class Kind:
    """The data that tasks of one kind are drawn from.

    `group` names all kinds that share rows with this one: they are left out together.
    """

    source: str
    target: str
    group: str


KINDS = {
    "sketch > sketch": Kind("photo-sketch/sketch.npz", "photo-sketch/sketch.npz", "photo-sketch"),
    "photo > sketch": Kind("photo-sketch/photo.npz", "photo-sketch/sketch.npz", "photo-sketch"),
    "photo > photo": Kind("photo-sketch/photo.npz", "photo-sketch/photo.npz", "photo-sketch"),
    "photo > style": Kind("photo-sketch/photo.npz", "photo-style/style.npz", "photo-style"),
    "clinc150 > clinc150": Kind("intents/clinc150.npz", "intents/clinc150.npz", "intents"),
    "clinc150 > hwu64": Kind("intents/clinc150.npz", "intents/hwu64.npz", "intents"),
    "hwu64 > clinc150": Kind("intents/hwu64.npz", "intents/clinc150.npz", "intents"),
    "characters": Kind("characters/omniglot.npz", "characters/omniglot.npz", "characters"),
    "letters": Kind("letters/letters.npz", "letters/letters.npz", "letters"),
    "digits": Kind("digits", "digits", "digits"),
    "mnist": Kind("usps-mnist/mnist.npz", "usps-mnist/mnist.npz", "mnist"),
    "sounds": Kind("sounds/esc50.npz", "sounds/esc50.npz", "sounds"),
}
#: Licences allow to ship what was learned from these.
SHIPPABLE = ("photo-sketch", "intents", "characters", "letters", "digits")


@dataclass(frozen=True, eq=False)
class Draw:
    """A source, and targets to try it on."""

    kind: str
    mode: str
    source: Domain
    targets: tuple[Domain, ...]
    n_classes: int


@cache
def read_scaled(data: Path, name: str) -> Domain:
    """Return a file as a domain, scaled as suits it."""
    if name == "digits":
        return normalize(digits())
    domain = read_domain(data / name)
    if name.startswith("letters"):
        return normalize(domain, "zscore")
    if name.startswith("sounds"):
        domain = domain.with_features(domain.X - domain.X.mean(axis=0))
    return normalize(domain)


def draw(kind: str, mode: str, number: int, data: Path, *, n_targets: int = 3) -> Draw:
    """Return a draw of a kind; it depends on the kind, the mode and its number alone."""
    made = KINDS[kind]
    source, target = read_scaled(data, made.source), read_scaled(data, made.target)
    rng = np.random.default_rng([0, sorted(KINDS).index(kind), SEEDS[mode], number])
    ours, theirs = _split(source, target, rng)
    n_classes = int(rng.choice([each for each in CLASSES if each <= len(theirs)]))
    rows = max(20, min(int(rng.choice(ROWS)), MOST_TARGET_ROWS // n_classes))
    # Sources of few classes are as common as sources of many.
    n_ours = round(float(np.exp(rng.uniform(np.log(3), np.log(len(ours))))))
    known = _source(source, rng.permutation(ours)[:n_ours], mode, rng)
    targets = [
        _target(target, rng.permutation(theirs)[:n_classes], rows, mode, rng)
        for _ in range(n_targets)
    ]
    return Draw(kind, mode, known, tuple(targets), n_classes)


def _split(
    source: Domain, target: Domain, rng: np.random.Generator
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the classes of the source and of the target, none in both."""
    theirs = rng.permutation(len(target.classes))
    if source is target:  # at least three classes stay with the source
        novel = int(np.clip(round(0.4 * len(theirs)), 2, len(theirs) - 3))
        return theirs[novel:], theirs[:novel]
    names = [spelling(each) for each in source.classes]
    shared = sorted(set(names) & {spelling(each) for each in target.classes})
    kept = set(rng.permutation(shared)[: len(shared) // 2].tolist())  # by the source
    ours = [code for code, name in enumerate(names) if name not in shared or name in kept]
    others = [code for code in theirs if spelling(target.classes[code]) not in kept]
    return np.array(ours), np.array(others)


def _source(source: Domain, codes: npt.NDArray[Any], mode: str, rng: np.random.Generator) -> Domain:
    rows = np.flatnonzero(np.isin(source.codes, codes))
    rows = rng.permutation(rows)[:MOST_SOURCE_ROWS]
    X, y = source.X[rows], source.codes[rows]
    if mode == "noise":
        X = X.mean(axis=0) + X.std(axis=0) * rng.normal(size=X.shape)
    if mode == "permuted":
        y = rng.permutation(y)
    return Domain(X.astype(np.float32), y, name="source")


def _target(
    target: Domain, codes: npt.NDArray[Any], n_rows: int, mode: str, rng: np.random.Generator
) -> Domain:
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(target.codes == code))[:n_rows] for code in codes]
    )
    if mode == "unbalanced":  # classes have from all of their rows down to an eighth
        shares = dict(zip(codes, np.geomspace(1, 1 / 8, len(codes)), strict=True))
        place = np.concatenate([np.arange((target.codes[rows] == code).sum()) for code in codes])
        rows = rows[
            [i < max(shares[c] * n_rows, 5) for i, c in zip(place, target.codes[rows], strict=True)]
        ]
    X = target.X[rows].astype(np.float64)
    if mode.startswith("adverse"):
        strength = float(mode.split()[1])
        offsets = rng.normal(size=(rng.integers(6, 20), X.shape[1])) * X.std(axis=0)
        offsets *= strength * np.sqrt(X.var(axis=0).sum() / offsets.var(axis=0).sum())
        X = X + offsets[rng.integers(0, len(offsets), len(X))]
    return Domain(X.astype(np.float32), target.codes[rows], name="target")
