"""The `l2t` command, one file a group.

Heavy imports wait until a command needs them, so that help is instant.
"""

from __future__ import annotations

from l2t.interfaces.cli.commands import dashboard, reproduce, stores, work
from l2t.interfaces.cli.commands.app import app, main

__all__ = ["app", "dashboard", "main", "reproduce", "stores", "work"]
