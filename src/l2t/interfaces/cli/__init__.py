"""The command line: each command parses, calls one library function and formats."""

from __future__ import annotations

from l2t.interfaces.cli.commands import app, main

__all__ = ["app", "main"]
