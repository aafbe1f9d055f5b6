"""The page of the command reference: what every command prints with --help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from l2t.interfaces.cli import app

__all__ = ["command_page"]

INTRODUCTION = """\
# Command line

This page has the help text of every command (`l2t COMMAND --help`). Results are printed to standard output as
a table, as JSON or as csv (`--format`); progress and notes are printed to standard error, unless `--quiet` is
given.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | an error, in one sentence; or `l2t store check` or `merge` found damage |
| 2 | wrong usage |
| 130 | interrupted by Ctrl-C |

`l2t --install-completion` installs completion of commands and options in your shell. Colours are used on a
terminal only, and not if the environment variable `NO_COLOR` is set."""


def command_page() -> str:
    """Return the page in Markdown."""
    parts = [INTRODUCTION]
    for words in _command_names():
        level = "##" if len(words) < 3 else "###"
        parts.append(f"{level} {' '.join(words)}\n\n```text\n{_help_text(words).rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def _command_names() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, a group before its commands."""

    def walk(words: tuple[str, ...], command: Any) -> Iterator[tuple[str, ...]]:
        yield words
        for name, subcommand in getattr(command, "commands", {}).items():
            yield from walk((*words, name), subcommand)

    return walk(("l2t",), get_command(app))


def _help_text(words: tuple[str, ...]) -> str:
    wide = {"COLUMNS": "88", "TERMINAL_WIDTH": "88"}
    return CliRunner().invoke(app, [*words[1:], "--help"], env=wide, prog_name="l2t").stdout
