"""`l2t store ls`, `show` and `rm`: look into a store."""

from __future__ import annotations

from typing import Any

import typer

from l2t.exceptions import UnknownRunError
from l2t.experiences import ExperienceStore, open_store
from l2t.interfaces.cli.formats import Format
from l2t.interfaces.cli.output import show_record, show_rows

__all__ = ["run_ls", "run_rm", "run_show", "whole_key"]


def run_ls(url: str, filters: dict[str, Any], limit: int, order: str, format: Format) -> None:
    """Print experiences, the newest first."""
    with open_store(url, create=False) as store:
        rows = [
            {
                "run": each.run_key[:12],
                "algorithm": each.algorithm,
                "source": each.source_name,
                "target": each.target_name,
                "labels": each.n_labels,
                "before": _number(each.accuracy_before),
                "after": _number(each.accuracy_after),
                "ratio": _number(each.improvement_ratio),
                "status": f"failed: {each.reason}" if each.status == "failed" else each.status,
            }
            for each in store.experiences(
                limit=limit, order=order, descending=True, statistics=False, **filters
            )
        ]
        total = store.count(**filters)
    show_rows(rows, format)
    if format is Format.table:
        typer.echo(f"{len(rows)} of {total} experiences", err=True)


def run_show(url: str, key: str, format: Format) -> None:
    """Print one run in full."""
    with open_store(url, create=False) as store:
        run = store.run(whole_key(store, key))
    record = {
        "run": run.key,
        "algorithm": run.algorithm,
        "params": str(dict(run.params)),
        "source": repr(run.pair.source),
        "target": repr(run.pair.target),
        "seed": run.random_state,
        "status": run.status,
        "reason": run.reason or None,
        "W": None if run.W is None else f"{run.W.shape[0]} x {run.W.shape[1]}",
        "seconds": run.duration,
        "created": run.created_at.isoformat(timespec="seconds"),
        "version": run.version,
        "host": run.host,
    }
    rows = [
        {
            "labels": score.n_labels,
            "before": score.accuracy_before,
            "±": score.standard_error_before,
            "after": score.accuracy_after,
            "± after": score.standard_error_after,
            "ratio": score.improvement_ratio,
        }
        for score in run.scores
    ]
    if format is Format.json:
        show_record(record | {"scores": rows}, format)
    else:
        show_record(record, format)
        if rows:
            show_rows(rows, format)


def run_rm(url: str, keys: list[str]) -> None:
    """Delete runs, with all that nothing else refers to."""
    with open_store(url, create=False) as store:
        removed = store.delete(key=[whole_key(store, key) for key in keys])
    typer.echo(f"{removed} runs deleted")


def whole_key(store: ExperienceStore, beginning: str) -> str:
    """Return the key that begins so; a list shows the first twelve letters."""
    there = store.keys()
    found = sorted(key for key in there if key.startswith(beginning))
    if len(found) != 1 or not beginning:
        told = "no run" if not found else f"{len(found)} runs"
        raise UnknownRunError(f"{told} with a key that begins with {beginning!r:.80}")
    return found[0]


def _number(value: float) -> float | None:
    return None if value != value else value  # NaN: a failed run has none
