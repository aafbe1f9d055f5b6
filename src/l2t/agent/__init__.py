"""The agent: suggestions of what to transfer, and their outcomes, in a store."""

from __future__ import annotations

from l2t.agent.agent import Agent
from l2t.agent.suggestion import Suggestion

__all__ = ["Agent", "Suggestion"]
