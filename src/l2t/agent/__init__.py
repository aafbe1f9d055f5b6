"""The agent: online learning from the outcomes of its suggestions."""

from __future__ import annotations

from l2t.agent.adopting import adopt
from l2t.agent.agent import Agent
from l2t.agent.suggestion import Suggestion
from l2t.experiences import FunctionVersion

__all__ = ["Agent", "FunctionVersion", "Suggestion", "adopt"]
