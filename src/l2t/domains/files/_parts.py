"""What the caller named in a file, and what a reader found under those names."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.exceptions import FileFormatError, InvalidInputError

__all__ = ["MAX_BYTES", "Names", "Parts", "listed", "nearest", "option", "refuse_large"]

#: A file whose content would need more than this in memory is refused before it is unpacked.
MAX_BYTES = 8 * 2**30

_SHOWN = 12


@dataclass(frozen=True)
class Names:
    """Columns or arrays by their part in the domain; None leaves the choice to the format."""

    label: str | None = None
    features: tuple[str, ...] | None = None
    labeled: str | None = None
    groups: str | None = None
    ignore: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        label: str | None,
        features: str | Iterable[str] | None,
        labeled: str | None,
        groups: str | None,
        ignore: str | Iterable[str],
    ) -> Names:
        """Check the names a caller gave."""
        for parameter, value in (("label", label), ("labeled", labeled), ("groups", groups)):
            if value is not None and not isinstance(value, str):
                raise InvalidInputError(f"{parameter} must be a name, got {value!r}")
        left_out = (ignore,) if isinstance(ignore, str) else tuple(ignore)
        if not all(isinstance(name, str) for name in left_out):
            raise InvalidInputError(f"ignore must be names, got {ignore!r:.80}")
        if features is None:
            return cls(label, None, labeled, groups, left_out)
        chosen = (features,) if isinstance(features, str) else tuple(features)
        if not chosen or not all(isinstance(name, str) for name in chosen):
            raise InvalidInputError(f"features must be one or more names, got {features!r:.80}")
        if len(set(chosen)) < len(chosen):
            raise InvalidInputError("features must be distinct names, got one more than once")
        return cls(label, chosen, labeled, groups, left_out)

    def check_for(self, format: str) -> None:
        """Refuse names that mean nothing in a format."""
        if format in ("npz", "mat") and self.features is not None and len(self.features) > 1:
            raise InvalidInputError(
                f"features must be the name of one array in {format} files, "
                f"got {self.features!r:.80}"
            )
        if format not in ("csv", "parquet") and self.ignore:
            raise InvalidInputError(
                f"ignore is for the columns of csv and parquet files, got {self.ignore!r:.80}"
            )
        if format == "svmlight":
            for field in fields(self):
                if (value := getattr(self, field.name)) not in (None, ()):
                    raise InvalidInputError(
                        f"{field.name} cannot be chosen in svmlight files, which name nothing, "
                        f"got {value!r:.80}"
                    )


@dataclass(frozen=True)
class Parts:
    """What a file holds: the arguments of `Domain` but for the name."""

    X: Any
    y: npt.NDArray[Any] | None = None
    labeled: npt.NDArray[np.bool_] | None = None
    groups: npt.NDArray[Any] | None = None
    feature_names: tuple[str, ...] | None = None


def refuse_large(size: int) -> None:
    """Refuse what a small file may well claim, or pack, but nobody can mean."""
    if size > MAX_BYTES:
        raise FileFormatError(
            f"says it unpacks to {size / 2**30:.3g} GiB, of at most {MAX_BYTES / 2**30:.3g} GiB"
        )


def option(name: str, value: str) -> str:
    """Return how a parameter is given in Python and on the command line.

    >>> print(option("label", "my digits"))
    label='my digits' (on the command line --label 'my digits')
    """
    return f"{name}={value!r:.80} (on the command line --{name} {shlex.quote(value):.80})"


def nearest(name: str, names: Sequence[str]) -> str:
    """Return a question where a name looks like another one.

    >>> nearest("Digit", ["x", "digit"])
    "; did you mean 'digit'?"
    """
    folded = {each.casefold(): each for each in reversed(names)}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.75)
    return f"; did you mean {folded[close[0]]!r:.80}?" if close else ""


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence, cut where there are very many."""
    told = [repr(name)[:60] for name in names]
    if len(told) > _SHOWN:  # labels are often last
        told = [*told[: _SHOWN // 2], "...", *told[-_SHOWN // 2 :]]
        return f"{', '.join(told)} ({len(names)} in all)"
    return ", ".join(told) or "none"
