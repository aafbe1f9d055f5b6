"""The files of a command as domains, and what is odd about them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from l2t.domains import DomainPair, KnownClasses, normalize, read_domains
from l2t.exceptions import InvalidInputError
from l2t.experiences import open_store
from l2t.experiences.store.address import Address
from l2t.interfaces.cli.output import say

__all__ = ["check_overwriting", "known_classes", "read_pair", "shown_url"]


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
) -> tuple[DomainPair, DomainPair]:
    """Return the pair of two files as they are, and normalized; say what is odd about them."""
    raw = DomainPair(*read_domains([source, target], **reading))
    label = reading["label"]
    for path, domain in ((source, raw.source), (target, raw.target)):
        if label is not None and domain.y is None:
            say(f"note: {path} has no column {label!r}: none of its labels are known", quiet)
    if raw.source.labeled is not None and raw.target.y is not None and raw.target.labeled is None:
        known = int(raw.source.labeled.sum())
        say(
            f"note: {source} has labels for {known} of its {len(raw.source)} rows, {target} for all: the "
            "source comes first; are they in the wrong order?",
            quiet,
        )
    return raw, DomainPair(normalize(raw.source, how), normalize(raw.target, how))


def known_classes(url: str | None, n_features: int, quiet: bool) -> KnownClasses | None:
    """Return the classes of a store's labelled targets with so many features."""
    if url is None:
        return None
    with open_store(url, create=False) as store:
        known = KnownClasses(store.targets(n_features=n_features))
    if not known.n_classes:
        say(f"note: the store has no labelled target with {n_features} features", quiet)
    return known


def shown_url(url: str) -> str:
    """Return the URL of a store without its password."""
    address = Address.of(url)
    return address.without_password if address.kind == "postgresql" else url
