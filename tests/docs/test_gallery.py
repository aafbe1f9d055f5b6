"""The gallery: every script runs, and what the site shows of it is there."""

from __future__ import annotations

import os

import pytest

from tools.gallery import KEPT, SCRIPTS, index_page, needs_data, page, run


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda each: each.stem)
def test_a_script_runs_and_makes_its_picture(script, tmp_path):
    if needs_data(script) and "L2T_DATA" not in os.environ:
        pytest.skip("needs the data sets; set L2T_DATA")
    assert run(script, tmp_path)
    assert (tmp_path / f"{script.stem}.png").stat().st_size > 5000


def test_the_pages_show_every_script_with_its_picture_and_what_it_prints():
    assert len(SCRIPTS) >= 8
    for script in SCRIPTS:
        assert (KEPT / f"{script.stem}.png").exists(), script.stem
        assert f"images/gallery/{script.stem}.png" in page(script)
        assert f"({script.stem}.md)" in index_page()
        assert 15 <= len(script.read_text().splitlines()) <= 42, script.stem


def test_nothing_is_kept_of_scripts_that_are_gone():
    assert {path.stem for path in KEPT.iterdir()} == {script.stem for script in SCRIPTS}
