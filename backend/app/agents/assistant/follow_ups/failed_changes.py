"""Messages that say that they change the last result, and whose words fit nothing in it.

They are no questions of their own: read as one, a part of the last result would be lost without a word.
"""

import re
from collections.abc import Sequence

from app.agents.assistant.brief import EarlierTurn
from app.agents.assistant.follow_ups.last_answer import find_last_answer
from app.agents.questions.charts.chart_phrases import parse_chart_phrase
from app.plans.editing import split_plan
from app.plans.plan import Plan

_SAYS_CHANGE = re.compile(
    r"^\W{0,5}(?:(?:and|but|now|ok|okay|then|please|can you|could you) ){0,3}"
    r"(?:only|just|keep|without|excluding|exclude|leave out|drop|hide|remove|sort|order|rank|reverse|undo"
    r"|as)\b",
    re.IGNORECASE,
)
_ORDERS_ROWS = re.compile(
    r"^\W{0,5}(?:(?:and|now|ok|okay|then|please|can you|could you) ){0,3}(?:rank|sort|order) (?:all )?(?:the )?"
    r"(?P<noun>[a-z_]{3,30}) (?:by|on) [\w ]{2,60}",
    re.IGNORECASE,
)
"""An order of rows that the message names itself: `rank salespeople by revenue`."""
_NOUNS_OF_RESULTS = frozenset(
    {"result", "results", "table", "list", "answer", "chart", "columns", "values"}
    | {"them", "those", "these", "this", "that", "rows", "ones", "bars", "groups"}
)
"""Nouns and pronouns for the last result."""
_THEM = re.compile(
    r"^\W{0,5}(?:\w{1,10} ){0,3}?(?:only|just|keep|without|drop|hide|remove|sort|order|rank) (?:the )?"
    r"(?:those|these|them|it|that|ones?)\b",
    re.IGNORECASE,
)
"""The last result, as what is to be changed."""


def describe_failed_change(message: str, earlier: Sequence[EarlierTurn], question: Plan | None) -> str | None:
    """Say that a change was not understood; None for other messages. `question`: the message read by itself."""
    last = find_last_answer(earlier)
    if last is None or not _SAYS_CHANGE.match(message) or parse_chart_phrase(message):
        return None
    if question is not None and not _THEM.match(message) and not _loses_figures(last.plan, question):
        return None
    ordered = _ORDERS_ROWS.match(message)
    if ordered is not None and ordered["noun"].casefold() not in _NOUNS_OF_RESULTS:
        return None
    column_list = ", ".join(f"`{column}`" for column in last.columns)
    return (
        f"I did not understand which change of the last result is meant. It shows {column_list}. Say, for "
        f"example: sort by `{last.columns[-1]}`; the top 3; as a bar chart; or ask the whole question again."
    )


def _loses_figures(last: Plan, question: Plan) -> bool:
    """Test for a question with the groups of the last result and a part of its figures."""
    parts, others = split_plan(last), split_plan(question)
    if parts.group is None or others.group is None or parts.group.keys != others.group.keys:
        return False
    figures = [(figure.function, figure.column) for figure in parts.group.aggregations]
    question_figures = [(figure.function, figure.column) for figure in others.group.aggregations]
    return len(question_figures) < len(figures) and all(figure in figures for figure in question_figures)
