"""Domains from npz, csv, xlsx, parquet, mat and svmlight files, and to npz, csv and parquet files.

Here are the roles of columns and arrays, and one sentence that names the file where something is wrong.
Nothing that is read can run code, and a file is written as a whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, Any

from l2t.domains.domain import Domain
from l2t.domains.files import _arrays, _csv, _tables
from l2t.domains.files._columns import Names
from l2t.domains.files._disk import check_replaceable, reading, replacing, writing
from l2t.domains.files._formats import check_format, format_to_read, format_to_write
from l2t.exceptions import FileFormatError, InvalidInputError, MissingColumnError
from l2t.validation import instance_of

__all__ = ["check_writable", "read_domain", "read_domains", "write_domain"]

_READERS: dict[str, Callable[[Path, Names], dict[str, Any]]] = {
    "npz": _arrays.read_npz,
    "csv": _csv.read,
    "xlsx": _tables.read_xlsx,
    "parquet": _tables.read_parquet,
    "mat": _arrays.read_mat,
}
_WRITERS: dict[str, Callable[[Domain, IO[bytes], str], None]] = {
    "npz": _arrays.write_npz,
    "csv": _csv.write,
    "parquet": _tables.write_parquet,
}


def read_domain(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    features: str | Iterable[str] | None = None,
    labeled: str | None = None,
    groups: str | None = None,
    ignore: str | Iterable[str] = (),
    decimal: str = ".",
    thousands: str | None = None,
    encoding: str | None = None,
    zero_based: bool | None = None,
    name: str | None = None,
    format: str | None = None,
) -> Domain:
    """Read a domain from a file.

    Parameters
    ----------
    path : str or path
        The file; csv and svmlight may be compressed by gzip or zip.
    label : str, optional
        The column or array with the labels. By default the column ``label`` of csv, xlsx and parquet,
        the array ``y``, ``labels`` or ``label`` of npz and mat; without it the domain has no labels.
    features : str or list of str, optional
        csv, xlsx and parquet: the feature columns; by default every column that has no other role. npz
        and mat: the one array with the rows, by default ``X`` or ``fts``.
    labeled : str, optional
        The column or array that says which labels the user has (0/1 or true/false). npz and mat
        take ``labeled`` where it is present; in csv, xlsx and parquet the column must be named.
    groups : str, optional
        The column or array of groups, found like `labeled`.
    ignore : str or list of str, default=()
        csv, xlsx and parquet: columns to leave out where they exist, such as an identifier.
    decimal, thousands, encoding : str, default=".", None and None
        csv: the decimal mark and the separator of thousands in feature columns; the encoding, by default
        UTF-16 where the file begins with its mark, else UTF-8.
    zero_based : bool, optional
        svmlight: whether the first feature has the index 0 rather than 1; by default whether that
        index occurs.
    name : str, optional
        The name of the domain, by default the file's without its ending.
    format : {"npz", "csv", "xlsx", "parquet", "mat", "svmlight"}, optional
        By default found from the content, and for text and damaged files from the ending.

    Returns
    -------
    Domain

    Raises
    ------
    FileFormatError
        The file is absent, unreadable or does not hold a domain; a `MissingColumnError` where it has
        no column or array of a name given.
    MissingExtraError
        The file is parquet or xlsx, and pyarrow or openpyxl is not installed.

    Notes
    -----
    A missing label (an empty cell, a null, NaN, or -1 where npz holds class indices) becomes None; without
    `labeled`, the mask is then True where a label is present. A first column that numbers the rows is left
    out where pandas wrote it as an index, and rejected where it has a name: use `features` or `ignore`.

    From csv and svmlight, numbers come back as float64, and labels that all look like numbers as numbers.
    From mat and svmlight, float labels without a fraction come back as int.

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
    names = Names(label, features, labeled, groups, ignore, decimal, thousands, encoding)
    chosen = _format(source, format, names)
    parts = _arrays.read_svmlight([source], zero_based)[0] if chosen == "svmlight" else None
    with reading(source):
        parts = parts or _READERS[chosen](source, names)
        return Domain(**parts, name=source.stem if name is None else name)


def read_domains(
    paths: Sequence[str | os.PathLike[str]],
    *,
    label: str | None = None,
    labeled: str | None = None,
    zero_based: bool | None = None,
    **options: Any,
) -> list[Domain]:
    """Read files of the same features: one or more sources, and the target last.

    Parameters
    ----------
    paths : list of str or path
        The files.
    label : str, optional
        As for `read_domain`; at least one of the files must have it, and the others get no labels.
    labeled : str, optional
        The column or array of the last file that says which of its labels the user has.
    zero_based : bool, optional
        As for `read_domain`, decided once for all svmlight files, as is their number of features.
    **options
        The other parameters of `read_domain`, the same for all files.

    Returns
    -------
    list of Domain
    """
    sources = [_path(path) for path in paths]
    names = Names(label, labeled=labeled, **options)
    sparse = [source for source in sources if _format(source, None, names) == "svmlight"]
    parts = dict(zip(sparse, _arrays.read_svmlight(sparse, zero_based), strict=True))
    domains, absent = [], []
    for source in sources:
        mask = labeled if source is sources[-1] else None
        if source in parts:
            with reading(source):
                domains.append(Domain(**parts[source], name=source.stem))
            continue
        try:
            domain = read_domain(source, label=label, labeled=mask, **options)
        except MissingColumnError as error:
            if label is None or mask is not None:
                raise
            absent.append(error)
            try:
                domain = read_domain(source, **options)
            except FileFormatError:  # the column has another name: say so, not what follows from it
                raise error from None
        domains.append(domain)
    if len(absent) == len(sources):
        raise absent[0]
    return domains


def write_domain(
    domain: Domain, path: str | os.PathLike[str], *, label: str = "label", format: str | None = None
) -> Path:
    """Write a domain to a file, as a whole or not at all.

    Parameters
    ----------
    domain : Domain
        What to write.
    path : str or path
        The file; one that exists is replaced.
    label : str, default="label"
        The name of the label column in csv and parquet; npz always calls it ``y``.
    format : {"npz", "csv", "parquet"}, optional
        By default that of the ending.

    Returns
    -------
    Path

    Raises
    ------
    InvalidInputError, FileFormatError
        The format cannot hold this domain or is unknown; the file cannot be written.

    Notes
    -----
    npz and parquet keep everything but the name of the domain. csv and parquet have the columns of the
    features (or ``x0`` ...) and the label, then ``labeled`` and ``groups`` where there are some.
    """
    instance_of("domain", domain, Domain)
    target = _path(path)
    chosen = format_to_write(target) if format is None else format
    check_format(chosen, tuple(_WRITERS))
    with writing(target), replacing(target) as handle:
        _WRITERS[chosen](domain, handle, label)
    return target


def check_writable(path: str | os.PathLike[str]) -> None:
    """Reject a path that `write_domain` would reject, before there is anything to write."""
    target = _path(path)
    with writing(target):
        check_format(format_to_write(target), tuple(_WRITERS))
        check_replaceable(target)


def _path(path: object) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise InvalidInputError(f"path must be a str or a path, got {type(path).__name__}")
    return Path(path)


def _format(source: Path, format: str | None, names: Names) -> str:
    if format is None:
        with reading(source):
            format = format_to_read(source)
    check_format(format)
    names.check_for(format)
    return format
