"""`l2t store`: look into a store, and look after it."""

from __future__ import annotations

from typing import Any

from l2t.exceptions import UnknownRunError
from l2t.experiences import ExperienceStore, open_store, upgrade_store
from l2t.interfaces.cli.formats import Format
from l2t.interfaces.cli.output import say, show_record, show_rows, show_sentence

__all__ = [
    "run_check",
    "run_ls",
    "run_merge",
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
    show_sentence(f"{_count(removed, 'run')} deleted", {"deleted": removed}, format)


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


def run_merge(url: str, sources: list[str], format: Format) -> bool:
    """Copy stores into another one, and return whether nothing in them was damaged."""
    runs = suggestions = 0
    damaged: list[str] = []
    with open_store(url) as store:
        for each in sources:
            with open_store(each, create=False) as source:
                merged = store.merge(source)
            runs += merged.runs
            suggestions += merged.suggestions
            damaged += [f"{each}: {problem}" for problem in merged.damaged]
    counts = [_count(runs, "run")] + ([_count(suggestions, "suggestion")] if suggestions else [])
    left_out = f", {_count(len(damaged), 'damaged record')} left out" if damaged else ""
    sentence = "\n".join([f"{' and '.join(counts)} added{left_out}", *damaged])
    show_sentence(sentence, {"runs": runs, "suggestions": suggestions, "damaged": damaged}, format)
    return not damaged


def _count(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count} {noun}s"


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
