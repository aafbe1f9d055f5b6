"""The files of a command: checks of outputs, inputs as domains, and notes on them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from l2t.domains import KnownClasses, Preparation, Table, prepare, read_tables
from l2t.domains.domain import position_note
from l2t.domains.files import check_writable
from l2t.domains.files.dataset import TEXT_ENDINGS, ParquetFiles, is_remote
from l2t.domains.files.disk import reading as file_errors
from l2t.domains.files.formats import format_to_read
from l2t.exceptions import FileFormatError, InvalidInputError
from l2t.experiences import open_store
from l2t.experiences.store.address import Address
from l2t.interfaces.cli.output import print_note
from l2t.typing import Array, JsonObject

if TYPE_CHECKING:
    from l2t.prediction import Model

_FORMATS = {"domain": ("npz", "csv", "parquet"), "table": ("csv", "parquet")}
TABULAR = ("csv", "xlsx", "parquet")
_ENDINGS = {"figure": (".png", ".svg", ".pdf"), "matrix": (".npy",)}


def check_outputs(
    *outputs: tuple[Path | None, str],
    inputs: Iterable[str | Path | None] = (),
    store: str | None = None,
    force: bool,
) -> None:
    """Raise an error if an output is an input, a store or another output, cannot be written, or exists.

    The kind of an output is "domain", "table", "figure", "matrix" or anything else.
    """
    kept = {_file_id(path) for path in inputs if path is not None}
    if store is not None and (file := Address.of(store).path) is not None:
        kept.add(_file_id(file))
    for output, kind in outputs:
        if output is None:
            continue
        if (place := _file_id(output)) in kept:
            raise InvalidInputError(
                f"an output must not replace an input or another output, got {str(output)!r}"
            )
        if not force and output.is_file():
            raise InvalidInputError(f"{output} exists; use --force to replace it")
        endings = _ENDINGS.get(kind)
        if endings is not None and output.suffix.lower() not in endings:
            must = f"a {kind} must end in {', '.join(endings)}"
            raise InvalidInputError(f"{must}, got {output.name!r}")
        check_writable(output, _FORMATS.get(kind))
        kept.add(place)


def free_path(name: str) -> Path:
    """Return a path that does not exist yet: the name, or the name with a number."""
    path, number = Path(name), 1
    while path.exists():
        number += 1
        path = Path(name).with_stem(f"{Path(name).stem}-{number}")
    return path


def _file_id(path: str | Path) -> object:
    """Return a value that is equal for two paths of the same file, hard links included."""
    try:
        status = Path(path).stat()
        return status.st_dev, status.st_ino
    except OSError:
        return os.path.realpath(path)


def read_files(
    paths: Sequence[Path], reading: JsonObject, quiet: bool, seed: int = 0
) -> list[Table]:
    """Return the files of a command, sources first, and print notes on what was adjusted.

    If the last one is a folder, a parquet data set, some of its rows represent it.
    """
    if paths[-1].is_dir():
        from l2t.prediction.streaming import draw_landmarks

        with TemporaryDirectory() as folder:
            drawn = Path(folder) / f"{paths[-1].resolve().name}.parquet"
            roles = {name: reading[name] for name in ("label", "labeled", "missing")}
            draw_landmarks(paths[-1], drawn, **roles, random_state=seed)
            return read_files([*paths[:-1], drawn], reading, quiet)
    tables = read_tables(paths, **reading)
    for table in tables:
        for note in table.notes:
            print_note(f"note: {note}", quiet)
    return tables


def read_features(path: Path, model: Model, reading: JsonObject, quiet: bool) -> Table:
    """Return a file with the features of a model, missing cells imputed with those of its target."""
    if model.encoder is not None:
        with file_errors(path):
            if format_to_read(path) not in TABULAR:
                raise FileFormatError(
                    "must be a csv, xlsx or parquet file: the model makes features of a table's columns"
                )
        wanted = {"features": model.encoder.names, "encode": True, "encoder": model.encoder}
        return read_files([path], reading | wanted, quiet)[0]
    features = model.feature_names
    with file_errors(path):
        named = features is not None and format_to_read(path) in TABULAR
    fill = {"mean": model.means, "drop": None}.get(reading["impute"], model.medians)
    values: Array | dict[str, float] | None = fill
    if features is not None and fill is not None:
        values = dict(zip(features, fill, strict=True))
    wanted = {"features": features if named else None, "fill": values}
    table = read_files([path], reading | wanted, quiet)[0]
    if features is not None and table.domain.feature_names is None:
        print_note(f"note: {path}: {position_note('the model', 'this file')}", quiet)
    return table


def check_dataset(data: Path, output: Path | None, impute: str | None, suggest: int) -> None:
    """Reject options that need all rows of a target that is a data set, and an output in its place."""
    from l2t.prediction.streaming import output_path

    if impute in ("mean", "drop"):
        raise InvalidInputError(f"impute must be 'median' for a data set, got {impute!r}")
    if suggest:
        raise InvalidInputError(f"suggest must be 0 for a data set, got {suggest}")
    if output is not None:
        output_path(ParquetFiles.find(data), str(output))


def is_read_in_chunks(rows: str, output: str, model: Model, impute: str | None) -> bool:
    """Return whether rows are read in chunks: those of a data set, or of a file if no option needs all."""
    if is_remote(rows) or Path(rows).is_dir():
        return True
    with file_errors(Path(rows)):
        is_parquet = format_to_read(Path(rows)) == "parquet"
    needs_all = impute == "drop" or (impute == "mean" and model.encoder is not None)
    needs_all |= model.feature_names is None  # then ids are recognized by all of their values
    if is_remote(output) and not is_parquet:
        raise InvalidInputError(
            f"output must be a local file for a table like {rows}, got {output!r}"
        )
    return is_parquet and not needs_all and not output.lower().endswith(TEXT_ENDINGS)


def read_pair(
    source: Path, target: Path, *, reading: JsonObject, how: str, quiet: bool
) -> tuple[dict[str, Table], Preparation]:
    """Return the source and the target as read, and prepared, and print notes on what looks wrong."""
    first, second = read_files([source, target], reading, quiet)
    label = reading["label"]
    for table in (first, second):
        if label is not None and table.domain.y is None:
            print_note(
                f"note: {table.path} has no column {label!r}, so none of its labels are known",
                quiet,
            )
    note_order([first, second], quiet)
    return {"source": first, "target": second}, prepare(first.domain, second.domain, how)


def note_order(
    tables: Sequence[Table], quiet: bool, *, always: bool = False, hint: str = ""
) -> None:
    """Print a note if files look swapped: every row of the last one, the target, has a label.

    A note is printed `always`, as for a prediction, where such a target is unusual, or if a source has fewer.
    """
    *sources, target = tables
    if not target.labelled.labeled_rows(default=False).all():
        return
    question = f"the target comes last{hint}: is the order right?"
    for table in sources:
        is_labelled = table.labelled.labeled_rows(default=False)
        if not is_labelled.all():
            count = f"{int(is_labelled.sum())} of its {len(is_labelled)} rows"
            words = f"{table.path} has labels for {count}, {target.path} for all"
            print_note(f"note: {words}; {question}", quiet)
            return
    if always:
        print_note(f"note: every row of {target.path} has a label; {question}", quiet)


def note_preparation(prepared: Preparation, how: str, quiet: bool) -> None:
    """Print how data were prepared, and why, if that was chosen automatically."""
    if how == "auto":
        print_note(f"prepared: {prepared.reason}; same as --normalize {prepared.how}", quiet)


def known_classes(url: str | None, n_features: int, quiet: bool) -> KnownClasses | None:
    """Return the classes of a store's labelled targets with this number of features."""
    if url is None:
        return None
    with open_store(url, create=False) as store:
        known = KnownClasses.of(store, n_features)
    if not known.n_classes:
        print_note(f"note: the store has no labelled target with {n_features} features", quiet)
    return known


def shown_url(url: str) -> str:
    """Return the URL of a store without its password."""
    address = Address.of(url)
    return address.without_password if address.kind == "postgresql" else url
