"""Tables for docs/results, written next to the command that makes them."""

from __future__ import annotations

from l2t.interfaces.cli.results.inference import write_default, write_inference
from l2t.interfaces.cli.results.office_caltech import write_office_caltech
from l2t.interfaces.cli.results.reflection import write_reflection

__all__ = ["write_default", "write_inference", "write_office_caltech", "write_reflection"]
