"""The settings of a run as a TOML file: read by ``--config``, and written beside the results."""

from __future__ import annotations

import inspect
import itertools
import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer

from l2t._version import __version__
from l2t.exceptions import InvalidInputError

if TYPE_CHECKING:
    from l2t.typing import JsonObject, JsonValue

#: Options that do not change the result.
_LEFT_OUT = ("config", "format", "quiet", "force", "help")
_KINDS = ((int, "a whole number"), (bool, "true or false"), (str, "text in quotes"))


def read_settings(context: typer.Context, file: Path | None) -> Path | None:
    """Use the settings in a file as defaults; the callback of an eager option."""
    if file is None or context.resilient_parsing:  # the latter: shell completion
        return file
    parameters = dict(_parameters(context))
    defaults = {}
    for key, value in _load(file).items():
        if key not in parameters:
            known = ", ".join(parameters)
            raise InvalidInputError(f"{file}: keys must be one of {known}, got {key!r:.80}")
        parameter = parameters[key]
        _check(context, parameter, value, f"{file}: {key}")
        defaults[parameter.name] = value
    context.default_map = defaults
    return file


def write_settings(context: typer.Context, results: Path, **replaced: str) -> Path:
    """Write the settings of a run beside its results, under the next free name, and return the file.

    `replaced` are settings to write with another value than was typed: a URL without its password.
    """
    typed = {key: _plain(context.params[parameter.name]) for key, parameter in _parameters(context)}
    settings = {key: value for key, value in (typed | replaced).items() if value is not None}
    force = " --force" if "force" in context.params else ""
    for number in itertools.count(1):
        ending = ".toml" if number == 1 else f"-{number}.toml"
        file = results.with_name(f"{results.stem}{ending}")
        try:
            with file.open("x", encoding="utf-8") as handle:
                handle.write(
                    f"# Written by l2t {__version__}. To repeat this run from the same directory:\n"
                    f"#   l2t {context.info_name} --config {file}{force}\n{_toml(settings)}"
                )
        except FileExistsError:
            with suppress(InvalidInputError):
                if _load(file) == settings:
                    break
        else:
            break
    return file


def _parameters(context: typer.Context) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a command by their names on the command line."""
    for parameter in context.command.params:
        name = max(parameter.opts, key=len).lstrip("-")
        if name not in _LEFT_OUT:
            yield name, parameter


def _load(file: Path) -> JsonObject:
    try:
        with file.open("rb") as handle:
            return tomllib.load(handle)
    except OSError as error:
        raise InvalidInputError(f"--config: {file} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"--config: {file} is not TOML: {error}") from None
    except RecursionError:
        raise InvalidInputError(f"--config: {file} has values that are nested too deeply") from None


def _check(context: typer.Context, parameter: Any, value: JsonValue, where: str) -> None:
    """Raise an error for a value of the wrong type, or one that the option rejects."""
    command: Any = context.command.callback
    declared = inspect.signature(command, eval_str=True).parameters
    hint = str(get_args(declared[parameter.name].annotation)[0])  # without the help of the option
    kind, described = next(pair for pair in _KINDS if pair[0].__name__ in hint or pair[0] is str)
    several = "list" in hint
    if several:
        described = f"a list, each entry {described}"
    values = value if several and isinstance(value, list) else [value]
    if several != isinstance(value, list) or not all(type(entry) is kind for entry in values):
        raise InvalidInputError(f"{where} must be {described}, got {value!r:.80}")
    try:
        parameter.process_value(context, value)
    except typer.BadParameter as error:
        wrong = error.message.rstrip(".")
        raise InvalidInputError(f"{where}: {wrong}, got {value!r:.80}") from None


def _plain(value: object) -> JsonValue:
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value] or None
    return str(value) if isinstance(value, Path) else value


def _toml(settings: Mapping[str, JsonValue]) -> str:
    """Return strings, numbers, booleans and lists as TOML, where they look as in JSON."""
    lines = (
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in settings.items()
    )
    return "".join(lines).replace("\x7f", "\\u007f")
