"""Progress bars on standard error, so that results can be piped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(
    total: int | None, first: str, *, shown: bool = True
) -> Iterator[Callable[..., None]]:
    """Yield a function that advances the bar by one and shows its argument beside it.

    A second argument of the function is the total, where it is known only then.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    description = TextColumn("{task.description:<24}")
    columns = (description, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    hidden = not (shown and console.is_terminal)
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task(first, total=total)

        def advance(done: str, total: int | None = None) -> None:
            progress.update(task, advance=1, total=total, description=done)

        yield advance
