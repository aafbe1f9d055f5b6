"""Functions as files: exact to the bit, and one sentence for whatever is wrong."""

from __future__ import annotations

import copy
import json
import os
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from l2t.exceptions import FileFormatError, InvalidInputError, L2TError
from l2t.reflection import ReflectionFunction, files, load_reflection

ARRAYS = {
    "beta",
    "calibration.slope",
    "calibration.offset",
    "calibration.quantiles",
    "lessons.theta",
    "lessons.gradient",
    "lessons.hessian",
    "lessons.units",
}
NUMBERS = {
    "lambda",
    "mu",
    "b",
    "c",
    "kernels.first",
    "kernels.last",
    "kernels.step",
    "lessons.gamma",
    "lessons.huber",
}
WHOLES = {"schema", "n_neighbors", "calibration.n_pairs", "lessons.weight"}
OTHERS = {
    "kernels",
    "q_mode",
    "label_range",
    "calibration",
    "calibration.n_labels",
    "lessons",
    "lessons.components",
    "training",
}
FIELDS = sorted(ARRAYS | NUMBERS | WHOLES | OTHERS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "function.json"


@pytest.fixture(scope="module")
def valid(learned, tmp_path_factory):
    """The content of a good file."""
    where = learned.save(tmp_path_factory.mktemp("valid") / "function.json")
    return json.loads(where.read_text())


def changed(content, field, value):
    """Return the content with another value of a field."""
    found = copy.deepcopy(content)
    *outer, last = field.split(".")
    place = found
    for name in outer:
        place = place[name]
    place[last] = value
    return found


def without(content, field):
    found = copy.deepcopy(content)
    *outer, last = field.split(".")
    place = found
    for name in outer:
        place = place[name]
    del place[last]
    return found


def value_of(content, field):
    for name in field.split("."):
        content = content[name]
    return content


def refused(path, content):
    """Return what is said about a file that cannot be loaded, without its name: one line."""
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(FileFormatError) as told:
        load_reflection(path)
    said = str(told.value)
    assert said.startswith(f"{path}: ")
    assert "\n" not in said
    assert len(said) < 500
    return said.removeprefix(f"{path}: ")


def field_refused(path, content, field):
    said = refused(path, content)
    assert said.startswith("is no reflection function: ")
    assert field.split(".")[-1] in said
    return said.removeprefix("is no reflection function: ")


def assert_same(first, second):
    for name in ("lambda_", "mu", "b", "kernels", "n_neighbors", "q_mode", "c"):
        assert getattr(first, name) == getattr(second, name)
    assert first.label_range == second.label_range
    assert dict(first.training) == dict(second.training)
    assert first.beta.tobytes() == second.beta.tobytes()
    assert (first.calibration is None) == (second.calibration is None)
    if first.calibration is not None:
        assert first.calibration.n_pairs == second.calibration.n_pairs
        for name in ("n_labels", "slope", "offset", "quantiles"):
            one, two = (getattr(f.calibration, name) for f in (first, second))
            assert one.tobytes() == two.tobytes()
    assert (first.lessons is None) == (second.lessons is None)
    if first.lessons is not None:
        assert first.lessons.settings == second.lessons.settings
        assert first.lessons.units == second.lessons.units
        assert first.lessons.memory.weight == second.lessons.memory.weight
        for name in ("theta", "gradient", "hessian"):
            one, two = (getattr(f.lessons.memory, name) for f in (first, second))
            assert one.tobytes() == two.tobytes()


def test_what_is_saved_comes_back_to_the_bit(learned, world, path, rng):
    assert learned.save(path) == path
    loaded = load_reflection(path)
    assert_same(loaded, learned)
    again = load_reflection(loaded.save(path.with_name("again.json")))
    assert path.read_bytes() == path.with_name("again.json").read_bytes()
    statistics = world.statistics(rng)
    for n_labels in (None, 3, 20):
        assert again.predict(statistics, n_labels) == learned.predict(statistics, n_labels)
        assert again.interval(statistics, n_labels) == learned.interval(statistics, n_labels)


def test_learning_goes_on_after_loading(learned, world, path):
    loaded = load_reflection(learned.save(path))
    batch = world.experiences(10, seed=5)
    first, second = learned.partial_fit(batch), loaded.partial_fit(batch)
    np.testing.assert_allclose(first.beta, second.beta, rtol=1e-9)
    assert first.training["experiences"] == second.training["experiences"]
    assert_same(load_reflection(second.save(path)), second)


def test_a_function_by_hand_comes_back(world, path):
    by_hand = replace(world.truth, c=-0.25, q_mode="diag", b=-0.0)
    loaded = load_reflection(str(by_hand.save(str(path))))
    assert_same(loaded, by_hand)
    assert np.signbit(loaded.b)
    assert loaded.calibration is None
    assert loaded.lessons is None


@given(
    numbers=st.lists(st.floats(0, allow_infinity=False), min_size=8, max_size=8),
    c=st.floats(-3, 0, exclude_min=True),
)
@settings(max_examples=40)
def test_any_numbers_come_back(world, tmp_path, numbers, c):
    lambda_, mu, b, *beta = numbers
    function = ReflectionFunction(beta, lambda_, mu, -b, kernels=world.kernels, c=c)
    assert_same(load_reflection(function.save(tmp_path / "any.json")), function)


def test_the_list_of_fields_is_whole(valid):
    found = {
        name if inner is None else f"{name}.{inner}"
        for name, value in valid.items()
        for inner in [None, *(value if isinstance(value, dict) and name != "training" else [])]
    }
    assert found == set(FIELDS)


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_that_is_missing(valid, path, field):
    assert field_refused(path, without(valid, field), field) == f"{field} is missing"


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_of_another_type(valid, path, field):
    for value in ("text", 1.5, True, [["a"]], {"x": 1}, [None], None):
        expected = value_of(valid, field)
        if value is None and field in ("calibration", "lessons"):
            continue  # null says that there is none
        if type(value) is type(expected) and field in ("training", "q_mode"):
            continue  # any object, and a text that `test_values_that_cannot_be` has
        if isinstance(value, float) and field in NUMBERS:
            continue
        field_refused(path, changed(valid, field, value), field)


@pytest.mark.parametrize("field", sorted(ARRAYS | NUMBERS | WHOLES))
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" + 400 * "0"])
def test_a_number_that_is_none(valid, path, field, number):
    value = "PLACE"
    if field in ARRAYS:
        value = copy.deepcopy(value_of(valid, field))
        inner = value[0] if isinstance(value[0], list) else value
        inner[-1] = "PLACE"
    text = json.dumps(changed(valid, field, value)).replace('"PLACE"', number)
    field_refused(path, text, field)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_what_is_told_of_training_is_finite(valid, path, number):
    text = json.dumps(changed(valid, "training", {"deep": [{"x": "PLACE"}]}))
    said = field_refused(path, text.replace('"PLACE"', number), "training")
    assert said == "training must hold finite numbers"


@pytest.mark.parametrize("field", sorted(ARRAYS))
def test_an_array_of_another_shape(valid, path, field):
    value = value_of(valid, field)
    for other in (value[:-1], [*value, value[-1]], [value], [], [*value[:-1], [0.0, [1.0]]]):
        said = field_refused(path, changed(valid, field, other), field)
        assert "shape" in said
    numbers_as_texts = json.loads(json.dumps(value), parse_float=str)
    said = field_refused(path, changed(valid, field, numbers_as_texts), field)
    assert said.startswith(f"{field} must be numbers, got [")


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("schema", 2, "its schema 2 is newer than 1; use a newer version of l2t"),
        ("schema", 0, "schema must be at least 1, got 0"),
        ("q_mode", "half", "q_mode must be one of full, diag, got 'half'"),
        ("lambda", -1.0, "lambda_ must be a number of at least 0, got -1.0"),
        ("mu", -1, "mu must be a number of at least 0, got -1.0"),
        ("n_neighbors", 0, "n_neighbors must be at least 1, got 0"),
        ("c", 0.5, "c must be above -3 (the fewest labels) and at most 0, got 0.5"),
        ("label_range", [3], "label_range must be whole numbers, got [3]"),
        ("label_range", [3, 60.5], "label_range must be whole numbers, got [3, 60.5]"),
        (
            "label_range",
            [60, 3],
            "fewest and most must be label counts with 1 <= fewest <= most, got 60 and 3",
        ),
        (
            "kernels.step",
            0.3,
            "first, last and step must give a rising range that ends at last, got -2, 2, 0.3",
        ),
        ("kernels.last", 1e300, "kernels must be a bank of few kernels, got one without end"),
        ("calibration.n_labels", [0], "calibration.n_labels must rise from 0, got [0]"),
        (
            "calibration.n_labels",
            [0, 15, 3, 60],
            "calibration.n_labels must rise from 0, got [0, 15, 3, 60]",
        ),
        (
            "calibration.slope",
            [1.0, -1.0, 1.0, 1.0],
            "calibration.slope must not be negative, and quantiles must not fall",
        ),
        ("calibration.n_pairs", 0, "calibration.n_pairs must be at least 1, got 0"),
        ("lessons.gamma", 0, "lessons.gamma, huber and units must be positive"),
        ("lessons.units", [1.0, 0.0, 1.0], "lessons.gamma, huber and units must be positive"),
        (
            "lessons.components",
            ["mean"],
            "lessons.components must be some of ('mmd', 'variance', 'discriminant'), got ['mean']",
        ),
        (
            "lessons.hessian",
            [-1.0] + 44 * [0.0],
            "lessons.hessian must be positive semidefinite, got -1",
        ),
        ("training", {"max_labels": "x"}, "training.max_labels must be a whole number, got 'x'"),
        ("training", {"experiences": -1}, "training.experiences must be at least 1, got -1"),
        ("unknown", 1, "'unknown' is no field of a reflection function"),
        ("lessons.unknown", 1, "lessons.'unknown' is no field of a reflection function"),
        ("kernels.unknown", 1, "kernels.'unknown' is no field of a reflection function"),
    ],
)
def test_values_that_cannot_be(valid, path, field, value, sentence):
    said = refused(path, changed(valid, field, value))
    assert said == f"is no reflection function: {sentence}"


def test_weights_below_zero(valid, path):
    said = field_refused(path, changed(valid, "beta", [0.1, 0.1, -0.5, 0.1, 0.1]), "beta")
    assert said == "beta must be finite and not negative, got a least value of -0.5"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"hello", "is no reflection function: Expecting value: line 1 column 1 (char 0)"),
        (b"[1, 2]", "is no reflection function: it must be a JSON object, got list"),
        (b"null", "is no reflection function: it must be a JSON object, got NoneType"),
        (b"{}", "is no reflection function: schema is missing"),
        (b"\x80\x04\x95", "is no reflection function: "),
        (b"\xff\xfe{", "is no reflection function: "),
        (b"[" * 1_000_000, "is no reflection function: maximum recursion depth exceeded"),
        (b'{"schema": 1' + 5000 * b"0" + b"}", "is no reflection function: "),
    ],
)
def test_what_is_no_function_at_all(path, content, sentence):
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=f"^{re.escape(f'{path}: {sentence}')}") as told:
        load_reflection(path)
    assert "\n" not in str(told.value)


def test_deep_training(valid, path):
    """As deep as it can be read and written again: it is a function, or a sentence."""
    found = []
    for depth in (100, 500, 900, 980, 5000):
        text = json.dumps(changed(valid, "training", {"x": "PLACE"}))
        path.write_text(text.replace('"PLACE"', depth * "[" + depth * "]"))
        try:
            load_reflection(path).save(path)
        except L2TError:
            found.append("refused")
        else:
            found.append("loaded")
    assert found[0] == "loaded"
    assert found[-1] == "refused"


def test_cut_off_anywhere(valid, path):
    text = json.dumps(valid)
    for at in np.linspace(1, len(text) - 1, 60).astype(int):
        assert refused(path, text[:at]).startswith("is no reflection function: ")


def test_a_file_that_is_too_large(path):
    path.write_bytes(b" " * (files._LARGEST + 1))
    with pytest.raises(FileFormatError, match=rf"{path}: has more than {files._LARGEST} bytes$"):
        load_reflection(path)


def test_no_file(tmp_path):
    for where, sentence in (
        (tmp_path, "is a directory, not a file"),
        (tmp_path / "none.json", "there is no such file"),
    ):
        with pytest.raises(FileFormatError, match=f"^{re.escape(str(where))}: {sentence}$"):
            load_reflection(where)


def _places(content, path=()):
    """Return the way to every value of a JSON document."""
    yield path
    inner = (
        content.items()
        if isinstance(content, dict)
        else enumerate(content[:3] if isinstance(content, list) else [])
    )
    for name, value in inner:
        yield from _places(value, (*path, name))


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**53, 2**63, 10**400, -1, 0, 1e308, -1e308, 5e-324])
    | st.floats()
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(data=st.data())
@settings(max_examples=250)
def test_whatever_is_changed_it_loads_or_says_why(valid, tmp_path, world, data):
    content = copy.deepcopy(valid)
    for _ in range(data.draw(st.integers(1, 3))):
        *outer, last = data.draw(st.sampled_from(list(_places(content))[1:]))
        place = content
        for name in outer:
            place = place[name]
        if data.draw(st.booleans()) and isinstance(place, dict) and len(place) > 1:
            del place[last]
        else:
            place[last] = data.draw(JSON_VALUES)
    path = tmp_path / "mutant.json"
    path.write_text(json.dumps(content))
    function, said = None, ""
    try:
        function = load_reflection(path)
    except FileFormatError as error:
        said = str(error)
    if function is None:
        assert said.startswith(f"{path}: is no reflection function: ")
        assert "\n" not in said
    else:
        assert_same(load_reflection(function.save(path)), function)


def test_a_directory_that_cannot_be_written(learned, path, monkeypatch):
    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", forbidden)
    sentence = f"{path}: cannot be written: Permission denied"
    with pytest.raises(FileFormatError, match=f"^{re.escape(sentence)}$"):
        learned.save(path)
    assert list(path.parent.iterdir()) == []


def test_a_save_that_fails_leaves_the_old_file(learned, world, path, monkeypatch):
    learned.save(path)
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    sentence = f"{path}: cannot be written: No space left on device"
    with pytest.raises(FileFormatError, match=f"^{re.escape(sentence)}$"):
        world.truth.save(path)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["function.json"]


def test_places_that_cannot_be_saved_to(learned, tmp_path):
    for where, sentence in (
        (tmp_path, "is not a regular file"),
        (tmp_path / "none" / "f.json", "cannot be written: its directory does not exist"),
    ):
        with pytest.raises(FileFormatError, match=f"^{re.escape(str(where))}: {sentence}$"):
            learned.save(where)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [np.nan, {1, 2}, np.float64("inf"), object()])
def test_training_that_is_no_json_is_not_saved(world, path, value):
    function = replace(world.truth, training={"note": value})
    with pytest.raises(InvalidInputError, match=r"^training must hold plain JSON values: "):
        function.save(path)
    assert not path.exists()


def test_hostile_content_runs_nothing(valid, path, tmp_path):
    """A text stays a text: there is no pickle, no eval, no format string."""
    trap = tmp_path / "ran"
    code = f"__import__('pathlib').Path({str(trap)!r}).touch()"
    for field in FIELDS:
        for value in (code, {"__reduce__": code, "py/object": code}, [code]):
            path.write_text(json.dumps(changed(valid, field, value)))
            if field == "training" and isinstance(value, dict):
                assert dict(load_reflection(path).training) == value
            else:
                with pytest.raises(FileFormatError):
                    load_reflection(path)
    assert not trap.exists()


def test_functions_that_ship(tmp_path):
    for name in files.shipped():
        function = load_reflection(name)
        assert_same(load_reflection(function.save(tmp_path / "again.json")), function)
    with pytest.raises(FileFormatError, match=r"there is no such file$"):
        load_reflection(str(tmp_path / "no such function"))
