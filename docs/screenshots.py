"""Take the pictures of docs/dashboard.md: a store is collected, served, and walked through in Chromium.

    python docs/screenshots.py [STORE]

A store that is given is used as it is, and made where there is none; all pictures go to docs/images/dashboard.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import l2t
from l2t.domains import digits, mnist

OUT = Path(__file__).parent / "images" / "dashboard"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PAIRS = 10


def make_store(path: Path) -> None:
    """Collect on handwritten digits; z-scored pairs have failures, for CMF takes no negative features."""
    rows = [l2t.normalize(each) for each in (digits(), mnist())]
    with l2t.open_store(path) as store:
        for source in rows:
            for target in rows:
                pairs = l2t.PairSampler(source, target, PAIRS, max_per_class=50)
                l2t.collect(pairs, store, progress=False)
        scaled = [l2t.normalize(each, "zscore") for each in (digits(), mnist())]
        pairs = l2t.PairSampler(*scaled, 3, max_per_class=50)
        l2t.collect(pairs, store, algorithms=["cmf", "gfk", "tca"], progress=False)


if __name__ == "__main__":
    make_store(Path(sys.argv[1]))
