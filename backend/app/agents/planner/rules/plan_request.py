"""The request of a plan: the goal with what the user answered about it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from app.agents.goals.columns.target import ScoredColumn
from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column
from app.agents.planner import clarification
from app.agents.planner.plan import PlanRequest, open_phrases
from app.agents.planner.plan_conditions import find_row_conditions
from app.agents.planner.planner_facts import Situation
from app.agents.planner.preferences import PlanPreferences
from app.agents.planner.target_answers import parse_target_answer
from app.agents.planner.unread_phrases import UnreadPhrase

MAX_PHRASE_ANSWERS = 3
"""Answers about one phrase that are tried: who reworded it three times has no fourth wording."""


def make_plan_request(situation: Situation, target: ScoredColumn) -> PlanRequest:
    """Make the request with the rows that the user answered about phrases of the goal."""
    request = _request_without_phrases(situation, target)
    answers = [_read_phrase(situation, request, phrase) for phrase in open_phrases(request)]
    readable = [answer for answer in answers if answer.is_settled]
    return replace(
        request,
        answered_rows=[*request.answered_rows, *(row for answer in readable for row in answer.conditions)],
        answered_phrases=[answer.text for answer in readable],
    )


def find_open_phrases(situation: Situation, target: ScoredColumn) -> Iterator[UnreadPhrase]:
    """Yield the wordings of phrases that the user has not been asked about."""
    request = _request_without_phrases(situation, target)
    for phrase in open_phrases(request):
        answer = _read_phrase(situation, request, phrase)
        if answer.open is not None and not phrase.is_doubtful:
            yield answer.open


class _PhraseAnswer(NamedTuple):
    """The conditions that the user answered about a phrase, or its wording that is still `open`.

    Neither is left where the answers say that it selects no rows, or where none of them was understood.
    """

    text: str
    is_settled: bool
    conditions: tuple[RowCondition, ...] = ()
    open: UnreadPhrase | None = None


def _read_phrase(situation: Situation, request: PlanRequest, phrase: UnreadPhrase) -> _PhraseAnswer:
    shared = {str(condition.values[0]).casefold() for alike in situation.open_rows for condition in alike}
    if any(value in phrase.text.casefold() for value in shared):
        return _PhraseAnswer(phrase.text, True)  # which column has the value is a question of its own
    wording = phrase
    for _ in range(MAX_PHRASE_ANSWERS):
        answer = situation.answer_to(clarification.which_phrase(wording.text))
        if answer is None:
            return _PhraseAnswer(phrase.text, False, open=wording)
        if answer == clarification.ALL_ROWS:
            return _PhraseAnswer(phrase.text, True)
        if conditions := _read_rows(answer, wording, request):
            return _PhraseAnswer(phrase.text, True, conditions)
        wording = UnreadPhrase(answer)
    return _PhraseAnswer(phrase.text, False)


def _read_rows(answer: str, phrase: UnreadPhrase, request: PlanRequest) -> tuple[RowCondition, ...]:
    """Read an answer about rows: an offered condition, a comparison, or words of which the tables know some."""
    offered = [condition for condition in phrase.candidates if condition.description == answer]
    compared = parse_target_answer(answer).condition
    if compared and any(table.column(compared.column) for table in request.tables):
        offered.append(compared)
    goal = parse_goal(f"Predict {request.column.name} among {answer}")
    return (*offered,) or (*find_row_conditions(goal, request.tables, request.column),)


def _request_without_phrases(situation: Situation, target: ScoredColumn) -> PlanRequest:
    return PlanRequest(
        goal=situation.settled_goal,
        tables=situation.tables,
        target=target,
        preferences=_preferences_with_answers(situation),
        kind_answer=situation.kind_answer,
        entities_answer=situation.entities_answer,
        bound_answer=situation.bound_answer,
        answered_rows=[*filter(None, (situation.bound_condition,)), *situation.answered_rows],
        notes=[*situation.resolved.notes, *_open_row_notes(situation)],
    )


def _open_row_notes(situation: Situation) -> Iterator[str]:
    """Yield notes on values of several columns where nobody can be asked which is meant."""
    for conditions in situation.unanswered_rows:
        names = " and of ".join(f"`{condition.column}`" for condition in conditions)
        yield f"{conditions[0].values[0]!r} is a value of {names}, so it selects no rows."


def _preferences_with_answers(situation: Situation) -> PlanPreferences:
    """Return the preferences with the user's answers about time and dates."""
    preferences = situation.preferences
    if time_column := situation.answer_to(clarification.WHICH_TIME):
        preferences = preferences.model_copy(update={"time_column": time_column})
    if date_order := situation.date_order_answer:
        orders = {column.name: date_order for column in find_ambiguous_dates(situation)}
        types = {**orders, **preferences.column_types}
        preferences = preferences.model_copy(update={"column_types": types})
    return preferences


def find_ambiguous_dates(situation: Situation) -> list[Column]:
    if situation.target is None:
        return []
    settled_columns = {*situation.preferences.column_types, *situation.preferences.exclude}
    return [
        column
        for column in situation.target.table.columns
        if column.is_date_order_open and column.name not in settled_columns
    ]
