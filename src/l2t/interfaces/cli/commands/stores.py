"""Commands that look into an experience store, and look after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from l2t.exceptions import UnknownRunError
from l2t.interfaces.cli.commands import options
from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.output import Format, say, show_record, show_rows, show_sentence

if TYPE_CHECKING:
    from l2t.experiences import ExperienceStore

store = typer.Typer(help="Look after an experience store.", no_args_is_help=True)
app.add_typer(store, name="store")

Order = Literal["created_at", "algorithm", "duration", "improvement_ratio", "n_labels"]


@store.command("ls", short_help="List experiences.")
def store_ls(
    url: options.StoreUrl,
    algorithm: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only of this algorithm.")
    ] = None,
    domain: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only with this source or target.")
    ] = None,
    labels: Annotated[
        int | None, typer.Option(metavar="N", help="Only at this number of labels.")
    ] = None,
    status: Annotated[
        Literal["done", "failed"] | None, typer.Option(help="Only runs that ended so.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="How many.")] = 20,
    order: Annotated[Order, typer.Option(help="The newest or the largest first.")] = "created_at",
    format: options.As = Format.table,
) -> None:
    """List experiences, the newest or the largest first."""
    filters: dict[str, Any] = {
        "algorithm": algorithm,
        "domain": domain,
        "n_labels": labels,
        "status": status,
    }
    with _opened(url) as opened:
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
            for each in opened.experiences(
                limit=limit, order=order, descending=True, statistics=False, **filters
            )
        ]
        total = opened.count(**filters)
    show_rows(rows, format)
    say(f"{len(rows)} of {total} experiences", format is not Format.table)


@store.command("show", short_help="One run in full.")
def store_show(
    url: options.StoreUrl,
    key: Annotated[
        str, typer.Argument(metavar="RUN", help="The beginning of its key, as 'store ls' shows it.")
    ],
    format: options.As = Format.table,
) -> None:
    """Show one run in full, with its accuracies at every number of labels."""
    with _opened(url) as opened:
        run = opened.run(_whole_key(opened, key))
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
        return
    show_record(record, format)
    if rows:
        show_rows(rows, format)


@store.command("rm", short_help="Delete runs.")
def store_rm(
    url: options.StoreUrl,
    keys: Annotated[
        list[str],
        typer.Argument(metavar="RUN", help="The beginnings of their keys, as 'store ls' shows."),
    ],
    format: options.As = Format.table,
) -> None:
    """Delete runs, with the domains and arrays that nothing else refers to."""
    with _opened(url) as opened:
        removed = opened.delete(key=[_whole_key(opened, key) for key in keys])
    show_sentence(f"{_count(removed, 'run')} deleted", {"deleted": removed}, format)


@store.command("check", short_help="Read and hash everything again.")
def store_check(url: options.StoreUrl, format: options.As = Format.table) -> None:
    """Read and hash everything in a store again; exit code 1 if anything is wrong."""
    with _opened(url) as opened:
        problems = opened.check()
    if format is Format.csv:
        show_rows([{"problem": problem} for problem in problems], format)
    else:
        sentence = "\n".join(problems) or "sound"
        show_sentence(sentence, {"sound": not problems, "problems": problems}, format)
    if problems:
        raise typer.Exit(1)


@store.command("upgrade", short_help="Bring an older store to the form of this version.")
def store_upgrade(url: options.StoreUrl, format: options.As = Format.table) -> None:
    """Bring a store that an older version made to the form of this one."""
    from l2t.experiences import upgrade_store

    upgrade_store(url)
    with _opened(url) as opened:
        show_sentence("up to date", {"version": opened.version}, format)


@store.command("merge", short_help="Copy other stores into one.")
def store_merge(
    url: Annotated[
        str, typer.Argument(metavar="TARGET", help="A file or a URL; made where there is none.")
    ],
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE", help="Stores to copy.")],
    format: options.As = Format.table,
) -> None:
    """Copy what other stores have into a store, without duplicates; exit code 1 if some is damaged."""
    runs = suggestions = 0
    damaged: list[str] = []
    with _opened(url, create=True) as opened:
        for each in sources:
            with _opened(each) as source:
                merged = opened.merge(source)
            runs += merged.runs
            suggestions += merged.suggestions
            damaged += [f"{each}: {problem}" for problem in merged.damaged]
    counts = [_count(runs, "run")] + ([_count(suggestions, "suggestion")] if suggestions else [])
    left_out = f", {_count(len(damaged), 'damaged record')} left out" if damaged else ""
    sentence = "\n".join([f"{' and '.join(counts)} added{left_out}", *damaged])
    show_sentence(sentence, {"runs": runs, "suggestions": suggestions, "damaged": damaged}, format)
    if damaged:
        raise typer.Exit(1)


def _opened(url: str, *, create: bool = False) -> ExperienceStore:
    from l2t.experiences import open_store

    return open_store(url, create=create)


def _whole_key(opened: ExperienceStore, beginning: str) -> str:
    """Return the key that begins so; a list shows the first twelve letters."""
    found = sorted(key for key in opened.keys() if key.startswith(beginning))  # noqa: SIM118
    if len(found) != 1 or not beginning:
        what = "no run" if not found else f"{len(found)} runs"
        raise UnknownRunError(f"{what} with a key that begins with {beginning!r:.80}")
    return found[0]


def _count(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count} {noun}s"


def _number(value: float) -> float | None:
    return None if value != value else value  # NaN: a failed run has none
