"""Result of a session as text, as a JSON document and as an exit code."""

import math
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from app.cli.api_client.received_events import QuestionEvent
from app.cli.api_client.responses import (
    NOT_UNDERSTOOD,
    AnswerTable,
    Conclusion,
    DriverList,
    HoldoutScore,
    Json,
    RankedCandidate,
)
from app.cli.sessions.prompts import show_question
from app.cli.sessions.run_session import FORECASTS, RunResult
from app.cli.terminal.block_charts import draw_blocks
from app.cli.terminal.exit_codes import Exit
from app.cli.terminal.result_table import NUMBERS, show_row_count, show_rows
from app.cli.terminal.sanitize import harmless, plain
from app.reporting.metrics import describe_metric

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
    console.print(f"\n[bold]{plain(result.headline or 'Done.')}[/]")
    if result.drivers:
        _show_drivers(result.drivers, result.headline or "", console)
    if result.conclusion:
        _show_forecast(result.conclusion, console)
        if forecasts := next((path for path in ending.files if path.name == FORECASTS), None):
            console.print(f"All forecasts: {forecasts}")
    entries, holdout = result.leaderboard, result.holdout
    # The same for all scores, so that they stand under each other and can be compared.
    places = _places(entries[0].score if entries else holdout.value if holdout else None)
    if entries:
        metric = describe_metric(result.metric).label if result.metric else "Score"
        console.print(_leaderboard(entries, metric, places))
        if tied := sum(entry.collapsed for entry in entries):
            console.print(f"[dim]And {tied} more within noise of the best, which the report lists.[/]")
    if result.answer:
        _show_answer(result.answer, console)
    if holdout:
        # A row of a series is forecast several times: from several moments, each so many steps ahead.
        units = "hold-out forecasts" if (result.problem or {}).get("every_step") else "hold-out rows"
        console.print(f"On {holdout.rows:,} {units}: {_with_interval(holdout, places)}")
    for condition in [entry for entry in result.assumptions if entry.matters][:MAX_CONDITIONS]:
        console.print(f"  - {plain(condition.text)}")
    if ending.report:
        console.print(
            f"Report: {ending.report} ({ending.checked_claims} numbers checked against what was recorded)"
        )
    else:
        console.print("[red]There is no report.[/]")
    console.print(f"[dim]{ending.elapsed_s:.0f} s, session {ending.session.id}[/]")


def _show_drivers(drivers: DriverList, headline: str, console: Console) -> None:
    """Print what the target goes with: all effects if the goal asked for them, else the first sentence."""
    if drivers.requested:
        for text in (text for driver in drivers.drivers for text in driver.texts):
            console.print(f"  - {plain(text)}")
    # The headline may be this sentence already; a forecast by its times alone has none.
    if drivers.text and drivers.text != headline:
        console.print(plain(drivers.text))


def _show_forecast(conclusion: Conclusion, console: Console) -> None:
    """Print the forecasts by period that the first sentence does not hold, and the curve of a single series."""
    figures = [figure for figure in conclusion.figures if figure.name == "forecast" and figure.period]
    if len(figures) < MIN_TABULATED:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("Period", "Forecast", "From", "To"):
        table.add_column(heading, justify="left" if heading == "Period" else "right")
    for figure in figures:
        places = _places(figure.high)
        bounds = (_number(bound, places) for bound in (figure.low, figure.high))
        table.add_row(plain(figure.period or ""), plain(figure.text), *bounds)
    console.print(table)
    if len({figure.period for figure in figures}) == len(figures):  # of one series
        rows = [[harmless(figure.period or ""), figure.value] for figure in figures]
        curve = draw_blocks("line", [{"type": "datetime"}, {"type": "number"}], rows)
        console.print(f"\n{curve}\n", markup=False, highlight=False)


MIN_TABULATED = 3
"""Forecasts from which they are tabulated: the first sentence states two."""


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
    return draw_blocks(kind, columns, rows)


MIN_DRAWN_ROWS = 3
"""Rows from which a chart shows more than the table."""
_TIMES = ("datetime", "date")
MAX_CONDITIONS = 3
"""Conditions of the score that are printed; the report has them all."""


def _places(score: float | None) -> int:
    """Decimal places that show four digits of the score, or all before its point."""
    return min(max(3 - math.floor(math.log10(abs(score))), 0), 6) if score else 4


def _with_interval(holdout: HoldoutScore, places: int) -> str:
    low, high = (_number(bound, places) for bound in (holdout.low, holdout.high))
    interval = f" (95% interval {low} to {high})" if holdout.low is not None else ""
    return f"{describe_metric(holdout.metric).label} {_number(holdout.value, places)}{interval}"


def _leaderboard(entries: Sequence[RankedCandidate], metric: str, places: int) -> Table:
    """List the candidates, best first, without those that are collapsed. `places`: decimal places."""
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("")
    table.add_column("Candidate")
    table.add_column(f"{metric[:1].upper()}{metric[1:]}, cross-validated", justify="right")
    for place, entry in enumerate(entries, 1):
        if entry.collapsed:
            continue
        if not entry.compared:
            missing = f"judged on {entry.folds} of {entry.fold_count} folds"
            remark = f"[dim]{'cut by its time' if entry.cut else missing}: not compared[/]"
            table.add_row("", plain(entry.name), remark)
            continue
        spread = f" ± {_number(entry.std, places)}" if entry.std else ""
        table.add_row(str(place), plain(entry.name), f"{_number(entry.score, places)}{spread}")
    return table


def _number(value: Any, places: int) -> str:
    return f"{value:,.{places}f}" if isinstance(value, int | float) else "-"


def _show_waiting(question: QuestionEvent, session_id: str, console: Console) -> None:
    show_question(question, console)
    example = "1" if question.options else '"..."'
    console.print(
        f"The session waits. Answer it: labcrew answer {session_id} {example}\n"
        f"or by POST /api/v1/lab/agent/sessions/{session_id}/respond."
    )
