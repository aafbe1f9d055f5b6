"""Many, slow, large and idle requests."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
import uvicorn
from starlette.exceptions import HTTPException

from l2t.interfaces.dashboard import connections

LIMIT = 2**20


@pytest.mark.parametrize("path", ["predictions", "checks", "rankings", "versions/1/use"])
def test_a_body_that_is_no_upload_is_small(client, path, proves):
    large = json.dumps({"source": "x" * LIMIT}).encode()
    for body in (large, iter([large[:1000], large[1000:]])):
        answer = client.post(f"/api/{path}", content=body)
        if path.endswith("use") and not isinstance(body, bytes):
            continue  # it never looks at a body
        assert answer.status_code == 413, answer.text
        assert "at most 1 MiB" in answer.json()["error"]
    assert client.post(f"/api/{path}", content=large[: LIMIT // 2]).status_code in (400, 404, 422)
    proves("A request body of more than 1 MiB is rejected, except for uploads", 2, "requests")


def test_a_body_that_stops_or_breaks_off_is_refused(monkeypatch):
    async def never():
        await asyncio.Event().wait()

    async def left():
        return {"type": "http.disconnect"}

    monkeypatch.setattr(connections, "_TIMEOUT", 0.01)
    with pytest.raises(HTTPException, match="too slowly: 0 bytes"):
        asyncio.run(connections.limited(never, LIMIT)())
    with pytest.raises(HTTPException, match="closed after 0 bytes"):
        asyncio.run(connections.limited(left, LIMIT)())


def test_a_body_that_drips_is_refused(monkeypatch):
    """Half of the bytes per second that are asked for, by a clock of our own."""
    now = [0.0]

    async def drip():
        now[0] += 1.0
        body = bytes(connections._BYTES_PER_SECOND // 2)
        return {"type": "http.request", "body": body, "more_body": True}

    async def read():
        receive = connections.limited(drip, 2**40)
        for _ in range(1000):
            await receive()

    monkeypatch.setattr(connections.time, "monotonic", lambda: now[0])
    with pytest.raises(HTTPException, match="too slowly"):
        asyncio.run(read())
    assert now[0] == 2 * connections._TIMEOUT


def test_after_the_body_nothing_is_hurried(monkeypatch):
    async def body():
        return {"type": "http.request", "body": b"x", "more_body": False}

    async def read():
        receive = connections.limited(body, LIMIT)
        await receive()
        monkeypatch.setattr(connections, "_TIMEOUT", -1e9)
        return await receive()

    assert asyncio.run(read())["body"] == b"x"


@pytest.mark.integration
def test_a_connection_without_a_request_is_closed(server, proves):
    """Silent ones, one that stops within a header, and one that sends a header byte by byte."""
    place = ("127.0.0.1", int(server[1].rsplit(":", 1)[1][:-1]))
    firsts = b"", b"GET / HTTP/1.1\r\nHost: ", b"GET / HTTP/1.1\r\n"
    with ExitStack() as stack:
        visitors = [stack.enter_context(socket.create_connection(place)) for _ in firsts]
        for visitor, first in zip(visitors, firsts, strict=True):
            visitor.settimeout(300)
            visitor.sendall(first)
        slow = visitors[-1]
        slow.settimeout(0.1)
        end = time.monotonic() + 300
        while time.monotonic() < end:
            try:
                slow.sendall(b"a")
                assert slow.recv(1) == b""
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            pytest.fail("it is still open")
        for silent in visitors[:-1]:
            assert silent.recv(1) == b""
    proves("An idle or very slow connection is closed", len(firsts), "connections")


def test_an_answer_that_nobody_reads_is_given_up(monkeypatch):
    monkeypatch.setattr(connections, "_TIMEOUT", 0.05)
    given_up = threading.Event()

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(100):
            await send({"type": "http.response.body", "body": bytes(2**20), "more_body": True})
        given_up.set()

    options = connections.SERVER | {"lifespan": "off"}
    server = uvicorn.Server(uvicorn.Config(app, **options))
    with socket.create_server(("127.0.0.1", 0)) as opened:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        thread.start()
        with socket.create_connection(opened.getsockname()) as visitor:
            visitor.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            left = given_up.wait(300)
        server.should_exit = True
        thread.join()
    assert left


@pytest.mark.integration
def test_headers_are_limited(server):
    _, address = server
    with socket.create_connection(("127.0.0.1", int(address.rsplit(":", 1)[1][:-1]))) as visitor:
        visitor.settimeout(300)
        visitor.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70_000)
        assert visitor.recv(12) == b"HTTP/1.1 400"


@pytest.mark.integration
@pytest.mark.usefixtures("posix")
def test_many_uploads_do_not_keep_others_waiting(visiting, store, tmp_path, monkeypatch, proves):
    """The workers never end, so that all uploads that are taken are under way when pages are asked for."""
    script = tmp_path / "endless"
    script.write_text("#!/bin/sh\nexec sleep 3600\n")
    script.chmod(0o755)
    with visiting(store) as client, ThreadPoolExecutor(110) as people:
        monkeypatch.setattr(sys, "executable", str(script))
        context = client.app.state.context
        most = context.settings.limits.queue
        refused = threading.Semaphore(0)

        def upload(_):
            answer = client.post("/api/uploads", params={"name": "a.csv"}, content=b"a,b\n1,2\n")
            if answer.status_code == 429:
                assert f"{most} uploads are in progress" in answer.json()["error"]
                refused.release()
            return answer.status_code

        answers = people.map(upload, range(110))
        for _ in range(110 - most):
            assert refused.acquire(timeout=300)
        for path in ("/", "/api/totals", "/static/base.js"):
            assert client.get(path).status_code == 200
        assert context.uploads._in_progress == most
        assert len(context.jobs._jobs) == context.settings.limits.jobs
        while context.uploads._in_progress:
            context.jobs.close()
        assert sorted(answers) == [400] * most + [429] * (110 - most)
    proves("Pages are answered while uploads wait, which are bounded", 110, "uploads")
