"""Rehearsal: candidates are evaluated on tasks in which known classes take the roles of source and target."""

from l2t.rehearsal.plays import Play, draw_plays
from l2t.rehearsal.rehearsal import Rehearsal, rehearse

__all__ = ["Play", "Rehearsal", "draw_plays", "rehearse"]
