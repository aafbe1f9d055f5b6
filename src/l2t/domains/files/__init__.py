"""Domains from npz, csv, xlsx, parquet, mat and svmlight files, and to npz, csv and parquet files.

Nothing that is read can run code, and a file is written as a whole or not at all.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from l2t.domains.domain import Domain
from l2t.domains.files._columns import Names
from l2t.domains.files._disk import as_path, check_replaceable, replacing, writing
from l2t.domains.files._formats import format_to_write
from l2t.domains.files._writing import WRITTEN, write
from l2t.domains.files.preview import ColumnPreview, Preview, preview_file
from l2t.domains.files.table import Table, open_tables
from l2t.exceptions import L2TWarning
from l2t.validation import instance_of

__all__ = ["ColumnPreview", "Preview", "Table", "check_writable", "preview_file", "read_domain"]
__all__ += ["read_domains", "read_tables", "write_domain"]


def read_domain(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    features: str | Iterable[str] | None = None,
    labeled: str | None = None,
    groups: str | None = None,
    id: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    keep: str | Iterable[str] = (),
    missing: str | Iterable[str] = (),
    impute: str | None = None,
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
        The column or array with the labels. By default the column ``label`` of csv, xlsx and parquet, the
        array ``y``, ``labels`` or ``label`` of npz and mat; without it the domain has no labels.
    features : str or list of str, optional
        The feature columns, by default every column of numbers that has no other role; or the one array of
        npz and mat with the rows, by default ``X`` or ``fts``.
    labeled, groups : str, optional
        The columns or arrays that say which labels the user has (0/1 or true/false), and which rows belong
        together. npz and mat take ``labeled`` and ``groups`` where they are present.
    id, ignore, keep : str or list of str, default=()
        csv, xlsx and parquet: columns that identify rows, other columns that are no features, and columns
        that are features although they look like ids or labels.
    missing : str or list of str, default=()
        csv, xlsx and parquet: texts of a missing cell, beside "", NA, N/A, null, NaN, None and ?.
    impute : {"mean", "median", "drop"}, optional
        Fill missing numbers with the mean or the median of their column, or leave out their rows; by
        default they are an error.
    decimal, thousands, encoding : str, default=".", None and None
        csv: the marks in numbers, and the encoding: by default UTF-16 where its mark is there, else UTF-8.
    zero_based : bool, optional
        svmlight: whether features are counted from 0; by default whether the index 0 occurs.
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

    Warns
    -----
    L2TWarning
        What was imputed or left out: text, ids, and labels by a name for missing ones.

    Notes
    -----
    A missing label (an empty cell, a text of `missing`, a null, NaN, or -1 where npz holds class indices)
    becomes None; without `labeled`, the mask is then True where a label is present. A column of text whose
    values are all different is taken for an id, and so are whole numbers in a column that is called id or
    counts the rows. Numbers in a column called label, labels, class, target or y are rejected unless it is
    named by `label`, `keep` or `ignore`. Labels in csv and svmlight that all look like numbers are numbers;
    in mat and svmlight those without a fraction are int.

    Examples
    --------
    >>> import tempfile
    >>> cats = Domain([[0.0, 1.0], [2.0, 3.0]], ["tabby", "lynx"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_domain(cats, Path(folder) / "cats.csv", label="species")
    ...     read_domain(path, label="species")
    Domain('cats', 2 rows x 2 features, 2 classes)
    """
    named = (label, features, labeled, groups, id, ignore, keep, missing, impute)
    names = Names(*named, decimal, thousands, encoding)
    tables = open_tables([as_path(path)], names, zero_based=zero_based, format=format, name=name)
    return _domains(tables)[0]


def read_domains(paths: Sequence[str | os.PathLike[str]], **options: Any) -> list[Domain]:
    """Read files of the same features: one or more sources, and the target last.

    Columns are matched by name, in the order of the target; those that not every file has are left out.

    Parameters
    ----------
    paths : list of str or path
        The files.
    **options
        As for `read_domain`. At least one file must have the column `label`, and the others get no labels;
        `labeled` is a column of the last file; `zero_based` is decided once for all svmlight files, as is
        their number of features.

    Returns
    -------
    list of Domain
    """
    return _domains(read_tables(paths, **options))


def read_tables(
    paths: Sequence[str | os.PathLike[str]],
    *,
    zero_based: bool | None = None,
    each: Sequence[dict[str, Any]] | None = None,
    **options: Any,
) -> list[Table]:
    """Read files as `read_domains` does, with all columns of the user, and notes instead of warnings.

    Parameters
    ----------
    paths, zero_based, **options
        As for `read_domains`.
    each : sequence of dict, optional
        Options of one file alone, such as the names of its columns, for each file.

    Returns
    -------
    list of Table
    """
    names = Names(**options) if each is None else [Names(**options, **own) for own in each]
    return open_tables([as_path(path) for path in paths], names, zero_based=zero_based)


def _domains(tables: Iterable[Table]) -> list[Domain]:
    """Return the domains, and warn of what was adjusted or left out."""
    for table in tables:
        for note in table.notes:
            warnings.warn(note, L2TWarning, stacklevel=4)
    return [table.domain for table in tables]


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
    target = as_path(path)
    chosen = format_to_write(target, WRITTEN, format)
    with writing(target), replacing(target) as handle:
        write(domain, handle, label, chosen)
    return target


def check_writable(path: str | os.PathLike[str], formats: tuple[str, ...] | None = WRITTEN) -> None:
    """Reject a path that cannot be written, or is of none of some formats, before anything is computed."""
    target = as_path(path)
    with writing(target):
        if formats is not None:
            format_to_write(target, formats)
        check_replaceable(target)
