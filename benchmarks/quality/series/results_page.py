"""Markdown page of results: each tuned task, and the summary of the held-out tasks."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from benchmarks.quality.comparison import LABCREW
from benchmarks.quality.run_folders import Json
from benchmarks.quality.series.outcomes import Outcome, Summary, summarise
from benchmarks.quality.series.tasks.registry import is_held_out
from benchmarks.quality.strangers.results_page import markdown_table

EXPLANATION = """
The last third of the time is forecast from up to twelve moments of it, each with what was known before.
*Error*: root mean square error over that of the best reference in hindsight, below 1 is better, cut at 2.
*Coverage*: share of the true values within the 90 % intervals, the goal is 85 to 95 %.
`±`: standard errors by blocks of moments. The crew is given target, horizon and seconds.
"""
HEADER = (
    "Task",
    "Periods",
    "Horizon",
    "Best reference",
    "Error",
    "±",
    "Coverage",
    "±",
    "Forecaster",
    "Seconds",
)
SUMMARY_HEADER = (
    "Tasks",
    "Forecast",
    "Worse than the best reference by more than its error",
    "Mean error",
    "Mean coverage",
    "Coverage of 85 to 95 % within two standard errors",
)

ResultsByTask = Mapping[str, Mapping[str, Json]]


def render_results_page(
    outcomes: Mapping[str, Outcome],
    failures: Mapping[str, str],
    results: ResultsByTask,
    facts: Mapping[str, Json],
    budget_s: float,
) -> str:
    """Render the page; `failures`: errors of tasks without a forecast; `results`: by task and contender."""
    tuned_outcomes = [outcome for task, outcome in outcomes.items() if not is_held_out(task)]
    held_out_outcomes = [outcome for task, outcome in outcomes.items() if is_held_out(task)]
    is_sum = {task: bool(facts[task]["measure"]) for task in outcomes}
    parts = [
        f"# Series, {budget_s:g} s a task, {datetime.now(UTC):%d %B %Y}",
        EXPLANATION.strip(),
        _describe_load(results),
        markdown_table(
            SUMMARY_HEADER,
            [
                *_summary_row("tuned", summarise(tuned_outcomes)),
                *_summary_row(
                    "tuned, series",
                    summarise([outcome for outcome in tuned_outcomes if not is_sum[outcome.task]]),
                ),
                *_summary_row(
                    "tuned, transactions",
                    summarise([outcome for outcome in tuned_outcomes if is_sum[outcome.task]]),
                ),
                *_summary_row("held out", summarise(held_out_outcomes)),
            ],
        ),
        "## Tuned tasks",
        _task_table(tuned_outcomes, facts),
        _describe_failures(failures),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary_row(title: str, summary: Summary | None) -> list[list[str]]:
    if summary is None:
        return []
    return [
        [
            title,
            str(summary.tasks),
            str(summary.worse),
            f"{summary.mean_ratio:.3f}",
            f"{summary.mean_coverage:.3f}",
            f"{summary.nominal} of {summary.with_intervals}",
        ]
    ]


def _task_table(outcomes: Sequence[Outcome], facts: Mapping[str, Json]) -> str:
    table_rows = [
        [
            outcome.task,
            facts[outcome.task]["every"],
            str(facts[outcome.task]["horizon"]),
            outcome.best_reference,
            f"{outcome.ratio:.3f}",
            f"{outcome.ratio_error:.3f}",
            "" if outcome.coverage is None else f"{outcome.coverage:.2f}",
            "" if outcome.coverage_error is None else f"{outcome.coverage_error:.2f}",
            outcome.forecaster,
            "" if outcome.seconds is None else f"{outcome.seconds:.0f}",
        ]
        for outcome in sorted(outcomes, key=lambda outcome: -outcome.ratio)
    ]
    return markdown_table(HEADER, table_rows)


def _describe_load(results: ResultsByTask) -> str:
    others = [
        task_results[LABCREW]["others_cores"]
        for task_results in results.values()
        if task_results.get(LABCREW, {}).get("others_cores") is not None
    ]
    return f"Others used {sum(others) / len(others):.1f} processors on average meanwhile." if others else ""


def _describe_failures(failures: Mapping[str, str]) -> str:
    if not failures:
        return ""
    items = [f"- {task}: {text}" for task, text in failures.items() if not is_held_out(task)]
    held_out_count = len(failures) - len(items)
    if held_out_count:
        items.append(f"- {held_out_count} held-out tasks")
    return "\n".join(["Without a forecast:", "", *items])
