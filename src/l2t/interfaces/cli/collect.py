"""`l2t collect`: files in, experiences into a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from l2t.domains import PairSampler, normalize, read_domain
from l2t.experiences import collect, open_store

__all__ = ["run_collect"]


def run_collect(
    source: Path,
    target: Path,
    url: str,
    *,
    sampling: dict[str, Any],
    label: str | None,
    how: str,
    algorithms: str,
    options: dict[str, Any],
) -> None:
    """Read both files, draw the pairs, collect, and say how it went."""
    first, second = (normalize(read_domain(path, label=label), how) for path in (source, target))
    pairs = PairSampler(first, second, random_state=options["random_state"], **sampling)
    names = algorithms if algorithms == "all" else [name.strip() for name in algorithms.split(",")]
    with open_store(url) as store:
        told = collect(pairs, store, algorithms=names, **options)
        typer.echo(
            f"{told.done} runs done, {told.failed} failed, {told.already_there} were there already, "
            f"in {told.seconds:.0f} s; {url} holds {store.count()} experiences"
        )
