"""Rows without end: a model applied to a parquet data set, chunk by chunk and file by file.

A file of the data set becomes a file of the same name in the output: the columns of the user, and `ANSWERS`.
It is written under a temporary name and renamed when it is complete, so that a file that is there is
finished. Its footer says which model made it of what, and the number of rows in each class; a run that was
killed resumes by it. Files do not depend on each other: processes, or the workers of a Dask cluster, read and
write them. Memory holds a row group and a chunk of rows.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from l2t.display import ANSWERS
from l2t.domains.draw import LANDMARKS, Hashes
from l2t.domains.files.dataset import (
    ENDINGS,
    TEXT_ENDINGS,
    ParquetFiles,
    check_has,
    chunk_rows,
    chunks,
    content_hashes,
    dictionary_columns,
    exists,
    footer_digest,
    frame_of_chunk,
    is_remote,
    keys_of,
    open_parquet,
    replacing_parquet,
    with_keys,
)
from l2t.domains.files.disk import naming
from l2t.domains.files.table import features_of, labelled_rows
from l2t.exceptions import FileFormatError, InvalidInputError
from l2t.typing import Array, Indices, JsonObject, JsonValue, Label, Mask
from l2t.validation import one_of

if TYPE_CHECKING:
    from typing import IO

    import pandas as pd
    import pyarrow as pa
    from distributed import Client
    from pyarrow.parquet import ParquetFile

    from l2t.prediction.model import Model

__all__ = ["DatasetPrediction", "draw_landmarks", "output_path", "predict_dataset"]
__all__ += ["predict_frame"]

#: The key of the footer under which a file says how it was made.
_FOOTER = b"l2t"


@dataclass(frozen=True)
class DatasetPrediction:
    """What `predict_dataset` wrote.

    Attributes
    ----------
    path : str
        The folder or file with the predictions.
    counts : mapping from label to int
        The number of rows that are predicted in each class.
    n_files : int
        The number of files.
    n_resumed : int
        The number of files that an earlier run had finished.
    """

    path: str
    counts: Mapping[Label, int]
    n_files: int
    n_resumed: int

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class _Written:
    """A file of the output: its name, the rows predicted in each class, and whether it was there before."""

    name: str
    counts: list[int]
    resumed: bool


@dataclass(frozen=True)
class _Job:
    """What is the same for all files; each worker of a cluster gets it once."""

    model: Model
    data: str
    output: str
    #: Options of `features_of`.
    reading: dict[str, Any]
    #: The model and the options, as the footer of a file has them.
    recipe: JsonObject
    overwrite: bool
    #: Options of `labelled_rows`; None without a column of labels.
    labels: JsonObject | None = None

    @cached_property
    def classes(self) -> Any:
        """The classes as an array of pyarrow."""
        import pyarrow as pa

        return pa.array(self.model.classes_.tolist())

    @property
    def answers(self) -> JsonObject:
        """The types of the columns that are added."""
        import pyarrow as pa

        types = dict(zip(ANSWERS, (self.classes.type, pa.float64(), pa.bool_()), strict=True))
        return types if self.labels else {name: types[name] for name in ANSWERS[:2]}

    def run(self, name: str, advance: Callable[[str], None] | None = None) -> _Written:
        """Predict the rows of a file unless that is done; `advance` is called after each chunk."""
        path = ParquetFiles.join(self.data, name)
        target = ParquetFiles.join(self.output, name)
        recipe = self.recipe | {"source": footer_digest(path)}
        if not self.overwrite and exists(target):
            return _Written(name, _counts_in(target, recipe), resumed=True)
        with open_parquet(path) as file, replacing_parquet(target) as handle:
            counts = self._predict(file, path, keys_of(name), handle, recipe, advance)
        return _Written(name, counts, resumed=False)

    def _predict(
        self,
        file: ParquetFile,
        path: str,
        keys: Mapping[str, int | str | None],
        handle: IO[bytes],
        recipe: JsonObject,
        advance: Callable[[str], None] | None,
    ) -> list[int]:
        """Write the rows of an open file with their predictions; return the number of rows in each class."""
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        schema = file.schema_arrow
        names = self._features(schema, keys, path)
        for name, kind in self.answers.items():
            schema = schema.append(pa.field(name, kind))
        counts = np.zeros(len(self.classes), dtype=np.int64)
        dictionaries = [*dictionary_columns(file), ANSWERS[0]]
        with ParquetWriter(
            handle, schema, use_dictionary=dictionaries, write_page_checksum=True
        ) as writer:
            for chunk in chunks(file, path):
                codes, probability = self._classify(chunk, names, keys, path, int(counts.sum()))
                answers = [self.classes.take(pa.array(codes)), pa.array(probability)]
                if self.labels:
                    answers.append(pa.array(self._given(chunk, path)))
                writer.write_table(pa.Table.from_arrays([*chunk.columns, *answers], schema=schema))
                counts += np.bincount(codes, minlength=len(counts))
                if advance is not None:
                    advance(f"{counts.sum():,} rows")
            made = recipe | {"counts": counts.tolist()}
            writer.add_key_value_metadata({_FOOTER: json.dumps(made)})
        return counts.tolist()

    def _features(
        self, schema: pa.Schema, keys: Mapping[str, int | str | None], path: str
    ) -> list[str]:
        """Return the columns that are the features, in the order of the model."""
        import pyarrow.types as kinds

        names, encoder = self.model.feature_names, self.model.encoder
        own = [*schema.names, *keys]
        with naming(path):
            if taken := [name for name in self.answers if name in own]:
                rule = (
                    f"must not have a column {taken[0]!r}, because the output adds one: rename it"
                )
                raise FileFormatError(rule)
            if names is None:  # of arrays
                is_number = kinds.is_integer, kinds.is_floating
                return [
                    column.name for column in schema if any(test(column.type) for test in is_number)
                ]
            names = names if encoder is None else encoder.names
            check_has(names, own)
        return list(names)

    def _given(self, chunk: pa.Table, path: str) -> Mask:
        """Return which rows have a label."""
        with naming(path):
            return labelled_rows(chunk, **(self.labels or {}))

    def _classify(
        self,
        chunk: pa.Table,
        names: list[str],
        keys: Mapping[str, int | str | None],
        path: str,
        first_row: int,
    ) -> tuple[Indices, Array]:
        """Return the code of the predicted class of each row, and its probability."""
        with naming(path):
            X = features_of(
                frame_of_chunk(chunk, names, keys),
                encoder=self.model.encoder,
                first_row=first_row,
                **self.reading,
            )
        return self.model.answer(X)


def predict_dataset(  # noqa: PLR0913
    model: Model,
    data: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    missing: Iterable[str] = (),
    impute: str | None = None,
    label: str | None = None,
    labeled: str | None = None,
    overwrite: bool = False,
    n_jobs: int = 1,
    cluster: str | Client | None = None,
    callback: Callable[[str, int], None] | None = None,
) -> DatasetPrediction:
    """Predict the rows of a parquet data set, and write them with further columns as another one.

    The columns are those of the data set, ``predicted`` and ``probability``, and ``given`` with `label`.
    Memory holds a row group and a chunk of rows, whatever the number of rows is. A run that was interrupted
    resumes: files that are finished are not touched. Row groups, processes and workers do not change the
    result.

    Parameters
    ----------
    model : Model
        The model.
    data : str or path
        A parquet file; a folder of them, with subfolders such as ``year=2024`` that are columns, too; or the
        URL of either, such as ``s3://bucket/rows``, if fsspec and its package for this storage are installed.
    output : str or path
        The folder or URL to write to, with a file for each file of `data`; for a single file also a name that
        ends in ``.parquet``.
    missing : iterable of str, default=()
        Texts of a missing feature, such as "-1".
    impute : {"mean", "median"}, optional
        What missing numbers are filled with: the mean or median of the rows that the model was fitted to. By
        default they are an error, unless the model has an encoder, which fills them.
    label : str, optional
        The column of labels, for a further column ``given``: whether the row has one.
    labeled : str, optional
        The column of 0 and 1 that says which labels count, by default those that are not empty.
    overwrite : bool, default=False
        Whether to write all files again. By default, files that this model made of the same data are kept,
        and any other files in the output are an error.
    n_jobs : int, default=1
        The number of processes; -1 for one per core. One process predicts with threads on all cores.
    cluster : str or distributed.Client, optional
        The address of a Dask scheduler, or a client. The workers read and write the files, under the same
        paths as here.
    callback : callable, optional
        Called with a text and the total number of calls, for each file, or each chunk of a single file.

    Returns
    -------
    DatasetPrediction
        The number of rows in each class, and of files.

    Raises
    ------
    FileFormatError
        A file cannot be read or written, or is not of this model and data; `MissingColumnError` if it lacks a
        feature.
    InvalidInputError
        A parameter is invalid.
    """
    from l2t.experiences.executors import Executor

    one_of("impute", impute, (None, "mean", "median"))
    if model.encoder is not None and impute == "mean":
        raise InvalidInputError("impute must be 'median' for a model of a table, got 'mean'")
    files = ParquetFiles.find(data)
    if not files.names:
        raise FileFormatError(f"{files.root}: there is no parquet file")
    target = output_path(files, os.fspath(output))
    missing = sorted(missing)
    labels = None
    if label is not None:
        labels = {"label": label, "labeled": labeled, "missing": missing}
    recipe = {"model": _content_hash(model), "missing": missing, "impute": impute, "labels": labels}
    reading = {"missing": missing, "impute": impute, "fill": _fills(model, impute)}
    there = ParquetFiles.find(target)
    _check_output(there, files, None if overwrite else recipe)
    job = _Job(model, files.root, target, reading, recipe, overwrite, labels)
    in_chunks = files.is_file and cluster is None and n_jobs == 1
    total = _n_chunks(files.root) if in_chunks else len(files.names)
    advance = None if callback is None else partial(_advance, callback, total)
    work = partial(job.run, advance=advance) if in_chunks else job.run
    counts, n_resumed = np.zeros(len(model.classes_), dtype=np.int64), 0
    for written in Executor(n_jobs, cluster).map(work, files.names):
        counts += written.counts
        n_resumed += written.resumed
        if advance is not None and not in_chunks:
            advance(written.name)
    there.delete_temporary()
    by_label = dict(zip(model.classes_.tolist(), counts.tolist(), strict=True))
    return DatasetPrediction(target, by_label, len(files.names), n_resumed)


def draw_landmarks(
    data: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    label: str | None = None,
    labeled: str | None = None,
    missing: Iterable[str] = (),
    random_state: int = 0,
) -> None:
    """Write rows of a data set to a parquet file, for `l2t.predict`: random ones, and labelled ones.

    There are at most as many of each as a target has landmarks. The data set is read once. Which rows are
    drawn depends on their content and the seed, not on how they are divided into files.

    Parameters
    ----------
    data : str or path
        The data set, as for `predict_dataset`.
    output : str or path
        The file.
    label : str, optional
        The column of labels, by default ``label`` if there is one.
    labeled : str, optional
        The column of 0 and 1 that says which labels count, by default those that are not empty.
    missing : iterable of str, default=()
        Texts that mean no label.
    random_state : int, default=0
        The seed.
    """
    import pyarrow as pa
    from pyarrow.parquet import write_table

    files = ParquetFiles.find(data)
    label, held = label or "label", list[pa.Table]()
    hashes, known = np.empty(0, dtype=np.uint64), np.empty(0, dtype=bool)
    for name in files.names:
        path = files.join(files.root, name)
        with open_parquet(path) as file:
            for chunk in chunks(file, path):
                rows = with_keys(chunk, keys_of(name))
                with naming(path):
                    hashes_of_chunk = content_hashes(rows, (label, labeled), random_state)
                    has_label = np.zeros(len(rows), dtype=bool)
                    if label in rows.column_names:
                        has_label = labelled_rows(rows, label, labeled, missing)
                hashes = np.append(hashes, hashes_of_chunk)
                known = np.append(known, has_label)
                kept = np.union1d(_first(hashes, np.ones_like(known)), _first(hashes, known))
                held = [pa.concat_tables([*held, rows], promote_options="permissive").take(kept)]
                hashes, known = hashes[kept], known[kept]
    if not held:
        raise FileFormatError(f"{files.root}: there is no parquet file with rows")
    write_table(held[0].take(np.argsort(hashes, kind="stable")), output)


def _first(hashes: Hashes, among: Mask) -> Indices:
    """Return the rows with the smallest hashes, of some."""
    rows = np.flatnonzero(among)
    return rows[np.argsort(hashes[rows], kind="stable")[:LANDMARKS]]


def predict_frame(model: Model, frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of pandas or Dask with the columns ``predicted`` and ``probability``.

    That of Dask is computed by its workers when it is asked for, partition by partition.

    Parameters
    ----------
    model : Model
        The model.
    frame : pandas or Dask DataFrame
        The rows, with the columns that the model was trained with, in any order, and others.

    Returns
    -------
    pandas or Dask DataFrame

    Raises
    ------
    InvalidInputError
        The frame lacks a column, or has one of the new ones.
    """
    if not hasattr(frame, "map_partitions"):
        return _with_answers(frame, model)
    return frame.map_partitions(_with_answers, model, meta=_with_answers(frame._meta, model))


def _with_answers(frame: pd.DataFrame, model: Model) -> pd.DataFrame:
    import pandas as pd

    if taken := [name for name in ANSWERS[:2] if name in frame.columns]:
        raise InvalidInputError(f"frame must not have a column {taken[0]!r}, which is added")
    codes, probability = np.empty(0, dtype=np.intp), np.empty(0)
    if len(frame):
        codes, probability = model.answer(frame)
    labels = pd.Series(model.classes_.tolist()).array.take(codes)
    return frame.assign(**dict(zip(ANSWERS[:2], (labels, probability), strict=True)))


def _advance(callback: Callable[[str, int], None], total: int, text: str) -> None:
    callback(text, total)


def _n_chunks(path: str) -> int:
    with open_parquet(path) as file:
        return -(-int(file.metadata.num_rows) // chunk_rows(file))


def _fills(model: Model, impute: str | None) -> dict[str, float] | list[float] | None:
    """Return what missing cells are filled with: a number for each feature, by name if it has one."""
    if model.encoder is not None:  # which fills them
        return None
    values = model.means if impute == "mean" else model.medians
    if values is None or model.feature_names is None:
        return None if values is None else values.tolist()
    return dict(zip(model.feature_names, values.tolist(), strict=True))


def _content_hash(model: Model) -> str:
    """Return the sha256 of the file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            path = model.save(Path(folder) / "model.l2t")
        except InvalidInputError as error:
            reason = str(error).partition("model.l2t: ")[2]
            raise InvalidInputError(
                f"the output names the file of its model, but {reason}"
            ) from None
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()


def output_path(files: ParquetFiles, output: str) -> str:
    """Return the absolute path or URL of the folder to write to, or the file for a single one."""
    target = output.rstrip("/") if is_remote(output) else str(Path(output).absolute())
    if target.lower().endswith(TEXT_ENDINGS):
        rule = "output must be a folder or a .parquet file, as data sets are written"
        raise InvalidInputError(f"{rule}, got {output!r}")
    folder = output.endswith("/") or (not is_remote(output) and Path(output).is_dir())
    if files.is_file and (folder or not target.lower().endswith(ENDINGS)):
        target = f"{target}/{files.root.replace(os.sep, '/').rpartition('/')[2]}"
    real = [path if is_remote(path) else os.path.realpath(path) for path in (files.root, target)]
    first, second = (f"{path.replace(os.sep, '/')}/" for path in real)
    if first.startswith(second) or second.startswith(first):
        raise InvalidInputError(f"output must not be in or around the data, got {output!r}")
    return target


def _check_output(there: ParquetFiles, files: ParquetFiles, recipe: JsonObject | None) -> None:
    """Reject files that are no part of the output, or that another model made."""
    if there.names and there.is_file != files.is_file:
        kind = "folder" if there.is_file else "file"
        raise FileFormatError(f"{there.root}: must be a {kind} to write to, as the data are")
    if foreign := sorted(set(there.names) - set(files.names)):
        path = there.join(there.root, foreign[0])
        raise FileFormatError(
            f"{path}: the data have no such file; choose another output, or delete it"
        )
    if recipe is not None and there.names:  # the others are looked at by whoever would write them
        _counts_in(there.join(there.root, there.names[0]), recipe)


def _counts_in(path: str, recipe: Mapping[str, JsonValue]) -> list[int]:
    """Return the number of rows in each class of a finished file; it must be made by a recipe."""
    with open_parquet(path) as file:
        made = json.loads((file.metadata.metadata or {}).get(_FOOTER, b"{}"))
    reasons = {
        "model": "was made by another model",
        "missing": "was made with another value of missing",
        "impute": "was made with another value of impute",
        "labels": "was made with another column of labels",
        "source": "was made of a file that has changed since",
    }
    for key, reason in reasons.items():
        if key in recipe and made.get(key) != recipe[key]:
            reason = reason if made else "was not made by a model"
            raise FileFormatError(
                f"{path}: {reason}; choose another output, or pass overwrite=True (on the command "
                "line --force)"
            )
    return list(made["counts"])
