"""A goal that asks for figures of the rows that there are: answered from the tables, without a model."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.agents.goals.tables import Table
from app.agents.goals.trading_terms import names_barriers
from app.agents.planner.output import Plan
from app.agents.planner.plan import steps
from app.agents.questions.parser import is_question, read_question
from app.agents.questions.query import Inquiry, Misread
from app.agents.questions.to_sql import alias
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.policy import AgentAction, call, finish

UNREAD = "How is the question meant?"
END, MODEL = "nothing, end here", "predict a column instead"
MAX_ASKED = 3

_OF_MODELS = ("target", "problem", "metric", "horizon", "positive_class", "costs", "model")
"""Preferences of somebody who wants a model."""


def ask_or_answer(
    view: ConversationView, goal: str, wishes: Mapping[str, Any], tables: Sequence[Table]
) -> AgentAction | None:
    """The plan of a question that is understood; else what was not understood, and what could be."""
    if not tables or not is_question(goal) or any(wishes.get(name) for name in _OF_MODELS):
        return None
    if names_barriers(goal):
        return None  # of trades that are yet to be made
    said = _answers(view)
    if MODEL in said:
        return None
    question = said[-1] if said else goal
    if question == END:
        why = _misread(goal, tables)
        return finish(Plan(target="?", question=goal, notes=[f"The question was not understood: {why}"]))
    read = read_question(question, tables)
    if isinstance(read, Inquiry):
        return _planned(question, read, tables)
    if len(said) >= MAX_ASKED:
        return finish(
            Plan(target="?", question=goal, notes=[f"The question was not understood: {read.reason}"])
        )
    return call(
        "ask_user",
        message="The goal asks about the data, and I do not understand all of it.",
        question=f"{UNREAD} {read.reason} Choose one of these, or say it in other words.",
        options=[*dict.fromkeys(read.options), MODEL, END],
        default=END,
        free_text=True,
    )


def _answers(view: ConversationView) -> list[str]:
    asked = [
        one for one in view.successes("ask_user") if str(one.arguments.get("question", "")).startswith(UNREAD)
    ]
    return [str(one.value["answer"]) for one in asked]


def _misread(goal: str, tables: Sequence[Table]) -> str:
    read = read_question(goal, tables)
    return read.reason if isinstance(read, Misread) else ""


def _planned(question: str, read: Inquiry, tables: Sequence[Table]) -> AgentAction:
    """Its target is the column that the question is most about."""
    table = next(table for table in tables if table.name == read.table)
    named = [name for measure in read.measures for name in measure.columns]
    named += [group.column for group in read.groups] + [condition.column for condition in read.conditions]
    plan = Plan(
        question=question,
        tables=[read.table],
        target=named[0] if named else table.columns[0].name,
        notes=[*read.readings],
    )
    figures = ", ".join(f"the {alias(measure)}" for measure in read.measures)
    says = f"I will answer from `{read.table}`: {figures}."
    return finish(plan.model_copy(update={"steps": steps(plan)}), message=says)
