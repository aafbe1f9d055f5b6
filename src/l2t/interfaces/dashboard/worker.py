"""A worker process: it reads an upload, predicts, asks the agent, ranks sources or measures a curve.

It reads one request from standard input and writes events to standard output, one line of JSON each. Standard
input stays open while the server runs; when it closes, the worker exits. numpy is imported after the memory
limit is set.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from l2t.exceptions import L2TError

#: The module and function of each kind of job.
_WORK = {kind: ("work", kind) for kind in ("ask", "rank", "curve")}
_WORK |= {kind: ("predicting", kind) for kind in ("check", "predict", "label")}
_WORK |= {"read": ("reading", "read_upload"), "example": ("reading", "write_example")}
#: Messages of libraries that are out of memory, beside MemoryError.
_NO_MEMORY = ("failed to map segment", "annot allocate memory", "out of memory")


def main() -> None:
    """Run the job of the request on standard input."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # output of libraries goes to standard error

    def report(event: str, **content: Any) -> None:
        events.write(json.dumps({"event": event} | content, allow_nan=False) + "\n")

    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_exit_with_server, daemon=True).start()
    size = request.pop("memory")
    _set_limits(size)
    try:
        module, name = _WORK[request.pop("kind")]
        work = getattr(import_module(f"l2t.interfaces.dashboard.{module}"), name)
        report("result", result=work(request, report))
    except Exception as error:
        message, unexpected = " ".join(str(error).split()), not isinstance(error, L2TError)
        if isinstance(error, MemoryError) or any(sign in message for sign in _NO_MEMORY):
            message = f"the job needs more memory than the limit of {size / 2**30:.3g} GiB"
        elif unexpected:
            message = f"the job failed: {type(error).__name__}: {message}"[:300]
        if unexpected:
            traceback.print_exc()
        report("error", error=message, unexpected=unexpected)


def _exit_with_server() -> None:
    os.read(0, 1)
    os._exit(1)


def _set_limits(size: int) -> None:
    """Limit the memory, lower the priority, and be the first process to be killed if out of memory."""
    with suppress(ImportError):  # Windows has no limits but that on time
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.nice(5)
    with suppress(OSError):  # not Linux
        Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    main()
