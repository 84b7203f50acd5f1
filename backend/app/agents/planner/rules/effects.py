"""Plans for questions that ask for an effect in words: figures of it for each group of its cause."""

import re

from app.agents.goals.columns.effect_columns import EffectColumns, find_effect_columns
from app.agents.goals.columns.named_columns import positive_class
from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.periods.vocabulary import AHEAD
from app.agents.goals.words.tokenizer import words
from app.agents.planner.plan_conditions import find_row_conditions
from app.agents.planner.planner_facts import Situation
from app.agents.planner.rules import question
from app.agents.questions.frames.effects import plan_effect
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.agents.runtime.offline_policy import AgentAction

_ASKS_TOTAL = re.compile(r"\b(?:total|in all|altogether)\b", re.IGNORECASE)
_OTHER_SIDE = re.compile(r"\b(?:than|versus|vs|compared (?:to|with))\b(?P<side>.*)", re.IGNORECASE | re.DOTALL)
"""What stands behind a comparison: the other side of it, which selects no rows."""
_DEGREE = re.compile(r"\b(?:more|less) (?:often|frequently|likely|likely to|regularly)\b", re.IGNORECASE)


def plan_effect_figures(situation: Situation) -> AgentAction | None:
    """Plan the figures of an effect by groups of its cause: a model would be another answer."""
    goal, tables = situation.goal, situation.tables
    if not tables or situation.preferences.implies_model or goal.excluded_phrases:
        return None
    # Totals of groups of different sizes are another answer than means.
    if goal.lookahead or AHEAD.search(goal.text) or _ASKS_TOTAL.search(goal.text):
        return None
    if situation.answers_to(question.WHICH_QUESTION):
        return None
    columns = find_effect_columns(goal.text, tables)
    conditions = _find_conditions(situation, columns) if columns else None
    if columns is None or conditions is None:
        return None
    parsed = parse_question(goal.text, tables)
    if isinstance(parsed, ParsedQuestion) and _compares(parsed, columns):
        return question.plan_answer(goal.text, parsed, tables)
    compared = plan_effect(columns, tables, conditions, positive_class(goal, columns.effect))
    return question.plan_answer(goal.text, compared, tables) if compared else None


def _compares(parsed: ParsedQuestion, columns: EffectColumns) -> bool:
    """Test if a question is read as figures of both columns by groups, and not as a list of rows."""
    has_groups = any(step.kind == "group" for step in parsed.plan.steps)
    return has_groups and {columns.cause.name, columns.effect.name} <= {*parsed.columns}


def _find_conditions(situation: Situation, columns: EffectColumns) -> list[RowCondition] | None:
    """Find the conditions on other columns; None where a stored value of the goal would be passed over."""
    own = {columns.cause.name, columns.effect.name}
    conditions = [
        condition
        for condition in find_row_conditions(situation.goal, [columns.table], columns.effect)
        if condition.column not in own
    ]
    accounted = own | {condition.column for condition in conditions}
    # "Often" of "more often" is no value of how often somebody exercises.
    text = _DEGREE.sub(" ", situation.goal.text)
    other_side = {*words(side["side"])} if (side := _OTHER_SIDE.search(text)) else set()
    for item in question.spelled_values(text, situation.tables):
        match = item.values[0]
        if match.column.name in accounted:
            continue
        # "Do interviews run longer than lectures" compares values of a column that is not the cause found here.
        is_compared = not other_side.isdisjoint(words(item.text))
        if columns.table.column(match.column.name) is None or match.is_denied or is_compared:
            return None
        conditions.append(RowCondition(column=match.column.name, values=[*map(str, match.values)]))
    return conditions
