"""What a worker process does: read an upload, transfer, ask, rank sources, measure a learning curve.

It takes one request from standard input and writes events to standard output, a line of JSON each. numpy is
imported only after the limit on memory is in force.
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

__all__ = ["main"]

#: Where each kind of work is; imported only when it is asked for.
_WORK = {
    "read": ("reading", "read_upload"),
    "transfer": ("work", "transfer"),
    "ask": ("work", "ask"),
    "rank": ("work", "rank"),
    "curve": ("work", "curve"),
}


def main() -> None:
    """Do what standard input asks for."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # whatever a library prints is no event

    def tell(event: str, **content: Any) -> None:
        events.write(json.dumps({"event": event} | content, allow_nan=False) + "\n")

    request = json.load(sys.stdin)
    size = request.pop("memory")
    _limit_memory(size)
    try:
        module, name = _WORK[request.pop("kind")]
        work = getattr(import_module(f"l2t.interfaces.dashboard.{module}"), name)
        tell("result", result=work(request, tell))
    except L2TError as error:
        tell("error", error=" ".join(str(error).split()), unexpected=False)
    except MemoryError:
        tell("error", error=f"it needs more memory than its {size / 2**30:g} GiB", unexpected=False)
    except Exception as error:
        traceback.print_exc()
        # Libraries that find no memory cannot be imported, and do not say why.
        hint = ", often for lack of memory" if isinstance(error, ImportError) else ""
        told = f"it failed{hint}: {type(error).__name__}: {error}"
        tell("error", error=" ".join(told.split())[:300], unexpected=True)


def _limit_memory(size: int) -> None:
    with suppress(ImportError):  # on Windows; its time is limited all the same
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
