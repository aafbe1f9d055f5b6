"""Commands for an experience store: dashboard and store."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import l2t
from l2t.exceptions import InvalidInputError
from l2t.interfaces.cli.commands import options
from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import argument, file, flag, named, number
from l2t.interfaces.cli.output import (
    Format,
    print_note,
    select_columns,
    show_record,
    show_rows,
    show_sentence,
)

if TYPE_CHECKING:
    from l2t.experiences.experience import Experience, Score
    from l2t.experiences.store.reading import Filters

store = typer.Typer(help="Manage an experience store.", no_args_is_help=True)
app.add_typer(store, name="store")

StatusOption = Annotated[
    Literal["done", "failed"] | None, typer.Option(help="Only runs of this status.")
]
Trained = Annotated[
    options.TrainedOnChoice | None,
    typer.Option(help="Only accuracies of classifiers trained on these rows."),
]
#: The store as an argument, as in version 0.2.
OldStore = Annotated[str | None, argument("STORE", "Deprecated: use --store.")]
DEFAULT_STORE = "experiences.db"
OrderOption = Literal["created_at", "algorithm", "duration", "improvement_ratio", "n_labels"]


@app.command(short_help="Open the dashboard: predict in the browser, and inspect a store.")
def dashboard(  # noqa: PLR0913
    url: Annotated[
        str | None,
        named(
            "The store: a .db file or a URL; by default experiences.db, if it exists.",
            "--store",
            metavar="STORE",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; other machines need a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free one.")
    ] = 8765,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="L2T_DASHBOARD_TOKEN",
            help="Token that visitors must enter; generated if other machines can connect.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Further host name, such as that of a reverse proxy; may be repeated."),
    ] = None,
    root_path: Annotated[
        str, typer.Option(help="Path under which a reverse proxy serves it.")
    ] = "",
    read_only: Annotated[bool, flag("Allow no uploads and no computation.", "--read-only")] = False,
    reflection: Annotated[
        list[Path] | None, file("A reflection function to show; may be repeated.")
    ] = None,
    history: Annotated[
        Path | None,
        named("Keep predictions in this folder over restarts, up to 100.", metavar="FOLDER"),
    ] = None,
    max_upload: Annotated[int, number("Maximum size of an uploaded file in MiB.")] = 64,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Serve the dashboard: predict the classes of a file in the browser, and inspect an experience store.

    By default only this machine can connect (see --host). Stop it with Ctrl-C.
    """
    from l2t.interfaces.serving import import_dashboard

    app, settings = import_dashboard("app"), import_dashboard("settings")
    wanted = settings.Settings(
        host=host,
        port=port,
        token=token,
        hosts=tuple(allow_host or ()),
        root_path=root_path,
        read_only=read_only,
        history=history,
        max_upload=max_upload * 2**20,
        reflections=tuple(reflection or ()),
    )
    if url is None and Path(DEFAULT_STORE).is_file():
        url = DEFAULT_STORE
    app.serve(url, wanted, open_browser=open_browser)


@store.command("ls", short_help="List experiences.")
def store_ls(  # noqa: PLR0913
    word: OldStore = None,
    url: options.StoreOption = DEFAULT_STORE,
    algorithm: Annotated[str | None, named("Only runs of this algorithm.")] = None,
    domain: Annotated[str | None, named("Only runs with this source or target.")] = None,
    labels: Annotated[
        int | None, number("Only experiences with this number of labels.", least=None)
    ] = None,
    trained_on: Trained = None,
    status: StatusOption = None,
    limit: Annotated[int, number("Maximum number of rows.")] = 20,
    order: Annotated[
        OrderOption, typer.Option(help="Sort by this, in descending order.")
    ] = "created_at",
    format: options.FormatOption = Format.table,
) -> None:
    """List experiences, by default the newest first."""
    filters: Filters = {
        "algorithm": algorithm,
        "domain": domain,
        "n_labels": labels,
        "status": status,
        "trained_on": trained_on,
    }
    with l2t.open_store(_address(url, word), create=False) as opened:
        experiences = list(
            opened.experiences(
                limit=limit, order=order, descending=True, statistics=False, **filters
            )
        )
        total = opened.count(**filters)
    columns = (
        f"algorithm source target labels {_trained(experiences, format)} before after ratio status"
    )
    rows = [
        {"run": experience.run_key[:12]}
        | select_columns(experience, columns)
        | ({"status": f"failed: {experience.reason}"} if experience.status == "failed" else {})
        for experience in experiences
    ]
    show_rows(rows, format)
    print_note(f"{len(rows)} of {total} experiences", format is not Format.table)


@store.command("show", short_help="Show one run in full.")
def store_show(
    keys: Annotated[
        list[str], argument("RUN", "Key of the run, or a prefix of it, from 'store ls'.")
    ],
    url: options.StoreOption = DEFAULT_STORE,
    format: options.FormatOption = Format.table,
) -> None:
    """Show one run in full, with its accuracies at every number of labels."""
    url, keys = _address_and_keys(url, keys)
    if len(keys) != 1:
        raise typer.BadParameter(f"name one run, got {len(keys)}")
    with l2t.open_store(url, create=False) as opened:
        run = opened.run(keys[0])
    record = select_columns(
        run, "run algorithm params seed status reason seconds created version host"
    )
    record |= {"source": repr(run.pair.source), "target": repr(run.pair.target)}
    record["matrix"] = None if run.W is None else " x ".join(map(str, run.W.shape))
    columns = f"labels {_trained(run.scores, format)} before error_before after error_after ratio"
    rows = [select_columns(score, columns) for score in run.scores]
    show_record(record | ({"scores": rows} if format is Format.json else {}), format)
    if rows and format is not Format.json:
        show_rows(rows, format)


@store.command("rm", short_help="Delete runs.")
def store_rm(
    keys: Annotated[
        list[str] | None, argument("RUN", "Keys of runs, or prefixes of them, from 'store ls'.")
    ] = None,
    url: options.StoreOption = DEFAULT_STORE,
    status: StatusOption = None,
    format: options.FormatOption = Format.table,
) -> None:
    """Delete runs by key or status, with the domains and arrays that only they refer to."""
    url, keys = _address_and_keys(url, keys or [])
    if not (keys or status):
        raise typer.BadParameter("name the runs to delete, or select them with --status")
    with l2t.open_store(url, create=False) as opened:
        whole = [opened.key(key) for key in keys]
        removed = opened.delete(key=whole or None, status=status)
    show_sentence(f"{_count(removed, 'run')} deleted", {"deleted": removed}, format)


@store.command("check", short_help="Check a store for damage.")
def store_check(
    word: OldStore = None,
    url: options.StoreOption = DEFAULT_STORE,
    format: options.FormatOption = Format.table,
) -> None:
    """Check all data of a store against their hashes; exit code 1 if anything is damaged."""
    with l2t.open_store(_address(url, word), create=False) as opened:
        problems = opened.check()
    if format is Format.csv:
        show_rows([{"problem": problem} for problem in problems], format)
    else:
        sentence = "\n".join(problems) or "no damage found"
        show_sentence(sentence, {"sound": not problems, "problems": problems}, format)
    if problems:
        raise typer.Exit(1)


@store.command("upgrade", short_help="Migrate a store of an older version.")
def store_upgrade(
    word: OldStore = None,
    url: options.StoreOption = DEFAULT_STORE,
    format: options.FormatOption = Format.table,
) -> None:
    """Migrate a store that was created by an older version of l2t."""
    from l2t.experiences import upgrade_store

    url = _address(url, word)
    upgrade_store(url)
    with l2t.open_store(url, create=False) as opened:
        show_sentence("up to date", {"version": opened.version}, format)


@store.command("merge", short_help="Copy other stores into one.")
def store_merge(
    sources: Annotated[list[str], argument("OTHER", "Stores to copy.")],
    url: Annotated[
        str | None,
        named(
            "The store to copy into: a .db file or a URL; created if it does not exist.",
            "--store",
            metavar="STORE",
        ),
    ] = None,
    format: options.FormatOption = Format.table,
) -> None:
    """Copy other stores into a store, without duplicates; exit code 1 if a part of one is damaged."""
    if url is None:
        if len(sources) < 2:
            raise typer.BadParameter("name the store to copy into with --store")
        url, *sources = sources
        _note_argument(url)
    runs = suggestions = 0
    damaged: list[str] = []
    with l2t.open_store(url) as opened:
        for other in sources:
            with l2t.open_store(other, create=False) as source:
                merged = opened.merge(source)
            runs += merged.runs
            suggestions += merged.suggestions
            damaged += [f"{other}: {problem}" for problem in merged.damaged]
    counts = [_count(runs, "run")] + ([_count(suggestions, "suggestion")] if suggestions else [])
    left_out = f", {_count(len(damaged), 'damaged record')} left out" if damaged else ""
    sentence = "\n".join([f"{' and '.join(counts)} added{left_out}", *damaged])
    show_sentence(sentence, {"runs": runs, "suggestions": suggestions, "damaged": damaged}, format)
    if damaged:
        raise typer.Exit(1)


def _address(url: str, word: str | None) -> str:
    """Return the store of a command, which may be an argument as up to version 0.2."""
    if word is None:
        return url
    if url != DEFAULT_STORE:
        raise typer.BadParameter(f"--store names the store, got also {word!r}")
    _note_argument(word)
    return word


def _address_and_keys(url: str, words: list[str]) -> tuple[str, list[str]]:
    """Return the store of a command, and the keys of runs; a key is never the address of a store."""
    from l2t.experiences.store.address import Address

    try:
        Address.of(words[0] if words else "")
    except InvalidInputError:
        return url, words
    return _address(url, words[0]), words[1:]


def _note_argument(word: str) -> None:
    """Print a note on the form of version 0.2."""
    from l2t.interfaces.cli.reading import shown_url

    option = shlex.join(["--store", shown_url(word)])
    print_note(f"note: a store as an argument is deprecated and will be removed; write {option}")


def _trained(scores: Sequence[Experience] | Sequence[Score], format: Format) -> str:
    """Return the name of the column trained_on; in a table, only if not all are trained on the target."""
    others = any(score.trained_on != "target" for score in scores)
    return "trained_on" if others or format is not Format.table else ""


def _count(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count} {noun}s"
