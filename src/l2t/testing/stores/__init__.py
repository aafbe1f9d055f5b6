"""The contract of an experience store, as checks on small random runs.

Each check takes a function that opens a new, empty store, and raises AssertionError where the contract is
broken. They need no test framework; with pytest::

    @pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
    def test_contract(check):
        check(lambda: open_store("memory://"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from l2t.exceptions import InvalidInputError
from l2t.testing.stores import adding, changing, functions, reading
from l2t.testing.stores.runs import Open, assert_same_run, random_run

__all__ = ["STORE_CHECKS", "assert_same_run", "check_store", "random_run"]

STORE_CHECKS: tuple[Callable[[Open], None], ...] = (
    adding.check_new_store_is_empty,
    adding.check_run_comes_back_whole,
    adding.check_each_run_is_kept_once,
    adding.check_runs_are_kept_together,
    adding.check_failed_run_is_an_experience,
    adding.check_names_belong_to_runs,
    adding.check_threads,
    adding.check_pickled_store_is_the_same,
    adding.check_closed_store_opens_again,
    adding.check_what_cannot_be_kept_changes_nothing,
    reading.check_experiences_tell_the_run,
    reading.check_keys_of_many,
    reading.check_filters,
    reading.check_order_and_pages,
    reading.check_bad_questions,
    reading.check_targets,
    changing.check_reading_while_writing,
    changing.check_delete_takes_what_nothing_needs,
    changing.check_export_and_merge,
    functions.check_asked_run_is_completed_once,
    functions.check_function_versions_are_kept,
    functions.check_runs_are_used_once,
    functions.check_next_version_is_won_once,
    functions.check_functions_travel,
)


def check_store(open: Open, *, skip: Iterable[str] = ()) -> None:
    """Run every check of the contract; `skip` names those that do not apply, with good reason."""
    left_out = set(skip)
    unknown = left_out - {check.__name__ for check in STORE_CHECKS}
    if unknown:
        raise InvalidInputError(f"skip must name checks, got {', '.join(sorted(unknown))}")
    for check in STORE_CHECKS:
        if check.__name__ not in left_out:
            check(open)
