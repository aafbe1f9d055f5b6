"""SQLite, PostgreSQL and memory keep one contract."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from l2t.experiences.store import ExperienceStore, open_store
from tests.experiences.store.contract import STORE_CHECKS


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def new_store(request, tmp_path):
    numbers = itertools.count()
    opened = []

    def new() -> ExperienceStore:
        if request.param == "memory":
            url = "memory://"
        elif request.param == "sqlite":
            url = f"sqlite:///{tmp_path}/{next(numbers)}.db"
        else:
            url = request.getfixturevalue("postgres")()
        opened.append(open_store(url))
        return opened[-1]

    yield new
    for store in opened:
        store.close()


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check, new_store):
    check(new_store)


class Forgetful(ExperienceStore):
    """A store that says it kept a run, and did not."""

    def add(self, run):
        return True


class Doubtful(ExperienceStore):
    """A store that gives no deleted array back."""

    def delete(self, **filters):
        return len({each.run_key for each in self.experiences(**filters)})


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Forgetful, "check_run_comes_back_whole"),
        (Doubtful, "check_delete_takes_what_nothing_needs"),
    ],
)
def test_contract_notices(broken, check):
    (named,) = [each for each in STORE_CHECKS if each.__name__ == check]
    with pytest.raises((AssertionError, LookupError)):
        named(lambda: broken("memory://"))


def test_examples_of_the_docstring(tmp_path: Path):
    with open_store(tmp_path / "a.db") as store:
        assert store.url == f"sqlite:///{tmp_path}/a.db"
