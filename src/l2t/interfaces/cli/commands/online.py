"""The command that measures the agent over a stream of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t.interfaces.cli.commands.options import Jobs, OutDirectory, WorkDirectory
from l2t.interfaces.cli.commands.reproduce import reproduce


@reproduce.command("online", short_help="An agent that starts from nothing, over 500 pairs.")
def online(
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="L2T_DATA",
            help="Directory with the data sets; without it handwritten digits are taken.",
        ),
    ] = None,
    out: OutDirectory = Path("docs/results"),
    work: WorkDirectory = Path("experiences"),
    pairs: Annotated[int, typer.Option(min=40, help="Pairs of the stream.")] = 500,
    jobs: Jobs = 1,
) -> None:
    """Let an agent that knows nothing go through a stream of pairs, and one whose kind changes half-way.

    Also: what practice is worth. About an hour on one core.
    """
    from l2t.interfaces.cli.results.online import write_online

    write_online(data, out, work, pairs, jobs)
