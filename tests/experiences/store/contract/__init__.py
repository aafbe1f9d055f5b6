"""The contract of an experience store, as checks on small random runs.

Each check takes a function that opens a new, empty store; `test_contract.py` runs all of them on every
database.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.experiences.store.contract import adding, agents, changing, reading
from tests.experiences.store.contract.runs import Open, assert_same_run, random_run

__all__ = ["STORE_CHECKS", "assert_same_run", "random_run"]

STORE_CHECKS: tuple[Callable[[Open], None], ...] = tuple(
    getattr(module, name)
    for module in (adding, reading, changing, agents)
    for name in module.__all__
    if name.startswith("check_")
)
