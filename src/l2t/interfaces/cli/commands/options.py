"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t.interfaces.cli.formats import Format, Scaling
from l2t.interfaces.cli.settings import read_settings

__all__ = [
    "As",
    "Config",
    "Decimal",
    "Encoding",
    "Ignore",
    "Jobs",
    "Label",
    "Labeled",
    "Labels",
    "Normalize",
    "Past",
    "Plot",
    "Quiet",
    "Reflection",
    "Seed",
    "StoreUrl",
    "Thousands",
    "ZeroBased",
]

StoreUrl = Annotated[
    str,
    typer.Argument(
        metavar="STORE", help="A file such as experiences.db, or postgresql://user@host/database."
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The column of labels (csv, xlsx, parquet) or the array (npz, mat), in both files. Without it "
        "'label' or 'y', where there is one.",
    ),
]
Labeled = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A column of 0 and 1 in the target that says which labels you really have. Without it "
        "the rows whose label cell is not empty, where some are.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="A column that is no feature, such as an identifier; may be given again.",
    ),
]
Decimal = Annotated[str, typer.Option(metavar="MARK", help="The decimal mark of csv files.")]
Thousands = Annotated[
    str | None, typer.Option(metavar="MARK", help="The separator of thousands in csv files.")
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The encoding of csv files, such as cp1252. Without it UTF-8, or UTF-16 where a file "
        "begins with its mark.",
    ),
]
ZeroBased = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        help="Whether the first feature of svmlight files has the index 0 or 1. Without it 0 where one "
        "of the files has that index.",
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
    Scaling,
    typer.Option(
        help="First divide rows by their norm, give columns unit variance, or do nothing."
    ),
]
Reflection = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="What 'l2t learn' wrote, or 'default', the reflection function that ships with l2t.",
    ),
]
Past = Annotated[
    str | None,
    typer.Option(
        metavar="STORE",
        help="Begin with what the labelled targets of this store say of the features; they must be the "
        "features of your files.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="The seed of everything random.")]
As = Annotated[Format, typer.Option("--format", help="How results are printed.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print results and errors, and nothing else.")
]
Plot = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw a picture (.png, .svg or .pdf).")
]
Jobs = Annotated[
    int, typer.Option(metavar="N", help="Processes on this machine; -1 for one a core.")
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
