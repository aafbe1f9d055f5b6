"""What is installed is the package, and nothing of the repository around it."""

from __future__ import annotations

import zipfile
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[1]


def test_the_wheel_holds_the_package_alone(tmp_path):
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(built) as wheel:
        names = wheel.namelist()
    files = {name for name in names if ".dist-info/" not in name}
    package = ROOT / "src" / "l2t"
    expected = {
        f"l2t/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert files == expected
    for folder in ("tests", "docs", "examples", "reproduction", "benchmarks", "tools"):
        assert not any(f"{folder}/" in name for name in names), folder
