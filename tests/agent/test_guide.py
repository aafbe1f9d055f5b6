"""What the guide shows runs."""

from __future__ import annotations

import re
from pathlib import Path

import l2t

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "online.md"


def test_the_guide_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "online.md", "exec"), {"__name__": "guide"})
    assert "Suggestion(" in capsys.readouterr().out
    with l2t.open_store("experiences.db") as store:
        named = {each.algorithm for each in store.experiences(status="done")}
    assert named == {"l2t", "gfk", "top rows", "PCA"}
