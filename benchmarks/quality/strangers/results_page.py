"""Markdown page of results: each tuned task, and the summary of the held-out tasks."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from benchmarks.quality.comparison import LABCREW
from benchmarks.quality.run_folders import Json
from benchmarks.quality.strangers.held_out import held_out_tasks
from benchmarks.quality.strangers.outcomes import (
    PLAIN_BOOSTING,
    Outcome,
    SubsetSummary,
    compare_with_peers,
    is_learnable,
    is_overfitted,
    summarise,
)

SLOW_PEERS = ("autogluon", "flaml")
HEADER = (
    "Task", "Test rows", "Metric", "Naive", "Plain boosting", "Labcrew", "Normalised", "± paired",
    "Claim error", "Width", "Split named", "Unmeasured exclusions", "Seconds",
)  # fmt: skip
EXPLANATION = """
0 is naive, 1 is plain gradient boosting with skrub; cut at -1 and 2. `± paired` is the standard error of the
difference to plain boosting. *Claim error*: (claim - test score) in standard errors of both, positive is
optimistic.
*Width*: of the claim's interval over that of the test rows' bootstrap, at most 1.5 is the goal.
*Split named*: an assumption of the result names the way in which the test rows were chosen.
*Unmeasured exclusions*: columns that the model does not use and whose effect on the score was not measured; "?"
where the result is from before they were stored.
The crew is given the target, the metric and the time, and never how its model will be used.
"""

ResultsByTask = Mapping[str, Mapping[str, Json]]


def render_results_page(
    results: ResultsByTask, facts: Mapping[str, Json], budget_s: float, names: Sequence[str]
) -> str:
    """Render `results` by task and contender; `facts` are of the prepared tasks, `names` of the whole suite."""
    held_out = held_out_tasks(names)
    dropped = sorted(task for task in results if not is_learnable(results[task], (PLAIN_BOOSTING, *SLOW_PEERS)))
    outcomes = {
        task: outcome
        for task in results
        if task not in dropped
        and (outcome := compare_with_peers(task, facts[task], results[task], (PLAIN_BOOSTING,)))
    }
    tuned_outcomes = [outcome for task, outcome in outcomes.items() if task not in held_out]
    held_out_outcomes = [outcome for task, outcome in outcomes.items() if task in held_out]
    against_all_peers = [
        outcome
        for task in outcomes
        if any(name in results[task] for name in SLOW_PEERS)
        and (outcome := compare_with_peers(task, facts[task], results[task], (PLAIN_BOOSTING, *SLOW_PEERS)))
    ]
    parts = [
        f"# Strangers, {budget_s:g} s a task, {datetime.now(UTC):%d %B %Y}",
        EXPLANATION.strip(),
        _describe_load(results),
        _summary_table(tuned_outcomes, held_out_outcomes, against_all_peers),
        "## Tuned tasks",
        _task_table(tuned_outcomes, results, facts),
        "Dropped, since no peer is two standard errors better than naive: "
        f"{_count_dropped(dropped, held_out)}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _describe_load(results: ResultsByTask) -> str:
    others = [
        task_results[LABCREW]["others_cores"]
        for task_results in results.values()
        if task_results.get(LABCREW, {}).get("others_cores") is not None
    ]
    return f"Others used {sum(others) / len(others):.1f} processors on average meanwhile." if others else ""


def _summary_table(
    tuned_outcomes: list[Outcome], held_out_outcomes: list[Outcome], against_all_peers: list[Outcome]
) -> str:
    summaries = {
        "tuned, against plain boosting": summarise(tuned_outcomes),
        "held out, against plain boosting": summarise(held_out_outcomes),
        "against the best of all peers": summarise(against_all_peers),
    }
    table_rows = [_summary_cells(title, summary) for title, summary in summaries.items() if summary]
    tuned_summary, held_out_summary = summarise(tuned_outcomes), summarise(held_out_outcomes)
    conclusion = ""
    if tuned_summary and held_out_summary:
        word = (
            "differ: the crew is overfitted to tables"
            if is_overfitted(tuned_summary, held_out_summary)
            else "agree"
        )
        conclusion = f"\n\nThe means of tuned and held-out tasks {word}."
    header = (
        "Subset",
        "Tasks",
        "Mean",
        "± error",
        "Worse by more than the paired error",
        "Claims within 2",
        "beyond 4",
        "Claims at most 1.5 times as wide as the test rows' bootstrap",
        "median width",
        "Tasks without an unmeasured exclusion",
    )
    return markdown_table(header, table_rows) + conclusion


def _summary_cells(title: str, summary: SubsetSummary) -> list[str]:
    return [
        title,
        str(summary.tasks),
        f"{summary.mean:.3f}",
        f"{summary.error:.3f}",
        str(summary.worse),
        f"{summary.claims_consistent} of {summary.claims}",
        str(summary.claims_beyond_four),
        f"{summary.narrow} of {summary.widths}",
        f"{summary.median_width:.2f}",
        f"{summary.fully_measured} of {summary.with_exclusions}",
    ]


def _task_table(outcomes: Sequence[Outcome], results: ResultsByTask, facts: Mapping[str, Json]) -> str:
    table_rows = []
    for outcome in sorted(outcomes, key=lambda outcome: outcome.difference):
        task_results, task_facts = results[outcome.task], facts[outcome.task]
        scores = [_score(task_results.get(name)) for name in ("naive", PLAIN_BOOSTING, LABCREW)]
        table_rows.append(
            [
                outcome.task,
                str(task_facts["cut"]),
                str(task_facts["metric"]),
                *scores,
                f"{outcome.score:.3f}",
                f"{outcome.difference_error:.3f}",
                "" if outcome.claim_error is None else f"{outcome.claim_error:+.1f}",
                "" if outcome.width_ratio is None else f"{outcome.width_ratio:.2f}",
                {None: "", True: "yes", False: "no"}[outcome.names_split],
                "?" if outcome.unmeasured is None else ", ".join(outcome.unmeasured),
                "" if outcome.seconds is None else f"{outcome.seconds:.0f}",
            ]
        )
    return markdown_table(HEADER, table_rows)


def _score(result: Json | None) -> str:
    if result is None:
        return ""
    return "failed" if result.get("score") is None else f"{result['score']:.4g}"


def _count_dropped(dropped: Sequence[str], held_out: set[str]) -> str:
    open_tasks = [task for task in dropped if task not in held_out]
    held_out_count = len(dropped) - len(open_tasks)
    held_out_note = [f"{held_out_count} held-out tasks"] if held_out_count else []
    return ", ".join([*open_tasks, *held_out_note]) or "none"


def markdown_table(header: Sequence[str], table_rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(
        [
            f"| {' | '.join(header)} |",
            f"|{'---|' * len(header)}",
            *(f"| {' | '.join(cells)} |" for cells in table_rows),
        ]
    )
