"""What is installed is the package, and nothing of the repository around it."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from l2t import __version__

ROOT = Path(__file__).parents[1]


def build(builder, folder):
    (built,) = builder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return Path(built)


def test_the_wheel_holds_the_package_alone(tmp_path):
    with zipfile.ZipFile(build(WheelBuilder, tmp_path)) as wheel:
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


def test_the_sdist_holds_what_is_needed_to_test_and_cite_it(tmp_path):
    with tarfile.open(build(SdistBuilder, tmp_path)) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    for name in ("CITATION.cff", "LICENSE", "README.md", "Makefile", "constraints.txt"):
        assert name in names, name
    assert {"src/l2t/__init__.py", "tests/test_wheel.py", "docs/index.md"} <= names
    assert not any(name.startswith((".git", ".venv", "site/")) for name in names - {".gitignore"})


@pytest.mark.integration
@pytest.mark.parametrize("builder", [WheelBuilder, SdistBuilder])
def test_an_installed_copy_works_without_the_repository(builder, tmp_path):
    built = build(builder, tmp_path)
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index"]
    install += ["--no-build-isolation", "--target", str(tmp_path / "there"), str(built)]
    subprocess.run(install, check=True, capture_output=True)
    code = "import l2t, l2t.interfaces.cli; print(l2t.__version__, l2t.load_reflection('default'), l2t)"
    shown = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={name: os.environ[name] for name in os.environ if not name.startswith("COV")}
        | {"PYTHONPATH": str(tmp_path / "there")},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert shown.startswith(f"{__version__} ConvexReflection(")
    assert str(tmp_path / "there" / "l2t") in shown


def test_the_citation_names_this_version():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
