"""The gallery: scripts of examples/gallery, their output and their plots.

``python -m tools.gallery`` runs them and keeps plots and output in docs/images/gallery, from which the site
is built (`docs/hooks.py`). Those that need data run only if L2T_DATA is set.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["KEPT", "SCRIPTS", "index_page", "needs_data", "page", "run"]

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "examples" / "gallery").glob("*.py"))
KEPT = ROOT / "docs" / "images" / "gallery"


def needs_data(script: Path) -> bool:
    """Return whether a script reads the data sets of L2T_DATA."""
    return "L2T_DATA" in script.read_text()


def run(script: Path, folder: Path) -> str:
    """Run a script in a folder, where it saves its plot, and return its output."""
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=folder,
        env=os.environ | {"MPLBACKEND": "Agg", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{script.name} failed: {done.stderr}")
    return done.stdout


def index_page() -> str:
    """Return the page that shows all examples."""
    parts = [
        "# Gallery\n\nThis page shows short scripts with the plot that each makes. They are in "
        "`examples/gallery` of the repository; those that use `L2T_DATA` need the data sets that they "
        "name, the others run as they are. Each is one random draw; averages are in the "
        "[results](../results/answers.md).\n"
    ]
    for script in SCRIPTS:
        title, _ = _title_and_text(script)
        picture = (
            f"[![{title}](../images/gallery/{script.stem}.png){{width=420}}]({script.stem}.md)"
        )
        parts.append(f"## [{title}]({script.stem}.md)\n\n{picture}\n")
    return "\n".join(parts)


def page(script: Path) -> str:
    """Return the page of a script: its text, its plot, its code and its output."""
    title, text = _title_and_text(script)
    code = script.read_text().partition('"""\n\n')[2].rstrip()
    printed = (KEPT / f"{script.stem}.txt").read_text().rstrip()
    return (
        f"# {title}\n\n{text}\n\n![{title}](../images/gallery/{script.stem}.png)\n\n"
        f"```python\n{code}\n```\n\nOutput:\n\n```text\n{printed}\n```\n"
    )


def _title_and_text(script: Path) -> tuple[str, str]:
    title, _, text = (ast.get_docstring(ast.parse(script.read_text())) or "").partition("\n\n")
    return title.rstrip("."), text


def main(names: list[str]) -> None:
    """Run the scripts of these names, or all, and keep their output and plots."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for script in SCRIPTS:
        if names and script.stem not in names:
            continue
        if needs_data(script) and "L2T_DATA" not in os.environ:
            print(f"{script.stem}: kept as it is, because L2T_DATA is not set", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            printed = run(script, Path(folder))
            (KEPT / f"{script.stem}.png").write_bytes(
                (Path(folder) / f"{script.stem}.png").read_bytes()
            )
        (KEPT / f"{script.stem}.txt").write_text(printed)
        print(f"{script.stem}: done", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
