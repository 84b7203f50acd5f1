"""The rule for goals about single persons: who will order again, how much each will spend."""

from app.agents.goals.columns.ahead_names import lies_ahead
from app.agents.goals.persons.person_request import PersonRequest, find_person_request
from app.agents.planner.person_plan import make_person_plan
from app.agents.planner.planner_facts import Situation
from app.agents.planner.rules import question
from app.agents.planner.rules.person_conditions import find_person_conditions, find_unused_numbers
from app.agents.planner.rules.refusals import refuse
from app.agents.planner.stored_prices import PRICES
from app.agents.runtime.offline_policy import AgentAction, finish

_INSTEAD = (
    " Or ask who was not there lately (`{person}s without {table} in the last 90 days`), who did most"
    " (`number of {table} per {person}`), or for a forecast of all of them together (`number of {table} next"
    " month`)."
)


def plan_persons(situation: Situation) -> AgentAction | None:
    """Plan a table of persons where a goal asks what they will do, and the tables hold what they did alone.

    Columns that resemble the outcome would answer another goal: `returned` goods of "who will come back".
    """
    is_answered = situation.preferences.target or situation.preferences.horizon or situation.target_answers
    is_figure = not situation.goal.lookahead and question.asks_for_figure(situation.goal.text)
    tables = [table for table in situation.tables if table is not PRICES]
    if is_answered or is_figure or any(lies_ahead(c.name) for table in tables for c in table.columns):
        return None
    request = find_person_request(situation.goal, tables)
    if request is None:
        return None
    if request.table is None:
        transactions = request.transactions
        instead = _INSTEAD.format(person=transactions.noun, table=transactions.table.name)
        return refuse(f"{request.reason}{instead}")
    return _plan(situation, request)


def _plan(situation: Situation, request: PersonRequest) -> AgentAction:
    goal = situation.goal
    of_rows, of_persons = find_person_conditions(goal, request, situation.tables)
    notes = [*situation.resolved.notes]
    if numbers := find_unused_numbers(goal, [*of_rows, *of_persons]):
        names = ", ".join(f"`{number}`" for number in numbers)
        notes.append(
            f"{names} of the goal restricts nothing: no condition on rows or persons was read from it."
        )
    plan = make_person_plan(request.restrict(of_persons), of_rows, notes, wants_drivers=goal.wants_drivers)
    return finish(plan, message=plan.understanding.text if plan.understanding else "")
