"""Write docs/reliability.md from what tests recorded with their fixture `proves`.

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
HEAD = """# What holds, and the tests that prove it

Each promise with the test that proves it, and how often in one run. The table is written by
`make reliability` from the output of the tests themselves. It does all attacks of `fuzz/test_fuzz.py`, of
which a usual test run does a few hundred; `make fuzz` goes on with new seeds for ten minutes. What is not
promised stands in SECURITY.md at the root of the repository.

| promise | by | test |
|---|---|---|
"""


def page(proved: list[dict[str, Any]]) -> str:
    """Return the text of the page; what a colon follows is one promise for several kinds."""
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
