"""A worker process: it looks at an upload, predicts, asks the agent, ranks sources or measures a curve.

It takes one request from standard input and writes events to standard output, a line of JSON each. numpy is
imported after the limit on memory is set.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from typing import Any

from l2t.exceptions import L2TError

#: The module of each kind of work, and its function.
_WORK = {kind: ("work", kind) for kind in ("ask", "rank", "curve")}
_WORK |= {kind: ("predicting", kind) for kind in ("check", "predict")}
_WORK |= {"read": ("reading", "read_upload"), "example": ("reading", "write_example")}


def main() -> None:
    """Do the work of the request on standard input."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # whatever a library prints is no event

    def report(event: str, **content: Any) -> None:
        events.write(json.dumps({"event": event} | content, allow_nan=False) + "\n")

    request = json.load(sys.stdin)
    size = request.pop("memory")
    _limit_memory(size)
    try:
        module, name = _WORK[request.pop("kind")]
        work = getattr(import_module(f"l2t.interfaces.dashboard.{module}"), name)
        report("result", result=work(request, report))
    except L2TError as error:
        report("error", error=" ".join(str(error).split()), unexpected=False)
    except MemoryError:
        limit = f"{size / 2**30:g} GiB"
        report("error", error=f"it needs more memory than its {limit}", unexpected=False)
    except Exception as error:
        traceback.print_exc()
        # A library that cannot be imported for lack of memory does not say why.
        hint = ", often for lack of memory" if isinstance(error, ImportError) else ""
        message = f"it failed{hint}: {type(error).__name__}: {error}"
        report("error", error=" ".join(message.split())[:300], unexpected=True)


def _limit_memory(size: int) -> None:
    with suppress(ImportError):  # on Windows; its time is limited all the same
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
