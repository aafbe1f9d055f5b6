"""Commands of the agent that keeps learning: ask, tell, suggestions, versions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import (
    As,
    Decimal,
    Encoding,
    Ignore,
    Label,
    Labeled,
    Labels,
    Normalize,
    Quiet,
    Seed,
    Thousands,
    ZeroBased,
)
from l2t.interfaces.cli.formats import Format, Scaling

Store = Annotated[
    str, typer.Option("--store", help="The agent's store: a file or a URL; made by the first ask.")
]


@app.command(short_help="What to transfer, from an agent that learns from what you tell it.")
def ask(
    source: Annotated[Path, typer.Argument(help="File of the source domain.")],
    target: Annotated[Path, typer.Argument(help="File of the target domain.")],
    url: Store = "experiences.db",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the transformed target here.")
    ] = None,
    label: Label = None,
    labeled: Labeled = None,
    ignore: Ignore = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    encoding: Encoding = None,
    zero_based: ZeroBased = None,
    labels: Labels = None,
    normalize: Normalize = Scaling.rows,
    reflection: Annotated[
        str,
        typer.Option(
            help="What a new agent begins with: a JSON file, default, or none for nothing."
        ),
    ] = "default",
    explore: Annotated[
        str,
        typer.Option(help="A probability of trying something to learn from, or upper."),
    ] = "0",
    seed: Seed = 0,
    format: As = Format.table,
    quiet: Quiet = False,
) -> None:
    """Ask the agent what to transfer from a source file to a target file.

    Works as `l2t transfer`, and keeps the suggestion in the store under an id. Measure accuracy without and
    with it on the same test rows, and tell: `l2t tell ID --before 0.61 --after 0.68`. The agent learns
    from these outcomes, and from the labels of earlier targets in its store.
    """
    from l2t.interfaces.cli.agent import run_ask

    run_ask(
        source,
        target,
        url,
        reading={
            "label": label,
            "labeled": labeled,
            "ignore": ignore or (),
            "decimal": decimal,
            "thousands": thousands,
            "encoding": encoding,
            "zero_based": zero_based,
        },
        labels=labels,
        how=normalize,
        reflection=reflection,
        explore=explore,
        seed=seed,
        output=output,
        format=format,
        quiet=quiet,
    )


@app.command(short_help="Tell the agent the outcome of a suggestion.")
def tell(
    id: Annotated[str, typer.Argument(help="The suggestion's id, or its beginning.")],
    before: Annotated[float, typer.Option(help="Accuracy on the target as it is, 0 to 1.")],
    after: Annotated[
        float, typer.Option(help="Accuracy on the same rows with W, whatever the verdict.")
    ],
    url: Store = "experiences.db",
    labels: Annotated[
        int | None, typer.Option(min=1, help="How many labels you had, if ask was not told.")
    ] = None,
    format: As = Format.table,
) -> None:
    """Tell the agent the outcome of a suggestion; it learns from new outcomes, several at a time."""
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
    """List the suggestions whose outcome has not been told yet, the newest first."""
    from l2t.interfaces.cli.agent import run_suggestions

    run_suggestions(url, delete, format)


@app.command(short_help="The versions of the agent's function.")
def versions(
    url: Store = "experiences.db",
    go_back: Annotated[
        int | None, typer.Option(min=1, help="Take this version into use again.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the version in use to this JSON file.")
    ] = None,
    format: As = Format.table,
) -> None:
    """List every version of the agent's function, and which took over from which."""
    from l2t.interfaces.cli.agent import run_versions

    run_versions(url, go_back, save, format)
