"""Published figures of Office-Caltech10."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.office_caltech import PUBLISHED, OfficeCaltech, measure_office_caltech
from reproduction.pages import write_page

pytestmark = pytest.mark.reproduction


@pytest.fixture(scope="module")
def measured(data_directory):
    return measure_office_caltech(data_directory / "office-caltech-surf", names=("gfk", "tca"))


def test_plain_nearest_neighbour_gives_the_published_figures_exactly(measured):
    for task, accuracy in zip(measured.tasks, measured.accuracy[:, 0], strict=True):
        assert round(accuracy, 2) == PUBLISHED[task][0], task


def test_gfk_gives_three_published_figures_exactly_and_is_not_below_their_mean(measured):
    gfk = dict(zip(measured.tasks, measured.accuracy[:, 1], strict=True))
    for task in ("C->A", "A->C", "A->D"):
        assert round(gfk[task], 2) == PUBLISHED[task][2], task
    assert np.mean(list(gfk.values())) >= 42.95


def test_tca_is_far_above_plain_nearest_neighbour(measured):
    assert measured.accuracy[:, 2].mean() > measured.accuracy[:, 0].mean() + 8


def test_the_table_has_a_row_for_each_task_and_one_of_means(measured):
    columns, rows = measured.table()
    assert len(rows) == 12 + 1
    assert " ".join(columns) == "task 1-NN* PCA* GFK* TCA* 1-NN GFK TCA"
    assert rows[0][:7] == ["C->A", "23.70", "36.95", "41.02", "38.20", "23.70", "41.02"]


def test_the_page(tmp_path):
    tasks = tuple(PUBLISHED)
    measured = OfficeCaltech(tasks, ("1-nn", "gfk"), np.full((12, 2), 50.0))
    columns, rows = measured.table()
    page = tmp_path / "new" / "office-caltech.md"
    write_page(page, minutes=1.2, columns=columns, rows=rows, summary=measured.summary())
    text = page.read_text()
    assert "| PCA | 39.79 | – |\n| GFK | 42.95 | 50.00 |" in text
    table = (page.parent / "csv" / "office-caltech-tasks.csv").read_text()
    assert table.startswith("task,1-NN*,PCA*,GFK*,TCA*,1-NN,GFK\n")
    assert table.endswith("mean,31.37,39.79,42.95,43.61,50.00,50.00\n")
    assert "in 1 minutes" in text
