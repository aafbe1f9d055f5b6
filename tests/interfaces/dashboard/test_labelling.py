"""The labelling page: its routes, and a walk through it in a real Chromium."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

import l2t
from l2t.exceptions import FileFormatError, InvalidInputError
from l2t.interfaces.dashboard.app import create_app
from l2t.interfaces.dashboard.settings import Settings
from l2t.labelling import LabellingSession

HERE = "http://127.0.0.1:8765"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8ff"
    "ff3f0005fe02fea735814e0000000049454e44ae426082"
)
TRUE = ["cat", "dog", "owl"]


@pytest.fixture
def target(tmp_path):
    """A messy table of 90 rows: text, a category, gaps, images, and 6 labels."""
    rng = np.random.default_rng(0)
    codes = np.arange(90) % 3
    words = np.array(["purrs on the sofa", "barks at the gate", "hoots in the night"])
    frame = pd.DataFrame({"id": [f"A{row:03d}" for row in range(90)]})
    frame["note"] = [f"{words[code]}, seen {row} times" for row, code in enumerate(codes)]
    frame["weight"] = (rng.normal(size=90) + 4 * codes).round(2)
    frame.loc[::8, "weight"] = None
    frame["place"] = np.array(["north", "south"])[np.arange(90) % 2]
    frame["picture"] = ["cat.png", "../secret.png", "missing.png"] * 30
    frame["species"] = [TRUE[code] if row < 6 else "" for row, code in enumerate(codes)]
    frame.to_csv(tmp_path / "animals.csv", index=False)
    (tmp_path / "images").mkdir()
    for name in ("images/cat.png", "secret.png"):
        (tmp_path / name).write_bytes(PIXEL)
    return tmp_path / "animals.csv"


@contextmanager
def labelling(target, **settings):
    session = LabellingSession(target, label="species")
    with l2t.open_store("memory://") as store:
        app = create_app(store, Settings(**settings), session=session)
        with TestClient(app, base_url=HERE, raise_server_exceptions=False) as client:
            yield client


def predicted(client):
    """Return the state once no prediction is running."""
    while True:
        job = client.app.state.context.labelling._job
        if job is not None:
            assert job.ended.wait(300)
        state = client.get("/api/labelling").json()
        if not state["renewing"]:
            return state


@pytest.mark.integration
def test_labels_are_given_undone_predicted_from_and_downloaded(target):
    with labelling(target) as client:
        state = client.get("/api/labelling").json()
        assert state["classes"] == TRUE
        row = state["cards"][0]["row"]
        assert "species" not in state["cards"][0]["cells"]
        state = client.post("/api/labelling/labels", json={"row": row, "label": "fox"}).json()
        assert (state["n_labels"], state["classes"]) == (7, [*TRUE, "fox"])
        assert row not in [card["row"] for card in state["cards"]]
        state = client.post("/api/labelling/undo").json()
        assert (state["n_labels"], state["cards"][0]["row"]) == (6, row)
        client.post("/api/labelling/skips", json={"row": row})
        state = predicted(client)
        assert state["n_skipped"] == 1
        assert [point["n_labels"] for point in state["curve"]] == [6]
        assert state["sentence"]
        for row in range(10, 20):
            client.post("/api/labelling/labels", json={"row": row, "label": TRUE[row % 3]})
        state = predicted(client)
        assert [point["n_labels"] for point in state["curve"]][-1] >= 16
        result = client.get(f"/api/jobs/{state['prediction']}").json()
        assert {"predictions.csv", "model.l2t", "report.html"} <= set(result["files"])
        assert result["result"]["n_given"] == 16
        response = client.get("/api/labelling/target")
        assert 'filename="animals.labelled.csv"' in response.headers["content-disposition"]
        Path(target.parent / "out.csv").write_bytes(response.content)
        out = pd.read_csv(target.parent / "out.csv")
        assert out["species"].notna().sum() == 16
        assert client.get("/api/labelling/labels").text.count(",label,r") == 11
        state = client.post("/api/labelling/strategy", json={"strategy": "random"}).json()
        assert state["strategy"] == "random"
        assert state["renewing"]
        predicted(client)


@pytest.mark.integration
def test_a_prediction_that_fails_is_reported_and_not_repeated_at_once(target, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with labelling(target) as client:
        state = predicted(client)
        assert "exit code 1" in state["sentence"]
        job = client.app.state.context.labelling._job
        state = client.post("/api/labelling/labels", json={"row": 9, "label": "cat"}).json()
        assert client.app.state.context.labelling._job is job
        assert state["n_labels"] == 7


def test_only_images_of_the_folder_are_shown(target):
    with labelling(target, images=target.parent / "images", read_only=True) as client:
        for card in client.get("/api/labelling").json()["cards"]:
            assert card["images"] == (["picture"] if card["row"] % 3 == 0 else [])
        answer = client.get("/api/labelling/image", params={"row": 0, "column": "picture"})
        assert (answer.content, answer.headers["content-type"]) == (PIXEL, "image/png")
        for row, column in ((1, "picture"), (2, "picture"), (0, "note"), (0, "species")):
            answer = client.get("/api/labelling/image", params={"row": row, "column": column})
            assert answer.status_code == 404
        assert client.post("/api/labelling/skips", json={"row": 0}).status_code == 403
    with labelling(target, read_only=True) as client:
        assert client.get("/api/labelling").json()["cards"][0]["images"] == []


def test_wrong_requests_get_a_sentence(target, client):
    with labelling(target) as own:
        for json, message in (
            ({"row": 90, "label": "cat"}, "row must be below 90, got 90"),
            ({"row": 0, "label": " "}, "the name of a class must be one line"),
            ({"row": -1, "label": "cat"}, "row"),
        ):
            answer = own.post("/api/labelling/labels", json=json)
            assert answer.status_code in (400, 422)
            assert message in answer.json()["error"]
        assert own.post("/api/labelling/undo").json() == {"error": "there is nothing to undo"}
        assert own.get("/api/labelling/labels").status_code == 404
    assert client.get("/label").status_code == 404
    assert "l2t label SOURCE... TARGET" in client.get("/api/labelling").json()["error"]


def test_files_that_cannot_be_labelled_are_refused_before_a_page_opens(target):
    with pytest.raises(InvalidInputError, match="images must be a folder"):
        l2t.label(target, images=target)
    frame = pd.read_csv(target).assign(predicted=1)
    frame.to_csv(target, index=False)
    with pytest.raises(InvalidInputError, match="must not have a column 'predicted'"):
        l2t.label(target, label="species", port=0, open_browser=False)
    with pytest.raises(FileFormatError, match="there is no such file"):
        l2t.label(target.parent / "nothing.csv")


@contextmanager
def serving(target, *options):
    """Run the command, and give its process and the address of the page."""
    command = [sys.executable, "-m", "l2t", "label", str(target), "--label", "species"]
    with subprocess.Popen(
        [*command, "--port", "0", "--no-open", *options], stderr=subprocess.PIPE, text=True
    ) as process:
        found = None
        while found is None:
            line = process.stderr.readline()
            assert line
            found = re.search(r"http://\S+/label", line)
        try:
            yield process, found[0]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(300)


def press(page, key):
    """Press a key, and wait until another row is shown."""
    before = page.locator("#row-title").inner_text()
    page.keyboard.press(key)
    page.wait_for_function(
        """before => {
            const now = document.getElementById("row-title").textContent;
            return now !== before && now.startsWith("Row");
        }""",
        arg=before,
    )


def label_rows(page, n_rows):
    """Label rows by their notes with the keyboard, as somebody would who reads them."""
    for _ in range(n_rows):
        note = page.locator("#content").inner_text()
        key = 1 + next(
            code for code, word in enumerate(("purrs", "barks", "hoots")) if word in note
        )
        press(page, str(key))


@pytest.mark.browser
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_forty_labels_with_the_keyboard_survive_a_killed_server(browser, target, proves):
    context = browser.new_context(accept_downloads=True, reduced_motion="reduce")
    context.set_default_timeout(300_000)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    with serving(target) as (process, address):
        page.goto(address)
        page.locator("#classes button").nth(2).wait_for()
        label_rows(page, 5)
        page.keyboard.press("n")
        page.keyboard.type("fox")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="fox").wait_for()
        page.keyboard.press("u")
        page.get_by_text("is shown again").wait_for()
        press(page, "s")
        label_rows(page, 20)
        page.get_by_text("31 of 90 rows labelled").wait_for()
        page.get_by_role("img", name="Accuracy to expect").wait_for()
        page.reload()
        page.get_by_text("31 of 90 rows labelled").wait_for()
        process.kill()
        process.wait()
        page.keyboard.press("1")
        page.get_by_text("was not saved: The server does not respond").wait_for()
    with serving(target) as (_, address):
        page.goto(address)
        page.get_by_text("31 of 90 rows labelled").wait_for()
        label_rows(page, 15)
        page.get_by_text("46 of 90 rows labelled").wait_for()
        with page.expect_download() as download:
            page.get_by_role("link", name="Target with labels").click()
        out = pd.read_csv(download.value.path())
        known = out["species"].notna()
        assert known.sum() == 46
        truth = [TRUE[row % 3] for row in np.flatnonzero(known)]
        assert out["species"][known].tolist() == truth
        page.get_by_role("link", name="Prediction of all rows").click()
        page.get_by_role("img", name="Accuracy to expect").wait_for()
    context.close()
    assert errors == []
    proves("A label given in the browser survives a killed server", 40, "labels")


@pytest.mark.browser
def test_the_page_fits_a_phone_and_has_no_serious_violation(browser, target):
    from axe_playwright_python.sync_playwright import Axe

    size = {"width": 360, "height": 780}
    context = browser.new_context(viewport=size, color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(300_000)
    page = context.new_page()
    with serving(target, "--images", str(target.parent / "images")) as (_, address):
        page.goto(address)
        page.locator("#classes button").nth(2).wait_for()
        page.get_by_role("img", name="Accuracy to expect").wait_for()
        page.keyboard.press("n")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            violations = Axe().run(page).response["violations"]
            serious = [v["id"] for v in violations if v["impact"] in ("serious", "critical")]
            assert serious == [], scheme
    context.close()
