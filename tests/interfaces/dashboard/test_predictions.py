"""A prediction from upload to download, and what must not work."""

from __future__ import annotations

import gzip
import io
import re
import select
import socket
import sys
import urllib.request
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import l2t
from l2t.interfaces.dashboard.jobs import Jobs
from l2t.interfaces.dashboard.settings import Limits

pytestmark = pytest.mark.integration


def upload(client, path, **query):
    with path.open("rb") as body:
        answer = client.post(
            "/api/uploads", params={"name": path.name} | query, content=body.read()
        )
    assert answer.status_code == 201, answer.text
    return answer.json()


def finished(client, answer):
    """Wait for a computation, and return it with all its events."""
    assert answer.status_code == 202, answer.text
    assert client.app.state.context.jobs.get(answer.json()["id"]).ended.wait(300)
    return client.get(f"/api/jobs/{answer.json()['id']}").json()


MESSY = {"label": "species", "ids": ["id"], "ignore": ["site"]}


def test_from_upload_to_download(client, messy):
    target = upload(client, messy / "target.csv")
    assert target["name"] == "target.csv"
    roles = {each["name"]: each["role"] for each in target["preview"]["columns"]}
    assert {name: role for name, role in roles.items() if role != "feature"} == {
        "id": "id",
        "species": "label",
    }
    assert target["preview"]["decimal"] == ","
    assert target["preview"]["missing"] == ["unknown"]
    source = upload(client, messy / "source.csv", label="species")
    assert {each["id"] for each in client.get("/api/uploads").json()} >= {
        source["id"],
        target["id"],
    }
    wanted = {"target": {"id": target["id"]} | MESSY, "sources": [{"id": source["id"]} | MESSY]}
    wanted["impute"] = "median"
    reply = client.post("/api/checks", json=wanted).json()
    assert "12 of 75 rows have a label" in reply["sentences"][0]
    assert any("8 columns" in each for each in reply["sentences"])
    assert any("missing numbers are filled with the median" in each for each in reply["sentences"])

    job = finished(client, client.post("/api/predictions", json=wanted))
    assert job["state"] == "done", job["error"]
    assert list(dict.fromkeys(each["name"] for each in job["events"])) == [
        "reading",
        "rehearsing",
        "choosing",
        "predicting",
    ]
    reading = {"label": "species", "id": ["id"], "ignore": ["site"], "missing": ["unknown"]}
    paths = [messy / "source.csv", messy / "target.csv"]
    tables = l2t.domains.read_tables(paths, encode=True, decimal=",", **reading)
    expected = l2t.predict([tables[0].domain], tables[1].labelled)
    found = job["result"]
    assert found["headline"] == expected.report.headline
    assert found["report"] == expected.summary()["report"]
    assert (found["target"], found["sources"]) == ("target.csv", ["source.csv"])
    assert found["uncertain"][0]["id"].startswith("A")
    seen = found["statistics"]
    assert len(seen["tau"]) == len(seen["d"]) == len(seen["beta"]) == len(seen["exponents"])
    assert sum(seen["beta"]) == pytest.approx(1.0)

    written = ["model.l2t", "predictions.csv", "probabilities.csv", "report.html"]
    assert job["files"] == ([] if expected.choice == "identity" else ["W.npy"]) + written
    files = f"/api/jobs/{job['id']}/files"
    frame = pd.read_csv(io.StringIO(client.get(f"{files}/predictions.csv").text))
    assert list(frame["id"][:2]) == ["A000", "A001"]
    assert list(frame["predicted"]) == list(expected.labels)
    assert frame["given"].sum() == 12
    page = client.get(f"{files}/report.html").text
    assert expected.report.headline in page
    assert "http" not in page.replace("http-equiv", ""), "it needs nothing from elsewhere"
    for name in ("../request.json", "..%2f0.csv", "0.csv", "nothing"):
        assert client.get(f"{files}/{name}").status_code == 404
    later = client.get(f"/api/jobs/{job['id']}", params={"after": job["next"]}).json()
    assert later["events"] == []
    assert client.get(f"/predictions/{job['id']}").status_code == 200
    assert client.get(f"/predictions/{'0' * 32}").status_code == 404
    assert client.delete(f"/api/uploads/{source['id'][7:]}").status_code == 204
    assert client.post("/api/predictions", json=wanted).status_code == 404


def test_a_class_named_like_a_missing_cell_is_predicted(client, tmp_path):
    rng, labels = np.random.default_rng(0), np.array(["1", "2", "control"])
    frame = pd.DataFrame(
        rng.normal(size=(30, 4)) + 6 * (np.arange(30)[:, None] % 3), columns=[*"abcd"]
    )
    frame["class"] = labels[np.arange(30) % 3]
    frame.to_csv(tmp_path / "source.csv", index=False)
    frame.assign(**{"class": frame["class"].where(frame.index < 12, "")}).to_csv(
        tmp_path / "target.csv", index=False
    )
    files = [upload(client, tmp_path / name) for name in ("source.csv", "target.csv")]
    assert [file["preview"]["missing"] for file in files] == [[], []]
    source, target = ({"id": file["id"], "label": "class"} for file in files)
    wanted = {"target": target, "sources": [source]}
    reply = client.post("/api/checks", json=wanted).json()
    assert "12 of 30 rows have a label" in reply["sentences"][0]
    job = finished(client, client.post("/api/predictions", json=wanted))
    assert job["state"] == "done", job["error"]
    text = client.get(f"/api/jobs/{job['id']}/files/predictions.csv").text
    assert "control" in set(pd.read_csv(io.StringIO(text))["predicted"])


def test_without_a_store_there_is_an_example(visiting):
    """It is predicted in the tests with a browser."""
    with l2t.open_store("memory://") as nothing, visiting(nothing) as client:
        answer = client.post("/api/examples")
        assert answer.status_code == 201, answer.text
        source, target = answer.json()
        roles = {"label": "digit", "ids": ["scan"]}
        wanted = {"target": {"id": target["id"]} | roles, "sources": [{"id": source["id"]} | roles]}
        reply = client.post("/api/checks", json=wanted).json()
        assert reply["warnings"] == []
        assert "10 of 400 rows have a label" in reply["sentences"][0]
        for page in ("/", "/sources", "/experiences", "/learned", "/collections", "/agent"):
            assert client.get(page).status_code == 200


def test_a_source_of_the_store_and_arrays(client, files):
    ids = {each["name"]: each["id"] for each in client.get("/api/domains").json()}
    target = upload(client, files / "few.csv")["id"]
    for source in (ids["photos[0]"], upload(client, files / "target.npz")["id"]):
        wanted = {"target": {"id": target, "label": "label"}, "sources": [{"id": source}]}
        reply = client.post("/api/checks", json=wanted)
        assert reply.status_code == 200, reply.text
    shared = [each for each in reply.json()["sentences"] if each.startswith("Source:")]
    assert shared == ["Source: it has classes of the target, so its labels are used as well."]


def test_domains_of_the_store_are_ranked(client):
    ids = {each["name"]: each["id"] for each in client.get("/api/domains").json()}
    wanted = {"target": ids["sketches[10]"], "n_labels": 15}
    wanted["sources"] = [ids["photos[0]"], ids["bare"]]
    job = finished(client, client.post("/api/rankings", json=wanted))
    assert job["state"] == "done", job["error"]
    adds = [each["adds"] for each in job["result"]["ranking"]]
    assert adds == sorted(adds, reverse=True)
    assert {each["verdict"] for each in job["events"]} <= {"transfer", "no-transfer"}


def test_a_learning_curve_leaves_a_function(visiting, store):
    with visiting(store) as client:
        job = finished(client, client.post("/api/learning-curves"))
        assert job["state"] == "done", job["error"]
        points = job["result"]["points"]
        assert [point["n_pairs"] for point in points] == sorted(p["n_pairs"] for p in points)
        names = {each["name"]: each for each in client.get("/api/reflections").json()}
        assert names["this store"]["latest"]
        assert names["this store"]["experiences"] == points[-1]["n_experiences"]
        reply = client.get("/api/reflections/this store/assessment?pairs=held-out").json()
        assert reply["n_pairs"] == job["result"]["held_out_pairs"]
        assert reply["rmse"] == pytest.approx(points[-1]["rmse"])
        assert not reply["perhaps_seen"]


def test_what_cannot_be_predicted_is_told(client, files, tmp_path):
    (tmp_path / "other.csv").write_text("z0,label\n1,a\n2,b\n")
    other = {"id": upload(client, tmp_path / "other.csv")["id"], "label": "label"}
    target = {"id": upload(client, files / "few.csv")["id"], "label": "label"}
    wanted = {"target": target, "sources": [other]}
    for path in ("checks", "predictions"):
        answer = client.post(f"/api/{path}", json=wanted)
        error = answer.json().get("error") or finished(client, answer)["error"]
        assert "all files must have a feature column in common" in error
    bare = {"id": target["id"], "ignore": ["label"]}
    answer = client.post("/api/checks", json={"target": bare})
    assert "the target must have labelled rows" in answer.json()["error"]
    for id in ("upload:" + "0" * 32, "store:" + "0" * 64, "store:\0", "/etc/passwd", "file:a"):
        answer = client.post("/api/predictions", json={"target": {"id": id}})
        assert answer.status_code in (404, 422), answer.text
        assert answer.json()["error"]


# Uploads that mean no good.


def refused(client, name, body, status=400, **query):
    answer = client.post("/api/uploads", params={"name": name} | query, content=body)
    assert answer.status_code == status, answer.text
    message = answer.json()["error"]
    assert "\n" not in message
    kept = {path.stem for path in client.app.state.context.uploads._folder.iterdir()}
    listed = {each["id"].removeprefix("upload:") for each in client.get("/api/uploads").json()}
    assert kept == listed, "nothing half-read stays"
    assert client.get("/api/totals").status_code == 200, "the server lives"
    return message


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def test_an_npz_with_pickle(client):
    class Evil:
        def __reduce__(self):
            return print, ("unpickled",)

    body = zipped(X=npy(np.array([[Evil()]]), allow_pickle=True))
    assert "unpickling may run code" in refused(client, "evil.npz", body)


def test_a_zip_bomb(client):
    header = npy(np.zeros((1, 1)))[:128].replace(b"(1, 1)", b"(999999, 99)")
    body = zipped(X=header + bytes(2**26))
    assert len(body) < 2**18
    assert refused(client, "bomb.npz", body)
    claimed = zipped(X=npy(np.zeros((4_000, 6_000), dtype=np.float32)))
    assert "rows" in refused(client, "large.npz", claimed)


def test_a_bomb_in_every_format(visiting, store, tmp_path):
    with visiting(store, limits=Limits(rows=1_000, features=100, values=20_000)) as client:
        zeros = np.zeros((200, 5_000), dtype=np.float32)
        assert "must unpack to at most 0 MiB" in refused(client, "a.npz", zipped(X=npy(zeros)))
        text = b"a,b\n" + b"0,1\n" * 2_000_000
        assert "must unpack to at most" in refused(client, "a.csv", gzip.compress(text))
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.csv", text)
        assert "must unpack to at most" in refused(client, "a.csv", packed.getvalue())
        pd.DataFrame({"a": np.zeros(10**6)}).to_parquet(tmp_path / "a.parquet")
        body = (tmp_path / "a.parquet").read_bytes()
        assert len(body) < 10_000
        assert "must unpack to at most" in refused(client, "a.parquet", body)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("[Content_Types].xml", b" " * 10**7)
        assert "must unpack to at most" in refused(client, "a.xlsx", packed.getvalue())


def test_a_workbook(client, tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.5, 0.25], "label": ["u", "v"]})
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    reply = upload(client, tmp_path / "a.xlsx")["preview"]
    assert (reply["n_rows"], reply["n_features"]) == (2, 2)
    assert [each["role"] for each in reply["columns"]] == ["feature", "feature", "label"]


def test_a_csv_of_millions_of_columns(client):
    body = b"0," * 10_000_000 + b"0\n"
    assert "10000001 cells" in refused(client, "wide.csv", body)
    assert "20001 features" in refused(client, "wide.npz", zipped(X=npy(np.zeros((2, 20_001)))))


def test_too_many_rows(client):
    assert "20001 rows" in refused(client, "long.csv", b"a,b\n" + b"0,1\n" * 20_001)


@pytest.mark.parametrize(
    "name", ["../../evil.csv", "..\\..\\evil.csv", "/etc/a\0b" + "x" * 250 + ".csv"]
)
def test_a_path_in_the_file_name_is_only_a_name(client, name):
    answer = client.post("/api/uploads", params={"name": name}, content=b"a,b\n0,1\n1,0\n")
    assert answer.status_code == 201
    reply = answer.json()["name"]
    assert "/" not in reply
    assert "\\" not in reply
    assert len(reply) <= 80
    folder = client.app.state.context.uploads._folder
    assert {path.suffix for path in folder.iterdir()} <= {".csv", ".npz", ".xlsx"}


@pytest.mark.parametrize("name", ["evil.pkl", "evil", ".csv", "evil.npz.exe", "evil.mat"])
def test_formats_that_are_not_taken(client, name):
    assert "must end in .csv, .tsv, .xlsx, .npz, .parquet" in refused(client, name, b"x", 415)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("text.parquet", b"PAR1hello"),
        ("binary.csv", bytes(range(256))),
    ],
)
def test_damaged_files(client, name, body):
    message = refused(client, name, body)
    assert "/tmp" not in message


def test_a_body_that_is_too_large(visiting, store):
    with visiting(store, max_upload=2**21) as client:
        chunks = (bytes(2**20) for _ in range(3))
        assert "at most 2 MiB" in refused(client, "large.csv", chunks, 413)
        headers = {"content-length": str(2**31)}
        answer = client.post("/api/uploads?name=a.csv", content=b"x", headers=headers)
        assert answer.status_code == 413


def test_two_gigabytes_are_refused_before_they_are_there(server):
    process, address = server
    host, port = address[7:-1].split(":")
    head = f"POST /api/uploads?name=a.csv HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"100000\r\n" + bytes(2**20) + b"\r\n"
    sent = 0
    with socket.create_connection((host, int(port)), timeout=300) as connection:
        connection.sendall(head.encode())
        while sent < 2048 and not select.select([connection], [], [], 0)[0]:
            connection.sendall(chunk)
            sent += 1
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
    assert 64 <= sent < 200, "MiB that were sent before the answer came"
    status = Path(f"/proc/{process.pid}/status")
    if status.exists():
        (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())
        assert int(peak) < 600_000
    with urllib.request.urlopen(f"{address}api/totals") as answer:
        assert answer.status == 200


@pytest.fixture
def endless_workers(posix, monkeypatch, tmp_path):
    """Worker processes that never end by themselves."""
    script = tmp_path / "endless"
    script.write_text("#!/bin/sh\nexec sleep 3600\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))


@pytest.mark.usefixtures("endless_workers")
def test_work_ends_with_its_time(visiting, store):
    with visiting(store, limits=Limits(read_seconds=0.05)) as client:
        assert "0.05 seconds" in refused(client, "a.csv", b"a,b\n0,1\n1,0\n")


def test_work_ends_with_its_memory(visiting, store, files):
    with visiting(store, limits=Limits(memory=2**26)) as client:
        error = refused(client, "a.csv", (files / "source.csv").read_bytes())
        assert error.startswith("the job needs more memory than the limit of 0.0625 GiB")


@pytest.mark.usefixtures("endless_workers")
def test_a_worker_that_is_killed_says_so_and_leaves_its_log(visiting, store):
    with visiting(store) as client:
        begun = client.post("/api/learning-curves").json()
        job = client.app.state.context.jobs.get(begun["id"])
        job.process.kill()
        assert job.ended.wait(300)
        reply = client.get(f"/api/jobs/{begun['id']}").json()
        assert reply["state"] == "failed"
        reason = "the worker was killed by another program, or by the system for lack of memory; "
        assert reply["error"].startswith(reason)
        assert Path(reply["error"].rpartition("see ")[2]) == job.log
        client.app.state.context.jobs.delete(job)
        assert job.log.is_file(), "it stays when the job is forgotten"
        assert not job.folder.exists()


def test_what_went_wrong_unexpectedly_is_in_the_log(tmp_path):
    jobs = Jobs(tmp_path, Limits())
    job = jobs.start("no such work", lambda folder: {})
    assert job.ended.wait(300)
    assert job.error == f"the job failed: KeyError: 'no such work'; see {job.log}"
    assert "Traceback" in job.log.read_text()


def test_logs_of_work_that_went_well_are_removed(visiting, store, files):
    with visiting(store) as client:
        upload(client, files / "source.csv")
        assert not list(client.app.state.context.jobs._folder.iterdir())


@pytest.mark.usefixtures("endless_workers")
def test_work_can_be_stopped_and_too_much_is_refused(visiting, store):
    with visiting(store, limits=Limits(jobs=1)) as client:
        begun = client.post("/api/learning-curves").json()
        busy = client.post("/api/learning-curves")
        assert (busy.status_code, "try again" in busy.json()["error"]) == (429, True)
        assert client.delete(f"/api/jobs/{begun['id']}").status_code == 204
        assert client.get(f"/api/jobs/{begun['id']}").json()["state"] == "cancelled"
        again = client.post("/api/learning-curves")
        assert again.status_code == 202
        process = client.app.state.context.jobs.get(again.json()["id"]).process
    assert process.poll() is not None, "nothing goes on when the dashboard has ended"


def test_uploads_and_results_are_gone_at_the_end(visiting, store, files):
    with visiting(store) as client:
        upload(client, files / "source.csv")
        folder = client.app.state.context.uploads._folder.parent
        assert folder.exists()
    assert not folder.exists()


def test_old_uploads_make_room(visiting, store, files):
    with visiting(store, limits=Limits(uploads=2)) as client:
        ids = [upload(client, files / "target.npz")["id"] for _ in range(3)]
        assert [each["id"] for each in client.get("/api/uploads").json()] == ids[:0:-1]
        folder = client.app.state.context.uploads._folder
        assert len(list(folder.iterdir())) == 2
