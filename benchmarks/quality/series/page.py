"""The page of results: each tuned task, and of those kept aside the figures of all together."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from benchmarks.quality.home import Json
from benchmarks.quality.series.outcomes import Outcome, Summary, summarise
from benchmarks.quality.series.tasks.registry import is_aside
from benchmarks.quality.standing import OURS
from benchmarks.quality.strangers.page import markdown_table

EXPLANATION = """
The last third of the time is forecast from up to twelve moments of it, each with what was known before.
*Error*: root mean square error over that of the best reference in hindsight, below 1 is better, cut at 2.
*Held*: share of the truth within the 90 % intervals, the goal is 85 to 95 %.
`±`: standard errors by blocks of moments. The crew is told target, horizon and seconds.
"""
HEAD = ("Task", "Periods", "Horizon", "Best reference", "Error", "±", "Held", "±", "Forecast by", "Seconds")
SUMMARY_HEAD = (
    "Tasks",
    "Forecast",
    "Worse than the best reference by more than its error",
    "Mean error",
    "Mean held",
    "Hold 85 to 95 % within two standard errors",
)

Rows = Mapping[str, Mapping[str, Json]]


def write_page(
    outcomes: Mapping[str, Outcome],
    failed: Mapping[str, str],
    rows: Rows,
    facts: Mapping[str, Json],
    budget_s: float,
) -> str:
    """`failed`: what the crew said of tasks without a forecast; `rows`: results by task and contender."""
    tuned = [outcome for task, outcome in outcomes.items() if not is_aside(task)]
    aside = [outcome for task, outcome in outcomes.items() if is_aside(task)]
    is_sum = {task: bool(facts[task]["measure"]) for task in outcomes}
    parts = [
        f"# Series, {budget_s:g} s a task, {datetime.now(UTC):%d %B %Y}",
        EXPLANATION.strip(),
        _describe_load(rows),
        markdown_table(
            SUMMARY_HEAD,
            [
                *_line("tuned", summarise(tuned)),
                *_line("tuned, series", summarise([each for each in tuned if not is_sum[each.task]])),
                *_line("tuned, transactions", summarise([each for each in tuned if is_sum[each.task]])),
                *_line("kept aside", summarise(aside)),
            ],
        ),
        "## Tuned tasks",
        _task_table(tuned, facts),
        _describe_failures(failed),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _line(title: str, summary: Summary | None) -> list[list[str]]:
    if summary is None:
        return []
    return [
        [
            title,
            str(summary.tasks),
            str(summary.worse),
            f"{summary.mean_ratio:.3f}",
            f"{summary.mean_held:.3f}",
            f"{summary.holding} of {summary.bounded}",
        ]
    ]


def _task_table(outcomes: Sequence[Outcome], facts: Mapping[str, Json]) -> str:
    lines = [
        [
            outcome.task,
            facts[outcome.task]["every"],
            str(facts[outcome.task]["horizon"]),
            outcome.best_reference,
            f"{outcome.ratio:.3f}",
            f"{outcome.error:.3f}",
            "" if outcome.held is None else f"{outcome.held:.2f}",
            "" if outcome.held_error is None else f"{outcome.held_error:.2f}",
            outcome.forecaster,
            "" if outcome.seconds is None else f"{outcome.seconds:.0f}",
        ]
        for outcome in sorted(outcomes, key=lambda outcome: -outcome.ratio)
    ]
    return markdown_table(HEAD, lines)


def _describe_load(rows: Rows) -> str:
    others = [
        row[OURS]["others_cores"] for row in rows.values() if row.get(OURS, {}).get("others_cores") is not None
    ]
    return f"Others used {sum(others) / len(others):.1f} processors on average meanwhile." if others else ""


def _describe_failures(failed: Mapping[str, str]) -> str:
    if not failed:
        return ""
    tuned = [f"- {task}: {text}" for task, text in failed.items() if not is_aside(task)]
    hidden = len(failed) - len(tuned)
    return "\n".join(
        ["Without a forecast:", "", *tuned, *([f"- {hidden} of those kept aside"] if hidden else [])]
    )
