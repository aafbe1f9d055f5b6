"""Choice: the expectation of each candidate, with the evidence of the labelled target rows weighed in.

Each side counts by its precision,

``log l = (e / s_e² + r / s_r²) / (1 / s_e² + 1 / s_r²)``

with the forecast e and its spread s_e, and r the log ratio that the labelled rows suggest, with its error
s_r.
"""

from __future__ import annotations

from l2t.inference.evidence import Evidence
from l2t.reflection.forecast import Expectation

__all__ = ["CERTAIN", "weigh"]

#: What to expect of not transferring.
CERTAIN = Expectation(0.0, 0.0)


def weigh(expected: Expectation, evidence: Evidence | None) -> Expectation:
    """Return the expectation after the evidence of the labelled rows."""
    if evidence is None or expected.spread == 0:
        return expected
    ours, theirs = expected.spread**-2, evidence.error**-2
    mean = (ours * expected.mean + theirs * evidence.log_ratio) / (ours + theirs)
    return Expectation(float(mean), float((ours + theirs) ** -0.5))
