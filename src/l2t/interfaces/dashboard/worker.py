"""A worker process: it looks at an upload, predicts, asks the agent, ranks sources or measures a curve.

It takes one request from standard input and writes events to standard output, a line of JSON each. Standard
input stays open while the server lives, and the worker ends with it. numpy is imported after the limit on
memory is set.
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

#: The module of each kind of work, and its function.
_WORK = {kind: ("work", kind) for kind in ("ask", "rank", "curve")}
_WORK |= {kind: ("predicting", kind) for kind in ("check", "predict")}
_WORK |= {"read": ("reading", "read_upload"), "example": ("reading", "write_example")}
#: How libraries say that there is no memory left, beside MemoryError.
_NO_MEMORY = ("failed to map segment", "annot allocate memory", "out of memory")


def main() -> None:
    """Do the work of the request on standard input."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # whatever a library prints is no event

    def report(event: str, **content: Any) -> None:
        events.write(json.dumps({"event": event} | content, allow_nan=False) + "\n")

    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_server, daemon=True).start()
    size = request.pop("memory")
    _limit(size)
    try:
        module, name = _WORK[request.pop("kind")]
        work = getattr(import_module(f"l2t.interfaces.dashboard.{module}"), name)
        report("result", result=work(request, report))
    except Exception as error:
        message, unexpected = " ".join(str(error).split()), not isinstance(error, L2TError)
        if isinstance(error, MemoryError) or any(sign in message for sign in _NO_MEMORY):
            message = f"it needs more memory than the {size / 2**30:.3g} GiB that it may use"
        elif unexpected:
            message = f"it failed: {type(error).__name__}: {message}"[:300]
        if unexpected:
            traceback.print_exc()
        report("error", error=message, unexpected=unexpected)


def _end_with_server() -> None:
    os.read(0, 1)
    os._exit(1)


def _limit(size: int) -> None:
    """Limit the memory, let the server go first, and be the first to end where the system has no memory."""
    with suppress(ImportError):  # on Windows; its time is limited all the same
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.nice(5)
    with suppress(OSError):  # not Linux
        Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    main()
