"""Options that several commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from l2t.interfaces.cli.output import Format, print_note
from l2t.interfaces.cli.settings import read_settings

if TYPE_CHECKING:
    from l2t.typing import JsonObject, JsonValue

#: Options for reading files: parameters of `l2t.domains.read_domains`.
#: The options of `reads_files`, by name.
Reading = dict[str, Any]


def number(help: str, *, least: int | None = 1) -> Any:
    """Declare an integer option."""
    return typer.Option(min=least, metavar="N", help=help)


def named(help: str, *flags: str, metavar: str | None = "NAME") -> Any:
    """Declare a text option."""
    return typer.Option(*flags, metavar=metavar, help=help)


def argument(metavar: str, help: str) -> Any:
    """Declare an argument."""
    return typer.Argument(metavar=metavar, help=help)


file = functools.partial(named, metavar="FILE")
flag = functools.partial(named, metavar=None)
Source = Annotated[Path, argument("SOURCE", "File of the source domain.")]
Target = Annotated[Path, argument("TARGET", "File of the target domain, with few labels or none.")]
Output = Annotated[Path | None, file("Write the transformed target.", "--output", "-o")]
StoreOption = Annotated[
    str,
    named("The store: a .db file, or postgresql://user@host/database.", "--store", metavar="STORE"),
]
KnownStoreOption = Annotated[
    str | None,
    named(
        "Also use the labelled targets of this store that have the same features.", metavar="STORE"
    ),
]
LabelsOption = Annotated[
    int | None,
    number("Number of labelled target rows; by default those of the file, or five per class."),
]
ClassesOption = Annotated[
    int | None,
    number("Number of target classes; by default those of the labelled rows, or 3.", least=2),
]
CandidatesOption = Annotated[
    str | None,
    named(
        "Comma-separated candidates to choose from, in addition to 'identity' (no transfer); by default "
        "spectrum, classes and classes+spectrum; also base algorithms such as gfk.",
        metavar="NAMES",
    ),
]
NormalizeOption = Annotated[
    Literal["auto", "none", "rows", "centred", "zscore"],
    typer.Option(
        help="Scale the features first: rows to unit norm, centred rows to unit norm, or columns to unit "
        "variance; auto chooses what classifies the labelled source rows best."
    ),
]
MethodOption = Annotated[
    Literal["l2t", "paper"],
    typer.Option(
        help="l2t rehearses candidates on known classes and chooses the best; paper searches with the "
        "paper's reflection function."
    ),
]
ReflectionOption = Annotated[
    str | None,
    file("Reflection function from 'l2t learn'; by default the one that ships with L2T."),
]
PlotOption = Annotated[Path | None, file("Draw a picture (.png, .svg or .pdf).")]
SeedOption = Annotated[int, number("Random seed.", least=0)]
#: Repeated here, because importing the library's type would import numpy.
TrainedOnChoice = Literal["target", "source", "both"]
FormChoice = Literal["paper", "convex"]
JobsOption = Annotated[int, number("Number of processes; -1 for one per core.", least=None)]
ClusterOption = Annotated[
    str | None, named("Run on a Dask scheduler, such as tcp://host:8786.", metavar="ADDRESS")
]
FormatOption = Annotated[Format, typer.Option("--format", help="Output format.")]
QuietOption = Annotated[bool, flag("Print only results and errors.", "--quiet", "-q")]
ForceOption = Annotated[bool, flag("Replace existing output files.", "--force")]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        callback=read_settings,
        is_eager=True,
        metavar="FILE",
        help="Read settings from this TOML file, such as one written by an earlier run. Keys are names of "
        "arguments and options; the command line takes precedence.",
    ),
]

#: Options of `reads_files`; of type str or None, unless `_KINDS` has another type.
_READING = {
    "label": named(
        "Column (csv, xlsx, parquet) or array (npz, mat) of labels; by default the column 'label', or the "
        "array 'y', 'labels' or 'label'."
    ),
    "labeled": named(
        "Column of 0 and 1 that marks the labelled target rows; by default, if some labels are empty (nan in "
        "svmlight files), those that are not."
    ),
    "id": named("Column that identifies rows."),
    "ignore": named(
        "Comma-separated columns that are not features; they are copied to the output.",
        metavar="NAMES",
    ),
    "keep": named(
        "Comma-separated columns that are features although they look like ids or labels.",
        metavar="NAMES",
    ),
    "feature": typer.Option(hidden=True),  # the name of --keep in version 0.2
    "missing": named(
        "Comma-separated texts that mean no label, such as -1, or a missing feature; without this only empty "
        "labels do, and features that are empty, NA, N/A, null, NaN, None or ?.",
        metavar="TEXTS",
    ),
    "impute": typer.Option(
        help="Fill missing numbers with the mean or median of the column, or drop their rows."
    ),
    "decimal": named("Decimal mark of csv files.", metavar="MARK"),
    "thousands": named("Thousands separator of csv files.", metavar="MARK"),
    "encoding": named("Encoding of csv files, such as cp1252; by default UTF-8 or UTF-16."),
    "zero_based": typer.Option(
        "--zero-based/--one-based",
        help="Whether feature indices in svmlight files start at 0 or 1; by default 0 if the index 0 occurs.",
    ),
}
#: Options that may be repeated, or take several comma-separated names.
_SEVERAL = ("id", "ignore", "keep", "feature", "missing")
_KINDS: dict[str, Any] = dict.fromkeys(_SEVERAL, list[str] | None) | {
    "impute": Literal["mean", "median", "drop"] | None,
    "decimal": str,
    "zero_based": bool | None,
}
#: Options of an inference.
_INFERRING = ("labels", "classes", "candidates", "store", "normalize", "seed")


def reads_files(*left_out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that replaces the parameter `reading` of a command by options.

    The command line has the options of `_READING` except those left out; the command gets them as one dict.
    """
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default="." if name == "decimal" else None,
            annotation=Annotated[_KINDS.get(name, str | None), option],
        )
        for name, option in _READING.items()
        if name not in left_out
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        parameters: list[inspect.Parameter] = []
        for name, parameter in own.parameters.items():
            parameters += options if name == "reading" else [parameter]

        @functools.wraps(command)
        def run(**arguments: JsonValue) -> None:
            reading = {option.name: arguments.pop(option.name) for option in options}
            for name in reading.keys() & _SEVERAL:
                words = ",".join(reading[name] or ())
                reading[name] = [word.strip() for word in words.split(",") if word.strip()]
            if old := reading.pop("feature", None):
                print_note("note: --feature is deprecated and will be removed; write --keep")
                reading["keep"] += old
            command(reading=reading, **arguments)

        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def inference_options(context: typer.Context) -> JsonObject:
    """Return the options of a command for an inference, as arguments of `infer`."""
    candidates = context.params["candidates"]
    return {
        "n_labels": context.params["labels"],
        "n_classes": context.params["classes"],
        "candidates": candidates and tuple(name.strip() for name in candidates.split(",")),
        "shared": False,  # the features are for a classifier trained on target labels
        "random_state": context.params["seed"],
    }


def typed_options(context: typer.Context, command: str) -> list[str]:
    """Return the given options that another command has as well, as words of a command line."""
    assert context.parent is not None
    group: Any = context.parent.command
    names = {parameter.name for parameter in group.commands[command].params}
    shared = names & {*_READING, *_INFERRING}
    words = []
    for parameter in context.command.params:
        value = context.params[str(parameter.name)]
        if parameter.name not in shared or value == parameter.default:
            continue
        if isinstance(value, bool):
            words += [(parameter.opts if value else parameter.secondary_opts)[0]]
        else:
            for entry in value if isinstance(value, list | tuple) else [value]:
                words += [parameter.opts[0], str(entry)]
    return words


def check_method(method: str, **options: object) -> None:
    """Reject options of the other method."""
    for name, value in options.items():
        if method == "paper" and value is not None:
            raise typer.BadParameter(f"--{name} needs --method l2t, got --method paper")
