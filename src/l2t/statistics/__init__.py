"""Pair statistics: the inputs of the reflection function for a pair and a W."""

from l2t.statistics.bank import KernelBank
from l2t.statistics.discriminability import mutual_share
from l2t.statistics.pair_statistics import PairStatistics, pair_statistics

__all__ = ["KernelBank", "PairStatistics", "mutual_share", "pair_statistics"]
