"""The gallery: every script runs, and what the site keeps of those that it does not run is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples" / "gallery").glob("*.py"))
KEPT = ROOT / "docs" / "images" / "gallery"
#: The site runs scripts of this name, as sphinx-gallery does by default.
RUN = "plot_"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_runs(script, tmp_path):
    if not script.name.startswith(RUN) and "L2T_DATA" not in os.environ:
        pytest.skip("needs the data sets; set L2T_DATA")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_only_scripts_that_need_data_are_not_run_by_the_site():
    needing = {script.stem for script in SCRIPTS if "L2T_DATA" in script.read_text()}
    assert needing == {script.stem for script in SCRIPTS if not script.name.startswith(RUN)}


def test_what_scripts_with_data_print_and_draw_is_kept():
    kept = {f"{script.stem}{end}" for script in SCRIPTS for end in (".png", ".txt")}
    assert {path.name for path in KEPT.iterdir()} == {
        name for name in kept if not name.startswith(RUN)
    }
