"""The base algorithms: each gives a latent factor matrix W for a pair of domains.

>>> names()[:8]
('tca', 'itl', 'cmf', 'lsdt', 'stl', 'dip', 'sie', 'gfk')
"""

from __future__ import annotations

from l2t.algorithms.base import Algorithm, BaseAlgorithm, Diagnostics, LatentFactors
from l2t.algorithms.cmf import CMF
from l2t.algorithms.dip import DIP
from l2t.algorithms.gfk import GFK
from l2t.algorithms.itl import ITL
from l2t.algorithms.lsdt import LSDT
from l2t.algorithms.registry import make, make_all, names
from l2t.algorithms.sie import SIE
from l2t.algorithms.stl import STL
from l2t.algorithms.tca import TCA

__all__ = [
    "CMF",
    "DIP",
    "GFK",
    "ITL",
    "LSDT",
    "SIE",
    "STL",
    "TCA",
    "Algorithm",
    "BaseAlgorithm",
    "Diagnostics",
    "LatentFactors",
    "make",
    "make_all",
    "names",
]
