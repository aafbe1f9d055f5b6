"""Generated parts of the site: the command reference, the gallery, mathematics as MathML."""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File
from typer.main import get_command
from typer.testing import CliRunner

from l2t.interfaces.cli import app

sys.path.insert(
    0, str(Path(__file__).parents[1])
)  # of the repository, where mkdocs was started as a command
from tools import gallery

COMMANDS = "reference/commands.md"
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_files(files: Any, *, config: Any) -> Any:
    """Add the command reference, generated from the commands, and the gallery, from its scripts."""
    made = {COMMANDS: command_page(), "gallery/index.md": gallery.index_page()}
    made |= {f"gallery/{each.stem}.md": gallery.page(each) for each in gallery.SCRIPTS}
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_content(content: str, **_: Any) -> str:
    """Turn formulas into MathML, which browsers draw by themselves."""

    def mathml(found: re.Match[str]) -> str:
        display = "block" if found[2] == "[" else "inline"
        return convert(html.unescape(found[3]).strip(), display=display)

    return _FORMULA.sub(mathml, content)


def command_page() -> str:
    """Return the page of every command's help."""
    parts = [
        "# Command line\n\nThis page has the help text of every command (`l2t COMMAND --help`). Results are "
        "printed to standard output as a table, as JSON or as csv (`--format`); progress and notes are "
        "printed to standard error, unless `--quiet` is given.\n\n"
        "| exit code | meaning |\n|---|---|\n| 0 | success |\n| 1 | an error, in one sentence; or `l2t "
        "store check` or `merge` found damage |\n| 2 | wrong usage |\n| 130 | interrupted by Ctrl-C |\n\n"
        "`l2t --install-completion` installs completion of commands and options in your shell. Colours are "
        "used on a terminal only, and not if the environment variable `NO_COLOR` is set."
    ]
    for words in command_names():
        level = "##" if len(words) < 3 else "###"
        parts.append(f"{level} {' '.join(words)}\n\n```text\n{help_text(words).rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def command_names() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, a group before its commands."""

    def walk(words: tuple[str, ...], command: Any) -> Iterator[tuple[str, ...]]:
        yield words
        for name, each in getattr(command, "commands", {}).items():
            yield from walk((*words, name), each)

    return walk(("l2t",), get_command(app))


def help_text(words: tuple[str, ...]) -> str:
    """Return what a command prints with --help."""
    wide = {"COLUMNS": "88", "TERMINAL_WIDTH": "88"}
    return CliRunner().invoke(app, [*words[1:], "--help"], env=wide, prog_name="l2t").stdout
