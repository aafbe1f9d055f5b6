"""Options that several commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from l2t.interfaces.cli.output import Format
from l2t.interfaces.cli.settings import read_settings

#: How the files of a command are read: parameters of `l2t.domains.read_domains`.
Reading = dict[str, Any]
StoreUrl = Annotated[
    str,
    typer.Argument(
        metavar="STORE", help="A file such as experiences.db, or postgresql://user@host/database."
    ),
]
Labels = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="How many labelled target rows to predict for; where you have some, their number.",
    ),
]
Normalize = Annotated[
    Literal["rows", "zscore", "none"],
    typer.Option(
        help="First divide rows by their norm, give columns unit variance, or do nothing."
    ),
]
Reflection = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="For --method paper: what 'l2t learn' wrote, or 'default', the reflection function that "
        "ships with l2t.",
    ),
]
Classes = Annotated[
    int | None,
    typer.Option(
        min=2,
        metavar="N",
        help="How many classes the target has. Without it those of its labelled rows, or 3.",
    ),
]
Candidates = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="What to choose from beside 'identity' (not to transfer), with commas between them: "
        "spectrum, classes, classes+spectrum (without it these three), or base algorithms such as gfk.",
    ),
]
KnownStore = Annotated[
    str | None,
    typer.Option(
        metavar="STORE",
        help="Also learn from the labelled targets of this store; they must have the features of your "
        "files.",
    ),
]
How = Annotated[
    Literal["l2t", "paper"] | None,
    typer.Option(
        help="l2t rehearses candidates on known classes and takes the best; paper searches with the "
        "paper's reflection function. Without it l2t, or paper where --reflection is given."
    ),
]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="The seed of everything random.")]
As = Annotated[Format, typer.Option("--format", help="How results are printed.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print results and errors, and nothing else.")
]
Jobs = Annotated[
    int, typer.Option(metavar="N", help="Processes on this machine; -1 for one per core.")
]
Config = Annotated[
    Path | None,
    typer.Option(
        callback=read_settings,
        is_eager=True,
        metavar="FILE",
        help="Take settings from this TOML file, such as the one that an earlier run wrote; keys are "
        "the names of arguments and options, and what is typed wins.",
    ),
]

Force = Annotated[bool, typer.Option("--force", help="Replace output files that exist already.")]

#: Options of files that take several names, with commas between them.
_SEVERAL = {"id", "ignore", "keep", "missing"}
#: Options that say what to infer.
_INFERRING = ("labels", "classes", "candidates", "store", "normalize", "seed")


def _reading(
    *,
    label: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The column of labels (csv, xlsx, parquet) or the array (npz, mat), in both files. "
            "Without it 'label' or 'y', where there is one.",
        ),
    ] = None,
    labeled: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A column of 0 and 1 in the target that says which labels you really have. Without it "
            "the rows whose label cell is not empty, where some are.",
        ),
    ] = None,
    id: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A column that identifies rows.")
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns that are no features, with commas between them; passed through to the output.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--feature",
            metavar="NAMES",
            help="Columns that are features although they look like an id or a label.",
        ),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXTS",
            help="Cells that are missing, beside empty ones, NA, N/A, null, NaN, None and ?.",
        ),
    ] = None,
    impute: Annotated[
        Literal["mean", "median", "drop"] | None,
        typer.Option(
            help="Fill missing numbers with the mean or median of the column, or drop their rows."
        ),
    ] = None,
    decimal: Annotated[
        str, typer.Option(metavar="MARK", help="The decimal mark of csv files.")
    ] = ".",
    thousands: Annotated[
        str | None, typer.Option(metavar="MARK", help="The separator of thousands in csv files.")
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The encoding of csv files, such as cp1252. Without it UTF-8, or UTF-16 where a file "
            "begins with its mark.",
        ),
    ] = None,
    zero_based: Annotated[
        bool | None,
        typer.Option(
            "--zero-based/--one-based",
            help="Whether the first feature of svmlight files has the index 0 or 1. Without it 0 where "
            "one of the files has that index.",
        ),
    ] = None,
) -> None:
    """Declare the options that `reads_files` gives to commands."""


def reads_files(*left_out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command options in the place of its parameter `reading`.

    Typer sees the options of `_reading` but those left out; the command gets them as one `Reading`.
    """
    shared = inspect.signature(_reading, eval_str=True).parameters
    options = [option for name, option in shared.items() if name not in left_out]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        parameters: list[inspect.Parameter] = []
        for name, parameter in own.parameters.items():
            parameters += options if name == "reading" else [parameter]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            reading = {option.name: given.pop(option.name) for option in options}
            for name in _SEVERAL & reading.keys():
                words = ",".join(reading[name] or ())
                reading[name] = [word.strip() for word in words.split(",") if word.strip()]
            command(reading=reading, **given)

        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def inference_options(context: typer.Context) -> dict[str, Any]:
    """Return the options of a command that say what to infer, as arguments of `infer`."""
    candidates = context.params["candidates"]
    return {
        "n_labels": context.params["labels"],
        "n_classes": context.params["classes"],
        "candidates": candidates and tuple(name.strip() for name in candidates.split(",")),
        "random_state": context.params["seed"],
    }


def typed_options(context: typer.Context, command: str) -> list[str]:
    """Return the options that were given and that another command has too, as words of a command line."""
    assert context.parent is not None
    group: Any = context.parent.command
    shared = {each.name for each in group.commands[command].params} & {
        *inspect.signature(_reading).parameters,
        *_INFERRING,
    }
    words = []
    for parameter in context.command.params:
        value = context.params[str(parameter.name)]
        if parameter.name not in shared or value == parameter.default:
            continue
        if isinstance(value, bool):
            words += [(parameter.opts if value else parameter.secondary_opts)[0]]
        else:
            for each in value if isinstance(value, list | tuple) else [value]:
                words += [parameter.opts[0], str(each)]
    return words


def chosen_method(method: str | None, reflection: str | None, **options: Any) -> str:
    """Return the method; options of the other one are wrong usage."""
    chosen = method or ("l2t" if reflection is None else "paper")
    if chosen == "l2t" and reflection is not None:
        raise typer.BadParameter("--reflection is an option of --method paper")
    for name, value in options.items():
        if chosen == "paper" and value is not None:
            raise typer.BadParameter(f"--{name} is an option of --method l2t")
    return chosen
