"""`l2t store`: look into a store, and look after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from l2t.exceptions import UnknownRunError
from l2t.experiences import ExperienceStore, open_store, rescue_store, upgrade_store
from l2t.interfaces.cli.formats import Format
from l2t.interfaces.cli.output import say, show_record, show_rows, show_sentence
from l2t.interfaces.cli.reading import check_overwriting

__all__ = [
    "run_check",
    "run_export",
    "run_import",
    "run_ls",
    "run_rescue",
    "run_rm",
    "run_show",
    "run_upgrade",
    "whole_key",
]


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
    say(f"{len(rows)} of {total} experiences", format is not Format.table)


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


def run_rm(url: str, keys: list[str], format: Format) -> None:
    """Delete runs, with all that nothing else refers to."""
    with open_store(url, create=False) as store:
        removed = store.delete(key=[whole_key(store, key) for key in keys])
    show_sentence(f"{_runs(removed)} deleted", {"deleted": removed}, format)


def run_check(url: str, format: Format) -> bool:
    """Print what is wrong with a store, and return whether nothing is."""
    with open_store(url, create=False) as store:
        problems = store.check()
    told = {"sound": not problems, "problems": problems}
    if format is Format.json:
        show_record(told, format)
    elif format is Format.csv:
        show_rows([{"problem": problem} for problem in problems], format)
    else:
        print("\n".join(problems) or "sound")
    return not problems


def run_upgrade(url: str, format: Format) -> None:
    """Bring a store to the form of this version."""
    upgrade_store(url)
    with open_store(url, create=False) as store:
        show_sentence("up to date", {"version": store.version}, format)


def run_rescue(url: str, into: str, format: Format) -> None:
    """Take what is whole out of a damaged store."""
    with open_store(into) as store:
        taken = rescue_store(url, store)
    show_sentence(f"{_runs(taken)} taken over", {"taken_over": taken}, format)


def run_export(url: str, file: Path, format: Format) -> None:
    """Write a store to one file."""
    check_overwriting([file], [], store=url)
    with open_store(url, create=False) as store:
        runs = len(store.keys())
        store.export(file)
    show_sentence(f"{_runs(runs)} written to {file}", {"exported": runs, "file": str(file)}, format)


def run_import(url: str, file: Path, format: Format) -> None:
    """Add the runs of an exported file."""
    with open_store(url) as store:
        added = store.merge(file)
    show_sentence(f"{_runs(added)} added", {"added": added}, format)


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


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
