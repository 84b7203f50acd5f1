"""`labcrew eval`: goals with checkable answers through the service, and how many of them came out right."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.sessions.run import AsJson, Key, Url
from app.cli.terminal.exit_codes import Exit
from app.errors import InvalidInput
from app.settings import Settings, load_settings

if TYPE_CHECKING:
    from rich.console import Console

    from app.cli.scoring.score_log import Record, Score
    from app.cli.scoring.suite import Suite, SuiteItem

SuiteName = Annotated[str, typer.Argument(metavar="SUITE", help="A folder with suite.jsonl, or `basics`.")]
Jobs = Annotated[int, typer.Option(help="Sessions at a time.", min=1, max=64)]
Again = Annotated[bool, typer.Option("--again", help="Run what has been run already, too.")]
Only = Annotated[list[str] | None, typer.Option(help="Id of an item; may be given again.")]
AtLeast = Annotated[
    float, typer.Option(help="Share that must be right, else the exit code is 1.", min=0, max=1)
]
Out = Annotated[Path | None, typer.Option(help="File of scores, appended to; what is in it is not run again.")]


def evaluate(
    suite: SuiteName,
    jobs: Jobs = 2,
    again: Again = False,
    only: Only = None,
    at_least: AtLeast = 0,
    out: Out = None,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Put a suite's goals to the service and judge what comes of them.

    A suite is a folder with tables and suite.jsonl (docs/evaluation.md). Exit code 1: fewer were right than
    --at-least.
    """
    from app.cli.scoring.score_log import Record  # noqa: PLC0415 - half a second that `--help` need not wait
    from app.cli.scoring.score_table import accuracy, document, score_table  # noqa: PLC0415 - see above
    from app.cli.scoring.suite import read_suite  # noqa: PLC0415 - see above

    settings = load_settings()
    read = read_suite(suite)
    items = _select_items(read, only or [])
    record = Record(out or settings.home / "evaluations" / f"{read.name}-{_crew(settings, url)}.jsonl")
    from rich.console import Console  # noqa: PLC0415 - see above

    console = Console(quiet=as_json, highlight=False, soft_wrap=True)
    try:
        scores = _scores(read, items, record, settings, (url, key), jobs, again, console)
    except KeyboardInterrupt:
        console.print(f"What was judged is kept in {record.path}; the same command goes on.")
        raise typer.Exit(Exit.INTERRUPTED) from None
    if as_json:
        typer.echo(json.dumps(document(read.name, scores), indent=2))
    else:
        console.print(score_table(scores))
        console.print(f"[dim]{record.path}[/]")
    raise typer.Exit(Exit.DONE if accuracy(scores) >= at_least else Exit.FAILED)


def _scores(
    suite: "Suite",
    items: "list[SuiteItem]",
    record: "Record",
    settings: Settings,
    service: tuple[str | None, str | None],
    jobs: int,
    again: bool,
    console: "Console",
) -> "list[Score]":
    """The newest score of each item, in the suite's order; what is missing is run."""
    from app.cli.connection.service_connection import connected  # noqa: PLC0415 - half a second that `--help` need not wait
    from app.cli.scoring.item_sessions import run_items  # noqa: PLC0415 - see above
    from app.cli.scoring.score_log import newest_scores  # noqa: PLC0415 - see above

    # Before the file is read and appended to: an evaluation that was killed may have left half a line.
    record.drop_partial_line()
    known = {} if again else newest_scores(suite, items, record.scores())
    missing = [item for item in items if item.id not in known]
    if missing:
        with connected(settings, *service, console.print) as client:
            for score in run_items(client, suite, missing, jobs):
                # At once, so that an interrupt loses only sessions that still ran.
                record.append(score)
                known[score.item] = score
                verdict = "right" if score.right else f"[red]wrong[/] {'; '.join(score.misses)[:150]}"
                console.print(f"[dim]{len(known)}/{len(items)}[/] {score.item} {verdict}")
    return [known[item.id] for item in items]


def _select_items(suite: "Suite", only: list[str]) -> "list[SuiteItem]":
    from app.modeling.problem.name_resolution import nearest_names  # noqa: PLC0415 - see above

    items_by_id = {item.id: item for item in suite.items}
    for name in only:
        if name not in items_by_id:
            close = ", ".join(nearest_names(name, items_by_id)) or ", ".join(list(items_by_id)[:10])
            raise InvalidInput(
                "no_such_item", f"The suite {suite.name} has no item {name!r}; the nearest are {close}."
            )
    return [items_by_id[name] for name in dict.fromkeys(only)] or list(suite.items)


def _crew(settings: Settings, url: str | None) -> str:
    """Name the crew in its scores by its chat model, or by the address of its service."""
    crew = url.split("://")[-1] if url else settings.chat.model
    return "".join(sign if sign.isalnum() or sign in ".-" else "-" for sign in crew).strip("-") or "crew"
