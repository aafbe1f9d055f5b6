"""A walk through all pages in a real Chromium, with no error in its console.

Without a browser these tests skip; with L2T_REQUIRE_BROWSER=1 that is a failure.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import l2t

pytestmark = pytest.mark.browser

OURS = ("http://127.0.0.1:", "blob:", "data:")
LONG = 300_000  # milliseconds, for whatever a busy machine has to do


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


def test_from_messy_files_to_downloaded_predictions(page, bare_address, messy):
    """Ids, text, missing cells and semicolons; without a store, as somebody new would begin."""
    page.goto(bare_address)
    assert page.get_by_role("heading", level=1).inner_text() == "New prediction"
    page.locator("#target input[type=file]").set_input_files(messy / "target.csv")
    role = page.get_by_label("Role of site in target.csv")
    role.wait_for()
    assert role.input_value() == "feature"
    assert page.get_by_label("Role of id in target.csv").input_value() == "id"
    assert page.get_by_label("Role of species in target.csv").input_value() == "label"
    page.get_by_text("There is no source").wait_for()
    page.locator("#sources input[type=file]").set_input_files(messy / "source.csv")
    page.get_by_text("including “unknown”").wait_for()
    page.get_by_text("Scaling: none, because").wait_for()
    page.get_by_text("Source: it has other classes").wait_for()
    page.get_by_label("Role of x0 in target.csv").select_option("ignore")
    page.get_by_text("Features: 7 columns that all files have").wait_for()
    page.get_by_label("Role of x0 in target.csv").select_option("feature")
    page.get_by_text("Features: 8 columns that all files have").wait_for()
    page.get_by_role("button", name="Predict", exact=True).click()
    page.wait_for_url("**/predictions/*")
    page.get_by_role("img", name="Accuracy to expect").wait_for()
    assert re.search("accuracy|should be right", page.locator("h1").inner_text())
    page.reload()
    picture = page.get_by_role("img", name="The target, row by row")
    picture.wait_for()
    grey = """el => el.querySelectorAll('circle[fill="var(--mark)"]').length"""
    assert picture.evaluate(grey) == 0
    page.get_by_role("button", name="before", exact=True).click()
    assert picture.evaluate(grey) == 75 - 12, "rows without a label are grey"
    with page.expect_download() as download:
        page.get_by_role("link", name="Predictions, csv").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0].endswith('"species","predicted","probability","given"')
    assert len(lines) == 76
    with page.expect_download() as download:
        page.get_by_role("link", name="Model").click()
    model = l2t.load_model(download.value.path())
    assert model.encoder.names == tuple(f"x{place}" for place in range(8))
    with page.expect_download() as download:
        page.get_by_role("link", name="Report, html").click()
    assert page.locator("h1").inner_text() in Path(download.value.path()).read_text()


def test_a_prediction_can_be_cancelled_and_wrong_files_give_a_sentence(
    browser, bare_address, tmp_path
):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing else")
    context = browser.new_context()
    context.set_default_timeout(LONG)
    page = context.new_page()
    page.goto(bare_address)
    page.locator("#target input[type=file]").set_input_files(tmp_path / "broken.parquet")
    page.locator("#status.trouble").wait_for()
    assert page.locator("#status").inner_text().startswith("broken.parquet: ")
    rng = np.random.default_rng(0)
    for side, n_labelled in (("source", 4000), ("target", 60)):  # much work: a click comes in time
        table = pd.DataFrame(rng.normal(size=(4000, 100)).round(3)).add_prefix("x")
        names = [f"{side}{at % 12}" for at in range(n_labelled)]
        table["class"] = names + [""] * (4000 - n_labelled)
        table.to_csv(tmp_path / f"{side}.csv", index=False)
    page.locator("#target input[type=file]").set_input_files(tmp_path / "target.csv")
    page.locator("#sources input[type=file]").set_input_files(tmp_path / "source.csv")
    page.get_by_text("Scaling:").wait_for()
    page.get_by_text("Source: it has other classes").wait_for()
    page.get_by_role("button", name="Predict", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("The job was cancelled.").wait_for()
    page.get_by_role("link", name="Try again").click()
    page.get_by_role("heading", name="New prediction").wait_for()
    context.close()


def write_penguins(folder, name, n_labelled):
    rng = np.random.default_rng(n_labelled)
    table = pd.DataFrame(rng.normal(size=(60, 4)).round(3)).add_prefix("x")
    species = [f"{name} {row % 3}" if row < n_labelled else "" for row in range(60)]
    table.insert(0, "species", species)
    table["sex"] = ["female", "male"] * 30
    table.to_csv(folder / f"{name}.csv", index=False)


def test_a_source_that_was_read_first_follows_the_labels_of_the_target(
    page, bare_address, tmp_path
):
    write_penguins(tmp_path, "source", 60)
    write_penguins(tmp_path, "target", 12)
    page.goto(bare_address)
    page.locator("#sources input[type=file]").set_input_files(tmp_path / "source.csv")
    page.get_by_label("Role of sex in source.csv").wait_for()
    assert page.get_by_label("Role of sex in source.csv").input_value() == "label"
    page.locator("#target input[type=file]").set_input_files(tmp_path / "target.csv")
    page.get_by_text("Source: it has other classes").wait_for()
    for name in ("source", "target"):
        assert page.get_by_label(f"Role of species in {name}.csv").input_value() == "label"
    assert page.get_by_label("Role of sex in source.csv").input_value() == "ignore"


def test_nothing_can_be_predicted_before_the_roles_on_the_page_are_checked(
    page, bare_address, messy
):
    """Not by the response to a check of roles that were changed since, nor while a file is being read."""
    held = []

    def requested(number):
        while len(held) <= number:
            page.wait_for_timeout(10)
        return held[number]

    page.clock.install(time=0)
    page.goto(bare_address)
    page.clock.pause_at(3600)  # timers of the page run when the test says so
    page.route("**/api/checks", lambda route: held.append(route))
    predict = page.get_by_role("button", name="Predict", exact=True)
    page.locator("#target input[type=file]").set_input_files(messy / "target.csv")
    role = page.get_by_label("Role of x0 in target.csv")
    role.wait_for()
    page.clock.run_for(1000)
    first_check = requested(0)
    role.select_option("ignore")
    with page.expect_response("**/api/checks") as first:
        first_check.continue_()
    first.value.finished()
    assert page.locator("#checked").inner_text() == "checking …"
    assert predict.is_disabled()
    page.clock.run_for(1000)
    requested(1).continue_()
    page.get_by_text("Features: 7 columns").wait_for()
    assert predict.is_enabled()
    page.route("**/api/uploads?*", lambda route: held.append(route))
    page.locator("#sources input[type=file]").set_input_files(messy / "source.csv")
    upload = requested(2)
    assert predict.is_disabled()
    upload.continue_()
    page.get_by_label("Role of x0 in source.csv").wait_for()
    assert predict.is_disabled()
    page.clock.run_for(1000)
    requested(3).continue_()
    page.get_by_text("Source: it has other classes").wait_for()
    assert predict.is_enabled()


def test_sources_and_their_ranking(page, address):
    page.goto(f"{address}sources")
    page.get_by_role("img", name="What each source adds").wait_for()
    assert page.get_by_label("Labels of the target").input_value() == "15"
    page.get_by_text("n = 9").first.wait_for()
    page.locator("select[name=by]").select_option("name")
    page.get_by_text("photos[2]").first.wait_for()
    page.get_by_text("n = 1", exact=True).first.wait_for()
    page.get_by_text("Rank sources for a target").click()
    page.locator("select[name=target]").select_option(label="sketches[10] (60 × 8)")
    for box in page.locator("#offered input").all()[1:3]:
        box.check()
    page.get_by_role("button", name="Rank", exact=True).click()
    page.get_by_text("The best first").wait_for()
    assert page.locator("#ranked tbody tr").count() == 2


def test_pictures_can_be_saved(page, address):
    page.goto(f"{address}experiences")
    title = "Change of accuracy by algorithm"
    page.get_by_role("img", name=title).wait_for()
    page.get_by_role("button", name="30", exact=True).click()
    assert page.locator("#ratios button[aria-pressed=true]").inner_text() == "30"
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.get_by_role("button", name=f'Save "{title}" as {kind}').click()
        saved = Path(download.value.path()).read_bytes()
        assert saved.startswith(start)
        assert len(saved) > 1000
        assert b"var(--" not in saved, "colours are those of the page, wherever the picture goes"


def test_runs_filter_sort_unfold_select_compare_and_export(page, address):
    page.goto(f"{address}experiences")
    page.get_by_text("30 runs", exact=True).wait_for()
    page.get_by_text("84 experiences in all").wait_for()
    page.locator("select[name=algorithm]").select_option("gfk")
    page.get_by_text("9 runs", exact=True).wait_for()
    page.get_by_role("button", name="change", exact=True).click()
    page.locator("th[aria-sort=descending]", has_text="change").wait_for()
    cells = page.locator("#table tbody td:nth-child(7)").all_inner_texts()
    gains = [float(text.replace("−", "-").split()[0]) for text in cells]
    assert gains == sorted(gains, reverse=True)
    page.reload()
    page.get_by_text("9 runs", exact=True).wait_for()
    assert page.locator("select[name=algorithm]").input_value() == "gfk", (
        "the address keeps the filters"
    )
    page.get_by_role("button", name="3 to 30").first.click()
    assert page.locator("tr.unfolded table tbody tr").count() == 3
    page.get_by_role("button", name="3 to 30").first.click()
    assert page.locator("tr.unfolded").count() == 0
    for box in page.get_by_role("checkbox").all()[:2]:
        box.check()
    page.get_by_text("2 runs selected").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export selection as csv").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert len(lines) == 1 + 2 * 3
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("img", name="Improvement ratio by number of labels").wait_for()
    page.get_by_role("img", name=re.compile("^With gfk")).nth(1).wait_for()


def test_an_experience_in_full_by_keyboard(page, address, done_key):
    page.goto(f"{address}experiences/{done_key}")
    for name in (
        "Accuracy by number of labels",
        "Original features",
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
    page.get_by_text("The run failed, so there are no accuracies").wait_for()


def test_what_was_learned_and_the_learning_curve(page, address):
    page.goto(f"{address}learned")
    for name in (
        "Coverage on kinds of data",
        "Gain of each candidate",
        "Predicted against measured",
    ):
        page.get_by_role("img", name=name).wait_for()
    page.get_by_text("These figures are from only 9 pairs.").wait_for()
    page.get_by_text("The formula").click()
    page.get_by_role("img", name="Beta over bandwidths").wait_for()
    page.get_by_role("button", name="Measure", exact=True).click()
    page.get_by_text(re.compile(r"Learned from .* held out")).wait_for()
    page.get_by_role("img", name="Predicted against measured change: default").wait_for()
    assert page.locator("select[name=name]").input_value() == "this store"


def test_ask_tell_and_list(page, own_address):
    page.goto(f"{own_address}agent")
    page.get_by_text("No suggestions.").wait_for()
    page.get_by_label("Source").select_option(label="photos[0] (60 × 8)")
    page.get_by_label("Target").select_option(label="sketches[10] (60 × 8)")
    page.get_by_role("button", name="Ask").click()
    page.get_by_text("report its outcome there").wait_for()
    row = page.locator("#suggestions tr.chosen")
    assert row.locator("td").nth(1).inner_text() == "photos[0]"
    row.get_by_label("Accuracy before").fill("0.6")
    row.get_by_role("button", name="Report").click()
    page.get_by_text("Enter both accuracies").wait_for()
    row.get_by_label("Accuracy after").fill("0.66")
    row.get_by_role("button", name="Report").click()
    page.get_by_text("Reported: an improvement ratio of 1.100 at 15 labels").wait_for()
    outcome = page.get_by_role("link", name="1.100 (0.600 → 0.660)")
    outcome.click()
    page.get_by_role("img", name="Accuracy by number of labels").wait_for()


def test_collection_in_progress(page, address):
    page.goto(f"{address}collections")
    page.get_by_text("Nothing is being collected now.").wait_for()
    page.get_by_text("itl needs labels in the source, got none").wait_for()
    assert page.locator("#ended tbody tr").count() == 2


PAGES = ["", "predictions", "sources", "experiences", "learned", "collections", "agent", "api"]


# The texts of charts that leave their picture by more than a rounding error.
TEXTS_OUTSIDE = """() => [...document.querySelectorAll("figure svg")].flatMap((drawn) => {
  const { left, right } = drawn.getBoundingClientRect();
  const outside = (box) => box.left < left - 1 || box.right > right + 1;
  const texts = [...drawn.querySelectorAll("text")];
  return texts.filter((text) => outside(text.getBoundingClientRect())).map((text) => text.textContent);
})"""


@pytest.mark.parametrize("name", [*PAGES, "experiences/{key}", "experiences/compare?run={key}"])
def test_pages_fit_a_phone_in_the_dark(browser, address, done_key, name):
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
    context.set_default_timeout(LONG)
    page = context.new_page()
    page.goto(address + name.format(key=done_key))
    page.wait_for_load_state("networkidle")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 360
    assert page.evaluate(TEXTS_OUTSIDE) == []
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("button", name="Switch between light and dark").click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    context.close()


SCHEMES = ("light", "dark")


@pytest.mark.parametrize("name", [*PAGES, "experiences/{key}", "experiences/compare"])
def test_people_who_cannot_see_can_use_a_page(page, address, done_key, name):
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.goto(address + name.format(key=done_key))
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        assert violations(page) == [], scheme


def test_people_who_cannot_see_can_predict(page, bare_address):
    page.goto(bare_address)
    page.get_by_role("button", name="Try an example").click()
    page.get_by_text("Scaling:").wait_for()
    assert violations(page) == []
    page.get_by_role("button", name="Predict", exact=True).click()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.get_by_role("img", name="Accuracy to expect").wait_for()
        assert violations(page) == [], scheme
        page.reload()
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def violations(page):
    """Return what axe finds serious: names of controls, contrast, order of headings and so on."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        (each["id"], each["nodes"][0]["html"][:200])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


def test_hostile_names_are_shown_as_text(page, bare_address, tmp_path, proves):
    evil = "<img src=x onerror=alert(1)>"
    header = ",".join([f'"{evil}"', "b", "<script>c</script>", f'"{evil} label"'])
    for name, labels in (("source", ("<b>s</b>", "{{7*7}}")), ("target", ("<i>t</i>", "'; DROP"))):
        rows = [
            f'{i % 2 + i / 100},{i % 3},{i},"{labels[i % 2] if name == "source" or i < 8 else ""}"'
            for i in range(40)
        ]
        (tmp_path / f"<b>{name}.csv").write_text("\n".join([header, *rows]) + "\n")
    page.goto(bare_address)
    page.locator("#target input[type=file]").set_input_files(tmp_path / "<b>target.csv")
    page.get_by_label(f"Role of {evil} label in <b>target.csv").wait_for()
    page.locator("#sources input[type=file]").set_input_files(tmp_path / "<b>source.csv")
    page.get_by_text("Source: it has other classes").wait_for()
    page.get_by_text("Classes: '; DROP, <i>t</i>.").wait_for()
    page.get_by_role("button", name="Predict", exact=True).click()
    page.get_by_role("img", name="The target, row by row").wait_for()
    assert page.locator("main img, main script, main i i, main h1 b").count() == 0
    with page.expect_download() as download:
        page.get_by_role("link", name="Report, html").click()
    text = Path(download.value.path()).read_text()
    assert "<i>t</i>" not in text
    assert "&lt;i&gt;t&lt;/i&gt;" in text
    proves("Names and labels with scripts are shown as text in a real browser", 9, "texts")
