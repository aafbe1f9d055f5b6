"""Domains and pairs: what a transfer is between."""

from __future__ import annotations

from l2t.domains.domain import Domain
from l2t.domains.embedded import digits, mnist
from l2t.domains.files import read_domain, read_domains, write_domain
from l2t.domains.known import KnownClasses
from l2t.domains.pair import DomainPair
from l2t.domains.preparation import Preparation, normalize, prepare
from l2t.domains.sampling import PairSampler

__all__ = ["Domain", "DomainPair", "KnownClasses", "PairSampler", "Preparation", "digits", "mnist"]
__all__ += ["normalize", "prepare", "read_domain", "read_domains", "write_domain"]
