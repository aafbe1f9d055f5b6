"""Domains from files and back: npz, csv, parquet, mat and svmlight.

One reader and one writer a format, behind two functions. A reader says which rows, labels, mask and
groups a file holds; the `Domain` that is made of them checks the values. Whatever is wrong with a
file is said in one sentence that names it, nothing that is read can run code, and a file is written
whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

from l2t.domains.domain import Domain
from l2t.domains.files import _csv, _mat, _npz, _parquet, _svmlight
from l2t.domains.files._detect import check_format, format_to_read, format_to_write
from l2t.domains.files._disk import check_replaceable, reading, replacing, writing
from l2t.domains.files._parts import Names, Parts
from l2t.exceptions import InvalidInputError

__all__ = ["check_writable", "read_domain", "write_domain"]

_READERS: dict[str, Callable[[Path, Names], Parts]] = {
    "npz": _npz.read,
    "csv": _csv.read,
    "parquet": _parquet.read,
    "mat": _mat.read,
    "svmlight": _svmlight.read,
}
_WRITERS: dict[str, Callable[[Domain, BinaryIO, str], None]] = {
    "npz": _npz.write,
    "csv": _csv.write,
    "parquet": _parquet.write,
    "mat": _mat.write,
    "svmlight": _svmlight.write,
}


def read_domain(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    features: str | Iterable[str] | None = None,
    labeled: str | None = None,
    groups: str | None = None,
    ignore: str | Iterable[str] = (),
    name: str | None = None,
    format: str | None = None,
) -> Domain:
    """Read a domain from a file.

    Parameters
    ----------
    path : str or path
        The file.
    label : str, optional
        The column or array with the labels. By default the column ``label`` of csv and parquet, the
        array ``y`` of npz and mat (mat: else ``labels`` or ``label``); without it the domain has no
        labels.
    features : str or list of str, optional
        csv and parquet: the feature columns; by default every column that has no other part. npz
        and mat: the one array with the rows, by default ``X`` (mat: else ``fts``, else the only
        matrix).
    labeled : str, optional
        The column or array that says which labels the user has (0/1 or true/false). npz and mat
        take ``labeled`` where it is present; in csv and parquet the column must be named.
    groups : str, optional
        The column or array of groups, found like `labeled`.
    ignore : str or list of str
        csv and parquet: columns to leave out where they are there, such as an identifier.
    name : str, optional
        The name of the domain, by default the file's without its ending.
    format : {"npz", "csv", "parquet", "mat", "svmlight"}, optional
        By default told by the content, and for text and damaged files by the ending.

    Raises
    ------
    FileFormatError
        The file is absent, unreadable or does not hold a domain; a `MissingColumnError` where it has
        no column or array of a name given.
    MissingExtraError
        The file is parquet and pyarrow is not installed.

    Notes
    -----
    A label that is missing (an empty cell, a null, NaN, or -1 where npz holds class indices)
    becomes None. Without a `labeled` column, such a file says by that which labels it has: its mask
    is True where a label is present.

    A first column that numbers the rows is left out where pandas wrote it as an index, and refused
    where it has a name: name the features, or say `ignore`.

    csv and svmlight keep neither float32 nor the difference between ``"1"`` and ``1``: numbers
    come back as float64 with exactly the same values, labels that all look like numbers as numbers.
    In mat and svmlight files, float labels without a fraction come back as int.

    Examples
    --------
    >>> import tempfile
    >>> cats = Domain([[0.0, 1.0], [2.0, 3.0]], ["tabby", "lynx"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_domain(cats, Path(folder) / "cats.csv", label="species")
    ...     read_domain(path, label="species")
    Domain('cats', 2 rows x 2 features, 2 classes)
    """
    source = _path(path)
    names = Names.of(label=label, features=features, labeled=labeled, groups=groups, ignore=ignore)
    with reading(source):
        chosen = format_to_read(source) if format is None else format
    check_format(chosen)
    names.check_for(chosen)
    with reading(source):
        parts = _READERS[chosen](source, names)
        return Domain(
            parts.X,
            parts.y,
            labeled=parts.labeled,
            groups=parts.groups,
            name=source.stem if name is None else name,
            feature_names=parts.feature_names,
        )


def write_domain(
    domain: Domain,
    path: str | os.PathLike[str],
    *,
    label: str = "label",
    format: str | None = None,
) -> Path:
    """Write a domain to a file, whole or not at all, and return the path.

    Parameters
    ----------
    domain : Domain
        What to write.
    path : str or path
        The file; one that exists is replaced.
    label : str
        The name of the label column in csv and parquet; npz and mat always call it ``y``.
    format : {"npz", "csv", "parquet", "mat", "svmlight"}, optional
        By default told by the ending.

    Raises
    ------
    InvalidInputError
        The format cannot hold this domain, or the ending tells no format.
    FileFormatError
        The file cannot be written.

    Notes
    -----
    npz and parquet keep everything but the name of the domain. csv and parquet columns are the
    feature names (or ``x0`` ...) and the label, then ``labeled`` and ``groups`` where the domain has
    them. svmlight holds features and numeric labels alone; a domain with more is refused rather than
    cut down.
    """
    if not isinstance(domain, Domain):
        raise InvalidInputError(f"domain must be a Domain, got {type(domain).__name__}")
    target = _path(path)
    chosen = format_to_write(target) if format is None else format
    check_format(chosen)
    with writing(target), replacing(target) as handle:
        _WRITERS[chosen](domain, handle, label)
    return target


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that `write_domain` would refuse, before there is anything to write."""
    target = _path(path)
    with writing(target):
        format_to_write(target)
        check_replaceable(target)


def _path(path: object) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise InvalidInputError(f"path must be a str or a path, got {type(path).__name__}")
    return Path(path)
