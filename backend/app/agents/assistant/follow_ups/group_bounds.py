"""Bounds of the groups of an answer by their figures: `states with more than 5 cities`."""

import re
from collections.abc import Sequence

from app.agents.assistant.follow_ups import change_phrases as phrases
from app.agents.assistant.follow_ups.changed_plan import ChangedPlan, UnclearChange
from app.agents.questions.matching.column_mentions import find_column
from app.plans import build, editing, regrouping
from app.plans.describe import describe_expression
from app.plans.plan import Plan


def require_bound(plan: Plan, words: str) -> None:
    """Raises UnclearChange for groups of a size that names no bound: `just the big ones`."""
    vague = phrases.VAGUE_SIZE.fullmatch(words)
    measures = editing.split_plan(plan).measures
    if vague is not None and measures:
        size = vague["size"].casefold()
        raise UnclearChange(
            f"Which `{measures[0]}` counts as {size}? Say, for example, `the top 3`, or a bound, as in "
            "`the ones above 100`."
        )


def bound_groups(plan: Plan, words: str, question: Plan | None) -> ChangedPlan | None:
    """Keep the groups whose figure is above or below a number.

    `question`: the plan of the words as a question of their own, of which a bound of the same groups is taken.
    """
    parts = editing.split_plan(plan)
    if parts.group is None or not parts.group.keys:
        return None
    match = phrases.BOUND.fullmatch(words)
    if match is not None and _names_groups(match["noun"] or "ones", parts.group.keys):
        measure = _find_measure(match["measure"] or match["unit"] or "", parts.measures)
        if measure is not None:
            sign, number = phrases.SIGNS[match["sign"].casefold()], float(match["number"].replace(",", ""))
            literal = build.literal(int(number) if number.is_integer() else number)
            bounded_plan = editing.keep_groups(plan, build.compare(sign, build.column(measure), literal))
            text = f"Only groups whose `{measure}` is {match['sign'].casefold()} {match['number']}."
            return ChangedPlan(bounded_plan, [text]) if bounded_plan else None
    bounded = regrouping.keep_bounded_groups(plan, question) if question else None
    if bounded is None:
        return None
    return ChangedPlan(bounded.plan, [f"Only groups where {describe_expression(bounded.condition)}."])


def _names_groups(noun: str, keys: Sequence[str]) -> bool:
    return noun.casefold() in phrases.GROUPS_OF_ANSWER or find_column(noun, keys) is not None


_FUNCTIONS = {"average": "mean", "avg": "mean", "sum of": "total", "count of": "number of"}
"""Words of functions, and those that names of figures begin with."""


def _find_measure(words: str, measures: Sequence[str]) -> str | None:
    """Find the figure that words name; without words the only one."""
    if not words:
        return measures[0] if len(measures) == 1 else None
    figure_words = words.casefold()
    for word, name in _FUNCTIONS.items():
        figure_words = re.sub(rf"\b{word}\b", name, figure_words)
    return find_column(figure_words, measures)
