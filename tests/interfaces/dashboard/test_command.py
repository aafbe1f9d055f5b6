"""`l2t dashboard`, as a person types it, and the parts that need no server."""

from __future__ import annotations

import socket
import sys
import threading

from typer.testing import CliRunner

from l2t.exceptions import L2TError
from l2t.interfaces.cli import app
from l2t.interfaces.dashboard.context import Memo


def sentence(*arguments):
    """Return what `l2t` would print before it ends with exit code 1."""
    result = CliRunner().invoke(app, ["dashboard", "--no-open", *arguments])
    assert isinstance(result.exception, L2TError), result.output
    return str(result.exception)


def test_what_is_wrong_is_one_sentence(store_path, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        store = ("--store", str(store_path))
        for arguments, expected in (
            ((*store, "--port", port), f"port {port} of 127.0.0.1 is in use; choose another"),
            ((*store, "--host", "0.0.0.0", "--token", "short"), "at least 16 characters, got 5"),
            ((*store, "--root-path", "l2t"), "such as /l2t, without a trailing slash, got 'l2t'"),
            (("--store", str(tmp_path / "none.db")), "there is no store"),
        ):
            message = sentence(*arguments)
            assert expected in message
            assert "\n" not in message


def test_a_missing_extra_is_named(store_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    for name in [name for name in sys.modules if name.startswith("l2t.interfaces.dashboard.")]:
        monkeypatch.delitem(sys.modules, name)
    assert "pip install 'l2t[dashboard]'" in sentence("--store", str(store_path))


def test_a_memo_computes_once_a_state():
    state, computed = [0], []

    def compute():
        computed.append(state[0])
        return state[0]

    memo = Memo(lambda: state[0])
    threads = [threading.Thread(target=memo.get, args=("key", compute)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert computed == [0]
    state[0] = 1
    assert memo.get("key", compute) == 1
    assert memo.get("other", compute) == 1
    assert computed == [0, 1, 1]
    memo.get("slow", compute, fresh_for=1000.0)
    state[0] = 2
    assert memo.get("slow", compute, fresh_for=1000.0) == 1
    assert memo.get("key", compute) == 2
    for number in range(1000):
        memo.get(number, lambda: None)
    assert len(memo._entries) <= 256
