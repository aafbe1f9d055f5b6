"""How answers of `l2t.predict` improve with a user's own past targets.

A user has a small source, a target of other classes, and 0 to 100 labelled past targets of the same kind
of data, whose classes are neither in the source nor in the target.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from l2t import predict
from l2t.domains import Domain, KnownClasses
from l2t.progress import progress_bar
from reproduction.kinds import KINDS, _split, _target, read_scaled

__all__ = ["measure_experience"]

KIND_NAMES = ("sketch > sketch", "clinc150 > clinc150", "characters", "letters")
N_PAST = (0, 5, 20, 100)
SHOTS = (1, 5)
#: Classes, and rows per class, of the source, of the target and of each past target.
SOURCE, TARGET, PAST = (3, 40), (5, 40), (3, 20)


def measure_experience(data: Path, work: Path, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Return the accuracy of each task by the number of past targets; what is in the working folder is read.

    Parameters
    ----------
    data, work : Path
        The folders of the data sets and of intermediate results.
    numbers : sequence of int
        The draws of each kind.

    Returns
    -------
    list of dict of str to object
    """
    work.mkdir(parents=True, exist_ok=True)
    parts = [(kind, number) for number in numbers for kind in KIND_NAMES]
    records: list[dict[str, Any]] = []
    with progress_bar(len(parts), "own experience") as advance:
        for kind, number in parts:
            path = work / f"experience-{kind.replace(' > ', '-')}-{number}.json"
            if not path.exists():
                path.write_text(json.dumps(list(_measure(kind, number, data))))
            records += json.loads(path.read_text())
            advance(kind)
    return records


def _measure(kind: str, number: int, data: Path) -> Iterator[dict[str, Any]]:
    """Yield the accuracy of one draw with each number of past targets and of labels."""
    whole = read_scaled(data, KINDS[kind].source)
    rng = np.random.default_rng([3, KIND_NAMES.index(kind), number])
    ours, novel = _split(whole, whole, rng)
    source = _target(whole, ours[: SOURCE[0]], SOURCE[1], "true", rng)
    target = _target(whole, rng.permutation(novel)[: TARGET[0]], TARGET[1], "true", rng)
    others = ours[SOURCE[0] :]
    past = [
        _target(whole, rng.permutation(others)[: PAST[0]], PAST[1], "true", rng)
        for _ in range(max(N_PAST))
    ]
    order = rng.permutation(len(target))
    rank = np.empty(len(target), dtype=np.intp)  # of a row in its class, in random order
    for code in np.unique(target.codes):
        members = order[target.codes[order] == code]
        rank[members] = np.arange(len(members))
    for n_past in N_PAST:
        known = KnownClasses(past[:n_past]) if n_past else None
        for shots in SHOTS:
            labeled = rank < shots
            asked = Domain(target.X, target.codes, labeled=labeled)
            prediction = predict(source, asked, known=known, shared=False)
            right = prediction.labels.astype(int) == target.codes
            yield {
                "kind": kind,
                "number": number,
                "n_past": n_past,
                "shots": shots,
                "accuracy": float(right[~labeled].mean()),
            }
