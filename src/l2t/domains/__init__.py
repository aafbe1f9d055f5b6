"""Domains and pairs of domains: the data of a transfer."""

from l2t.domains.domain import Domain
from l2t.domains.embedded import digits, mnist
from l2t.domains.files import Table, read_domain, read_domains, read_tables, write_domain
from l2t.domains.known import KnownClasses
from l2t.domains.pair import DomainPair
from l2t.domains.preparation import Preparation, normalize, prepare
from l2t.domains.sampling import PairSampler

__all__ = ["Domain", "DomainPair", "KnownClasses", "PairSampler", "Preparation", "Table", "digits"]
__all__ += ["mnist", "normalize", "prepare", "read_domain", "read_domains", "read_tables"]
__all__ += ["write_domain"]
