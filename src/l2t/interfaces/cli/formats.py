"""Words that options choose from; apart, so that help need not wait for what acts on them."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Constraint", "Format", "Order", "Scaling", "Split", "Status"]


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    json = "json"
    csv = "csv"


class Scaling(StrEnum):
    """How features are scaled before anything else (`normalize`)."""

    rows = "rows"
    zscore = "zscore"
    none = "none"


class Constraint(StrEnum):
    """How W is searched (`infer`)."""

    soft = "soft"
    grassmann = "grassmann"
    sphere = "sphere"


class Split(StrEnum):
    """What may not be on both sides of a split (`learn`)."""

    pair = "pair"
    class_ = "class"


class Order(StrEnum):
    """By what experiences are listed, the newest or the largest first."""

    created_at = "created_at"
    algorithm = "algorithm"
    duration = "duration"
    improvement_ratio = "improvement_ratio"
    n_labels = "n_labels"


class Status(StrEnum):
    """How a run ended."""

    done = "done"
    failed = "failed"
