"""Commands of the agent that keeps learning: ask, tell, suggestions, versions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import (
    As,
    Classes,
    Labels,
    Normalize,
    Quiet,
    Reading,
    Seed,
    reads_files,
)
from l2t.interfaces.cli.formats import Format

Store = Annotated[
    str,
    typer.Option("--store", help="The agent's store: a file or a URL; the first ask creates it."),
]


@app.command(short_help="What to transfer, from an agent that learns from the outcomes.")
@reads_files()
def ask(
    source: Annotated[Path, typer.Argument(help="File of the source domain.")],
    target: Annotated[Path, typer.Argument(help="File of the target domain.")],
    url: Store = "experiences.db",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the transformed target here.")
    ] = None,
    *,
    reading: Reading,
    labels: Labels = None,
    classes: Classes = None,
    normalize: Normalize = "rows",
    explore: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="The probability of trying another candidate, to learn from it."
        ),
    ] = 0.0,
    seed: Seed = 0,
    format: As = Format.table,
    quiet: Quiet = False,
) -> None:
    """Ask the agent what to transfer from a source file to a target file.

    Works as `l2t transfer`, and keeps the suggestion in the store under an id. Measure the accuracy without
    and with it on the same test rows, and report them: `l2t tell ID --before 0.61 --after 0.68`. The agent
    learns from these outcomes, and from the labels of earlier targets in its store.
    """
    from l2t.interfaces.cli.agent import run_ask

    run_ask(
        source,
        target,
        url,
        reading=reading,
        labels=labels,
        classes=classes,
        how=normalize,
        explore=explore,
        seed=seed,
        output=output,
        format=format,
        quiet=quiet,
    )


@app.command(short_help="Report the outcome of a suggestion to the agent.")
def tell(
    id: Annotated[str, typer.Argument(help="The suggestion's id, or its beginning.")],
    before: Annotated[float, typer.Option(help="Accuracy without the transfer, 0 to 1.")],
    after: Annotated[
        float, typer.Option(help="Accuracy on the same rows with the transfer, 0 to 1.")
    ],
    url: Store = "experiences.db",
    labels: Annotated[
        int | None,
        typer.Option(min=1, help="How many labels you had, if other than 'l2t ask' assumed."),
    ] = None,
    format: As = Format.table,
) -> None:
    """Report the outcome of a suggestion to the agent, which learns from it."""
    from l2t.interfaces.cli.agent import run_tell

    run_tell(url, id, before, after, labels, format)


@app.command(short_help="The suggestions whose outcome is open.")
def suggestions(
    url: Store = "experiences.db",
    delete: Annotated[
        str | None, typer.Option(metavar="ID", help="Delete this suggestion first.")
    ] = None,
    format: As = Format.table,
) -> None:
    """List the suggestions whose outcome has not been reported yet, the newest first."""
    from l2t.interfaces.cli.agent import run_suggestions

    run_suggestions(url, delete, format)


@app.command(short_help="The versions of the agent's reflection function.")
def versions(
    url: Store = "experiences.db",
    go_back: Annotated[
        int | None, typer.Option(min=1, help="Put this version into use again.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the version in use to this JSON file.")
    ] = None,
    format: As = Format.table,
) -> None:
    """List every version of the agent's reflection function, and which took over from which."""
    from l2t.interfaces.cli.agent import run_versions

    run_versions(url, go_back, save, format)
