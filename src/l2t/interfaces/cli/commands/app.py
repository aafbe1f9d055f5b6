"""The application that the commands belong to."""

from __future__ import annotations

import signal
import sys
import warnings
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from l2t._version import __version__
from l2t.display import escape_controls
from l2t.exceptions import L2TError, L2TWarning
from l2t.interfaces.cli.output import print_note

EXIT_CODES = (
    "Exit codes: 0 success; 1 an error, in one sentence; 2 wrong usage; 130 interrupted by Ctrl-C. "
    "Results go to standard output, notes and errors to standard error. Colours are used on a terminal only, "
    "unless NO_COLOR is set."
)
_format_warning = warnings.formatwarning


class _Commands(TyperGroup):
    """The commands, with a message on interruption, which Typer does not print."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interruption:
            how = str(interruption) or "no output file was left incomplete; run the command again"
            with suppress(OSError):  # the terminal may be closed
                print_note(f"l2t: interrupted; {how}")
            raise typer.Exit(130) from None


app = typer.Typer(
    name="l2t",
    cls=_Commands,
    help="Predict classes where labels are few, with a labelled source of the same or other classes.\n\n"
    "Start with 'l2t example digits', which writes two files and prints the next command, or with your own "
    "files: 'l2t predict SOURCE TARGET --label COLUMN -o FILE'.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _Interrupted(KeyboardInterrupt):
    """Ctrl-C or a signal; a subclass, as CPython loses the exit code of KeyboardInterrupt in exec()."""


def _interrupt(*_: object) -> None:
    raise _Interrupted


def _as_sentence(message: Warning | str, category: type[Warning], *place: Any, **line: Any) -> str:
    """Return the text of a warning, for those of L2T without the line of code."""
    if issubclass(category, L2TWarning):
        return f"l2t: warning: {escape_controls(str(message))}\n"
    return _format_warning(message, category, *place, **line)


def main() -> None:
    """Run a command; an error prints one sentence and gives exit code 1, and signals act like Ctrl-C."""
    warnings.formatwarning = _as_sentence
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)
    hangup = getattr(signal, "SIGHUP", None)  # not on Windows
    if hangup is not None and signal.getsignal(hangup) is signal.SIG_DFL:  # not under nohup
        signal.signal(hangup, lambda *_: signal.raise_signal(signal.SIGTERM))
    try:
        app(prog_name="l2t")
    except (L2TError, OSError) as error:
        print_note(f"l2t: {error}")
        sys.exit(1)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"l2t {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass
