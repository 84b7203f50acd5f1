"""The page of results: each tuned task, and of those kept aside the figures of all together."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from benchmarks.quality.home import Json
from benchmarks.quality.standing import OURS
from benchmarks.quality.strangers.halves import kept_aside
from benchmarks.quality.strangers.outcomes import (
    PLAIN,
    HalfMean,
    Outcome,
    is_tuned_to_tables,
    is_worth_running,
    judge_outcome,
    summarise,
)

SLOW_PEERS = ("autogluon", "flaml")
HEAD = (
    "Task", "Test rows", "Metric", "Naive", "Plain boosting", "Labcrew", "Normalised", "± paired",
    "Claim off by", "Width", "Condition named", "Left out without a figure", "Seconds",
)  # fmt: skip
EXPLANATION = """
0 is naive, 1 is plain gradient boosting with skrub; cut at -1 and 2. `± paired` is the standard error of the
difference to plain boosting. *Claim off by*: (claim - truth) in standard errors of both, positive is too good.
*Width*: of the claim's interval over that of the test rows' bootstrap, at most 1.5 is the goal.
*Condition named*: whether an assumption of the result names the way in which the test rows were chosen.
*Left out without a figure*: columns that the model does not use and whose worth was not measured; "?" where the
result is from before they were stored.
The crew is told the target, the metric and the time, and never how its model will be used.
"""

Rows = Mapping[str, Mapping[str, Json]]


def write_page(rows: Rows, facts: Mapping[str, Json], budget_s: float, names: Sequence[str]) -> str:
    """`rows`: results by task and contender; `facts`: of the prepared tasks; `names`: all of the suite."""
    aside = kept_aside(names)
    dropped = sorted(task for task in rows if not is_worth_running(rows[task], (PLAIN, *SLOW_PEERS)))
    outcomes = {
        task: outcome
        for task in rows
        if task not in dropped and (outcome := judge_outcome(task, facts[task], rows[task], (PLAIN,)))
    }
    tuned = [outcome for task, outcome in outcomes.items() if task not in aside]
    untuned = [outcome for task, outcome in outcomes.items() if task in aside]
    against_slow = [
        outcome
        for task in outcomes
        if any(name in rows[task] for name in SLOW_PEERS)
        and (outcome := judge_outcome(task, facts[task], rows[task], (PLAIN, *SLOW_PEERS)))
    ]
    parts = [
        f"# Strangers, {budget_s:g} s a task, {datetime.now(UTC):%d %B %Y}",
        EXPLANATION.strip(),
        _describe_load(rows),
        _summary_table(tuned, untuned, against_slow),
        "## Tuned tasks",
        _task_table(tuned, rows, facts),
        f"Dropped, since no peer is two standard errors better than naive: {_count_dropped(dropped, aside)}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _describe_load(rows: Rows) -> str:
    others = [
        row[OURS]["others_cores"] for row in rows.values() if row.get(OURS, {}).get("others_cores") is not None
    ]
    return f"Others used {sum(others) / len(others):.1f} processors on average meanwhile." if others else ""


def _summary_table(tuned: list[Outcome], untuned: list[Outcome], against_slow: list[Outcome]) -> str:
    halves = {
        "tuned, against plain boosting": summarise(tuned),
        "kept aside, against plain boosting": summarise(untuned),
        "against the best of all peers": summarise(against_slow),
    }
    lines = [_half_line(title, half) for title, half in halves.items() if half]
    first, second = summarise(tuned), summarise(untuned)
    verdict = ""
    if first and second:
        word = "differ: the crew was tuned to tables" if is_tuned_to_tables(first, second) else "agree"
        verdict = f"\n\nThe means of the two halves {word}."
    head = (
        "Half",
        "Tasks",
        "Mean",
        "± error",
        "Below by more than the paired error",
        "Claims within 2",
        "beyond 4",
        "Claims at most 1.5 times as wide as the test rows' bootstrap",
        "median width",
        "Tasks without a column left out that has no figure",
    )
    return markdown_table(head, lines) + verdict


def _half_line(title: str, half: HalfMean) -> list[str]:
    return [
        title,
        str(half.tasks),
        f"{half.mean:.3f}",
        f"{half.error:.3f}",
        str(half.below),
        f"{half.claims_held} of {half.claims}",
        str(half.claims_beyond_four),
        f"{half.narrow} of {half.widths}",
        f"{half.median_width:.2f}",
        f"{half.explained} of {half.listed}",
    ]


def _task_table(outcomes: Sequence[Outcome], rows: Rows, facts: Mapping[str, Json]) -> str:
    lines = []
    for outcome in sorted(outcomes, key=lambda outcome: outcome.lead):
        row, fact = rows[outcome.task], facts[outcome.task]
        scores = [_score(row.get(name)) for name in ("naive", PLAIN, OURS)]
        lines.append(
            [
                outcome.task,
                str(fact["cut"]),
                str(fact["metric"]),
                *scores,
                f"{outcome.score:.3f}",
                f"{outcome.lead_error:.3f}",
                "" if outcome.surprise is None else f"{outcome.surprise:+.1f}",
                "" if outcome.width_ratio is None else f"{outcome.width_ratio:.2f}",
                {None: "", True: "yes", False: "no"}[outcome.named],
                "?" if outcome.unexplained is None else ", ".join(outcome.unexplained),
                "" if outcome.seconds is None else f"{outcome.seconds:.0f}",
            ]
        )
    return markdown_table(HEAD, lines)


def _score(result: Json | None) -> str:
    if result is None:
        return ""
    return "failed" if result.get("score") is None else f"{result['score']:.4g}"


def _count_dropped(dropped: Sequence[str], aside: set[str]) -> str:
    named = [task for task in dropped if task not in aside]
    hidden = len(dropped) - len(named)
    return ", ".join([*named, *([f"{hidden} of those kept aside"] if hidden else [])]) or "none"


def markdown_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(
        [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(line)} |" for line in lines)]
    )
