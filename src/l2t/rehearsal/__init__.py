"""Rehearsal: candidates are tried on known classes, some of which play the target."""

from l2t.rehearsal.plays import Play, draw_plays
from l2t.rehearsal.rehearsal import Rehearsal, rehearse

__all__ = ["Play", "Rehearsal", "draw_plays", "rehearse"]
