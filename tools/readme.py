"""What the examples of README.md print, below each of them.

    python -m tools.readme

runs every block of `sh` and `python`, in order and in one new folder, and replaces the block of `text` that
follows. Figures may differ a little from one machine to the next, so a test compares the text without them.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["README", "fill", "without_figures"]

README = Path(__file__).parents[1] / "README.md"
EXAMPLE = re.compile(
    r"(^```(sh|python)\n(.*?)^```\n)(\n```text\n.*?^```\n)?", re.DOTALL | re.MULTILINE
)


def fill(text: str) -> str:
    """Return a page with what its examples print now."""
    with tempfile.TemporaryDirectory() as folder:

        def shown(example: re.Match[str]) -> str:
            source, language, code, printed = example.groups()
            output = _run(language, code, Path(folder))
            return f"{source}\n```text\n{output}```\n" if printed else source

        return EXAMPLE.sub(shown, text)


def without_figures(text: str) -> str:
    """Return a page without its numbers, the width of tables, and the mark of the row that is used."""
    return re.sub(r"\d+(\.\d+)?", "0", re.sub(r" \(used\)|[ ─]+", " ", text))


def _run(language: str, code: str, folder: Path) -> str:
    """Return the standard output of a block, without blank lines around it."""
    commands = [[sys.executable, "-c", code]]
    if language == "sh":
        lines = [shlex.split(line) for line in code.replace("\\\n", " ").splitlines()]
        commands = [[sys.executable, "-m", *line] for line in lines]  # the command is `l2t`
    environment = os.environ | {"COLUMNS": "100", "PYTHONWARNINGS": "error"}
    output = "".join(
        subprocess.run(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        for command in commands
    )
    return "\n".join(line.rstrip() for line in output.strip("\n").splitlines()).strip("\n") + "\n"


if __name__ == "__main__":
    README.write_text(fill(README.read_text()))
