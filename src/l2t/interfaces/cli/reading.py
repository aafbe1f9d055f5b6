"""The files of a command as domains, and what is odd about them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from l2t.domains import Domain, DomainPair, normalize, read_domain
from l2t.exceptions import FileFormatError, MissingColumnError
from l2t.interfaces.cli.output import say

__all__ = ["described", "read_domains", "read_pair"]


def read_pair(source: Path, target: Path, *, quiet: bool, **options: Any) -> DomainPair:
    """Read a source and a target, as `read_domains`."""
    domains = read_domains([source, target], **options)
    pair = DomainPair(*domains)
    label = options["reading"]["label"]
    for path, domain in zip((source, target), domains, strict=True):
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


def read_domains(
    paths: Sequence[Path], *, reading: dict[str, Any], labeled: str | None, how: str
) -> list[Domain]:
    """Read files, the target last; not all of them need have the label column."""
    domains, absent = [], []
    for path in paths:
        mask = labeled if path is paths[-1] else None
        try:
            domain = read_domain(path, labeled=mask, **reading)
        except MissingColumnError as error:
            if reading["label"] is None or mask is not None:
                raise
            absent.append(error)
            domain = _without_labels(path, error, reading)
        domains.append(normalize(domain, how))
    if len(absent) == len(paths):
        raise absent[0]
    return domains


def described(path: Path, domain: Domain) -> str:
    """Return what a file holds, for people."""
    told = f"{path}: {len(domain)} rows, {domain.n_features} features"
    if domain.y is None:
        return f"{told}, no labels"
    if domain.labeled is not None:
        told += f", {int(domain.labeled.sum())} labelled rows"
    classes = len(domain.classes)
    return f"{told}, {classes} {'class' if classes == 1 else 'classes'}"


def _without_labels(path: Path, absent: MissingColumnError, reading: dict[str, Any]) -> Domain:
    try:
        return read_domain(path, **{**reading, "label": None})
    except FileFormatError:
        raise absent from None  # the column has another name: say so, not what follows from it
