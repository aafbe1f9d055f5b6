"""Take the screenshots of docs/dashboard.md: collect a store, serve it, and visit its pages in Chromium.

    python -m tools.screenshots [STORE]

STORE is created if it does not exist; the screenshots are written to docs/images/dashboard.
"""

from __future__ import annotations

import io
import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from playwright.sync_api import Browser, Page

import l2t
from l2t.algorithms import PAPER
from l2t.domains import digits, mnist
from l2t.experiences import CollectionProgress
from tools.dashboards import find_chromium, open_chromium, serve, serve_dashboard

OUT = Path(__file__).parents[1] / "docs" / "images" / "dashboard"
PAIRS = 10
WIDTH = 1280


def make_store(path: Path) -> None:
    """Collect on handwritten digits; some sources have no labels, so that ITL fails on them."""
    rows = (l2t.normalize(digits()), l2t.normalize(mnist()))
    with l2t.open_store(path) as store:
        for source in rows:
            for target in rows:
                pairs = l2t.PairSampler(source, target, PAIRS, max_per_class=50)
                l2t.collect(pairs, store, algorithms=PAPER, progress=False)
        unlabelled = [
            l2t.DomainPair(l2t.Domain(pair.source.X, name=pair.source.name), pair.target)
            for pair in l2t.PairSampler(*rows, 3, max_per_class=50, random_state=1)
        ]
        l2t.collect(unlabelled, store, algorithms=["itl", "gfk"], progress=False)
        begin_agent(store)


def begin_agent(store: l2t.ExperienceStore) -> None:
    """Ask the agent three times, and report one outcome."""
    agent = l2t.Agent(store)
    rows = (l2t.normalize(digits()), l2t.normalize(mnist()))
    pairs = l2t.PairSampler(*rows, 3, max_per_class=50, random_state=2)
    first, *_ = [agent.ask(pair, 15) for pair in pairs]
    agent.tell(first, accuracy_before=0.83, accuracy_after=0.88)


@contextmanager
def collecting(store: Path) -> Iterator[None]:
    """Simulate a running collection."""
    now = datetime.now(UTC)
    shown = CollectionProgress(
        id="0" * 32,
        host=socket.gethostname(),
        pid=os.getpid(),
        started_at=now - timedelta(seconds=94),
        updated_at=now,
        total=960,
        done=421,
        failed=3,
        already_there=200,
        latest="gfk: digits[1, 4, 7] -> mnist[0, 2, 8]",
    )
    with l2t.open_store(store) as opened:
        opened.note_collection(shown)
        yield
        opened.note_collection(replace(shown, ended_at=now, outcome="finished"))


def take(page: Page, name: str, *, most: int = 1500) -> None:
    """Take a screenshot of the page, as high as its content."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(400)
    height = page.evaluate("document.documentElement.scrollHeight")
    size = page.viewport_size
    assert size is not None
    shot = page.screenshot(
        full_page=True,
        clip={"x": 0, "y": 0, "width": size["width"], "height": min(height, most)},
    )
    # 256 colours are enough for these, and a third of the bytes.
    image = Image.open(io.BytesIO(shot)).convert("RGB")
    image.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE).save(
        OUT / f"{name}.png", optimize=True
    )


def walk(browser: Browser, address: str, scheme: str, store: Path) -> None:
    """Take a screenshot of every page in light or dark mode."""
    context = browser.new_context(
        viewport={"width": WIDTH, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    context.set_default_timeout(300_000)
    page = context.new_page()
    result = predict(page, address, scheme)
    page.goto(f"{address}sources")
    take(page, f"sources-{scheme}")
    page.goto(f"{address}experiences?algorithm=cmf&order=improvement_ratio")  # none of the agent
    name = page.locator("td.name span").nth(1).inner_text()
    page.goto(f"{address}experiences?order=improvement_ratio")
    page.get_by_label("Source or target").fill(name)
    page.keyboard.press("Enter")
    page.get_by_text(re.compile(r"^\d+ runs$")).wait_for()
    boxes = page.get_by_role("checkbox")
    keys = []
    for i in (0, 1, 2):
        boxes.nth(i).check()
        keys.append(boxes.nth(i).get_attribute("data-run"))
    page.locator("button.fold").first.click()
    take(page, f"experiences-{scheme}")
    page.goto(f"{address}experiences/{keys[0]}")
    take(page, f"experience-{scheme}", most=1900)
    page.get_by_role("link", name="Experience", exact=True).first.click()
    page.get_by_role("link", name="Compare").click()
    take(page, f"compare-{scheme}", most=1700)
    page.goto(f"{address}learned")
    page.get_by_role("button", name="Measure", exact=True).click()
    page.get_by_text(re.compile("Learned from .* held out")).wait_for()
    page.get_by_role("img", name="Predicted against measured change: default").wait_for()
    take(page, f"learned-{scheme}", most=2600)
    page.goto(f"{address}agent")
    page.get_by_role("heading", name="Suggestions").wait_for()
    take(page, f"agent-{scheme}")
    with collecting(store):
        page.goto(f"{address}collections")
        page.get_by_text("left").wait_for()
        take(page, f"collections-{scheme}")
    if scheme == "light":
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(result)
        page.get_by_role("img", name="The target, row by row").wait_for()
        take(page, "phone-light", most=2200)
    context.close()


def label(browser: Browser, folder: Path) -> None:
    """Take screenshots of the labelling page after 30 labels."""
    said = {"cat": "purrs on the sofa", "dog": "barks at the gate", "owl": "hoots in the night"}
    rng, path = np.random.default_rng(0), folder / "sightings.csv"
    species = rng.choice(list(said), 300)
    table = pd.DataFrame({"id": [f"S{row:03d}" for row in range(300)]})
    table["note"] = [f"It {said[name]}." if rng.random() < 0.7 else "Far away." for name in species]
    table["weight in kg"] = [
        rng.normal({"cat": 4, "dog": 9, "owl": 2}[each], 2) for each in species
    ]
    table["hour"] = rng.integers(0, 24, 300)
    table["place"] = rng.choice(["north", "south", "harbour"], 300)
    table["species"] = np.where(np.arange(300) < 6, species, "")
    table.round(1).to_csv(path, index=False)
    with serve("label", str(path), "--label", "species") as (_, address):
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": WIDTH, "height": 900},
                color_scheme=scheme,
                reduced_motion="reduce",
            )
            context.set_default_timeout(300_000)
            page = context.new_page()
            page.goto(address)
            page.locator("#classes button").first.wait_for()
            for n_labels in (6, 16, 26, 36) if scheme == "light" else ():
                while int(page.locator("#counts").inner_text().split()[0]) < n_labels:
                    row = int(page.locator("#row-title").inner_text().split()[1]) - 1
                    page.keyboard.press(str(1 + sorted(said).index(species[row])))
                    page.get_by_text(f"row {row + 1}: ").wait_for()
                    page.wait_for_timeout(300)
                page.wait_for_function("() => !document.getElementById('renewing').textContent")
            take(page, f"label-{scheme}")
            context.close()


def predict(page: Page, address: str, scheme: str) -> str:
    """Run the example of the first page, and return the URL of its result."""
    page.goto(address)
    page.get_by_role("button", name="Try an example").click()
    page.get_by_text("Scaling:").wait_for()
    take(page, f"new-{scheme}")
    page.get_by_role("button", name="Predict", exact=True).click()
    page.get_by_role("img", name="The target, row by row").wait_for()
    take(page, f"result-{scheme}", most=1900)
    return page.url


def main(store: Path) -> None:
    """Create the store if there is none, and take all screenshots."""
    if not store.exists():
        make_store(store)
    OUT.mkdir(parents=True, exist_ok=True)
    chromium = find_chromium()
    assert chromium is not None, "no Chromium on this machine"
    with serve_dashboard(str(store)) as (_, address), open_chromium(chromium) as browser:
        label(browser, store.parent)
        for scheme in ("light", "dark"):
            walk(browser, address, scheme, store)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder) / "demo.db")
