"""The command line: each command parses, calls one library function and formats.

Heavy modules are imported when a command needs them, so that help is instant.
"""

from __future__ import annotations

# Help lists commands in this order.
from l2t.interfaces.cli.commands import predict, everyday, explain, experience, agent, stores  # noqa: F401  # isort: skip
from l2t.interfaces.cli.commands.app import app, main

__all__ = ["app", "main"]
