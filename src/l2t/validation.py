"""Validation of parameters: each function returns the value, or raises an error with the violated rule."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from contextlib import suppress
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

from l2t.exceptions import InvalidInputError

T = TypeVar("T")


def whole_number(name: str, value: object, *, least: int, otherwise: str = "") -> int:
    """Return a whole number of at least `least` as an int.

    `otherwise` is added to the rule in the message, for other values that the caller accepts.

    >>> whole_number("max_rows", 1, least=2)
    Traceback (most recent call last):
    ...
    l2t.exceptions.InvalidInputError: max_rows must be a whole number of at least 2, got 1
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidInputError(
            f"{name} must be a whole number of at least {least}{otherwise}, got {value!r:.80}"
        )
    return int(value)


def real_number(
    name: str,
    value: Any,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
) -> float:
    """Return a finite number of at least `least`, above `above` and at most `most` as a float.

    >>> real_number("variance", 0.5, above=0, most=1)
    0.5
    """
    real = isinstance(value, Real) and not isinstance(value, bool)
    number = float(value) if real else math.nan
    if (
        not math.isfinite(number)
        or (least is not None and number < least)
        or (above is not None and number <= above)
        or (most is not None and number > most)
    ):
        rule = _bounds(least, above, most)
        raise InvalidInputError(f"{name} must be {rule}, got {value!r:.80}")
    return number


def _bounds(least: float | None, above: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f"a number from {least:g} to {most:g}"
    lower = f" of at least {least:g}" if least is not None else ""
    lower = f" above {above:g}" if above is not None else lower
    upper = "" if most is None else f"{' and' if lower else ' of'} at most {most:g}"
    return f"a number{lower}{upper}" if lower or upper else "a finite number"


def seed(value: object, name: str = "random_state") -> int:
    """Return the seed of a random generator as an int."""
    return whole_number(name, value, least=0)


def one_of(name: str, value: T, options: Collection[T]) -> T:
    """Return a value that is one of the options."""
    if value not in options:
        raise InvalidInputError(
            f"{name} must be one of {', '.join(map(str, options))}, got {value!r:.80}"
        )
    return value


def instance_of(name: str, value: object, kind: type[T]) -> T:
    """Return an instance of a class."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise InvalidInputError(
            f"{name} must be {article} {kind.__name__}, got {type(value).__name__}"
        )
    return value


def some_of(names: Iterable[object], most: int) -> str:
    """Return the first names, separated by commas, and how many more there are.

    >>> some_of("abcd", 2)
    'a, b and 2 more'
    """
    texts = [str(name) for name in names]
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def free_memory() -> float:
    """Return the free memory of this machine or container in bytes; inf if unknown."""
    free, group = math.inf, Path("/sys/fs/cgroup")
    with suppress(OSError, ValueError, IndexError):
        free = 1024 * int(Path("/proc/meminfo").read_text().split("MemAvailable:")[1].split()[0])
    with suppress(OSError, ValueError):  # "max" is no limit
        used = int((group / "memory.current").read_text())
        free = min(free, int((group / "memory.max").read_text()) - used)
    return free


def check_memory(name: str, needed: float) -> None:
    """Raise an error if something needs more than half of the free memory."""
    if needed > (most := free_memory() / 2):
        rule = f"must fit into half of the free memory ({most / 2**30:.1f} GiB)"
        raise InvalidInputError(f"{name} {rule}, got {needed / 2**30:.1f} GiB")
