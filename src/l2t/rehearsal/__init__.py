"""Rehearsal: some of the known classes play the target, others the source, and candidates are tried."""

from l2t.rehearsal.plays import Play, draw_plays
from l2t.rehearsal.rehearsal import Rehearsal, rehearse

__all__ = ["Play", "Rehearsal", "draw_plays", "rehearse"]
