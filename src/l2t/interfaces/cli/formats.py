"""How results are printed; apart, so that help need not wait for what prints them."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Format"]


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"
    csv = "csv"
