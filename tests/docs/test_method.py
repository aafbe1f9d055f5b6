"""The method page quotes the pages of results, and nothing else."""

from __future__ import annotations

import pytest

from tools.method import PAGE, fill, find_row, find_tables

pytestmark = pytest.mark.docs


def test_tables_are_found_by_the_heading_above_them():
    text = "# A\n\n| a | b |\n|---|---|\n| **x** | 1 |\n\n## B\n\n| c |\n|---|\n| 2 |\n"
    assert find_tables(text) == {"A": [["a", "b"], ["x", "1"]], "B": [["c"], ["2"]]}


def test_the_page_quotes_the_results():
    page = fill(PAGE.read_text())
    assert f"| L2T | {' | '.join(find_row('families.md', 'the true source, L2T'))} |" in page
    assert fill(page) == page


def test_a_table_that_is_missing_is_named():
    with pytest.raises(ValueError, match="one block 'ratios'"):
        fill("# The method\n")
