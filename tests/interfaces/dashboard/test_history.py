"""Finished predictions: kept over restarts within bounds, listed, renamed, deleted, with their rows."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import l2t
from l2t.domains import read_tables
from l2t.exceptions import InvalidInputError
from l2t.interfaces.dashboard.errors import Refused
from l2t.interfaces.dashboard.history import History
from l2t.interfaces.dashboard.rows import PAGE, read_rows, write_rows
from l2t.interfaces.dashboard.settings import Limits
from tools.dashboards import serve_dashboard


def prediction(**given):
    row = {"used": True, "expected": 0.8}
    result = {"target": "t.csv", "sources": ["s.csv"], "n_rows": 9, "n_given": 3, "report": [row]}
    return result | given


@pytest.fixture
def outputs(tmp_path):
    (tmp_path / "out").mkdir()
    for name in ("predictions.csv", "rows.sqlite"):
        (tmp_path / "out" / name).write_bytes(b"x" * 1000)
    return tmp_path / "out"


def test_predictions_are_kept_renamed_and_deleted(tmp_path, outputs):
    history = History(tmp_path / "kept", Limits())
    for digit in "ab":
        history.add(digit * 32, outputs, prediction(target=f"{digit}.csv"), 1.5)
    again = History(tmp_path / "kept", Limits())
    assert {past.name for past in again.all()} == {"a.csv", "b.csv"}
    assert again.rename("a" * 32, "first try").name == "first try"
    past, result = history.get("a" * 32)
    assert (past.name, past.target, past.expected, result["n_rows"]) == (
        "first try",
        "a.csv",
        0.8,
        9,
    )
    assert history.files("a" * 32) == ["predictions.csv"]
    again.delete("a" * 32)
    with pytest.raises(Refused, match="there is no prediction"):
        history.get("a" * 32)
    with pytest.raises(Refused, match="has no file"):
        history.file("b" * 32, "../prediction.json")


@pytest.mark.parametrize("limits", [Limits(history=3), Limits(history_bytes=6000)])
def test_the_oldest_predictions_are_deleted(tmp_path, outputs, limits):
    history = History(tmp_path / "kept", limits)
    for number in range(5):
        history.add(f"{number:032x}", outputs, prediction(), 1.0)
        record = tmp_path / "kept" / f"{number:032x}" / "prediction.json"
        content = json.loads(record.read_text())
        content["prediction"]["created_at"] = f"2026-01-0{number + 1}T00:00:00+00:00"
        record.write_text(json.dumps(content))
    history.add("f" * 32, outputs, prediction(), 1.0)
    assert [past.id[-1] for past in history.all()] == ["f", "4", "3"]


def test_what_is_no_prediction_is_left_alone(tmp_path, outputs):
    folder = tmp_path / "kept"
    history = History(folder, Limits(history=1))
    (folder / "own").mkdir()
    (folder / ("0" * 32)).mkdir()
    (folder / ("1" * 32)).mkdir()
    (folder / ("1" * 32) / "prediction.json").write_text("{broken")
    history.add("a" * 32, outputs, prediction(), 1.0)
    history.add("b" * 32, outputs, prediction(), 1.0)
    assert len(history.all()) == 1
    assert sorted(path.name[0] for path in folder.iterdir())[:2] == ["0", "1"]
    assert (folder / "own").is_dir()


@pytest.fixture(scope="module")
def hundred_thousand(tmp_path_factory):
    """A prediction of 100,000 rows with an id, a text and two numbers."""
    folder, n, rng = tmp_path_factory.mktemp("rows"), 100_000, np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=n).round(3), "id": [f"A{row}" for row in range(n)]})
    frame["note"] = np.array(["near the Gate", "on the roof", ""])[np.arange(n) % 3]
    frame["label"] = np.where(np.arange(n) < 30, "cat", "")
    frame.to_csv(folder / "t.csv", index=False)
    (table,) = read_tables([folder / "t.csv"], label="label", encode=True)
    P = rng.dirichlet(np.ones(3), size=n)
    found = SimpleNamespace(
        probabilities=P,
        classes=np.array(["cat", "dog", "owl"]),
        given=np.arange(n) < 30,
        target=table.labelled,
    )
    write_rows(folder / "rows.sqlite", found, table)
    return folder / "rows.sqlite", P


def test_rows_are_searched_filtered_and_sorted(hundred_thousand):
    path, P = hundred_thousand
    page = read_rows(path)
    assert (page["total"], len(page["items"])) == (100_000, PAGE)
    assert page["columns"] == ["id", "note", "x"]
    assert page["items"][0]["cells"][:2] == ["A0", "near the Gate"]
    assert page["items"][2]["cells"][1] == ""
    last = read_rows(path, page=4000)["items"]
    assert [last[0]["row"], last[-1]["row"]] == [99_975, 99_999]
    assert read_rows(path, page=4001)["items"] == []
    assert read_rows(path, search="THE GATE")["total"] == 33_334
    assert read_rows(path, search="%")["total"] == 0
    (one,) = read_rows(path, search="a77777\n")["items"]
    assert one["row"] == 77_777
    order = np.argsort(P.max(axis=1), kind="stable")
    assert [row["row"] for row in read_rows(path, order="probability")["items"]] == order[
        :PAGE
    ].tolist()
    assert read_rows(path, order="-probability")["items"][0]["row"] == order[-1]
    codes = P.argmax(axis=1)
    assert read_rows(path, predicted="owl")["total"] == (codes == 2).sum()
    wrong = read_rows(path, disagrees=True)
    assert [row["row"] for row in wrong["items"]] == np.flatnonzero(codes[:30] != 0).tolist()
    assert all(row["label"] == "cat" != row["predicted"] for row in wrong["items"])
    first = read_rows(path)["items"][0]
    assert first["probability"] == pytest.approx(P[0].max())
    assert first["second_probability"] == pytest.approx(np.sort(P[0])[1])


@pytest.fixture(scope="module")
def kept(tmp_path_factory, files):
    """A folder with the prediction of a dashboard that has stopped, and its id."""
    folder = tmp_path_factory.mktemp("history")
    pytest.importorskip("fastapi")
    from starlette.testclient import TestClient

    from l2t.interfaces.dashboard.app import create_app
    from l2t.interfaces.dashboard.settings import Settings

    with l2t.open_store("memory://") as store:
        app = create_app(store, Settings(history=folder))
        with TestClient(app, base_url="http://127.0.0.1:8765") as client:
            ids = []
            for name in ("few.csv", "source.csv"):
                content = (files / name).read_bytes()
                upload = client.post(f"/api/uploads?name={name}", content=content).json()
                ids.append({"id": upload["id"], "label": "label"})
            wanted = {"target": ids[0], "sources": [ids[1]]}
            job = client.post("/api/predictions", json=wanted).json()
            assert app.state.context.jobs.get(job["id"]).ended.wait(300)
            assert client.get(f"/api/jobs/{job['id']}").json()["state"] == "done"
    return folder, job["id"]


@pytest.mark.integration
def test_a_prediction_outlives_the_dashboard(kept, store, visiting):
    folder, id = kept
    with visiting(store, history=folder) as client:
        listed = client.get("/api/predictions").json()
        assert [each["id"] for each in listed["items"]] == [id]
        assert listed["is_kept"]
        job = client.get(f"/api/jobs/{id}").json()
        assert job["state"] == "done"
        assert "probabilities.csv" in job["files"]
        assert "rows.sqlite" not in job["files"]
        assert client.get(f"/predictions/{id}").status_code == 200
        header = client.get(f"/api/jobs/{id}/files/probabilities.csv").text.splitlines()[0]
        assert header.count("probability of") == len(job["result"]["classes"])
        rows = client.get(f"/api/predictions/{id}/rows", params={"order": "probability"}).json()
        assert rows["total"] == job["result"]["n_rows"]
        renamed = client.patch(f"/api/predictions/{id}", json={"name": " my  try "}).json()
        assert renamed["name"] == "my try"
        assert client.patch(f"/api/predictions/{id}", json={"name": " "}).status_code == 422
        wrong = client.get(f"/api/predictions/{id}/rows", params={"order": "text"})
        assert wrong.status_code == 422
    with visiting(store, history=folder, read_only=True) as client:
        assert client.delete(f"/api/predictions/{id}").status_code == 403


def done(client, job):
    """Return a job of the dashboard once it has ended."""
    assert client.app.state.context.jobs.get(job["id"]).ended.wait(300)
    return client.get(f"/api/jobs/{job['id']}").json()


@pytest.mark.integration
def test_the_target_of_a_kept_prediction_is_labelled_and_predicted_again(
    kept, files, store, visiting, tmp_path
):
    folder, id = tmp_path / "history", kept[1]
    shutil.copytree(kept[0], folder)
    with visiting(store, history=folder) as client:
        assert client.get(f"/api/jobs/{id}").json()["is_repeatable"]
        assert client.get(f"/predictions/{id}/label").status_code == 200
        first = client.get("/api/labelling", params={"of": id}).json()
        assert (first["target"], first["n_labels"], first["n_rows"]) == ("few.csv", 10, 75)
        for row in range(20, 32):
            given = {"row": row, "label": first["classes"][row % 3]}
            answer = client.post("/api/labelling/labels", params={"of": id}, json=given)
            assert answer.status_code == 201
    with visiting(store, history=folder) as client:  # labels outlive the dashboard
        state = client.get("/api/labelling", params={"of": id}).json()
        assert state["n_labels"] == 22
        out = client.get("/api/labelling/target", params={"of": id})
        assert 'filename="few.labelled.csv"' in out.headers["content-disposition"]
        frame = pd.read_csv(io.BytesIO(out.content))
        given = pd.read_csv(files / "few.csv")
        assert frame.columns.tolist() == given.columns.tolist()
        assert frame["label"].notna().sum() == 22
        again = done(client, client.post(f"/api/predictions/{id}/again").json())
        assert (again["result"]["n_given"], again["result"]["target"]) == (22, "few.csv")
        assert again["result"]["sources"] == ["source.csv"]
        further = client.get("/api/labelling", params={"of": again["id"]}).json()
        assert further["n_labels"] == 22, "the new prediction has the labels as well"
        given = {"row": 40, "label": first["classes"][0]}
        client.post("/api/labelling/labels", params={"of": again["id"]}, json=given)
        assert client.get("/api/labelling", params={"of": id}).json()["n_labels"] == 22
        assert client.delete(f"/api/predictions/{id}").status_code == 204
        assert client.get("/api/labelling", params={"of": id}).status_code == 404
        assert client.post(f"/api/predictions/{id}/again").status_code == 404


def test_what_was_predicted_without_files_cannot_be_predicted_again(tmp_path, outputs):
    history = History(tmp_path / "kept", Limits())
    history.add("a" * 32, outputs, prediction(), 1.5)
    assert not history.get("a" * 32)[0].is_repeatable
    with pytest.raises(Refused, match=r"the files of t\.csv are not kept"):
        history.request("a" * 32)


def test_labels_that_somebody_gave_are_not_deleted_for_lack_of_room(tmp_path, outputs):
    history = History(tmp_path / "kept", Limits(history=1))
    file = {"path": str(outputs / "predictions.csv"), "name": "t.csv", "reading": {}}
    request = {"files": [file], "impute": None}
    for digit in "abc":
        history.add(digit * 32, outputs, prediction(), 1.0, request)
        if digit == "a":
            Path(history.request("a" * 32)["labels"]).write_text("row,label\n")
    assert sorted(past.id[0] for past in history.all()) == ["a", "c"]


@pytest.mark.browser
def test_predictions_in_the_browser(browser, kept):
    folder, id = kept
    context = browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(300_000)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    with serve_dashboard(None, "--history", str(folder)) as (_, address):
        page.goto(f"{address}predictions")
        page.get_by_role("button", name="Rename").click()
        page.get_by_role("textbox", name="Name").fill("second try")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Predict again second try").click()
        page.get_by_role("img", name="Accuracy to expect").wait_for()
        page.get_by_role("link", name="Predictions", exact=True).first.click()
        page.get_by_role("button", name="Delete few.csv").click()
        page.get_by_role("button", name="Delete few.csv").click()
        page.get_by_role("button", name="Delete few.csv").wait_for(state="detached")
        page.get_by_role("link", name="second try", exact=True).click()
        page.get_by_text("75 rows", exact=True).wait_for()
        page.get_by_label("Order").select_option("probability")
        page.get_by_role("button", name="next ›").click()
        page.get_by_text("page 2 of 3").wait_for()
        page.get_by_label("disagrees with your label").check()
        page.get_by_text("page 1 of 1").wait_for()
        page.get_by_label("disagrees with your label").uncheck()
        page.get_by_label("Search").fill("nothing like this")
        page.get_by_text("No row matches.").wait_for()
        page.get_by_role("link", name="Predictions", exact=True).first.click()
        page.get_by_role("button", name="Delete second try").click()
        page.get_by_role("button", name="Delete second try").click()
        page.get_by_text("No predictions yet.").wait_for()
    context.close()
    assert errors == []
    assert not (folder / id).exists()


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path, store, visiting):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InvalidInputError, match="history must be a folder"),
        visiting(store, history=tmp_path / "file"),
    ):
        pass
