"""Pages of results link to their large tables."""

from __future__ import annotations

from tools.reports import move_tables

PAGE = """\
# Results

<!-- csv: all-tasks, Each task -->
| task | 1-NN* | **L2T** |
|---|---|---|
| A > W | 0.51, or so | **0.62** |

| small | table |
|---|---|
| 1 | 2 |
"""


def test_marked_tables_are_csv_files_beside_the_page(tmp_path):
    text = move_tables(PAGE, tmp_path / "page.md")
    table = (tmp_path / "csv" / "page-all-tasks.csv").read_text()
    assert table == 'task,1-NN*,L2T\nA > W,"0.51, or so",0.62\n'
    assert "[Each task](csv/page-all-tasks.csv)" in text
    assert "| small | table |" in text
    assert "A > W" not in text
    assert move_tables(text, tmp_path / "page.md") == text
