"""The `l2t` command. Heavy imports wait until a command needs them, so that help is instant."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from l2t._version import __version__
from l2t.exceptions import L2TError
from l2t.interfaces.cli.formats import Format

__all__ = ["app", "main"]

app = typer.Typer(
    name="l2t",
    help="Learning to Transfer: what to transfer between two domains, learned from past transfers.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
reproduce = typer.Typer(
    help="Measure published results again, on real data that you have.", no_args_is_help=True
)
store = typer.Typer(help="Look after an experience store.", no_args_is_help=True)
app.add_typer(reproduce, name="reproduce")
app.add_typer(store, name="store")

StoreUrl = Annotated[
    str,
    typer.Argument(metavar="STORE", help="A file such as experiences.db, or postgresql://..."),
]


def main() -> None:
    """Run the command; an error is one sentence and exit code 1, an interruption exit code 130."""
    try:
        app()
    except (L2TError, OSError) as error:
        typer.echo(f"l2t: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("l2t: interrupted; what was finished is kept", err=True)
        sys.exit(130)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"l2t {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command(short_help="The whole story on handwritten digits: collect, learn, infer.")
def demo(
    pairs: Annotated[int, typer.Option(min=2, help="How many new pairs to test on.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the pairs.")] = 0,
    jobs: Annotated[int, typer.Option(help="Local processes; -1 for all cores.")] = 2,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the ratios to this file (.png, .svg or .pdf).")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write an HTML report with pictures here.")
    ] = None,
) -> None:
    """Collect experiences on handwritten digits, learn from them, and transfer between new pairs.

    Each pair takes three digits of the UCI set and three other digits of MNIST, or the other way round (both
    ship with the installation). The table shows the improvement ratio of the eight base algorithms and of
    L2T: 1-NN accuracy on X W over 1-NN accuracy on X, for 3 to 120 labelled target rows.
    """
    from l2t.interfaces.cli.demo import run_demo

    run_demo(pairs, seed, jobs, plot, report)


@app.command(short_help="Run algorithms on pairs of two files and keep every experience.")
def collect(
    source: Annotated[Path, typer.Argument(help="File of the source domain, with labels.")],
    target: Annotated[Path, typer.Argument(help="File of the target domain, with labels.")],
    url: Annotated[
        str, typer.Option("--store", help="Where experiences are kept: a file or a URL.")
    ] = "experiences.db",
    pairs: Annotated[int, typer.Option(min=1, help="How many pairs to draw.")] = 100,
    classes: Annotated[int, typer.Option(min=1, help="Classes a domain in each pair.")] = 3,
    per_class: Annotated[int, typer.Option(min=1, help="Rows a class, at most.")] = 80,
    label: Annotated[
        str | None, typer.Option(help="The label column (csv, parquet) or array (npz, mat).")
    ] = None,
    normalize: Annotated[str, typer.Option(help="rows, zscore or none.")] = "rows",
    algorithms: Annotated[
        str, typer.Option(help="Names with commas between them, or all.")
    ] = "all",
    one_per_pair: Annotated[
        bool, typer.Option("--one-per-pair", help="One random algorithm a pair, as in the paper.")
    ] = False,
    components: Annotated[int, typer.Option(min=1, help="Components of each W.")] = 20,
    jobs: Annotated[int, typer.Option(help="Local processes; -1 for all cores.")] = 1,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler to work on instead.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of everything.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Draw pairs from two labelled domains, run algorithms on them, and keep every experience.

    Stopped at any moment, the same command goes on where it was: nothing is done twice.
    """
    from l2t.interfaces.cli.collect import run_collect

    run_collect(
        source,
        target,
        url,
        sampling={"n_pairs": pairs, "n_classes": classes, "max_per_class": per_class},
        label=label,
        how=normalize,
        algorithms=algorithms,
        options={
            "one_per_pair": one_per_pair,
            "n_components": components,
            "n_jobs": jobs,
            "cluster": cluster,
            "random_state": seed,
            "progress": not quiet,
        },
    )


Label = Annotated[
    str | None,
    typer.Option(help="The label column (csv, parquet) or array (npz, mat) of both files."),
]
Labeled = Annotated[
    str | None,
    typer.Option(help="The target's column that says which labels you have (0/1); these may vote."),
]
Labels = Annotated[
    int | None, typer.Option(min=1, help="How many target labels you have or will have.")
]
Normalize = Annotated[str, typer.Option(help="rows, zscore or none.")]
Components = Annotated[int | None, typer.Option(min=1, help="Columns of W, at most.")]
Reflection = Annotated[
    str, typer.Option(help="A reflection function: a JSON file, or default, which ships.")
]
Seed = Annotated[int, typer.Option(min=0, help="The seed of everything.")]
As = Annotated[Format, typer.Option("--format", help="How results are printed.")]
Plot = Annotated[Path | None, typer.Option(help="Draw to this file (.png, .svg or .pdf).")]


@app.command(short_help="What to transfer from one file to another, and whether to.")
def transfer(
    source: Annotated[Path, typer.Argument(help="File of the source domain.")],
    target: Annotated[Path, typer.Argument(help="File of the target domain.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the transformed target here.")
    ] = None,
    label: Label = None,
    labeled: Labeled = None,
    labels: Labels = None,
    components: Components = None,
    reflection: Reflection = "default",
    constraint: Annotated[
        str | None, typer.Option(help="soft, or the paper's: grassmann, sphere.")
    ] = None,
    normalize: Normalize = "rows",
    source_output: Annotated[
        Path | None, typer.Option(help="Write the transformed source here.")
    ] = None,
    w_output: Annotated[Path | None, typer.Option(help="Write W here (.npy).")] = None,
    plot: Plot = None,
    seed: Seed = 0,
    format: As = Format.table,
) -> None:
    """Find what to transfer from a source file to a target file, and write the transformed target.

    Needs no experience of your own: a reflection function ships with l2t. Files: npz, csv, parquet, mat or
    svmlight. An empty label cell in the target means that the label is not known; where only some labels
    are there, those vote on the verdict. Where all are there, they are for measuring alone (with --labels N),
    unless --labeled names the column that says which you really have.
    """
    from l2t.interfaces.cli.transfer import run_transfer

    run_transfer(
        source,
        target,
        label=label,
        labeled=labeled,
        how=normalize,
        options={
            "reflection": reflection,
            "n_components": components,
            "n_labels": labels,
            "constraint": constraint,
            "random_state": seed,
        },
        output=output,
        source_output=source_output,
        w_output=w_output,
        plot=plot,
        format=format,
    )


@app.command(short_help="Which of several sources to take for a target.")
def rank(
    target: Annotated[Path, typer.Argument(help="File of the target domain.")],
    sources: Annotated[list[Path], typer.Argument(help="Files of source domains.")],
    label: Label = None,
    labeled: Labeled = None,
    labels: Labels = None,
    reflection: Reflection = "default",
    normalize: Normalize = "rows",
    seed: Seed = 0,
    format: As = Format.table,
) -> None:
    """Rank sources by the improvement that is predicted for a target, before anything is trained."""
    from l2t.interfaces.cli.transfer import run_rank

    options = {"reflection": reflection, "n_labels": labels, "random_state": seed}
    run_rank(
        target, sources, label=label, labeled=labeled, how=normalize, options=options, format=format
    )


@app.command(short_help="Learn a reflection function from a store.")
def learn(
    url: Annotated[
        str, typer.Option("--store", help="The store: a file or a URL.")
    ] = "experiences.db",
    out: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path(
        "reflection.json"
    ),
    neighbors: Annotated[
        list[int] | None,
        typer.Option(
            help="Neighbours of the discriminant criterion; given again, the best is taken."
        ),
    ] = None,
    max_labels: Annotated[
        int, typer.Option(min=1, help="Experiences with more labels only calibrate.")
    ] = 30,
    split: Annotated[
        str, typer.Option(help="What may not be on both sides of a split: pair or class.")
    ] = "pair",
    seed: Seed = 0,
    format: As = Format.table,
) -> None:
    """Learn a reflection function from the experiences of a store."""
    from l2t.interfaces.cli.learn import run_learn

    options = {
        "n_neighbors": neighbors or None,
        "max_labels": max_labels,
        "split": split,
        "random_state": seed,
    }
    run_learn(url, out, options, format)


@app.command(short_help="Why: the terms and kernels behind a prediction.")
def explain(
    pair: Annotated[
        list[Path] | None, typer.Argument(help="A source and a target file, or nothing.")
    ] = None,
    reflection: Reflection = "default",
    label: Label = None,
    labels: Labels = None,
    normalize: Normalize = "rows",
    url: Annotated[
        str | None, typer.Option("--store", help="Name the nearest experiences of this store.")
    ] = None,
    plot: Plot = None,
    format: As = Format.table,
) -> None:
    """Tell what a reflection function has learned, or why it predicts what it predicts for a pair."""
    from l2t.interfaces.cli.learn import run_explain

    if pair and len(pair) != 2:
        raise typer.BadParameter(f"a source and a target file are needed, got {len(pair)} files")
    run_explain(
        reflection,
        (pair[0], pair[1]) if pair else None,
        label=label,
        how=normalize,
        labels=labels,
        store=url,
        plot=plot,
        format=format,
    )


@store.command("ls", short_help="List experiences.")
def store_ls(
    url: StoreUrl,
    algorithm: Annotated[str | None, typer.Option(help="Only of this algorithm.")] = None,
    domain: Annotated[str | None, typer.Option(help="Only with this source or target.")] = None,
    labels: Annotated[int | None, typer.Option(help="Only at this number of labels.")] = None,
    status: Annotated[str | None, typer.Option(help="Only done or failed.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many.")] = 20,
    order: Annotated[
        str, typer.Option(help="created_at, algorithm, duration, improvement_ratio or n_labels.")
    ] = "created_at",
    format: As = Format.table,
) -> None:
    """List experiences, the newest or the largest first."""
    from l2t.interfaces.cli.stores import run_ls

    filters = {"algorithm": algorithm, "domain": domain, "n_labels": labels, "status": status}
    run_ls(url, filters, limit, order, format)


@store.command("show", short_help="One run in full.")
def store_show(
    url: StoreUrl,
    key: Annotated[str, typer.Argument(help="The beginning of the run's key.")],
    format: As = Format.table,
) -> None:
    """Show one run in full, with its accuracies at every number of labels."""
    from l2t.interfaces.cli.stores import run_show

    run_show(url, key, format)


@store.command("rm", short_help="Delete runs.")
def store_rm(
    url: StoreUrl,
    keys: Annotated[list[str], typer.Argument(help="The beginnings of the runs' keys.")],
) -> None:
    """Delete runs, with the domains and arrays that nothing else refers to."""
    from l2t.interfaces.cli.stores import run_rm

    run_rm(url, keys)


@store.command("check", short_help="Read and hash everything again.")
def store_check(url: StoreUrl) -> None:
    """Read and hash everything in a store again; exit code 1 if anything is wrong."""
    from l2t.experiences import open_store

    with open_store(url, create=False) as opened:
        problems = opened.check()
    for problem in problems:
        typer.echo(problem)
    if problems:
        raise typer.Exit(1)
    typer.echo("sound")


@store.command("upgrade")
def store_upgrade(url: StoreUrl) -> None:
    """Bring a store that an older version made to the form of this one."""
    from l2t.experiences import upgrade_store

    upgrade_store(url)
    typer.echo("up to date")


@store.command("rescue", short_help="Take what is whole out of a damaged SQLite store.")
def store_rescue(
    url: StoreUrl,
    into: Annotated[str, typer.Argument(help="The store that takes over what is whole.")],
) -> None:
    """Take every run that can still be read out of a damaged SQLite store, which is left as it is."""
    from l2t.experiences import open_store, rescue_store

    with open_store(into) as opened:
        typer.echo(f"{rescue_store(url, opened)} runs taken over")


@store.command("export")
def store_export(url: StoreUrl, file: Path) -> None:
    """Write everything in a store to one portable file."""
    from l2t.experiences import open_store

    with open_store(url, create=False) as opened:
        opened.export(file)
    typer.echo(f"written to {file}")


@store.command("import", short_help="Add the runs of an exported file.")
def store_import(url: StoreUrl, file: Path) -> None:
    """Add the runs of an exported file to a store; what is there already stays as it is."""
    from l2t.experiences import open_store

    with open_store(url) as opened:
        typer.echo(f"{opened.merge(file)} runs added")


DataDirectory = Annotated[
    Path, typer.Option(envvar="L2T_DATA", help="Directory with the data sets, one folder each.")
]
OutDirectory = Annotated[Path, typer.Option(help="Directory for the table.")]
WorkDirectory = Annotated[
    Path, typer.Option(help="Directory for experiences; what is there is not done again.")
]
Jobs = Annotated[int, typer.Option(help="Local processes; -1 for all cores.")]


@reproduce.command("office-caltech", short_help="Twelve tasks beside published figures.")
def office_caltech(data: DataDirectory, out: OutDirectory = Path("docs/results")) -> None:
    """All eight algorithms on the twelve Office-Caltech10 tasks, beside published figures.

    Needs office-caltech-surf/{amazon,caltech,webcam,dslr}.npz in the data directory.
    """
    from l2t.interfaces.cli.results import write_office_caltech

    write_office_caltech(data, out)


@reproduce.command("reflection", short_help="How well ratios of unseen classes are predicted.")
def reflection(
    data: DataDirectory,
    out: OutDirectory = Path("docs/results"),
    work: WorkDirectory = Path("experiences"),
    jobs: Jobs = 1,
) -> None:
    """Learn from photo-sketch pairs, and predict the ratios of pairs with other classes.

    Needs photo-sketch/{photo,sketch}.npz in the data directory. About 15 minutes on one core.
    """
    from l2t.interfaces.cli.results import write_reflection

    write_reflection(data, out, work, jobs)


@reproduce.command("inference", short_help="L2T beside the eight algorithms on new pairs.")
def inference(
    data: DataDirectory,
    out: OutDirectory = Path("docs/results"),
    pairs: Annotated[int, typer.Option(min=2, help="Testing pairs of each family.")] = 100,
    jobs: Jobs = 1,
) -> None:
    """Compare L2T with the eight base algorithms on testing pairs of four families of domains.

    Needs photo-sketch, photo-style and office-caltech-surf in the data directory. About 20 minutes.
    """
    from l2t.interfaces.cli.results import write_inference

    write_inference(data, out, pairs, jobs)


@reproduce.command("default", short_help="Learn the function that ships with the package.")
def default(
    data: DataDirectory,
    out: Annotated[Path, typer.Option(help="The JSON file to write.")] = Path("default.json"),
    work: WorkDirectory = Path("experiences"),
    jobs: Jobs = 1,
) -> None:
    """Collect from four families of domains, learn a reflection function, and plan its searches."""
    from l2t.interfaces.cli.results import write_default

    write_default(data, out, work, jobs)
