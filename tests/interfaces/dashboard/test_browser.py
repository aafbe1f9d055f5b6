"""A walk through all pages in a real Chromium, with no error in its console.

Without a browser these tests skip; with L2T_REQUIRE_BROWSER=1 that is a failure.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

import l2t
from tools.dashboards import find_chromium, open_chromium

pytestmark = pytest.mark.slow

OURS = ("http://127.0.0.1:", "blob:", "data:")
LONG = 300_000  # milliseconds, for whatever a busy machine has to do


@pytest.fixture(scope="module")
def browser():
    found = find_chromium()
    if found is None:
        if os.environ.get("L2T_REQUIRE_BROWSER") == "1":
            pytest.fail("L2T_REQUIRE_BROWSER=1 asks for a Chromium, and there is none")
        pytest.skip("no Chromium on this machine; install it to test the dashboard in a browser")
    with open_chromium(found) as launched:
        yield launched


@pytest.fixture
def page(browser):
    """A page whose console must stay empty, and which may ask nobody but this machine."""
    context = browser.new_context(accept_downloads=True, reduced_motion="reduce")
    context.set_default_timeout(LONG)
    opened = context.new_page()
    trouble: list[str] = []
    opened.on(
        "console", lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None
    )
    opened.on("pageerror", lambda error: trouble.append(str(error)))
    opened.on(
        "request",
        lambda r: None if r.url.startswith(OURS) else trouble.append(r.url),
    )
    yield opened
    context.close()
    assert trouble == []


def test_overview(page, address):
    page.goto(address)
    tiles = page.locator("#totals .tile")
    tiles.first.wait_for()
    assert tiles.nth(0).inner_text().split() == ["84", "experiences"]
    page.get_by_role("img", name="Improvement ratio by algorithm").wait_for()
    page.get_by_role("button", name="30", exact=True).click()
    pressed = page.locator("#ratios button[aria-pressed=true]")
    assert pressed.inner_text() == "30"
    page.get_by_role("img", name="Gain from source to target").wait_for()
    page.get_by_role("button", name="domain", exact=True).click()
    page.get_by_text("photos[2]").first.wait_for()
    page.get_by_text("What was learned last").wait_for()


def test_pictures_can_be_saved(page, address, tmp_path):
    page.goto(address)
    title = "Median ratio by number of labels"
    page.get_by_role("img", name=title).wait_for()
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.get_by_role("button", name=f'Save "{title}" as {kind}').click()
        saved = Path(download.value.path()).read_bytes()
        assert saved.startswith(start)
        assert len(saved) > 1000
        assert b"var(--" not in saved, "colours are those of the page, wherever the picture goes"


def test_experiences_filter_sort_select_compare_and_export(page, address):
    page.goto(f"{address}experiences")
    page.get_by_text("84 experiences").wait_for()
    page.get_by_label("Algorithm").select_option("gfk")
    page.get_by_text("27 experiences").wait_for()
    page.get_by_role("button", name="ratio").click()
    page.locator("th[aria-sort=descending]", has_text="ratio").wait_for()
    ratios = [float(text) for text in page.locator("tbody td:nth-child(9)").all_inner_texts()]
    assert ratios == sorted(ratios, reverse=True)
    page.reload()
    page.get_by_text("27 experiences").wait_for()
    assert page.get_by_label("Algorithm").input_value() == "gfk", "the address keeps the filters"
    rows = page.locator("tbody tr")
    keys = set()
    for row in rows.all():
        box = row.get_by_role("checkbox")
        if box.get_attribute("data-run") not in keys and len(keys) < 2:
            keys.add(box.get_attribute("data-run"))
            box.check()
    page.get_by_text("2 runs selected").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export selection as csv").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert len(lines) == 1 + 2 * 3
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("img", name="Improvement ratio by number of labels").wait_for()
    page.get_by_role("img", name=re.compile("^Under gfk")).nth(1).wait_for()


def test_an_experience_in_full_by_keyboard(page, address, done_key):
    page.goto(f"{address}experiences/{done_key}")
    for name in (
        "Accuracy by number of labels",
        "As they are",
        "Distance of the domains over bandwidths",
    ):
        page.get_by_role("img", name=name).wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_failed_run_says_why(page, address, failed_key):
    page.goto(f"{address}experiences/{failed_key}")
    page.get_by_text("itl needs labels in the source").wait_for()
    page.get_by_text("there is no W, and nothing was measured").wait_for()


def test_reflection_function_and_its_learning_curve(page, address):
    page.goto(f"{address}reflection")
    for name in ("Beta over bandwidths", "Predicted against actual ratio"):
        page.get_by_role("img", name=name).wait_for()
    page.get_by_role("button", name="Measure").click()
    page.get_by_text(re.compile(r"Learned from .* held out")).wait_for()
    page.get_by_role("img", name="Predicted against actual ratio: default").wait_for()
    assert page.locator("select[name=name]").input_value() == "this store"


def test_upload_watch_download(page, address, files):
    page.goto(f"{address}transfer")
    page.get_by_label("or upload").nth(0).set_input_files(files / "source.csv")
    page.get_by_text("source: 90 rows, 8 features, 3 classes").wait_for()
    page.get_by_label("or upload").nth(1).set_input_files(files / "few.csv")
    page.get_by_text("few: 75 rows, 8 features, 3 classes, 10 labels known").wait_for()
    assert page.get_by_label("Labels you have").input_value() == "10"
    page.get_by_label("Columns").fill("3")
    page.get_by_role("button", name="Find what to transfer").click()
    page.get_by_text("predicted improvement ratio").first.wait_for()
    assert page.locator("#candidates tbody tr").count() == 4
    assert page.locator("#candidates").get_by_text("chosen").count() == 1
    assert page.get_by_text("on 10 labelled rows").first.is_visible()
    for name in ("As they are", "Transformed by"):
        page.get_by_role("img", name=name).wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="linear map, npy").click()
    W = np.load(download.value.path())
    assert W.shape[0] == 8
    with page.expect_download() as download:
        page.get_by_role("link", name="target, csv").click()
    moved = l2t.read_domain(download.value.path(), format="csv", labeled="labeled")
    assert len(moved) == 75

    page.get_by_text("Rank several sources").click()
    for box in page.locator("#sources input").all()[1:3]:
        box.check()
    page.get_by_role("button", name="Rank", exact=True).click()
    page.get_by_text("the best first").wait_for()
    assert page.locator("#ranked tbody tr").count() == 2


def test_ask_tell_and_roll_back(page, own_store, own_address, files):
    l2t.Agent(own_store).roll_back(1)
    page.goto(f"{own_address}transfer")
    page.get_by_text("None is open.").wait_for()
    page.get_by_label("or upload").nth(0).set_input_files(files / "source.csv")
    page.get_by_text("source: 90 rows").wait_for()
    page.locator("select[name=target]").select_option(label="sketches[10] (60 × 8)")
    keep = page.get_by_label("keep this as a suggestion of the agent")
    assert not keep.is_checked()
    keep.check()
    assert page.get_by_label("Columns").is_disabled(), "the agent keeps all of them"
    page.get_by_role("button", name="Find what to transfer").click()
    page.get_by_text("Kept as suggestion").wait_for()
    row = page.locator("#suggestions tr.chosen")
    assert row.locator("td").nth(1).inner_text() == "source"
    row.get_by_label("Accuracy before").fill("0.6")
    row.get_by_role("button", name="Report").click()
    page.get_by_text("Enter both accuracies").wait_for()
    row.get_by_label("Accuracy after").fill("0.66")
    row.get_by_role("button", name="Report").click()
    page.get_by_text("Reported: an improvement ratio of 1.100 at 15 labels").wait_for()
    page.get_by_text("None is open.").wait_for()

    page.goto(f"{own_address}reflection")
    page.get_by_role("button", name="Take version 1 into use again").click()
    page.get_by_text(re.compile("Version 1 is in use again, as version .")).wait_for()
    assert page.locator("#versions tbody tr").first.get_by_text("in use").is_visible()
    assert page.locator("select[name=name]").input_value() == "agent"
    page.locator("select[name=other]").select_option("agent, version 2")
    page.get_by_role("img", name="Predicted against actual ratio: agent, version 2").wait_for()


def test_a_file_that_cannot_be_read_gives_a_sentence(browser, address, tmp_path):
    (tmp_path / "words.csv").write_text("a,b\nc,d\n")
    context = browser.new_context()
    context.set_default_timeout(LONG)
    page = context.new_page()
    page.goto(f"{address}transfer")
    page.get_by_label("or upload").first.set_input_files(tmp_path / "words.csv")
    page.locator("#status.trouble").wait_for()
    assert page.locator("#status").inner_text().startswith("Words: ")
    context.close()


def test_collection_in_progress(page, address):
    page.goto(f"{address}collections")
    page.get_by_text("Nothing is being collected now.").wait_for()
    page.get_by_text("itl needs labels in the source, got none").wait_for()
    assert page.locator("#ended tbody tr").count() == 2


@pytest.mark.parametrize("name", ["", "experiences", "reflection", "transfer", "collections"])
def test_pages_fit_a_phone_in_the_dark(browser, address, name):
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
    context.set_default_timeout(LONG)
    page = context.new_page()
    page.goto(f"{address}{name}")
    page.wait_for_load_state("networkidle")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 360
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("button", name="Switch between light and dark").click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    context.close()
