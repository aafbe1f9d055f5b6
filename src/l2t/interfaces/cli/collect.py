"""`l2t collect`: files in, experiences into a store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from l2t.domains import PairSampler, normalize, read_domains
from l2t.exceptions import InvalidInputError
from l2t.experiences import collect, open_store
from l2t.experiences.store.address import Address
from l2t.interfaces.cli.formats import Format
from l2t.interfaces.cli.output import say, show_sentence
from l2t.interfaces.cli.settings import write_settings

__all__ = ["run_collect"]


def run_collect(
    context: typer.Context,
    source: Path,
    target: Path,
    url: str,
    *,
    sampling: dict[str, Any],
    reading: dict[str, Any],
    how: str,
    algorithms: str,
    options: dict[str, Any],
    format: Format,
) -> None:
    """Read both files, draw the pairs, collect, and say how it went."""
    first, second = (normalize(domain, how) for domain in read_domains([source, target], **reading))
    for path, domain in ((source, first), (target, second)):
        if domain.y is None:
            raise InvalidInputError(
                f"{path}: has no labels; say --label with the name of their column"
            )
    pairs = PairSampler(first, second, random_state=options["random_state"], **sampling)
    names = algorithms if algorithms == "all" else [name.strip() for name in algorithms.split(",")]
    address = Address.of(url)
    known = address.without_password if address.kind == "postgresql" else url
    with open_store(url) as store:
        place = Path(url) if address.path and "://" not in url else address.path
        settings = write_settings(context, place or Path("experiences"), store=known)
        try:
            told = collect(pairs, store, algorithms=names, **options)
        except KeyboardInterrupt:
            kept = f"what was finished is kept in {known}"
            raise KeyboardInterrupt(
                f"{kept}; go on with: l2t collect --config {settings}"
            ) from None
        count = store.count()
    show_sentence(
        f"{told.done} runs done, {told.failed} failed, {told.already_there} were there already, "
        f"in {told.seconds:.0f} s; {known} holds {count} experiences",
        asdict(told) | {"experiences": count, "store": known, "settings": str(settings)},
        format,
    )
    quiet = not options["progress"]
    if told.failed:
        say(f"why runs failed: l2t store ls {known} --status failed", quiet)
    say(f"to repeat it: l2t collect --config {settings}; next: l2t learn --store {known}", quiet)
