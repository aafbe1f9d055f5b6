"""Parquet data sets: a file, or the files of a folder, on this machine or on storage that fsspec knows.

A data set is read in chunks of rows, and its files are written one by one, each completely or not at all.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote

import numpy as np

from l2t.domains.draw import Hashes
from l2t.domains.files._columns import check_unique, missing_name
from l2t.domains.files._tables import as_frame
from l2t.domains.files.disk import check_replaceable, naming, reason, replacing, writing
from l2t.domains.files.formats import require
from l2t.exceptions import FileFormatError, MissingExtraError
from l2t.validation import check_memory

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from fsspec import AbstractFileSystem
    from pyarrow.parquet import ParquetFile

#: Endings of the names of files.
ENDINGS = (".parquet", ".pq", ".parq")
#: Endings of the names of tables that are not written in chunks.
TEXT_ENDINGS = (".csv", ".tsv")
#: Rows of a chunk are a multiple of this, which is the number of rows that a model predicts at a time.
BLOCK = 8192
#: Maximum numbers of values, and of blocks of rows, in a chunk of more than one block.
CHUNK_VALUES = 2**23
CHUNK_BLOCKS = 16
#: Bytes of a number, by its type in a file.
_WIDTHS = {"FLOAT": 4, "DOUBLE": 8, "INT32": 4, "INT64": 8}
_TEMPORARY = (
    ".l2t-",
    ".tmp",
)  # the beginning and the end of the name of a file that is being written
#: The value of a key in the name of a folder where the column has none.
_NULL_KEY = "__HIVE_DEFAULT_PARTITION__"


def is_remote(path: str) -> bool:
    """Return whether a path is a URL.

    >>> is_remote("s3://bucket/rows"), is_remote("rows/year=2024")
    (True, False)
    """
    return "://" in path


@dataclass(frozen=True)
class ParquetFiles:
    """The files of a data set.

    Attributes
    ----------
    root : str
        The absolute path or the URL of the folder, or of the only file.
    names : tuple of str
        The sorted paths of the files below the folder, with slashes; one empty name for a file.
    """

    root: str
    names: tuple[str, ...]

    @classmethod
    def find(cls, path: str | os.PathLike[str]) -> ParquetFiles:
        """Find the parquet files at a path, none if nothing is there.

        As in Spark, Dask and pyarrow, names that begin with a dot or an underscore do not count.
        """
        require("pyarrow", "parquet")
        address = os.fspath(path)
        root = address.rstrip("/") if is_remote(address) else str(Path(address).absolute())
        names = _all_files(root)
        if names == [""]:
            return cls(root, ("",))
        shown = [name for name in names if not any(part[0] in "._" for part in name.split("/"))]
        return cls(root, tuple(sorted(name for name in shown if name.lower().endswith(ENDINGS))))

    @property
    def is_file(self) -> bool:
        """Whether the data set is a file."""
        return self.names == ("",)

    @staticmethod
    def join(root: str, name: str) -> str:
        """Return the path or URL of a file."""
        return f"{root}/{name}" if name else root

    def delete_temporary(self) -> None:
        """Delete what killed processes left while they wrote to this folder."""
        first, last = _TEMPORARY
        for name in _all_files(self.root):
            if name.rpartition("/")[2].startswith(first) and name.endswith(last):
                _delete(self.join(self.root, name))


def keys_of(name: str) -> dict[str, int | str | None]:
    """Return the columns in the names of the folders of a file, as Hive and Dask write them.

    >>> keys_of("year=2024/place=New%20York/part-0.parquet")
    {'year': 2024, 'place': 'New York'}
    """
    keys: dict[str, int | str | None] = {}
    for folder in name.split("/")[:-1]:
        key, equals, value = folder.partition("=")
        if equals:
            text = unquote(value)
            whole = text.removeprefix("-").isdecimal() and str(int(text)) == text
            keys[unquote(key)] = None if text == _NULL_KEY else int(text) if whole else text
    return keys


def exists(path: str) -> bool:
    """Return whether there is a file."""
    return _all_files(path) == [""]


def footer_digest(path: str) -> str:
    """Return the sha256 of the footer of a file: its schema, and the sizes and statistics of its columns."""
    with naming(path), _opened(path) as handle:
        handle.seek(-8, os.SEEK_END)
        size = int.from_bytes(handle.read(4), "little")
        handle.seek(-8 - size, os.SEEK_END)
        return hashlib.sha256(handle.read(size)).hexdigest()


def with_keys(chunk: pa.Table, keys: Mapping[str, int | str | None]) -> pa.Table:
    """Return a chunk with the columns in the names of the folders of its file, unless it has them."""
    import pyarrow as pa

    for name, value in keys.items():
        if name not in chunk.column_names:
            chunk = chunk.append_column(name, pa.array([value] * len(chunk)))
    return chunk.replace_schema_metadata(None)


def frame_of_chunk(
    chunk: pa.Table, names: Sequence[str], keys: Mapping[str, int | str | None]
) -> pd.DataFrame:
    """Return columns of a chunk, or of the names of the folders of its file, as a frame."""
    return as_frame(with_keys(chunk, keys).select(names))


def content_hashes(chunk: pa.Table, left_out: Collection[str | None], random_state: int) -> Hashes:
    """Return a seeded hash of the content of each row, without some columns and lists."""
    import pyarrow as pa
    from pandas.util import hash_pandas_object

    fields = (field for field in chunk.schema if not pa.types.is_nested(field.type))
    names = sorted(field.name for field in fields if field.name not in left_out)
    hashes = hash_pandas_object(as_frame(chunk.select(names)), index=False).to_numpy(np.uint64)
    mask, factor = np.random.default_rng(random_state).integers(2**64, size=2, dtype=np.uint64)
    return np.asarray((hashes ^ mask) * (factor | np.uint64(1)))


def check_has(names: Iterable[str], own: Sequence[str]) -> None:
    """Raise an error for the first name that is none of a file's own columns."""
    for name in names:
        if name not in own:
            raise missing_name("column", name, own)


@contextmanager
def open_parquet(path: str) -> Iterator[ParquetFile]:
    """Open a file of a data set as a `pyarrow.parquet.ParquetFile`."""
    from pyarrow.parquet import ParquetFile

    with naming(path):
        handle = _opened(path)
    with handle:
        with naming(path):
            file = ParquetFile(handle, page_checksum_verification=True)
            check_unique(file.schema_arrow.names)
        with file:
            yield file


def chunk_rows(file: ParquetFile) -> int:
    """Return the number of rows of a chunk of an open file: whole blocks, of about 64 MiB as float64."""
    values = file.metadata.num_columns
    groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
    if n_rows := sum(group.num_rows for group in groups):  # texts may be long
        values = max(values, sum(group.total_byte_size for group in groups) // (8 * n_rows))
    n_blocks = CHUNK_VALUES // (BLOCK * max(values, 1))
    return BLOCK * int(min(max(n_blocks, 1), CHUNK_BLOCKS))


def dictionary_columns(file: ParquetFile) -> list[str]:
    """Return the columns of an open file for which a dictionary of their values saves space, as far as known.

    To try it on numbers that are all different takes most of the time of writing them.
    """
    columns = [file.metadata.schema.column(at) for at in range(file.metadata.num_columns)]
    if not file.metadata.num_row_groups:
        return [column.path for column in columns]
    group = file.metadata.row_group(0)
    chosen = []
    for at, column in enumerate(columns):
        width = _WIDTHS.get(column.physical_type)
        used = group.column(at)
        if width is None or used.total_uncompressed_size < width * used.num_values:
            chosen.append(column.path)
    return chosen


def chunks(file: ParquetFile, path: str) -> Iterator[pa.Table]:
    """Yield the rows of an open file as tables of `chunk_rows` rows, whatever its row groups are."""
    import pyarrow as pa

    size, held, n_held, n_read = chunk_rows(file), list[pa.Table](), 0, 0
    with naming(path):  # around the yield, too: what a consumer raises is not thrown in here
        for at in range(file.num_row_groups):
            check_memory("a row group", file.metadata.row_group(at).total_byte_size)
            for batch in file.iter_batches(size, row_groups=[at]):
                held.append(batch)
                n_held, n_read = n_held + batch.num_rows, n_read + batch.num_rows
                if n_held >= size:
                    table = pa.Table.from_batches(held)
                    yield table[:size]  # at most one chunk, as a batch has at most its rows
                    held = table[size:].to_batches()
                    n_held -= size
        if n_held:
            yield pa.Table.from_batches(held)
        if n_read != file.metadata.num_rows:  # no checksum covers the number of rows
            declared = file.metadata.num_rows
            raise FileFormatError(f"is damaged: it declares {declared} rows and has {n_read}")


@contextmanager
def replacing_parquet(path: str) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` on success, and make its folder."""
    try:
        if is_remote(path):
            with _replacing_remote(path) as handle:
                yield handle
            return
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with writing(Path(path)):
            check_replaceable(Path(path))
        with replacing(Path(path)) as handle:
            yield handle
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be written: {reason(error)}") from error


@contextmanager
def _replacing_remote(path: str) -> Iterator[BinaryIO]:
    """Do the same on remote storage, where renaming may be a copy within the storage."""
    system, place = _filesystem(path)
    folder = place.rpartition("/")[0]
    fresh = f"{folder}/{secrets.token_hex(8).join(_TEMPORARY)}"
    system.makedirs(folder, exist_ok=True)
    try:
        with system.open(fresh, "wb") as handle:
            yield handle
        system.mv(fresh, place)
    finally:
        if system.exists(fresh):
            system.rm_file(fresh)


def _all_files(root: str) -> list[str]:
    """Return the paths below a folder; one empty path for a file, and none where nothing is."""
    with naming(root):
        if not is_remote(root):
            if Path(root).is_file():
                return [""]
            below = (file for file in Path(root).rglob("*") if file.is_file())
            return [file.relative_to(root).as_posix() for file in below]
        system, place = _filesystem(root)
        system.invalidate_cache()
        if system.isfile(place):
            return [""]
        files = system.find(place) if system.isdir(place) else []
        return [file.removeprefix(place).strip("/") for file in files]


def _opened(path: str) -> BinaryIO:
    if is_remote(path):
        system, place = _filesystem(path)
        return system.open(place, "rb")  # type: ignore[no-any-return]
    return Path(path).open("rb")


def _delete(path: str) -> None:
    if is_remote(path):
        system, place = _filesystem(path)
        system.rm_file(place)
    else:
        Path(path).unlink(missing_ok=True)


def _filesystem(url: str) -> tuple[AbstractFileSystem, str]:
    """Return the file system of a URL, and the path on it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtraError(f"{url.partition('://')[0]}:// storage", "dask") from None
    try:
        return url_to_fs(url)  # type: ignore[no-any-return]
    except (ImportError, ValueError) as error:  # such as "Install s3fs to access S3"
        raise FileFormatError(f"cannot be opened: {error}") from None
