"""A model applied to parquet data sets: the same answers however rows are stored, and whatever is killed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import l2t
from l2t.classifiers.classifiers import TrainingSet, fit_head
from l2t.classifiers.feature_map import FeatureMap
from l2t.domains.encoding import TableEncoder
from l2t.domains.files import dataset
from l2t.domains.files.dataset import keys_of
from l2t.exceptions import FileFormatError, InvalidInputError, MissingColumnError, MissingExtraError
from l2t.prediction.model import Model
from l2t.prediction.streaming import draw_landmarks, predict_dataset

NAMES = ("a", "b", "c", "d")
ROWS = 1000


def make_model(seed=0, encoder=None, names=NAMES, classes=("x", "y", "z")):
    """Return a model with three classes of the columns a, b, c and d."""
    rng = np.random.default_rng(seed)
    codes = np.repeat([0, 1, 2], 20)
    X = 3 * rng.normal(size=(3, 4))[codes] + rng.normal(size=(60, 4))
    features = FeatureMap.of(X, None)
    head = fit_head("logistic", TrainingSet(features(X), np.arange(60), codes, 3))
    fills = X.mean(axis=0), np.median(X, axis=0)
    if encoder is not None:
        fills = None, None
    return Model(
        np.array(classes, dtype=object), names, ((features, head),), 0.7, "", *fills, encoder
    )


@pytest.fixture(scope="module")
def model():
    return make_model()


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(dataset, "BLOCK", 64)
    monkeypatch.setattr(dataset, "CHUNK_VALUES", 64 * 10)


@pytest.fixture(scope="module")
def table():
    """The rows, with columns that are no features, of types that pandas does not keep."""
    rng = np.random.default_rng(1)
    columns = {"id": pa.array(range(ROWS), pa.int32())}
    columns |= {name: pa.array(rng.normal(scale=3, size=ROWS), pa.float32()) for name in "dbac"}
    columns["tags"] = pa.array(
        [[i, None] if i % 3 else None for i in range(ROWS)], pa.list_(pa.int16())
    )
    columns["when"] = pa.array(range(ROWS), pa.timestamp("us", "UTC"))
    columns["kind"] = pa.array([["u", "v", None][i % 3] for i in range(ROWS)]).dictionary_encode()
    return pa.table(columns)


def write_parts(folder, table, n_parts=4, row_group_size=100):
    """Write a table as partitions by year and return the folder."""
    for part in range(n_parts):
        path = folder / f"year={2020 + part // 2}" / f"part-{part}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = slice(part * len(table) // n_parts, (part + 1) * len(table) // n_parts)
        options = {"row_group_size": row_group_size, "write_page_checksum": True}
        pq.write_table(table[rows], path, **options)
    return folder


def read_parts(folder):
    """Return the content of all files of an output by their names."""
    return {
        path.relative_to(folder).as_posix(): pq.read_table(path, partitioning=None)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def content(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_columns_stay_as_they_are_and_two_are_added(model, table, tmp_path):
    data = write_parts(tmp_path / "data", table)
    done = model.predict_dataset(data, tmp_path / "out")
    found = pa.concat_tables(read_parts(tmp_path / "out").values())
    assert found.drop_columns(["predicted", "probability"]).equals(table)
    X = np.column_stack([table[name] for name in NAMES])
    np.testing.assert_allclose(found["probability"], model.predict_proba(X).max(axis=1))
    assert found["predicted"].to_pylist() == model.predict(X).tolist()
    assert (done.n_files, done.n_resumed, done.n_rows) == (4, 0, ROWS)
    assert done.counts == {label: found["predicted"].to_pylist().count(label) for label in "xyz"}
    read = pd.read_parquet(tmp_path / "out")
    assert set(read["year"].astype(int)) == {2020, 2021}, "others read it as a partitioned data set"


def test_row_groups_and_chunks_change_nothing(model, table, tmp_path):
    outputs = []
    for size in (1, 37, 100, ROWS):
        data = tmp_path / f"{size}.parquet"
        pq.write_table(table, data, row_group_size=size)
        model.predict_dataset(data, tmp_path / "out" / data.name)
        outputs.append(pq.read_table(tmp_path / "out" / data.name))
    assert all(each.equals(outputs[0]) for each in outputs)


def test_processes_and_dask_write_the_same_bytes(model, table, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.undo()  # other processes have large chunks
    data = write_parts(tmp_path / "data", table)
    alone = model.predict_dataset(data, tmp_path / "alone")
    expected = content(tmp_path / "alone")
    assert len(expected) == 4
    several = model.predict_dataset(data, tmp_path / "several", n_jobs=2)
    assert content(tmp_path / "several") == expected
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options, processes=False, protocol="tcp") as cluster,
        distributed.Client(cluster) as client,
    ):
        address = cluster.scheduler_address
        cluster_result = model.predict_dataset(data, tmp_path / "dask", cluster=address)
        again = predict_dataset(model, data, tmp_path / "dask", cluster=client)
    assert content(tmp_path / "dask") == expected
    assert alone.counts == several.counts == cluster_result.counts == again.counts
    assert again.n_resumed == 4


#: Predicts a data set in small chunks, and waits when it has read some of them.
SLOW = """
import itertools
import sys

from l2t import load_model
from l2t.domains.files import dataset
from l2t.prediction import streaming

dataset.BLOCK, dataset.CHUNK_VALUES = 64, 1
chunks, numbers = streaming.chunks, itertools.count(1)

def watched(file, path):
    for chunk in chunks(file, path):
        yield chunk
        if next(numbers) == int(sys.argv[4]):
            print("waiting", flush=True)
            sys.stdin.read()

streaming.chunks = watched
load_model(sys.argv[1]).predict_dataset(sys.argv[2], sys.argv[3])
"""


@pytest.mark.integration
@pytest.mark.parametrize("whole", [False, True], ids=["folder", "file"])
def test_a_killed_run_resumes(whole, model, table, tmp_path, proves):
    """Runs are killed within and between files of four chunks, or within the only file."""
    data = write_parts(tmp_path / "data", table)
    if whole:
        data = tmp_path / "rows.parquet"
        pq.write_table(table, data)
    saved = model.save(tmp_path / "model.l2t")
    model.predict_dataset(data, tmp_path / "expected")
    expected, out = read_parts(tmp_path / "expected"), tmp_path / "out"
    finished = {}
    kills = (2, 6) if whole else (2, 5, 4, 1, 6)
    for n_chunks in kills:
        command = [sys.executable, "-c", SLOW, saved, data, out, str(n_chunks)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, **pipes, text=True) as run:
            assert run.stdout.readline() == "waiting\n"
            run.kill()
        for path in out.rglob("*.parquet"):
            assert finished.setdefault(path, path.stat().st_mtime_ns) == path.stat().st_mtime_ns
    assert len(finished) == (0 if whole else 2)
    assert model.predict_dataset(data, out).n_resumed == len(finished)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    for path in out.glob(".l2t-*.tmp") if whole else ():
        path.unlink()  # the folder of a single file may be that of others
    found = read_parts(out)
    assert found.keys() == expected.keys()
    assert all(found[name].equals(rows) for name, rows in expected.items())
    proves("A killed run of apply resumes with the same result", len(kills), "kills")


def test_another_model_other_data_and_other_files_are_refused(model, table, tmp_path):
    data, out = write_parts(tmp_path / "data", table), tmp_path / "out"
    model.predict_dataset(data, out)
    before = content(out)
    other = make_model(seed=7)
    with pytest.raises(FileFormatError, match=r"part-0.parquet: was made by another model; choose"):
        other.predict_dataset(data, out)
    with pytest.raises(FileFormatError, match="was made with another value of impute"):
        model.predict_dataset(data, out, impute="median")
    last = data / "year=2021" / "part-3.parquet"
    kept = last.read_bytes()
    pq.write_table(table[:10], last)
    with pytest.raises(
        FileFormatError, match=r"part-3.parquet: was made of a file that has changed"
    ):
        model.predict_dataset(data, out)
    last.write_bytes(kept)
    foreign = out / "notes.parquet"
    pq.write_table(table, foreign)
    with pytest.raises(FileFormatError, match=r"notes.parquet: the data have no such file"):
        model.predict_dataset(data, out)
    foreign.rename(out / "year=2020" / "part-0.parquet")
    with pytest.raises(FileFormatError, match=r"part-0.parquet: was not made by a model"):
        model.predict_dataset(data, out)
    model.predict_dataset(data, out, overwrite=True)
    assert content(out) == before
    assert other.predict_dataset(data, out, overwrite=True).n_resumed == 0
    assert content(out) != before


def test_a_model_from_its_file_is_the_same_model(model, table, tmp_path):
    data = write_parts(tmp_path / "data", table)
    model.predict_dataset(data, tmp_path / "out")
    again = l2t.load_model(model.save(tmp_path / "model.l2t"))
    assert again.predict_dataset(data, tmp_path / "out").n_resumed == 4


def test_an_error_leaves_finished_files_and_no_half(model, table, tmp_path):
    data, out = write_parts(tmp_path / "data", table), tmp_path / "out"
    third = data / "year=2021" / "part-2.parquet"
    damaged, column = bytearray(third.read_bytes()), pq.read_metadata(third).row_group(1).column(2)
    damaged[column.data_page_offset + 200] ^= 0xFF
    third.write_bytes(damaged)
    with pytest.raises(FileFormatError, match=r"data.year=2021.part-2.parquet: .*") as caught:
        model.predict_dataset(data, out)
    assert "\n" not in str(caught.value)
    assert list(read_parts(out)) == ["year=2020/part-0.parquet", "year=2020/part-1.parquet"]


def test_a_file_without_a_feature(model, table, tmp_path):
    data = write_parts(tmp_path / "data", table)
    pq.write_table(table.drop_columns("b"), data / "year=2021" / "part-3.parquet")
    with pytest.raises(MissingColumnError, match=r"part-3.parquet: has no column 'b'"):
        model.predict_dataset(data, tmp_path / "out")


def test_names_of_new_columns_are_taken(model, table, tmp_path):
    pq.write_table(table.append_column("probability", table["a"]), tmp_path / "rows.parquet")
    with pytest.raises(FileFormatError, match="must not have a column 'probability', because"):
        model.predict_dataset(tmp_path / "rows.parquet", tmp_path / "out.parquet")


def test_missing_cells(model, table, tmp_path):
    at = table.column_names.index("a")
    gaps = pa.array([None if row == 700 else row for row in range(ROWS)], pa.int64())
    pq.write_table(table.set_column(at, "a", gaps), tmp_path / "rows.parquet", row_group_size=128)
    paths = tmp_path / "rows.parquet", tmp_path / "out.parquet"
    with pytest.raises(
        FileFormatError, match="1 missing cell in column 'a', row 700; fill missing"
    ):
        model.predict_dataset(*paths)
    assert not paths[1].exists()
    model.predict_dataset(*paths, impute="mean")
    row = [model.means[0], *(table[name][700].as_py() for name in "bcd")]
    found = pq.read_table(paths[1])
    assert found["a"].null_count == 1
    expected = model.predict_proba(np.array([row]).astype(np.float32)).max()
    assert found["probability"][700].as_py() == pytest.approx(expected, rel=1e-5)


def test_features_in_the_names_of_folders(table, tmp_path):
    """The columns of an encoder, one of which every file has in its path alone."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({name: rng.normal(size=60) for name in "ab"})
    frame["place"] = rng.choice(["here", "far away"], 60)
    encoder = TableEncoder.fit([frame])
    model = make_model(encoder=encoder, names=encoder.feature_names)
    for place in ("here", "far away", "elsewhere"):
        path = tmp_path / "data" / f"place={place.replace(' ', '%20')}" / "0.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(table[:50], path)
        rows = pd.DataFrame({name: table[name][:50].to_numpy() for name in "ab"})
        expected = model.predict_proba(rows.assign(place=place)).max(axis=1)
        model.predict_dataset(path.parents[1], tmp_path / "out")
        name = path.relative_to(tmp_path / "data")
        found = pq.read_table(tmp_path / "out" / name, partitioning=None)["probability"]
        np.testing.assert_allclose(found, expected)
    with pytest.raises(InvalidInputError, match="impute must be 'median' for a model of a table"):
        model.predict_dataset(tmp_path / "data", tmp_path / "other", impute="mean")


def test_keys_of_folders():
    assert keys_of("y=07/m=-3/b=__HIVE_DEFAULT_PARTITION__/x/c=a%2Fb/p=0.parquet") == {
        "y": "07",
        "m": -3,
        "b": None,
        "c": "a/b",
    }


def test_a_model_of_arrays_takes_all_numbers(table, tmp_path):
    model = make_model(names=None)
    numbers = table.select(["d", "b", "a", "c"])
    pq.write_table(numbers.append_column("kind", table["kind"]), tmp_path / "rows.parquet")
    model.predict_dataset(tmp_path / "rows.parquet", tmp_path / "out.parquet")
    expected = model.predict(np.column_stack(list(numbers.columns)))
    assert pq.read_table(tmp_path / "out.parquet")["predicted"].to_pylist() == expected.tolist()
    pq.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(InvalidInputError, match="with the 4 features"):
        model.predict_dataset(tmp_path / "rows.parquet", tmp_path / "other.parquet")


def test_labels_keep_their_type(table, tmp_path):
    pq.write_table(table, tmp_path / "rows.parquet")
    for classes, kind in (((1, 2, 3), pa.int64()), ((0.5, 1.5, 2.5), pa.float64())):
        model = make_model(classes=classes)
        model.predict_dataset(tmp_path / "rows.parquet", tmp_path / "out.parquet", overwrite=True)
        assert pq.read_table(tmp_path / "out.parquet").schema.field("predicted").type == kind


def test_an_empty_file_and_an_empty_folder(model, table, tmp_path):
    data = write_parts(tmp_path / "data", table)
    pq.write_table(table[:0], data / "empty.parquet")
    assert model.predict_dataset(data, tmp_path / "out").n_rows == ROWS
    empty = pq.read_table(tmp_path / "out" / "empty.parquet")
    assert (len(empty), empty.column_names[-2:]) == (0, ["predicted", "probability"])
    (tmp_path / "nothing").mkdir()
    (tmp_path / "nothing" / "_metadata.parquet").touch()
    for name in ("nothing", "nowhere"):
        with pytest.raises(FileFormatError, match=f"{name}: there is no parquet file"):
            model.predict_dataset(tmp_path / name, tmp_path / "out2")


def test_the_output_is_elsewhere_and_of_the_same_kind(model, table, tmp_path):
    data = write_parts(tmp_path / "data", table)
    for output in (data, data / "out", tmp_path):
        with pytest.raises(InvalidInputError, match="output must not be in or around the data"):
            model.predict_dataset(data, output)
    with pytest.raises(InvalidInputError, match=r"must be a folder or a \.parquet file"):
        model.predict_dataset(data, tmp_path / "out.csv")
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(
        FileFormatError, match="taken: must be a folder to write to, as the data are"
    ):
        model.predict_dataset(data, tmp_path / "taken")
    assert len(content(data)) == 4


@pytest.mark.usefixtures("posix")
def test_an_output_that_cannot_be_written(model, table, tmp_path):
    data = write_parts(tmp_path / "data", table)
    (tmp_path / "file").touch()
    with pytest.raises(FileFormatError, match="cannot be written: "):
        model.predict_dataset(data, tmp_path / "file" / "out")


def test_remote_storage(model, table, memory, tmp_path):
    data = write_parts(tmp_path / "data", table)
    memory.put(str(data), "/rows", recursive=True)
    done = model.predict_dataset("memory://rows/", "memory://out")
    memory.get("/out", str(tmp_path / "fetched"), recursive=True)
    model.predict_dataset(data, tmp_path / "out")
    assert content(tmp_path / "fetched") == content(tmp_path / "out")
    memory.pipe("/out/.l2t-0.tmp", b"of a killed process")
    assert model.predict_dataset("memory://rows", "memory://out").n_resumed == done.n_files == 4
    assert len(memory.find("/out")) == 4
    one = "memory://rows/year=2020/part-0.parquet"
    assert model.predict_dataset(one, "memory://one.parquet").n_rows == 250
    with pytest.raises(FileFormatError, match=r"nosuch://rows: cannot be opened: "):
        model.predict_dataset("nosuch://rows", tmp_path / "other")


def test_remote_storage_needs_fsspec(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingExtraError, match=r"s3:// storage needs an optional package: pip"):
        model.predict_dataset("s3://bucket/rows", tmp_path / "out")


def test_landmarks_depend_on_content_alone(table, tmp_path, monkeypatch):
    monkeypatch.setattr("l2t.prediction.streaming.LANDMARKS", 50)
    labels = [f"class {row % 3}" if row % 200 == 0 else ["", None][row % 2] for row in range(ROWS)]
    table = table.append_column("label", pa.array(labels))
    shuffled = table.take(np.random.default_rng(0).permutation(ROWS))
    drawn = []
    for number, (rows, n_parts, size, seed) in enumerate(
        [(table, 4, 100, 0), (shuffled, 3, 17, 0), (table, 4, 100, 1)]
    ):
        data = tmp_path / str(number)
        for part in range(n_parts):
            data.mkdir(exist_ok=True)
            some = rows[part * ROWS // n_parts : (part + 1) * ROWS // n_parts]
            pq.write_table(some, data / f"{part}.parquet", row_group_size=size)
        draw_landmarks(data, tmp_path / "drawn.parquet", random_state=seed)
        drawn.append(pq.read_table(tmp_path / "drawn.parquet"))
    assert drawn[0].equals(drawn[1])
    assert not drawn[0]["id"].equals(drawn[2]["id"])
    for each in drawn:
        known = {row for row in range(ROWS) if row % 200 == 0}
        assert known <= set(each["id"].to_pylist())
        assert 50 <= len(each) <= 55
    hundred = table.set_column(len(table.column_names) - 1, "label", pa.array(["x"] * ROWS))
    pq.write_table(hundred, tmp_path / "labelled.parquet")
    draw_landmarks(tmp_path / "labelled.parquet", tmp_path / "drawn.parquet", label="label")
    assert pq.read_metadata(tmp_path / "drawn.parquet").num_rows == 50


def test_given_labels_are_marked(model, table, tmp_path):
    labels = [["x", " ", None, "?"][row % 4] for row in range(ROWS)]
    rows = table.drop_columns("kind").append_column("kind", pa.array(labels).dictionary_encode())
    rows = rows.append_column("seen", pa.array([row % 2 for row in range(ROWS)]))
    pq.write_table(rows, tmp_path / "rows.parquet")
    for number, (options, expected) in enumerate(
        [
            ({"label": "kind"}, [True, False, False, True]),
            ({"label": "kind", "missing": ["?"]}, [True, False, False, False]),
            ({"label": "kind", "labeled": "seen"}, [False, True, False, True]),
        ]
    ):
        model.predict_dataset(tmp_path / "rows.parquet", tmp_path / f"{number}.parquet", **options)
        found = pq.read_table(tmp_path / f"{number}.parquet")
        assert found.column_names[-3:] == ["predicted", "probability", "given"]
        assert found["given"].to_pylist() == expected * (ROWS // 4)
    with pytest.raises(
        MissingColumnError, match=r"rows.parquet: has no column 'knd'; did you mean"
    ):
        model.predict_dataset(tmp_path / "rows.parquet", tmp_path / "o.parquet", label="knd")


def test_frames_of_pandas_and_dask(model, table):
    frame = table.drop_columns("tags").to_pandas()
    found = model.predict_frame(frame)
    assert list(found.columns) == [*frame.columns, "predicted", "probability"]
    np.testing.assert_array_equal(found["predicted"], model.predict(frame))
    with pytest.raises(InvalidInputError, match="frame must not have a column 'predicted'"):
        model.predict_frame(found)
    dask = pytest.importorskip("dask.dataframe")
    parts = dask.from_pandas(frame, npartitions=3)
    lazy = model.predict_frame(parts[parts["id"] >= 500])  # the first partition has no rows
    assert lazy.dtypes.equals(lazy.compute().dtypes)
    computed = lazy.compute(scheduler="synchronous")
    np.testing.assert_array_equal(computed["predicted"], found["predicted"][500:])
    np.testing.assert_allclose(computed["probability"], found["probability"][500:])


def test_progress_is_told_in_files_or_chunks(model, table, tmp_path):
    data = write_parts(tmp_path / "data", table)
    told = []
    model.predict_dataset(data, tmp_path / "out", callback=lambda *each: told.append(each))
    names = [f"year=202{part // 2}/part-{part}.parquet" for part in range(4)]
    assert told == [(name, 4) for name in names]
    told.clear()
    one = data / names[0]
    model.predict_dataset(one, tmp_path / "one.parquet", callback=lambda *each: told.append(each))
    assert told == [("64 rows", 4), ("128 rows", 4), ("192 rows", 4), ("250 rows", 4)]
