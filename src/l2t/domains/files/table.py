"""A file as it was read: the user's own rows and columns, and the domain in them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from l2t.domains.domain import Domain
from l2t.domains.files import _csv, _tables
from l2t.domains.files._columns import Columns
from l2t.domains.files._disk import as_path, replacing, writing
from l2t.domains.files._formats import check_format, format_to_write
from l2t.exceptions import InvalidInputError
from l2t.typing import AnyArray

__all__ = ["Table"]

_WRITERS = {"csv": _csv.write_frame, "parquet": _tables.write_frame}


@dataclass(frozen=True, eq=False)
class Table:
    """A file as it was read.

    Attributes
    ----------
    path : Path
        The file.
    domain : Domain
        The features and labels in it.
    roles : Columns
        Which columns are features, label, mask, groups and ids; the others are passed through.
    notes : tuple of str
        What was adjusted or left out, one sentence each.
    """

    path: Path
    domain: Domain
    roles: Columns
    notes: tuple[str, ...] = ()
    _frame: Any = None

    @cached_property
    def frame(self) -> Any:
        """All columns of the file as a DataFrame, in their order, with one row per row of the domain."""
        return _tables.frame_of(self.domain, "label") if self._frame is None else self._frame

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        features: AnyArray | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the user's own columns to a csv or parquet file, as a whole or not at all.

        `features` of shape (n, u) become ``x0``, ``x1``, ... in the place of those of the file; `columns` by
        name are added at the end.
        """
        target = as_path(path)
        with writing(target):
            format = format_to_write(target)
            check_format(format, tuple(_WRITERS))
            self.check_free(columns or ())
            frame = self.frame if features is None else self._with(features)
            with replacing(target) as handle:
                _WRITERS[format](frame.assign(**columns or {}), handle)

    def check_free(self, names: Iterable[str]) -> None:
        """Reject names of new columns that the file has already."""
        for name in names:
            if name in self.frame.columns:
                raise InvalidInputError(
                    f"{self.path}: must not have a column {name!r}, which the output adds: rename it"
                )

    @property
    def labelled(self) -> Domain:
        """The domain, all labels of which count as given where there is no mask."""
        domain = self.domain
        if domain.y is None or domain.labeled is not None:
            return domain
        given = np.ones(len(domain), dtype=bool)
        rest: Any = {role: getattr(domain, role) for role in ("groups", "name", "feature_names")}
        return Domain(domain.X, domain.y, labeled=given, **rest)

    def _with(self, features: AnyArray) -> Any:
        """Return the frame with other features, where the first one of the file was."""
        import pandas as pd

        own, old = list(self.frame.columns), set(self.roles.features)
        at = next(place for place, name in enumerate(own) if name in old)
        after = [name for name in own[at:] if name not in old]
        prefix = "x"
        while any(f"{prefix}{i}" in (*own[:at], *after) for i in range(features.shape[1])):
            prefix += "_"
        names = [f"{prefix}{i}" for i in range(features.shape[1])]
        moved = pd.DataFrame(features, columns=names, index=self.frame.index)
        return pd.concat([self.frame[own[:at]], moved, self.frame[after]], axis="columns")
