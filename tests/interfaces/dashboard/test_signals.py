"""A dashboard that is ended in the midst of work leaves neither a process nor a file behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="/proc is Linux's"),
]


def processes(folder):
    """Return the processes whose temporary files are in a folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"TMPDIR={folder}".encode() in each.read_bytes().split(b"\0"):
                found.append(int(each.parent.name))
        except OSError:  # it has ended, or is another's
            pass
    return found


def wait_for(condition):
    """Wait for a condition, as long as it takes on a busy machine."""
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_no_process_and_no_upload_stays(number, store_path, tmp_path, proves):
    command = [sys.executable, "-m", "l2t", "dashboard", "--store", str(store_path)]
    with subprocess.Popen(
        [*command, "--port", "0", "--no-open"],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        # Who is started by nohup passes on that it is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    ) as dashboard:
        port = int(re.search(r":(\d+)/", dashboard.stderr.readline())[1])
        with socket.create_connection(("127.0.0.1", port)) as slow:
            head = (
                "POST /api/uploads?name=a.csv HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999"
            )
            slow.sendall(f"{head}\r\n\r\na,b\n1,2\n".encode())
            wait_for(lambda: any(tmp_path.rglob("uploads/*.csv")))
            curve = urllib.request.Request(
                f"http://127.0.0.1:{port}/api/learning-curves", method="POST"
            )
            with urllib.request.urlopen(curve) as begun:
                assert json.load(begun)["state"] == "running"
            assert len(processes(tmp_path)) >= 3, "the dashboard, a worker, and who cleans up"
            dashboard.send_signal(number)
            message = dashboard.stderr.read()
    assert dashboard.returncode == (-number if number == signal.SIGKILL else 0)
    assert "Traceback" not in message
    wait_for(lambda: not processes(tmp_path) and not any(tmp_path.iterdir()))
    proves(
        f"A signal ends a dashboard with all its processes and uploads: {number.name}", 1, "signals"
    )


def test_a_worker_ends_with_its_server(tmp_path):
    """The request is there, but nobody waits for the result."""
    command = [sys.executable, "-P", "-m", "l2t.interfaces.dashboard.worker"]
    request = {"kind": "read", "memory": 2**32, "path": "none.csv", "limits": {}, "options": {}}
    reply = subprocess.run(
        command, input=json.dumps(request) + "\n", capture_output=True, text=True, cwd=tmp_path
    )
    assert (reply.returncode, reply.stdout) == (1, "")
