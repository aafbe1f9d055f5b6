"""Rehearsal: candidates are tried on known classes, some of which play the target."""

from l2t.rehearsal.plays import Play, draw_plays
from l2t.rehearsal.rehearsal import MutualShare, Rehearsal, known_neighbours, rehearse

__all__ = ["MutualShare", "Play", "Rehearsal", "draw_plays", "known_neighbours", "rehearse"]
