"""The `l2t` command, one file per group.

Heavy imports wait until a command needs them, so that help is instant.
"""

from __future__ import annotations

from l2t.interfaces.cli.commands import (  # noqa: F401  # isort: skip  (help lists commands in this order)
    everyday,
    predict,
    explain,
    experience,
    agent,
    dashboard,
    stores,
)
from l2t.interfaces.cli.commands.app import app, main

__all__ = ["app", "main"]
