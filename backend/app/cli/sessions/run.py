"""`labcrew run` and `labcrew demo`: one session from the terminal."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from app.cli.quick_imports import quick_imports
from app.cli.sessions.named_options import check_budget, check_metric
from app.cli.sessions.run_options import RunOptions
from app.cli.terminal.exit_codes import Exit
from app.datasets.example_table import find_example
from app.errors import InvalidInput, NotFound

DEMO_GOAL = "Predict which passengers survived."

What = Annotated[
    list[str], typer.Argument(metavar='DATA... "GOAL"', help="Files of data, then the goal in words.")
]
Target = Annotated[str | None, typer.Option(help="Column to predict.")]
Metric = Annotated[
    str | None,
    typer.Option(help="What candidates are compared by: roc_auc, rmse, ...", callback=check_metric),
]
TimeColumn = Annotated[str | None, typer.Option(help="Column that orders the rows in time.")]
GroupColumn = Annotated[str | None, typer.Option(help="Column whose groups must not be split.")]
Exclude = Annotated[list[str] | None, typer.Option(help="Column not to use; may be given again.")]
Budget = Annotated[
    float,
    typer.Option(
        help="Seconds that the session plans with, report included: later rounds of fits, figures and tests "
        "are cut to keep them. The first round of fits, the hold-out and the report are never left out, so "
        "that a short budget or a busy machine can take longer. At least 1 second.",
        callback=check_budget,
    ),
]
ModelKind = Annotated[
    Literal["ensemble", "single", "interpretable"] | None,
    typer.Option("--model", help="`single`: the best family alone; `interpretable`: a linear model."),
]
Seed = Annotated[
    int | None,
    typer.Option(help="Seed of every draw; by default 1. The same seed draws the same hold-out.", min=0),
]
Review = Annotated[bool, typer.Option("--review", help="Show the plan and ask before it is carried out.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Take the crew's own answer to its questions.")]
Url = Annotated[str | None, typer.Option(help="A service elsewhere; without it, the one of this machine.")]
Key = Annotated[str | None, typer.Option(envvar="LABCREW_API_KEY", help="API key for --url.")]
Out = Annotated[Path | None, typer.Option(help="Folder for the report.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")]


def run(
    what: What,
    target: Target = None,
    metric: Metric = None,
    time_column: TimeColumn = None,
    group_column: GroupColumn = None,
    exclude: Exclude = None,
    budget: Budget = 60,
    model: ModelKind = None,
    seed: Seed = None,
    review: Review = False,
    yes: Yes = False,
    url: Url = None,
    key: Key = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Run one session: the crew takes the data and the goal, and leaves a checked report.

    Exit codes: 0 done, 1 the session failed, 2 wrong usage, 3 something given is wrong, 4 a server is missing,
    5 the crew asked and nobody could answer, 6 cancelled, 7 the goal was not understood, 130 interrupted.
    """
    *names, goal = what
    # First of all: a file that is not there is the fault, whatever the goal is.
    files = tuple(map(_file, names))
    preferences = {
        "target": target,
        "metric": metric,
        "time_column": time_column,
        "group_column": group_column,
        "exclude": exclude,
        "time_budget_s": budget,
        "model": model,
        "seed": seed,
        "clarify": "never" if yes else "ask",
        "review_plan": review,
    }
    # The last argument is the goal by position, so that a forgotten one would make a file's name the goal.
    if _is_file(Path(goal)) or len(goal.strip()) < MIN_GOAL_CHARS:
        after = goal if _is_file(Path(goal)) else "the files"
        raise InvalidInput(
            "no_goal", f'The goal is missing. After {after} say in quotes what you want: "Predict ...".'
        )
    if not files and _is_file_name(goal):
        _file(goal)
    chosen_preferences = {name: value for name, value in preferences.items() if value is not None}
    options = RunOptions(files, goal, chosen_preferences, url, key, out, as_json)
    raise typer.Exit(_execute(options))


def demo(budget: Budget = 20, out: Out = None, as_json: AsJson = False) -> None:
    """Show the crew at work on a real table: who survived the Titanic."""
    preferences: dict[str, object] = {"time_budget_s": budget, "clarify": "never", "seed": 1}
    options = RunOptions(
        (find_example(),), DEMO_GOAL, preferences, out=out, as_json=as_json, next_steps=_NEXT_STEPS
    )
    raise typer.Exit(_execute(options))


MIN_GOAL_CHARS = 3
"""Characters of the shortest goal that the service takes (`Goal` of `sessions/schemas.py`)."""
_NEXT_STEPS = (
    "",
    "Open the report in a browser. Then try your own data:",
    '  .venv/bin/labcrew run data.csv "Predict the price"',
)


def _execute(options: RunOptions) -> Exit:
    with quick_imports():
        from app.cli.sessions.run_command import execute_run  # noqa: PLC0415 - time that `--help` need not wait
    return execute_run(options)


def _file(name: str) -> Path:
    path = Path(name).expanduser()
    if _is_folder(path):
        raise InvalidInput(
            "file_is_folder", f"{name} is a folder. Name the files in it, then the goal in quotes."
        )
    if not _is_file(path):
        raise NotFound("no_such_file", f"There is no file {name}. Files come first, then the goal in quotes.")
    return path


def _is_file_name(goal: str) -> bool:
    """Return whether the only argument is one word with the ending of a file: nobody writes a goal so."""
    suffix = Path(goal).suffix.removeprefix(".")
    return len(goal.split()) == 1 and suffix.isalnum() and not suffix.isdigit()


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False  # as of files


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False  # a goal may be longer than a name can be
