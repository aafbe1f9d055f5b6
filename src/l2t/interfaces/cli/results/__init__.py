"""Tables for docs/results, written next to the command that makes them."""

from __future__ import annotations

from l2t.interfaces.cli.results.inference import write_inference, write_shipped
from l2t.interfaces.cli.results.office_caltech import write_office_caltech
from l2t.interfaces.cli.results.paper import write_paper
from l2t.interfaces.cli.results.reflection import write_reflection

__all__ = [
    "write_inference",
    "write_office_caltech",
    "write_paper",
    "write_reflection",
    "write_shipped",
]
