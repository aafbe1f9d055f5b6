"""Write docs/reliability.md from the counts that tests record with the fixture `proves`.

python -m pytest --promises build/promises.json
python -m tools.reliability build/promises.json
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
HEAD = """# Promises and their tests

This page lists each promise of L2T with the test that proves it, and how many cases one run tries. The table
is written by `make reliability` from the output of the tests themselves. That runs all attacks of
`fuzz/test_fuzz.py`, of which an ordinary test run tries a few hundred; `make fuzz` tries new seeds for ten
minutes. What is not promised is in SECURITY.md at the root of the repository.

| promise | cases | test |
|---|---|---|
"""


def page(proved: list[dict[str, Any]]) -> str:
    """Return the text of the page; promises that differ only after a colon are one row."""
    kinds: dict[tuple[str, str, str], list[tuple[str, int]]] = defaultdict(list)
    for each in proved:
        promise, _, kind = each["promise"].partition(": ")
        test = each["test"].partition("[")[0]
        kinds[promise, each["unit"], test].append((kind, each["count"]))
    lines = []
    for (promise, unit, test), found in sorted(kinds.items()):
        count = sum(number for _, number in found)
        names = ", ".join(dict.fromkeys(kind for kind, _ in found if kind))
        shown = f"{promise} ({names})" if names else promise
        counted = f"{count:,} {unit if count > 1 else unit.removesuffix('s')}"
        lines.append(f"| {shown} | {counted} | `{test.removeprefix('tests/')}` |\n")
    return HEAD + "".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(Path(sys.argv[1]).read_text())))
