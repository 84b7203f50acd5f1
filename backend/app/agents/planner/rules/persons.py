"""The rule for goals about single persons: who will order again, how much each will spend."""

from app.agents.goals.columns.ahead_names import lies_ahead
from app.agents.goals.persons.person_request import PersonRequest, find_person_request
from app.agents.goals.tables.profiles import TableProfile
from app.agents.planner.person_plan import make_person_plan
from app.agents.planner.plan_conditions import find_row_conditions
from app.agents.planner.planner_facts import Situation
from app.agents.planner.rules import question
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
    transactions = request.transactions.table
    # Persons and times are the table's own: neither restricts its rows.
    structural = {request.transactions.person.name, request.transactions.time.name}
    searched = TableProfile(
        transactions.name, transactions.rows, tuple(c for c in transactions.columns if c.name not in structural)
    )
    conditions = find_row_conditions(situation.goal, [searched], None, of_series=True)
    plan = make_person_plan(request, conditions, situation.resolved.notes)
    return finish(plan, message=plan.understanding.text if plan.understanding else "")
