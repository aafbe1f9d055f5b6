"""The `l2t` command, one file a group.

Heavy imports wait until a command needs them, so that help is instant.
"""

from __future__ import annotations

from l2t.interfaces.cli.commands import (  # isort: skip  (help lists commands in this order)
    demo,
    everyday,
    experience,
    agent,
    dashboard,
    stores,
)
from l2t.interfaces.cli.commands.app import app, main

__all__ = [
    "agent",
    "app",
    "dashboard",
    "demo",
    "everyday",
    "experience",
    "main",
    "stores",
]
