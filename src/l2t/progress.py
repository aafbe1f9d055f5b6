"""Progress bars on standard error, so that results can be piped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

__all__ = ["progress_bar"]


class _Rate(ProgressColumn):
    """The speed."""

    def render(self, task: Task) -> Text:
        """Return tasks per second, once they are known."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


@contextmanager
def progress_bar(
    total: int | None, first: str, *, shown: bool = True
) -> Iterator[Callable[[str], None]]:
    """Give a function that advances the bar by one and shows what was done last."""
    columns = (
        TextColumn("{task.description:<24}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    hidden = not (shown and console.is_terminal)
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task(first, total=total)

        def advance(done: str) -> None:
            progress.update(task, advance=1, description=done)

        yield advance
