"""Write requirements.txt: the versions of constraints.txt with the sha256 of every wheel.

``python -m tools.hashes`` queries the Python package index; ``pip install --require-hashes`` rejects a file
that was replaced there.
"""

from __future__ import annotations

import re
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version
from pip._internal.models.index import PyPI  # the index that pip itself asks

LINK = re.compile(r'/([^/"]+\.whl)#sha256=([0-9a-f]{64})"')
#: The interpreters that the package supports, as wheels name them.
PYTHONS = re.compile(r"py3|py2.py3|py311|cp3(?:[0-9]|1[0-4])")
HEAD = "# What CI installs, with the sha256 of every wheel; made from constraints.txt by `make hashes`.\n"


def hashes(name: str, version: str) -> list[str]:
    """Return the sha256 of the wheels of one version that fit a supported interpreter."""
    with urllib.request.urlopen(
        f"{PyPI.simple_url}/{canonicalize_name(name)}/", timeout=300
    ) as answer:
        page = answer.read().decode()
    found = {digest for file, digest in LINK.findall(page) if _fits(file, Version(version))}
    if not found:
        raise SystemExit(f"the index has no wheel of {name} {version}")
    return sorted(found)


def _fits(file: str, version: Version) -> bool:
    try:
        _, found, _, tags = parse_wheel_filename(file)
    except InvalidWheelFilename:
        return False
    return found == version and any(
        PYTHONS.fullmatch(tag.interpreter)
        and (tag.interpreter >= "cp311" or tag.abi in ("abi3", "none"))
        and "t" not in tag.abi.removeprefix("cp3")
        for tag in tags
    )


def requirements(constraints: str) -> str:
    """Return the text of requirements.txt for the text of constraints.txt."""
    pins = [line.split("==") for line in constraints.splitlines() if "==" in line]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda pin: hashes(*pin), pins)
        entries = [
            " \\\n".join([f"{name}=={version}", *(f"    --hash=sha256:{each}" for each in digests)])
            for (name, version), digests in zip(pins, found, strict=True)
        ]
    return HEAD + "\n".join(entries) + "\n"


if __name__ == "__main__":
    root = Path(__file__).parents[1]
    written = requirements((root / "constraints.txt").read_text())
    (root / "requirements.txt").write_text(written)
