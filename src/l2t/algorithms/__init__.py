"""The algorithms: each finds a latent factor matrix W for a pair of domains.

>>> names()[:8]
('tca', 'itl', 'cmf', 'lsdt', 'stl', 'dip', 'sie', 'gfk')
"""

from l2t.algorithms.alignment import CORAL, SubspaceAlignment
from l2t.algorithms.base import Algorithm, BaseAlgorithm, Diagnostics, LatentFactors, parameter
from l2t.algorithms.classes import Classes, ClassesSpectrum
from l2t.algorithms.cmf import CMF
from l2t.algorithms.dip import DIP
from l2t.algorithms.gfk import GFK
from l2t.algorithms.identity import Identity
from l2t.algorithms.itl import ITL
from l2t.algorithms.jda import JDA
from l2t.algorithms.lsdt import LSDT
from l2t.algorithms.registry import PAPER, SHARED, make, make_all, names
from l2t.algorithms.sie import SIE
from l2t.algorithms.spectrum import Spectrum
from l2t.algorithms.stl import STL
from l2t.algorithms.tca import TCA

__all__ = ["CMF", "CORAL", "DIP", "GFK", "ITL", "JDA", "LSDT", "PAPER", "SHARED", "SIE", "STL"]
__all__ += ["TCA", "Algorithm", "BaseAlgorithm", "Classes", "ClassesSpectrum"]
__all__ += ["Diagnostics", "Identity", "LatentFactors", "Spectrum"]
__all__ += ["SubspaceAlignment", "make", "make_all", "names", "parameter"]
