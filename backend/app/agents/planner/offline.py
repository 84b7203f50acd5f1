"""The offline policy of the planner: read tables and goal, ask about what remains open, then plan."""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from app.agents.goals import columns
from app.agents.goals.tables import Column
from app.agents.goals.target import ScoredColumn
from app.agents.planner import answering, clarification, price_questions
from app.agents.planner.output import Plan
from app.agents.planner.plan import MAX_CLASSES, PlanRequest, kind_is_unclear, make_plan
from app.agents.planner.preferences import PlannerBrief, PlanPreferences
from app.agents.planner.situation import Situation
from app.agents.planner.steps import describe_horizon
from app.agents.planner.stored_prices import PRICES, PRICES_TOOL, bar_seconds
from app.agents.planner.trading import add_trading_terms
from app.agents.runtime.conversation import ConversationView, read_conversation
from app.agents.runtime.policy import AgentAction, call, finish, make_view_policy
from app.modeling.problem.goal_hints import mentions_future, mentions_new_entities

NO_COLUMN = "None of the tables has a column that can be predicted."


def list_tables(situation: Situation) -> AgentAction | None:
    if situation.view.was_called("list_datasets"):
        return None
    return call("list_datasets", message="I list the tables.")


def read_schemas(situation: Situation) -> AgentAction | None:
    """Read the schemas of all unread tables, in one action."""
    requests = [
        completed.arguments
        for completed in situation.view.completed_calls
        if completed.name == "get_dataset_schema"
    ]
    unread = [{"dataset": name} for name in situation.table_names if {"dataset": name} not in requests]
    return AgentAction(tuple(("get_dataset_schema", request) for request in unread)) if unread else None


def list_prices(situation: Situation) -> AgentAction | None:
    """List the stored prices if there is no table."""
    return None if situation.table_names or situation.view.was_called(PRICES_TOOL) else call(PRICES_TOOL)


def ask_about_preferences(situation: Situation) -> AgentAction | None:
    """Ask about a preference that names no column. Preferences are never guessed."""
    unknown = situation.resolved.unknown
    return clarification.ask_preference(unknown[0]) if unknown and situation.tables else None


def ask_for_target(situation: Situation) -> AgentAction | None:
    match = situation.match
    if match.target or not match.options or situation.target_answer:
        return None
    return clarification.ask_target(situation.goal, match, several_tables=len(situation.tables) > 1)


def ask_for_kind(situation: Situation) -> AgentAction | None:
    target = situation.target
    if target is None or situation.preferences.problem or situation.kind_answer:
        return None
    if situation.target_answer and target.column.distinct > MAX_CLASSES:
        return None  # the goal's own words were about something else
    return clarification.ask_kind(target.column) if kind_is_unclear(situation.goal, target.column) else None


def ask_about_missing_dates(situation: Situation) -> AgentAction | None:
    """Ask if a forecast may be made without dates."""
    target = situation.target
    if (
        target is None
        or not situation.goal.lookahead
        or target.table.dates
        or situation.preferences.time_column
    ):
        return None
    is_answered = situation.answer_to(clarification.WITHOUT_DATES)
    return None if is_answered else clarification.ask_without_dates(target.column)


def ask_about_time(situation: Situation) -> AgentAction | None:
    """Ask for the time column of a forecast over a table with several dates."""
    target, goal = situation.target, situation.goal
    if target is None or not goal.lookahead or goal.time_phrase or situation.preferences.time_column:
        return None
    dates = columns.date_columns(goal, target.table)
    is_open = len(dates) > 1 and not situation.answer_to(clarification.WHICH_TIME)
    return clarification.ask_time(dates) if is_open else None


def ask_about_entities(situation: Situation) -> AgentAction | None:
    """Ask if the model will meet new entities, which decides how it is validated."""
    target, goal, preferences = situation.target, situation.goal, situation.preferences
    if target is None or situation.entities_answer or preferences.group_column:
        return None
    is_settled = mentions_new_entities(goal.text) is not None or mentions_future(goal.text)
    if is_settled or goal.group_phrases or goal.lookahead or goal.outlook:
        return None
    excluded, _ = columns.excluded_columns(goal, target.table, target.column.name)
    column = columns.find_entity_column(target.table, target.column.name)
    if column is None or column.name in {*preferences.exclude, *excluded}:
        return None
    return clarification.ask_entities(column, target.table.rows)


def ask_about_dates(situation: Situation) -> AgentAction | None:
    dates = _ambiguous_dates(situation)
    return clarification.ask_date_order(dates) if dates and not situation.date_order_answer else None


def _ambiguous_dates(situation: Situation) -> list[Column]:
    if situation.target is None:
        return []
    settled_columns = {*situation.preferences.column_types, *situation.preferences.exclude}
    return [
        column
        for column in situation.target.table.columns
        if column.is_date_order_open and column.name not in settled_columns
    ]


def ask_for_coin(situation: Situation) -> AgentAction | None:
    """Ask which coin, if the goal names none that is stored."""
    if not _is_about_prices(situation) or not situation.stored_coins or situation.coins:
        return None
    missing = " and ".join(situation.mentioned_coins)
    if situation.answer_to(price_questions.WHICH_COIN) or (not missing and len(situation.stored_coins) == 1):
        return None
    return price_questions.ask_coin(situation.stored_coins, missing)


def ask_for_horizon(situation: Situation) -> AgentAction | None:
    if not _is_about_prices(situation) or situation.preferences.horizon or situation.lookahead:
        return None
    return price_questions.ask_horizon(bar_seconds(situation.coins, situation.series))


def ask_about_costs(situation: Situation) -> AgentAction | None:
    is_traded = _is_about_prices(situation) and situation.goal.outlook != "volatility"
    is_settled = situation.market_terms.fee_bps is not None or situation.answer_to(price_questions.WHAT_COSTS)
    return price_questions.ask_costs() if is_traded and not is_settled else None


def _is_about_prices(situation: Situation) -> bool:
    return situation.target is not None and situation.target.table is PRICES


def conclude(situation: Situation) -> AgentAction:
    if situation.is_coin_declined:
        missing = " and ".join(situation.mentioned_coins)
        note = price_questions.describe_missing_coin(situation.stored_coins, missing)
        return finish(Plan(target="?", notes=[note]))
    target = situation.target
    if target is None or situation.is_stopped:
        reason = "There is nothing to predict." if situation.is_stopped else NO_COLUMN
        return finish(Plan(target="?", notes=[reason]))
    plan = make_plan(
        PlanRequest(
            goal=situation.goal_with_lookahead,
            tables=situation.tables,
            target=target,
            preferences=_preferences_with_answers(situation),
            kind_answer=situation.kind_answer,
            entities_answer=situation.entities_answer,
            notes=situation.resolved.notes,
        )
    )
    plan = add_trading_terms(plan, situation, target)
    return finish(plan, message=_announce(plan, target))


def _preferences_with_answers(situation: Situation) -> PlanPreferences:
    """Return the preferences with the user's answers about time and dates."""
    preferences = situation.preferences
    if time_column := situation.answer_to(clarification.WHICH_TIME):
        preferences = preferences.model_copy(update={"time_column": time_column})
    if date_order := situation.date_order_answer:
        orders = {column.name: date_order for column in _ambiguous_dates(situation)}
        types = {**orders, **preferences.column_types}
        preferences = preferences.model_copy(update={"column_types": types})
    return preferences


RULES = (
    list_tables,
    read_schemas,
    list_prices,
    ask_about_preferences,
    answering.ask_or_answer,
    ask_for_target,
    ask_about_missing_dates,
    ask_for_kind,
    ask_about_time,
    ask_about_entities,
    ask_about_dates,
    ask_for_coin,
    ask_for_horizon,
    ask_about_costs,
    conclude,
)


def read_situation(messages: Sequence[BaseMessage]) -> Situation:
    conversation = read_conversation(messages)
    brief = PlannerBrief.model_validate(conversation.brief)
    return Situation(ConversationView(brief, conversation.completed_calls))


decide = make_view_policy(RULES, read_situation)


def _announce(plan: Plan, target: ScoredColumn) -> str:
    details = (
        f" ({target.column.distinct} classes)" if plan.kind == "classification" and not plan.horizon else ""
    )
    if plan.cut:
        details = f" ({'above' if plan.cut.above else 'below'} {plan.cut.value:g} or not)"
    ahead = f" {describe_horizon(plan)}" if plan.horizon else ""
    outlook = f"the {plan.outlook} of " if plan.outlook in ("direction", "change", "volatility") else ""
    source = "the stored prices" if plan.source == "prices" else ", ".join(f"`{name}`" for name in plan.tables)
    exclusions = f", without {', '.join(f'`{name}`' for name in plan.exclude)}" if plan.exclude else ""
    return " ".join(
        [f"I will predict {outlook}`{plan.target}`{details}{ahead} from {source}{exclusions}.", *plan.notes]
    )
