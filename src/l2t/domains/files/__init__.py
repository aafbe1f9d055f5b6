"""Reading domains from npz, csv, xlsx, parquet, mat and svmlight files, and writing npz, csv and parquet.

Reading a file never runs code from it, and an error while writing leaves no partial file.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from l2t.domains.domain import Domain
from l2t.domains.encoding import TableEncoder
from l2t.domains.files._columns import ReadOptions
from l2t.domains.files._writing import WRITTEN, write
from l2t.domains.files.disk import as_path, check_replaceable, replacing, writing
from l2t.domains.files.formats import format_to_write
from l2t.domains.files.preview import ColumnPreview, Preview, preview_file
from l2t.domains.files.table import Table, open_tables
from l2t.exceptions import L2TWarning
from l2t.validation import instance_of

__all__ = ["ColumnPreview", "Preview", "Table", "check_writable", "preview_file", "read_domain"]
__all__ += ["read_domains", "read_tables", "write_domain"]


def read_domain(  # noqa: PLR0913
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
        The file; csv and svmlight files may be compressed by gzip or zip.
    label : str, optional
        The column or array of labels. By default the column ``label`` of csv, xlsx and parquet, or the array
        ``y``, ``labels`` or ``label`` of npz and mat; without it the domain has no labels.
    features : str or list of str, optional
        csv, xlsx and parquet: the feature columns, by default every numeric column without another role. npz
        and mat: the array of features, by default ``X`` or ``fts``.
    labeled : str, optional
        The column or array that marks the labels the user has (0/1 or true/false), by default the array
        ``labeled`` of npz and mat if it exists.
    groups : str, optional
        The column or array of groups, by default the array ``groups`` of npz and mat if it exists.
    id : str or list of str, default=()
        csv, xlsx and parquet: columns that identify rows.
    ignore : str or list of str, default=()
        csv, xlsx and parquet: other columns that are not features.
    keep : str or list of str, default=()
        csv, xlsx and parquet: columns that are features although they look like ids or labels.
    missing : str or list of str, default=()
        Texts of a missing label or feature, such as "NA" or "-1". A feature is also missing where it is
        empty, NA, N/A, null, NaN, None or ?. Those of npz, mat and svmlight are numbers, to which this does
        not apply.
    impute : {"mean", "median", "drop"}, optional
        How to treat missing numbers: fill them with the mean or median of their column, or drop their rows.
        By default they are an error.
    decimal : str, default="."
        csv: the decimal mark.
    thousands : str, optional
        csv: the thousands separator.
    encoding : str, optional
        csv: the encoding, by default UTF-16 if the file begins with its byte order mark, else UTF-8.
    zero_based : bool, optional
        svmlight: whether feature indices start at 0; by default whether the index 0 occurs.
    name : str, optional
        The name of the domain, by default the file name without extension.
    format : {"npz", "csv", "xlsx", "parquet", "mat", "svmlight"}, optional
        The format, by default detected from the content, and for text and damaged files from the extension.

    Returns
    -------
    Domain
        The features, labels, mask and groups of the file.

    Raises
    ------
    FileFormatError
        If the file does not exist, cannot be read or does not hold a domain; `MissingColumnError` if it
        does not have a column or array that was given.
    MissingExtraError
        If the file is parquet or xlsx, and pyarrow or openpyxl is not installed.

    Warns
    -----
    L2TWarning
        If cells were imputed, columns of text or ids left out, or labels such as "NA" are classes.

    Notes
    -----
    A missing label (an empty cell or blank text, a label in `missing`, a null, NaN, or -1 where npz holds
    class indices) becomes None; without `labeled`, the mask is then True where a label is present. A text
    column with distinct values is an id, and so are distinct whole numbers in a column named id or one that
    counts the rows. A numeric column named label, labels, class, target or y is an error unless `label`,
    `keep` or `ignore` names it; a column y or target is a feature if `label` names another column. Features
    of npz and mat files have names if the file has an array of texts ``feature_names``.

    Labels in csv and svmlight that all look like numbers become numbers; in mat and svmlight those without a
    fraction become int. This is decided by the known labels of all files that are read together: if one of
    them is text, all are. 1, 1.0 and "1" are one label, spelled as in the last file.

    Examples
    --------
    >>> import tempfile
    >>> cats = Domain([[0.0, 1.0], [2.0, 3.0]], ["tabby", "lynx"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_domain(cats, Path(folder) / "cats.csv", label="species")
    ...     read_domain(path, label="species")
    Domain('cats', 2 rows x 2 features, 2 classes)
    """
    options = ReadOptions(
        label=label,
        features=features,
        labeled=labeled,
        groups=groups,
        id=id,
        ignore=ignore,
        keep=keep,
        missing=missing,
        impute=impute,
        decimal=decimal,
        thousands=thousands,
        encoding=encoding,
    )
    tables = open_tables([as_path(path)], options, zero_based=zero_based, format=format, name=name)
    return _domains(tables)[0]


def read_domains(paths: Sequence[str | os.PathLike[str]], **options: Any) -> list[Domain]:
    """Read files with the same features: one or more sources, and the target last.

    Columns are matched by name, in the order of the target; those that not every file has are left out. If
    not all files have names of columns, those of the others are matched by position, with a warning.

    Parameters
    ----------
    paths : list of str or path
        The files.
    **options
        The parameters of `read_domain` except `name` and `format`. At least one file must have the column
        `label`; a file without it gets no labels. `labeled` is a column of the last file. All svmlight files
        get the same `zero_based` and number of features.

    Returns
    -------
    list of Domain
        One domain per file, in the order of `paths`.
    """
    return _domains(read_tables(paths, **options))


def read_tables(
    paths: Sequence[str | os.PathLike[str]],
    *,
    zero_based: bool | None = None,
    per_file: Sequence[dict[str, Any]] | None = None,
    encoder: TableEncoder | None = None,
    **options: Any,
) -> list[Table]:
    """Read files as `read_domains` does, with all columns of each file, and notes instead of warnings.

    Parameters
    ----------
    paths : list of str or path
        The files.
    zero_based : bool, optional
        As for `read_domain`, for all files.
    per_file : sequence of dict, optional
        Further options for each file, such as the names of its columns.
    encoder : TableEncoder, optional
        With ``encode=True``, the encoder of a model; by default one is fitted to all files.
    **options
        The options for all files, as for `read_domains`; and ``encode=True`` to make features of columns
        that are not numbers, and of missing cells, with ``text_encoder`` as in `TableEncoder.fit`.

    Returns
    -------
    list of Table
        One table per file, in the order of `paths`.
    """
    files = [as_path(path) for path in paths]
    if per_file is None:
        return open_tables(files, ReadOptions(**options), zero_based=zero_based, encoder=encoder)
    file_options = [ReadOptions(**options, **more) for more in per_file]
    return open_tables(files, file_options, zero_based=zero_based, encoder=encoder)


def _domains(tables: Iterable[Table]) -> list[Domain]:
    """Return the domains of tables, and issue their notes as warnings."""
    for table in tables:
        for note in table.notes:
            warnings.warn(note, L2TWarning, stacklevel=4)
    return [table.domain for table in tables]


def write_domain(
    domain: Domain, path: str | os.PathLike[str], *, label: str = "label", format: str | None = None
) -> Path:
    """Write a domain to a file; on an error no file is written.

    Parameters
    ----------
    domain : Domain
        The domain to write.
    path : str or path
        The file; an existing one is replaced.
    label : str, default="label"
        The name of the label column in csv and parquet; in npz it is always ``y``.
    format : {"npz", "csv", "parquet"}, optional
        The format, by default that of the file extension.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InvalidInputError
        If the format is unknown or cannot hold this domain.
    FileFormatError
        If the file cannot be written.

    Notes
    -----
    csv and parquet have one column per feature (``x0``, ... without names), then the label, ``labeled`` and
    ``groups`` if the domain has them. npz has the array ``X``, and if the domain has them ``y`` (indices of
    ``classes``), ``labeled``, ``groups`` and ``feature_names``. npz and parquet keep the dtype of X.
    """
    instance_of("domain", domain, Domain)
    target = as_path(path)
    chosen = format_to_write(target, WRITTEN, format)
    with writing(target), replacing(target) as handle:
        write(domain, handle, label, chosen)
    return target


def check_writable(path: str | os.PathLike[str], formats: tuple[str, ...] | None = WRITTEN) -> None:
    """Reject a path that cannot be written or has none of the formats; None allows any format."""
    target = as_path(path)
    with writing(target):
        if formats is not None:
            format_to_write(target, formats)
        check_replaceable(target)
