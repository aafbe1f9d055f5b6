"""The files of a command as domains, and what is odd about them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from l2t.domains import Domain, DomainPair, normalize, read_domains
from l2t.exceptions import InvalidInputError
from l2t.experiences.store.address import Address
from l2t.interfaces.cli.output import say

__all__ = ["check_overwriting", "described", "read_pair"]


def check_overwriting(
    outputs: Iterable[Path | None], inputs: Iterable[str | Path | None], *, store: str | None = None
) -> None:
    """Reject an output that is an input, the file of a store or another output, by whatever path."""
    kept = [os.path.realpath(each) for each in inputs if each is not None]
    if store is not None and (file := Address.of(store).path) is not None:
        kept.append(str(file))
    for output in outputs:
        if output is None:
            continue
        place = os.path.realpath(output)
        if any(place == each or _same_file(place, each) for each in kept):
            raise InvalidInputError(
                f"an output must not replace an input or another output, got {str(output)!r}"
            )
        kept.append(place)


def _same_file(one: str, other: str) -> bool:
    """Tell whether two paths are hard links of one file."""
    try:
        return os.path.samefile(one, other)  # noqa: PTH121
    except OSError:
        return False


def read_pair(
    source: Path, target: Path, *, reading: dict[str, Any], how: str, quiet: bool
) -> DomainPair:
    """Read and normalize a source and a target, and say what is odd about them."""
    pair = DomainPair(*(normalize(each, how) for each in read_domains([source, target], **reading)))
    label = reading["label"]
    for path, domain in ((source, pair.source), (target, pair.target)):
        if label is not None and domain.y is None:
            say(f"note: {path} has no column {label!r}: none of its labels are known", quiet)
    if (
        pair.source.labeled is not None
        and pair.target.y is not None
        and pair.target.labeled is None
    ):
        known = int(pair.source.labeled.sum())
        say(
            f"note: {source} has labels for {known} of its {len(pair.source)} rows, {target} for all: the "
            "source comes first; are they in the wrong order?",
            quiet,
        )
    return pair


def described(path: Path, domain: Domain) -> str:
    """Return what a file holds, for people."""
    told = f"{path}: {len(domain)} rows, {domain.n_features} features"
    if domain.y is None:
        return f"{told}, no labels"
    if domain.labeled is not None:
        told += f", {int(domain.labeled.sum())} labelled rows"
    classes = len(domain.classes)
    return f"{told}, {classes} {'class' if classes == 1 else 'classes'}"
