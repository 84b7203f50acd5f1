"""Result of a session as text, as a JSON document and as an exit code."""

import re
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from app.cli.api_client.received_events import QuestionEvent
from app.cli.api_client.responses import (
    NOT_UNDERSTOOD,
    AnswerTable,
    DriverList,
    HoldoutScore,
    Json,
    RankedCandidate,
    SessionDocument,
    SessionResult,
)
from app.cli.sessions.forecast_table import decimal_places, format_decimals, show_forecast
from app.cli.sessions.prompts import show_question
from app.cli.sessions.run_session import FORECASTS, PREDICTIONS, RunResult
from app.cli.terminal.block_charts import draw_blocks
from app.cli.terminal.exit_codes import Exit
from app.cli.terminal.result_table import NUMBERS, show_row_count, show_rows
from app.cli.terminal.sanitize import harmless, plain
from app.reporting.metrics import describe_metric
from app.reporting.time_budget import exceeds_budget

_EXIT_OF_STATUS = {
    "failed": Exit.FAILED,
    "cancelled": Exit.CANCELLED,
    "cancelling": Exit.CANCELLED,
}


def exit_of(ending: RunResult) -> Exit:
    """Done means completed with a report whose numbers were checked."""
    if ending.waiting:
        return Exit.WAITING
    # A script that reads only the code should not take numbers for good that were not checked.
    if ending.session.status == "completed" and ending.checked_claims and ending.report:
        return Exit.DONE
    if ending.session.error and ending.session.error.code == NOT_UNDERSTOOD:
        return Exit.UNREADABLE_GOAL
    return _EXIT_OF_STATUS.get(ending.session.status, Exit.FAILED)


def document(ending: RunResult) -> Json:
    """Build the JSON document of `--json`."""
    session = ending.session
    return {
        "session": session.id,
        "status": "awaiting_user" if ending.waiting else session.status,
        "elapsed_s": round(ending.elapsed_s, 2),
        "result": session.result.to_json() if session.result else None,
        "error": session.error.to_json() if session.error else None,
        "question": ending.waiting.to_json() if ending.waiting else None,
        "report": str(ending.report) if ending.report else None,
        "files": [str(path) for path in ending.files],
    }


def show(ending: RunResult, console: Console) -> None:
    session = ending.session
    if ending.waiting:
        _show_waiting(ending.waiting, session.id, console)
    elif session.status != "completed":
        reason = (session.error and session.error.detail) or f"The session is {session.status}."
        console.print(f"\n[red]{plain(reason)}[/] (session {session.id})")
    else:
        _show_result(ending, console)


def _show_result(ending: RunResult, console: Console) -> None:
    result = ending.result
    _show_headline(result, console)
    if result.drivers:
        _show_drivers(result.drivers, result.headline or "", console)
    if result.conclusion:
        show_forecast(result.conclusion, console)
        _name_file(ending, FORECASTS, "All forecasts", console)
    entries, holdout = result.leaderboard, result.holdout
    # The same for all scores, so that they stand under each other and can be compared.
    places = decimal_places(entries[0].score if entries else holdout.value if holdout else None)
    if entries:
        metric = describe_metric(result.metric).label if result.metric else "Score"
        candidates = select_candidates(entries)
        console.print(_leaderboard(entries, candidates, metric, places, result.forecaster))
        if hidden := len(entries) - len(candidates):
            tied = sum(entry.collapsed for entry in entries)
            noise = f", {tied} of them within noise of the best" if 0 < tied < hidden else ""
            noise = " within noise of the best" if tied == hidden else noise
            console.print(f"[dim]And {hidden} more{noise}, which the report lists.[/]")
    if result.answer:
        _show_answer(result.answer, console)
    if holdout:
        # A row of a series is forecast several times: from several moments, each so many steps ahead.
        units = "hold-out forecasts" if (result.problem or {}).get("every_step") else "hold-out rows"
        is_by_methods = result.forecaster and result.forecaster not in [entry.name for entry in entries]
        methods = f", {plain(result.forecaster)}" if result.forecaster and is_by_methods else ""
        console.print(f"On {holdout.rows:,} {units}{methods}: {_with_interval(holdout, places)}")
    _name_file(ending, PREDICTIONS, _title_of_predictions(result), console)
    # Services of former releases have the measured ones only.
    measured = [entry.text for entry in result.assumptions if entry.matters]
    for condition in (result.conditions or measured)[:MAX_CONDITIONS]:
        console.print(f"  - {plain(condition)}")
    if ending.report:
        console.print(
            f"Report: {ending.report} ({ending.checked_claims} numbers checked against what was recorded)"
        )
    else:
        console.print("[red]There is no report.[/]")
    _show_overrun(ending.session, console)
    seed = "" if ending.session.seed is None else f", seed {ending.session.seed}"
    console.print(f"[dim]{ending.elapsed_s:.0f} s, session {ending.session.id}{seed}[/]")


def _title_of_predictions(result: SessionResult) -> str:
    is_ranked = bool((result.unlabelled or {}).get("first"))
    return "Ranking, the highest prediction first" if is_ranked else "Predictions of the rows without a target"


def _name_file(ending: RunResult, name: str, title: str, console: Console) -> None:
    """Say where a file of the session is, if it was fetched."""
    if path := next((path for path in ending.files if path.name == name), None):
        console.print(f"{title}: {path}")


def _show_headline(result: SessionResult, console: Console) -> None:
    """Print the first sentence of the answer, and below it the verdict on the model."""
    console.print(f"\n[bold]{plain(result.headline or 'Done.')}[/]")
    if result.verdict:
        colour = "yellow" if result.verdict.tone == "warn" else "dim"
        console.print(f"[{colour}]{plain(result.verdict.text)}[/]")


def _show_overrun(session: SessionDocument, console: Console) -> None:
    """Print that the session took longer than its budget, and why it may."""
    budget_s = session.preferences.get("time_budget_s")
    if exceeds_budget(session.worked_s, budget_s, bool(session.preferences.get("deterministic"))):
        console.print(
            f"[yellow]It took {session.worked_s:.0f} s, more than its budget of {budget_s:g} s: the first"
            " round of fits, the hold-out and the report are never left out.[/]"
        )


def _show_drivers(drivers: DriverList, headline: str, console: Console) -> None:
    """Print what the target goes with: all effects if the goal asked for them, else the first sentence."""
    if drivers.requested:
        for text in (text for driver in drivers.drivers for text in driver.texts):
            console.print(f"  - {plain(text)}")
    # The headline may be this sentence already; a forecast by its times alone has none.
    if drivers.text not in headline:
        console.print(plain(drivers.text))


def _show_answer(answer: AnswerTable, console: Console) -> None:
    """Print the table of an answer, the readings of its question, and the code that computed it."""
    if len(answer.rows) > 1 or len(answer.columns) > 1:
        columns = [(column.name, column.type) for column in answer.columns]
        shares = [name for name, measure in answer.measures.items() if measure == "share"]
        show_rows(columns, answer.rows, console, shares)
        if blocks := _draw_answer(answer):
            console.print(f"\n{blocks}\n", markup=False, highlight=False)
    show_row_count(answer.row_count, console)
    for reading in answer.readings:
        console.print(f"[dim]{plain(reading)}[/]")
    if answer.rows_used is not None:
        console.print(f"From {answer.rows_used:,} of {answer.total_rows:,} rows, by")
    console.print(f"[dim]{plain(answer.code)}[/]")


def _draw_answer(answer: AnswerTable) -> str:
    """Draw a label and its number: a curve over time, else bars; empty for other tables and single rows."""
    is_drawn = len(answer.columns) == 2 and len(answer.rows) >= MIN_DRAWN_ROWS
    if not is_drawn or answer.columns[1].type not in NUMBERS:
        return ""
    kind = "line" if answer.columns[0].type in _TIMES else "bar"
    columns = [column.model_dump() for column in answer.columns]
    rows = [[harmless(label) if isinstance(label, str) else label, number] for label, number in answer.rows]
    is_share = answer.measures.get(answer.columns[1].name) == "share"
    return draw_blocks(kind, columns, rows, is_share=is_share)


MIN_DRAWN_ROWS = 3
"""Rows from which a chart shows more than the table."""
_TIMES = ("datetime", "date")
MAX_CONDITIONS = 3
"""Conditions of the score that are printed; the report has them all."""


def _with_interval(holdout: HoldoutScore, places: int) -> str:
    low, high = (format_decimals(bound, places) for bound in (holdout.low, holdout.high))
    interval = f" (95% interval {low} to {high})" if holdout.low is not None else ""
    return f"{describe_metric(holdout.metric).label} {format_decimals(holdout.value, places)}{interval}"


MAX_CANDIDATES = 8
"""Candidates that are printed: more scroll the answer out of sight. The report has them all."""
_TRIAL = re.compile(r"-t\d{1,4}$")
"""End of the name of a tuning trial: `Ridge-t3`."""


def select_candidates(entries: Sequence[RankedCandidate]) -> list[RankedCandidate]:
    """Return the candidates to print in their order: the chosen one, the baseline, and the best of each family.

    Further trials of a family follow as far as there is room.
    """
    open_entries = [entry for entry in entries if not entry.collapsed]
    families = set[str]()
    family_bests, further_trials = list[RankedCandidate](), list[RankedCandidate]()
    for entry in open_entries:
        family = _TRIAL.sub("", entry.name)
        (further_trials if family in families else family_bests).append(entry)
        families.add(family)
    by_priority = sorted(
        [*family_bests, *further_trials], key=lambda entry: not (entry.is_chosen or entry.is_baseline)
    )
    names = {entry.name for entry in by_priority[:MAX_CANDIDATES]}
    return [entry for entry in open_entries if entry.name in names]


def _leaderboard(
    entries: Sequence[RankedCandidate],
    candidates: Sequence[RankedCandidate],
    metric: str,
    places: int,
    forecaster: str | None = None,
) -> Table:
    """List some of the candidates with their places among all. `places`: decimal places;
    `forecaster`: who makes the forecast, which may be none of them.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("")
    table.add_column("Candidate")
    has_one_fold = all(entry.folds == 1 for entry in entries if entry.compared)
    validation = "on one validation fold" if has_one_fold else "cross-validated"
    table.add_column(f"{metric[:1].upper()}{metric[1:]}, {validation}", justify="right")
    for place, entry in enumerate(entries, 1):
        if entry not in candidates:
            continue
        if not entry.compared:
            table.add_row("", _describe_candidate(entry), f"[dim]{_describe_uncompared(entry)}[/]")
            continue
        spread = f" ± {format_decimals(entry.std, places)}" if entry.std else ""
        score = f"{format_decimals(entry.score, places)}{spread}"
        table.add_row(str(place), _describe_candidate(entry), score)
    if forecaster and forecaster not in [entry.name for entry in entries]:
        table.add_row("", f"[bold]{plain(forecaster)}[/]", "[dim]make the forecast: better on the hold-out[/]")
    return table


def _describe_candidate(entry: RankedCandidate) -> str:
    return f"[bold]{plain(entry.name)} (chosen)[/]" if entry.is_chosen else plain(entry.name)


def _describe_uncompared(entry: RankedCandidate) -> str:
    """Say why a candidate has no score beside the others, and what it adds to the ensemble all the same."""
    reason = "cut by its time" if entry.cut else f"judged on {entry.folds} of {entry.fold_count} folds"
    share = f", but {entry.weight:.0%} of the ensemble" if entry.weight else ""
    return f"{reason}: not compared{share}"


def _show_waiting(question: QuestionEvent, session_id: str, console: Console) -> None:
    show_question(question, console)
    example = "1" if question.options else '"..."'
    console.print(f"The session waits. Answer it: labcrew answer {session_id} {example}")
