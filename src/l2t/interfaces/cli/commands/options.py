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


def number(help: str, *, least: int | None = 1) -> Any:
    """Declare an option that is a whole number."""
    return typer.Option(min=least, metavar="N", help=help)


def named(help: str, *flags: str, metavar: str | None = "NAME") -> Any:
    """Declare an option that is a name, or several."""
    return typer.Option(*flags, metavar=metavar, help=help)


def argument(metavar: str, help: str) -> Any:
    """Declare an argument."""
    return typer.Argument(metavar=metavar, help=help)


file = functools.partial(named, metavar="FILE")
flag = functools.partial(named, metavar=None)
Source = Annotated[Path, argument("SOURCE", "File of the larger domain to learn from.")]
Target = Annotated[Path, argument("TARGET", "File of the domain with few labels or none.")]
Output = Annotated[Path | None, file("Write the transformed target.", "--output", "-o")]
StoreUrl = Annotated[str, argument("STORE", "A .db file, or postgresql://user@host/database.")]
Store = Annotated[str, named("The store: a .db file or a URL.", "--store", metavar="STORE")]
KnownStore = Annotated[
    str | None,
    named("Also learn from this store's labelled targets of the same features.", metavar="STORE"),
]
Labels = Annotated[int | None, number("How many labelled target rows to predict for.")]
Classes = Annotated[
    int | None, number("Classes of the target; without it those of labelled rows, or 3.", least=2)
]
Candidates = Annotated[
    str | None,
    named(
        "What to choose from beside 'identity' (not to transfer), with commas between them: "
        "spectrum, classes, classes+spectrum (without it these three), or base algorithms such as gfk.",
        metavar="NAMES",
    ),
]
Normalize = Annotated[
    Literal["auto", "none", "rows", "centred", "zscore"],
    typer.Option(
        help="First do nothing, divide rows by their norm, subtract the mean before that, or give columns "
        "unit variance; auto: what does best on the labelled rows of the source."
    ),
]
How = Annotated[
    Literal["l2t", "paper"],
    typer.Option(
        help="l2t rehearses candidates on known classes and takes the best; paper searches with the "
        "paper's reflection function."
    ),
]
Reflection = Annotated[
    str | None, file("What 'l2t learn' wrote; without it, or with 'default', what ships with L2T.")
]
Plot = Annotated[Path | None, file("Draw a picture (.png, .svg or .pdf).")]
Seed = Annotated[int, number("The seed of everything random.", least=0)]
Jobs = Annotated[int, number("Processes on this machine; -1 for one per core.", least=None)]
As = Annotated[Format, typer.Option("--format", help="How results are printed.")]
Quiet = Annotated[bool, flag("Print results and errors alone.", "--quiet", "-q")]
Force = Annotated[bool, flag("Replace output files that exist already.", "--force")]
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

#: Options of `reads_files`; text or none, where `_KINDS` has no other type.
_READING = {
    "label": named(
        "The column of labels (csv, xlsx, parquet) or the array (npz, mat), in both files. Without it "
        "'label' or 'y', where there is one."
    ),
    "labeled": named(
        "A column of 0 and 1 in the target that says which labels you really have. Without it the rows "
        "whose label cell is not empty, where some are."
    ),
    "id": named("A column that identifies rows."),
    "ignore": named(
        "Columns that are no features, with commas between them; passed through to the output.",
        metavar="NAMES",
    ),
    "keep": named(
        "Columns that are features although they look otherwise.", "--feature", metavar="NAMES"
    ),
    "missing": named(
        "Cells that are missing, beside empty ones, NA, N/A, null, NaN, None and ?.",
        metavar="TEXTS",
    ),
    "impute": typer.Option(
        help="Fill missing numbers with the mean or median of the column, or drop their rows."
    ),
    "decimal": named("The decimal mark of csv files.", metavar="MARK"),
    "thousands": named("The separator of thousands in csv files.", metavar="MARK"),
    "encoding": named("The encoding of csv files, such as cp1252; without it UTF-8 or UTF-16."),
    "zero_based": typer.Option(
        "--zero-based/--one-based",
        help="Whether svmlight files count features from 0 or 1; without it 0 where one does.",
    ),
}
#: Options that can be given again, or take several names with commas between them.
_SEVERAL = ("id", "ignore", "keep", "missing")
_KINDS: dict[str, Any] = dict.fromkeys(_SEVERAL, list[str] | None) | {
    "impute": Literal["mean", "median", "drop"] | None,
    "decimal": str,
    "zero_based": bool | None,
}
#: Options that say what to infer.
_INFERRING = ("labels", "classes", "candidates", "store", "normalize", "seed")


def reads_files(*left_out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command options in the place of its parameter `reading`.

    Typer sees the options of `_READING` but those left out; the command gets them as one `Reading`.
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
        def run(**given: Any) -> None:
            reading = {option.name: given.pop(option.name) for option in options}
            for name in reading.keys() & _SEVERAL:
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
        "shared": False,  # the features are for a classifier of the target's own labels
        "random_state": context.params["seed"],
    }


def typed_options(context: typer.Context, command: str) -> list[str]:
    """Return the options that were given and that another command has too, as words of a command line."""
    assert context.parent is not None
    group: Any = context.parent.command
    shared = {each.name for each in group.commands[command].params} & {*_READING, *_INFERRING}
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


def check_method(method: str, **options: Any) -> None:
    """Refuse options of the other method."""
    for name, value in options.items():
        if method == "paper" and value is not None:
            raise typer.BadParameter(f"--{name} is an option of --method l2t")
