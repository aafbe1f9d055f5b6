"""Files for the study of predictions are as people have them, and hide most labels."""

from __future__ import annotations

import pytest

from l2t.domains import read_tables
from reproduction.own_files import SHOTS, make_files

pytestmark = pytest.mark.reproduction


def test_files_have_ids_text_missing_cells_and_hidden_labels(tmp_path):
    classes = make_files("iris", 0, tmp_path)
    paths = [tmp_path / f"{name}.csv" for name in ("source", "target")]
    assert ";" in paths[0].read_text().splitlines()[0]
    source, target = read_tables(paths, label="kind", impute="median")
    assert source.domain.n_features == target.domain.n_features == 4
    assert source.domain.labeled is None
    assert target.domain.labeled.sum() == SHOTS * 3
    known = target.domain.labeled
    assert target.domain.y[known].tolist() == classes[known].tolist()
    assert any("missing cells filled" in note for note in target.notes + source.notes)
