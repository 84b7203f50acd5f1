"""Figures over the groups of an answer: `what is the total of that?`, `how many are left?`."""

import re
from dataclasses import replace

from app.agents.assistant.follow_ups.changed_plan import ChangedPlan, UnclearChange
from app.plans import build, editing
from app.plans.plan import AggregateFunction, Plan, PlanSource

_THEM = (
    r"(?:that|this|it|them|those|these|all(?: of (?:that|it|them|those|these))?|(?:the|those|these|all) "
    r"(?:groups|rows|bars|numbers|figures|values|results))"
)
_SUMMARY = re.compile(
    rf"(?:what(?:'s| is| are| would be) )?(?:the |an? )?(?:grand )?"
    rf"(?P<word>total|sum|average|mean|median|minimum|maximum) (?:of|for|over|across) {_THEM}"
    rf"|(?P<verb>sum|add|average) {_THEM}(?: up)?",
    re.IGNORECASE,
)
_FUNCTIONS: dict[str, AggregateFunction] = {
    "total": "sum",
    "sum": "sum",
    "add": "sum",
    "average": "mean",
    "mean": "mean",
    "median": "median",
    "minimum": "min",
    "maximum": "max",
}
_NAMES = {"sum": "total", "min": "minimum", "max": "maximum"}
_OF_ROWS = re.compile(r"\b(?:rows|records|entries|lines|cases)\b|\b(?:left|remain|remaining)\b", re.IGNORECASE)


def summarize_figures(words: str, plan: Plan, columns: list[str]) -> ChangedPlan | None:
    """Compute a figure over the first figure of the groups of an answer; None for other words.

    Raises UnclearChange for an answer without groups, and for totals of figures that have none.
    """
    match = _SUMMARY.fullmatch(words)
    if match is None:
        return None
    function = _FUNCTIONS[(match["word"] or match["verb"]).casefold()]
    group = editing.split_plan(plan).group
    figure = next((f for f in group.aggregations if f.name in columns), None) if group else None
    if group is None or figure is None:
        raise UnclearChange(
            f"Of which column? The last answer has {', '.join(f'`{name}`' for name in columns)}."
        )
    if not group.keys:
        return ChangedPlan(plan, ["The last answer is a single figure."])
    if function == "sum" and figure.function not in ("count", "sum"):
        raise UnclearChange(f"`{figure.name}` is a {figure.function}, and the sum of several says nothing.")
    name = f"{_NAMES.get(function, function)} of {figure.name}"
    summary = build.group([], [build.aggregation(name, function, figure.name)])
    # Each group counts alike: of means this is not the mean of the rows.
    reading = f"Over the groups of the last answer, each counted as one: the {name}."
    return ChangedPlan(Plan(source=PlanSource(kind="plan", plan=plan), steps=[summary]), [reading])


def count_behind(words: str, plan: Plan) -> ChangedPlan | None:
    """Count the rows that meet the conditions of an answer of groups, where words ask for rows or what is left.

    The rows of groups that a ranking leaves out count as well: their conditions hold.
    """
    parts = editing.split_plan(plan)
    if parts.group is None or not _OF_ROWS.search(words):
        return None
    counting = replace(parts, group=build.group([], [build.aggregation("rows", "count")]), ending=())
    return ChangedPlan(
        counting.to_plan(), ["The rows that meet the conditions of the last answer are counted."]
    )
