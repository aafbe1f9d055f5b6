"""A transfer from upload to download, and what must not work."""

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
from l2t.domains import KnownClasses
from l2t.interfaces.dashboard.jobs import Jobs
from l2t.interfaces.dashboard.settings import Limits

pytestmark = pytest.mark.slow


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


def test_from_upload_to_download(client, store, files):
    source = upload(client, files / "source.csv")
    target = upload(client, files / "few.csv")
    assert (source["n_rows"], source["n_features"], source["n_classes"]) == (90, 8, 3)
    assert (target["n_rows"], target["n_labelled"]) == (75, 10)
    assert {each["id"] for each in client.get("/api/uploads").json()} >= {
        source["id"],
        target["id"],
    }
    wanted = {"source": source["id"], "target": target["id"]}
    job = finished(client, client.post("/api/transfers", json=wanted | {"n_components": 4}))
    assert job["state"] == "done", job["error"]
    stages = [each["name"] for each in job["events"]]
    assert stages == ["known", "rehearsing", "fitting", "choosing"]

    pair = l2t.DomainPair(
        l2t.normalize(l2t.read_domain(files / "source.csv")),
        l2t.normalize(l2t.read_domain(files / "few.csv")),
    )
    known = KnownClasses(l2t.normalize(each) for each in store.targets(n_features=8))
    expected = l2t.infer(pair, n_components=4, known=known)
    found = job["result"]
    assert (found["choice"], found["verdict"]) == (expected.choice, expected.verdict)
    assert found["predicted"] == pytest.approx(expected.predicted, rel=1e-4)
    assert found["interval"] == pytest.approx(expected.interval, rel=1e-4)
    assert found["reason"] == expected.reason
    assert "12 known classes" in found["reason"], "those of the source and of three targets"
    assert (found["n_labels"], found["n_classes"]) == (10, 3)
    table = pd.DataFrame(found["candidates"]).set_index("candidate")
    pd.testing.assert_frame_equal(
        table, expected.candidates.to_frame(), rtol=1e-4, check_dtype=False
    )
    assert expected.verdict == "transfer"
    assert len(found["picture"]["target"]["codes"]) == 75
    assert len(found["picture"]["after"]["target"]) == 75

    assert job["files"] == ["W.npy", "result.json", "target_z.csv", "target_z.npz"]
    W = np.load(io.BytesIO(client.get(f"/api/jobs/{job['id']}/files/W.npy").content))
    np.testing.assert_allclose(np.abs(W), np.abs(expected.W), atol=1e-4)
    text = client.get(f"/api/jobs/{job['id']}/files/target_z.csv").text
    assert len(text.splitlines()) == 76
    for name in ("../reflection.json", "..%2freflection.json", "source.npz", "nothing"):
        assert client.get(f"/api/jobs/{job['id']}/files/{name}").status_code == 404
    later = client.get(f"/api/jobs/{job['id']}", params={"after": job["next"]}).json()
    assert later["events"] == []
    assert client.delete(f"/api/uploads/{source['id'][7:]}").status_code == 204
    assert client.post("/api/transfers", json=wanted).status_code == 404


def test_domains_of_the_store_and_every_format(client, files):
    ids = {each["name"]: each["id"] for each in client.get("/api/domains").json()}
    assert set(ids) == {f"{kind}[{n}]" for kind, n in _names()} | {"bare"}
    sources = [ids["photos[0]"], upload(client, files / "target.npz")["id"]]
    sources += [upload(client, files / "target.parquet")["id"]]
    wanted = {"target": ids["sketches[10]"], "sources": sources, "n_labels": 15}
    job = finished(client, client.post("/api/rankings", json=wanted))
    assert job["state"] == "done", job["error"]
    adds = [each["adds"] for each in job["result"]["ranking"]]
    assert adds == sorted(adds, reverse=True)
    assert len(adds) == len(job["events"]) == 3
    same = [each["predicted"] for each in job["events"][1:]]
    assert same[0] == pytest.approx(same[1], rel=1e-5), "npz and parquet hold the same"
    assert {each["verdict"] for each in job["events"]} <= {"transfer", "no-transfer"}


def _names():
    return [("photos", n) for n in range(3)] + [("sketches", n) for n in range(10, 13)]


def test_a_ranking_says_which_source_does_not_fit(client, files, tmp_path):
    other = l2t.write_domain(l2t.Domain(np.eye(9)), tmp_path / "other.csv")
    sources = [upload(client, path)["id"] for path in (other, files / "source.csv")]
    wanted = {"target": upload(client, files / "few.csv")["id"], "sources": sources}
    job = finished(client, client.post("/api/rankings", json=wanted))
    assert job["state"] == "done", job["error"]
    first, last = job["result"]["ranking"]
    assert (first["source"], last["source"], last["adds"]) == ("source", "other", None)
    assert "must have the same features, got 9 and 8 columns" in last["reason"]


def test_where_it_is_better_not_to_transfer_the_target_stays(client, tmp_path):
    """No source label is known, and two rows of a target have no neighbourhoods."""
    X = np.random.default_rng(0).normal(size=(2, 3))
    ids = [
        upload(client, l2t.write_domain(l2t.Domain(rows), tmp_path / f"{name}.npz"))["id"]
        for name, rows in (("source", X + 1), ("target", X))
    ]
    wanted = {"source": ids[0], "target": ids[1], "normalize": "none"}
    job = finished(client, client.post("/api/transfers", json=wanted))
    assert job["state"] == "done", job["error"]
    found = job["result"]
    assert (found["choice"], found["verdict"]) == ("identity", "no-transfer")
    assert (found["predicted"], found["picture"]["after"]) == (1.0, None)
    reasons = {each["candidate"]: each["reason"] for each in found["candidates"]}
    assert "needs a source with labels" in reasons["classes"]
    assert job["files"] == ["result.json", "target_z.csv", "target_z.npz"]
    moved = client.get(f"/api/jobs/{job['id']}/files/target_z.npz").content
    np.testing.assert_array_equal(np.load(io.BytesIO(moved))["X"], X)


@pytest.mark.parametrize("scaling", ["rows", "zscore", "none"])
def test_no_label_of_the_target_is_used_that_only_the_store_knows(client, store, tmp_path, scaling):
    """Some rows of a labelled target in the store, and their multiples, teach nothing about it."""
    past = next(iter(store.targets()))
    ids = {each["name"]: each["id"] for each in client.get("/api/domains").json()}
    part = l2t.write_domain(l2t.Domain(3 * past.X[:40]), tmp_path / "part.npz")
    wanted = {"source": ids["bare"], "target": upload(client, part)["id"], "normalize": scaling}
    job = finished(client, client.post("/api/transfers", json=wanted))
    assert job["state"] == "done", job["error"]
    assert "6 known classes" in job["result"]["reason"], "of the two other targets"


def test_a_learning_curve_leaves_a_function(visiting, store):
    with visiting(store) as client:
        job = finished(client, client.post("/api/learning-curves"))
        assert job["state"] == "done", job["error"]
        points = job["result"]["points"]
        assert [point["n_pairs"] for point in points] == sorted(p["n_pairs"] for p in points)
        names = {each["name"]: each for each in client.get("/api/reflections").json()}
        assert names["this store"]["latest"]
        assert names["this store"]["experiences"] == points[-1]["n_experiences"]
        told = client.get("/api/reflections/this store/assessment?pairs=held-out").json()
        assert told["n_pairs"] == job["result"]["held_out_pairs"]
        assert told["rmse"] == pytest.approx(points[-1]["rmse"])
        assert not told["perhaps_seen"]


def test_what_cannot_be_paired_is_told(client, files, tmp_path):
    other = l2t.write_domain(l2t.Domain(np.eye(9)), tmp_path / "other.csv")
    wanted = {
        "source": upload(client, other)["id"],
        "target": upload(client, files / "few.csv")["id"],
    }
    job = finished(client, client.post("/api/transfers", json=wanted))
    assert job["state"] == "failed"
    assert "must have the same features, got 9 and 8 columns" in job["error"]
    for id in ("upload:" + "0" * 32, "store:" + "0" * 64, "store:\0", "/etc/passwd", "file:a"):
        answer = client.post("/api/transfers", json=wanted | {"source": id})
        assert answer.status_code in (404, 422), answer.text
        assert answer.json()["error"]


# Uploads that mean no good.


def refused(client, name, body, status=400, **query):
    answer = client.post("/api/uploads", params={"name": name} | query, content=body)
    assert answer.status_code == status, answer.text
    said = answer.json()["error"]
    assert "\n" not in said
    context = client.app.state.context
    assert not list(context.uploads._folder.glob("*.raw")), "nothing half-read stays"
    assert client.get("/api/totals").status_code == 200, "the server lives"
    return said


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
    assert "unpickling them could run code" in refused(client, "evil.npz", body)


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
        assert "unpacks to more than the 0 MiB" in refused(client, "a.npz", zipped(X=npy(zeros)))
        text = b"a,b\n" + b"0,1\n" * 2_000_000
        assert "unpacks to more" in refused(client, "a.csv", gzip.compress(text))
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.csv", text)
        assert "unpacks to more" in refused(client, "a.csv", packed.getvalue())
        pd.DataFrame({"a": np.zeros(10**6)}).to_parquet(tmp_path / "a.parquet")
        body = (tmp_path / "a.parquet").read_bytes()
        assert len(body) < 10_000
        assert "unpacks to more" in refused(client, "a.parquet", body)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("[Content_Types].xml", b" " * 10**7)
        assert "unpacks to more" in refused(client, "a.xlsx", packed.getvalue())


def test_a_workbook(client, tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.5, 0.25], "label": ["u", "v"]})
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    told = upload(client, tmp_path / "a.xlsx")
    assert (told["n_rows"], told["n_features"], told["n_classes"]) == (2, 2, 2)


def test_a_csv_of_millions_of_columns(client):
    body = b"0," * 10_000_000 + b"0\n"
    assert "10000001 cells" in refused(client, "wide.csv", body)
    assert "20001 features" in refused(client, "wide.npz", zipped(X=npy(np.zeros((2, 20_001)))))


def test_too_many_rows(client):
    assert "20001 rows" in refused(client, "long.csv", b"a,b\n" + b"0,1\n" * 20_001)


@pytest.mark.parametrize(
    "name", ["../../evil.csv", "/etc/evil.csv", "..\\..\\evil.csv", "a\0b.csv", "x" * 250 + ".csv"]
)
def test_a_path_in_the_file_name_is_only_a_name(client, name):
    answer = client.post("/api/uploads", params={"name": name}, content=b"a,b\n0,1\n1,0\n")
    assert answer.status_code == 201
    told = answer.json()["name"]
    assert "/" not in told
    assert "\\" not in told
    assert len(told) <= 80
    folder = client.app.state.context.uploads._folder
    assert {path.suffix for path in folder.iterdir()} == {".npz"}


@pytest.mark.parametrize("name", ["evil.pkl", "evil", ".csv", "evil.npz.exe", "evil.mat"])
def test_formats_that_are_not_taken(client, name):
    assert "uploaded as .csv, .tsv, .xlsx, .npz, .parquet" in refused(client, name, b"x", 415)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("empty.csv", b""),
        ("words.csv", b"a,b\nc,d\n"),
        ("zip.csv", b"PK\x03\x04 and so on"),
        ("text.npz", b"hello"),
        ("text.parquet", b"PAR1hello"),
        ("nan.csv", b"a\nnan\n1\n"),
        ("binary.csv", bytes(range(256))),
    ],
)
def test_damaged_files(client, name, body):
    said = refused(client, name, body)
    assert "/tmp" not in said
    assert ".raw" not in said


def test_a_body_that_is_too_large(visiting, store):
    with visiting(store, max_upload=2**21) as client:
        chunks = (bytes(2**20) for _ in range(3))
        assert "2 MiB at most" in refused(client, "large.csv", chunks, 413)
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
def endless_workers(monkeypatch, tmp_path):
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
        assert "memory" in error
        assert Path(error.rpartition("see ")[2]).read_text(), (
            "a library said what it found none for"
        )


@pytest.mark.usefixtures("endless_workers")
def test_a_worker_that_is_killed_says_so_and_leaves_its_log(visiting, store):
    with visiting(store) as client:
        begun = client.post("/api/learning-curves").json()
        job = client.app.state.context.jobs.get(begun["id"])
        job.process.kill()
        assert job.ended.wait(300)
        told = client.get(f"/api/jobs/{begun['id']}").json()
        assert told["state"] == "failed"
        assert told["error"].startswith(
            "its process was killed by signal 9, often for lack of memory"
        )
        assert Path(told["error"].rpartition("see ")[2]) == job.log
        client.app.state.context.jobs.forget(job)
        assert job.log.is_file(), "it stays when the job is forgotten"
        assert not job.folder.exists()


def test_what_went_wrong_unexpectedly_is_in_the_log(tmp_path):
    jobs = Jobs(tmp_path, Limits())
    job = jobs.start("no such work", lambda folder: {})
    assert job.ended.wait(300)
    assert job.error == f"it failed: KeyError: 'no such work'; see {job.log}"
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
