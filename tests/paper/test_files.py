"""Functions as files: exact to the bit, and one sentence for every error."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import warnings
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from l2t.exceptions import FileFormatError, InvalidInputError, L2TError, L2TWarning
from l2t.forecast import Forecast
from l2t.paper import ReflectionFunction, files, load_reflection

ARRAYS = {
    "beta",
    "calibration.15.errors",
}
NUMBERS = {
    "lambda",
    "mu",
    "b",
    "c",
    "kernels.first",
    "kernels.last",
    "kernels.step",
}
COUNTS = {"schema", "n_neighbors", "calibration.15.n_pairs"}
OPTIONAL = {"calibration", "forecast", "checksum"}
OTHERS = OPTIONAL | {
    "kernels",
    "q_mode",
    "label_range",
    "training",
    "trained_on",
}
FIELDS = sorted(ARRAYS | NUMBERS | COUNTS | OTHERS)


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
    """Return the error of a file that cannot be loaded, without the file's name: one line."""
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(FileFormatError) as error:
        load_reflection(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert len(message) < 500
    return message.removeprefix(f"{path}: ")


def field_refused(path, content, field):
    message = refused(path, content)
    assert message.startswith("is not a reflection function: ")
    assert field.split(".")[-1] in message
    return message.removeprefix("is not a reflection function: ")


def load_edited(path):
    """Load a file whose content was changed."""
    with pytest.warns(L2TWarning, match="was edited by hand"):
        return load_reflection(path)


def assert_same(first, second):
    for name in ("lambda_", "mu", "b", "kernels", "n_neighbors", "q_mode", "c"):
        assert getattr(first, name) == getattr(second, name)
    assert first.label_range == second.label_range
    assert first.forecast == second.forecast
    assert first.calibration == second.calibration
    assert dict(first.training) == dict(second.training)
    assert first.beta.tobytes() == second.beta.tobytes()


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


def test_a_function_by_hand_comes_back(world, path):
    by_hand = replace(world.truth, c=-0.25, q_mode="diag", b=-0.0)
    loaded = load_reflection(str(by_hand.save(str(path))))
    assert_same(loaded, by_hand)
    assert np.signbit(loaded.b)
    assert loaded.calibration is None
    assert loaded.forecast is None


@given(
    numbers=st.lists(st.floats(0, allow_infinity=False), min_size=8, max_size=8),
    c=st.floats(-3, 0, exclude_min=True),
)
@settings(max_examples=40)
def test_any_numbers_come_back(world, tmp_path, numbers, c):
    lambda_, mu, b, *beta = numbers
    function = ReflectionFunction(beta, lambda_, mu, -b, kernels=world.kernels, c=c)
    assert_same(load_reflection(function.save(tmp_path / "any.json")), function)


def test_the_list_of_fields_is_complete(valid):
    found = {
        name if inner is None else f"{name}.{inner}"
        for name, value in valid.items()
        for inner in [
            None,
            *(value if name == "kernels" else []),
        ]
    }
    assert found == {field for field in FIELDS if not field.startswith("calibration.")}


@pytest.mark.parametrize("field", sorted({*FIELDS} - {"checksum", "trained_on"}))
def test_a_field_that_is_missing(valid, path, field):
    *outer, last = field.split(".")
    place = f" - at `$.{'.'.join(outer)}`".replace(".15", "[...]") if outer else ""
    message = field_refused(path, without(valid, field), field)
    assert message == f"Object missing required field `{last}`{place}"


def test_an_older_function_predicts_what_is_trained_on_the_target(valid, path):
    path.write_text(json.dumps(without(valid, "trained_on")))
    assert load_edited(path).trained_on == "target"


def test_a_field_of_the_forecast_that_is_missing(valid, path):
    optional = {"own_pairs", "training"}
    for name in valid["forecast"].keys() - optional:
        message = field_refused(path, without(valid, f"forecast.{name}"), name)
        assert message == f"Object missing required field `{name}` - at `$.forecast`"


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_of_another_type(valid, path, field):
    for value in ("text", 1.5, True, [["a"]], {"x": 1}, [None], None):
        expected = value_of(valid, field)
        if value is None and field in OPTIONAL:
            continue  # null: there is none
        if type(value) is type(expected) and field in ("training", "q_mode", "checksum"):
            continue  # any object, a text that `test_values_that_cannot_be` has, and a warning
        if isinstance(value, float) and field in NUMBERS:
            continue
        field_refused(path, changed(valid, field, value), field)


@pytest.mark.parametrize("field", sorted(ARRAYS | NUMBERS | COUNTS))
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" + 400 * "0"])
def test_a_number_that_is_none(valid, path, field, number):
    value = "PLACE"
    if field in ARRAYS:
        value = copy.deepcopy(value_of(valid, field))
        inner = value[0] if isinstance(value[0], list) else value
        inner[-1] = "PLACE"
    text = json.dumps(changed(valid, field, value)).replace('"PLACE"', number)
    if number[0].isdigit():
        field_refused(path, text, field)
    else:  # no number of JSON
        assert "JSON is malformed: invalid character" in refused(path, text)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
@pytest.mark.parametrize("field", ["training", "forecast"])
def test_training_and_forecast_are_finite(valid, path, number, field):
    content = changed(valid, f"{field}.training", {"deep": [{"x": "PLACE"}]})
    refused(path, json.dumps(content).replace('"PLACE"', number))


@pytest.mark.parametrize("field", sorted(ARRAYS))
def test_an_array_of_another_shape(valid, path, field):
    value = value_of(valid, field)
    for other in (value[:-1], [*value, value[-1]], []):
        message = field_refused(path, changed(valid, field, other), field)
        assert "shape" in message
    for other in ([value], [*value[:-1], [0.0, [1.0]]]):
        field_refused(path, changed(valid, field, other), field)
    numbers_as_texts = json.loads(json.dumps(value), parse_float=str)
    message = field_refused(path, changed(valid, field, numbers_as_texts), field)
    assert message.startswith("Expected `float`, got `str` - at `$.")


def test_a_forecast_whose_lists_do_not_fit(valid, path):
    forecast = valid["forecast"]
    name, kind = next(iter(forecast["reliability"]["kinds"].items()))
    kinds = forecast["reliability"]["kinds"] | {name: kind | {"errors": kind["errors"][:-1]}}
    for field, value in (
        ("spread", forecast["spread"][:-1]),
        ("far", [1.0, 1.0]),
        ("familiarity", forecast["familiarity"] | {"centre": [0.0, 0.0, 0.0]}),
        ("familiarity", forecast["familiarity"] | {"limit": 0.0}),
        ("reliability", {"kinds": kinds}),
    ):
        field_refused(path, changed(valid, f"forecast.{field}", value), "forecast")


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("schema", 2, "schema 2 is newer than 1; use a newer version of l2t"),
        ("schema", 0, "Expected `int` >= 1 - at `$.schema`"),
        ("trained_on", "test", "Invalid enum value 'test' - at `$.trained_on`"),
        ("q_mode", "half", "Invalid enum value 'half' - at `$.q_mode`"),
        ("lambda", -1.0, "Expected `float` >= 0.0 - at `$.lambda`"),
        ("mu", -1, "Expected `float` >= 0.0 - at `$.mu`"),
        ("n_neighbors", 0, "Expected `int` >= 1 - at `$.n_neighbors`"),
        ("c", 0.5, "c must be above -3 (the fewest labels) and at most 0, got 0.5"),
        ("label_range", [3], "Expected `array` of length 2 - at `$.label_range`"),
        ("label_range", [3, 60.5], "Expected `int`, got `float` - at `$.label_range[1]`"),
        (
            "label_range",
            [60, 3],
            "fewest and most must be label counts with 1 <= fewest <= most, got 60 and 3",
        ),
        (
            "kernels.step",
            0.3,
            "first, last and step must give an increasing range that ends at last, got -2, 2, 0.3",
        ),
        ("kernels.last", 1e300, "kernels must be a bank of few kernels, got an infinite one"),
        (
            "calibration.15.n_pairs",
            -1,
            "Expected `int` >= 0 - at `$.calibration[...].n_pairs`",
        ),
        (
            "calibration.15.n_pairs",
            2**60,
            "Expected `int` <= 9007199254740992 - at `$.calibration[...].n_pairs`",
        ),
        (
            "forecast.shots",
            [1, 5, 10**30],
            "Expected `int` <= 9007199254740992 - at `$.forecast.shots[2]`",
        ),
        (
            "forecast.own_pairs",
            {"tca": 10**400},
            "Expected `int` <= 9007199254740992 - at `$.forecast.own_pairs[...]`",
        ),
        (
            "training",
            {"choices": 2**60},
            "Expected `array`, got `int` - at `$.training.choices`",
        ),
        (
            "training",
            {"choices": [{"spearman": "high"}]},
            "Expected `float | null`, got `str` - at `$.training.choices[0].spearman`",
        ),
        (
            "calibration.15.unknown",
            1,
            "Object contains unknown field `unknown` - at `$.calibration[...]`",
        ),
        ("calibration", {}, "calibration must have 0 and label counts, got []"),
        ("calibration.-3", {}, "Expected `int` >= 0 - at `key` in `$.calibration`"),
        ("unknown", 1, "Object contains unknown field `unknown`"),
        ("kernels.unknown", 1, "Object contains unknown field `unknown` - at `$.kernels`"),
    ],
)
def test_values_that_cannot_be(valid, path, field, value, sentence):
    message = refused(path, changed(valid, field, value))
    assert message == f"is not a reflection function: {sentence}"


def test_errors_that_fall(valid, path):
    errors = valid["calibration"]["15"]["errors"]
    for wrong in (errors[::-1], [-1.0, *errors[1:]]):
        message = field_refused(path, changed(valid, "calibration.15.errors", wrong), "errors")
        assert message == "calibration.errors must not be negative, and must not decrease"


def test_weights_below_zero(valid, path):
    message = field_refused(path, changed(valid, "beta", [0.1, 0.1, -0.5, 0.1, 0.1]), "beta")
    assert message == "Expected `float` >= 0.0 - at `$.beta[2]`"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"hello", "is not a reflection function: JSON is malformed: invalid character (byte 0)"),
        (b"[1, 2]", "is not a reflection function: Expected `object`, got `array`"),
        (b"null", "is not a reflection function: Expected `object`, got `null`"),
        (b"{}", "is not a reflection function: Object missing required field `schema`"),
        (b"\x80\x04\x95", "is not a reflection function: "),
        (b"\xff\xfe{", "is not a reflection function: "),
        (b"[" * 1_000_000, "is not a reflection function: Expected `object`, got `array`"),
        (b'{"x":' * 1_000_000, "is not a reflection function: maximum recursion depth exceeded"),
        (b'{"schema": 1' + 5000 * b"0" + b"}", "is not a reflection function: "),
    ],
)
def test_what_is_no_function_at_all(path, content, sentence):
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=f"^{re.escape(f'{path}: {sentence}')}") as error:
        load_reflection(path)
    assert "\n" not in str(error.value)


def test_deep_training(valid, path):
    """As deep as it can be read and written again: it is a function, or a sentence."""
    found = []
    for depth in (100, 500, 900, 980, 5000, 200_000):
        text = json.dumps(changed(valid, "training", {"x": "PLACE"}))
        path.write_text(text.replace('"PLACE"', depth * "[" + depth * "]"))
        try:
            with warnings.catch_warnings(action="ignore", category=L2TWarning):
                load_reflection(path).save(path)
        except L2TError:
            found.append("refused")
        else:
            found.append("loaded")
    assert found[0] == "loaded"
    assert found[-1] == "refused"


def test_cut_off_anywhere(valid, path, proves):
    text, cuts = json.dumps(valid), 60
    for at in np.linspace(1, len(text) - 1, cuts).astype(int):
        assert refused(path, text[:at]).startswith("is not a reflection function: ")
    proves("A reflection function that was cut off is refused", cuts, "files")


def test_a_file_that_is_too_large(path):
    path.write_bytes(b" " * (files._MAX_BYTES + 1))
    with pytest.raises(FileFormatError, match=rf"{path}: has more than {files._MAX_BYTES} bytes$"):
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
    function, message = None, ""
    try:
        with warnings.catch_warnings(action="ignore", category=L2TWarning):
            function = load_reflection(path)
    except FileFormatError as error:
        message = str(error)
    if function is None:
        assert message.startswith(f"{path}: is not a reflection function: ")
        assert "\n" not in message
    else:
        assert_same(load_reflection(function.save(path)), function)


def test_a_directory_that_cannot_be_written(learned, path, monkeypatch):
    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", forbidden)
    sentence = f"{path}: cannot be written: Permission denied"
    with pytest.raises(FileFormatError, match=f"^{re.escape(sentence)}"):
        learned.save(path)
    assert list(path.parent.iterdir()) == []


def test_a_save_that_fails_leaves_the_old_file(learned, world, path, monkeypatch):
    learned.save(path)
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    sentence = f"{path}: cannot be written: No space left on device"
    with pytest.raises(FileFormatError, match=f"^{re.escape(sentence)}"):
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


def test_hostile_content_runs_nothing(valid, path, tmp_path, proves):
    """A text stays a text: there is no pickle, no eval, no format string."""
    trap = tmp_path / "ran"
    code = f"__import__('pathlib').Path({str(trap)!r}).touch()"
    for field in FIELDS:
        for value in (code, {"__reduce__": code, "py/object": code}, [code]):
            path.write_text(json.dumps(changed(valid, field, value)))
            if field == "training" and isinstance(value, dict):
                assert dict(load_edited(path).training) == value
            elif field == "checksum" and isinstance(value, str):
                load_edited(path)
            else:
                with pytest.raises(FileFormatError):
                    load_reflection(path)
    assert not trap.exists()
    proves("Nothing in a reflection function runs", 3 * len(FIELDS), "files")


def test_a_file_that_was_edited_is_loaded_with_a_warning(valid, path, proves):
    edits = (
        (changed(valid, "mu", valid["mu"] + 0.5), "does not match its content"),
        (changed(valid, "training", {"note": "mine"}), "does not match its content"),
        (changed(valid, "forecast.trust", 0.123), "does not match its content"),
        (changed(valid, "checksum", "0" * 64), "does not match its content"),
        (changed(valid, "checksum", None), "is missing"),
        (without(valid, "checksum"), "is missing"),
    )
    for content, how in edits:
        path.write_text(json.dumps(content))
        sentence = f"{path} was edited by hand: its checksum {how}"
        with pytest.warns(L2TWarning, match=f"^{re.escape(sentence)}"):
            loaded = load_reflection(path)
        assert loaded.mu == content["mu"]
        assert_same(load_reflection(loaded.save(path)), loaded)
    proves("A reflection function edited by hand is loaded with a warning", len(edits), "files")


def test_the_checksum_is_that_of_the_canonical_json(valid, path):
    rest = without(valid, "checksum")
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    assert valid["checksum"] == hashlib.sha256(text.encode()).hexdigest()
    path.write_text(json.dumps(dict(sorted(valid.items())), indent=7))
    load_reflection(path)  # order and spaces are no change


def test_functions_that_ship(tmp_path):
    content = json.loads((resources.files(files._SHIPPED) / "default.json").read_text())
    assert content["forecast"] is None
    assert load_reflection("default").forecast == Forecast.default()
    for name in files.shipped():
        function = load_reflection(name)
        again = load_reflection(function.save(tmp_path / "again.json"))
        assert files.to_json(again) == files.to_json(function)
    with pytest.raises(FileFormatError, match=r"there is no such file$"):
        load_reflection(str(tmp_path / "no such function"))
