"""The offline policy of the planner: read tables and goal, ask about what remains open, then plan."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

from app.agents.goals import columns
from app.agents.goals.goal import Goal, parse_goal
from app.agents.goals.tables import Column, TableProfile, make_table_profile
from app.agents.goals.target import ScoredColumn, TargetMatch, find_target
from app.agents.planner import answering, clarification, stored_prices, trading
from app.agents.planner.output import Plan
from app.agents.planner.plan import MAX_CLASSES, PRICES, describe_horizon, kind_is_unclear, make_plan
from app.agents.planner.preferences import UnknownColumn, resolve_preferences
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.policy import AgentAction, call, finish, make_policy
from app.modeling.problem.goal_hints import mentions_future, mentions_new_entities

PRICES_TOOL = "get_available_coins"
NO_COLUMN = "None of the tables has a column that can be predicted."

_parse_goal = lru_cache(maxsize=64)(parse_goal)


def list_tables(view: ConversationView) -> AgentAction | None:
    return None if view.was_called("list_datasets") else call("list_datasets", message="I list the tables.")


def read_schemas(view: ConversationView) -> AgentAction | None:
    """Read the schemas of all unread tables, in one action."""
    schemas_read = {
        completed.arguments["dataset"]
        for completed in view.completed_calls
        if completed.name == "get_dataset_schema"
    }
    unread = [name for name in _table_names(view) if name not in schemas_read]
    if not unread:
        return None
    return AgentAction(tuple(("get_dataset_schema", {"dataset": name}) for name in unread))


def list_prices(view: ConversationView) -> AgentAction | None:
    """List the stored prices if there is no table."""
    return None if _table_names(view) or view.was_called(PRICES_TOOL) else call(PRICES_TOOL)


def ask_about_preferences(view: ConversationView) -> AgentAction | None:
    """Ask about a preference that names no column. Preferences are never guessed."""
    _, unknown, _ = _resolve_preferences(view)
    return clarification.ask_preference(unknown[0]) if unknown and _tables(view) else None


def answer_question(view: ConversationView) -> AgentAction | None:
    preferences, _, _ = _resolve_preferences(view)
    return answering.ask_or_answer(view, _goal_of(view).text, preferences, _tables(view))


def ask_for_target(view: ConversationView) -> AgentAction | None:
    match = _match_target(view)
    if match.target or not match.options or clarification.target_answer(view):
        return None
    return clarification.ask_target(_goal_of(view), match, several_tables=len(_tables(view)) > 1)


def ask_for_kind(view: ConversationView) -> AgentAction | None:
    target = _find_chosen_target(view)
    if target is None or _preferences(view).get("problem") or clarification.kind_answer(view):
        return None
    if clarification.target_answer(view) and target.column.distinct > MAX_CLASSES:
        return None  # the goal's own words were about something else
    return clarification.ask_kind(target.column) if kind_is_unclear(_goal_of(view), target.column) else None


def ask_about_missing_dates(view: ConversationView) -> AgentAction | None:
    """Ask if a forecast may be made without dates."""
    target, goal = _find_chosen_target(view), _goal_of(view)
    if target is None or not goal.lookahead or target.table.dates or _preferences(view).get("time_column"):
        return None
    return None if clarification.without_dates_answer(view) else clarification.ask_without_dates(target.column)


def ask_about_time(view: ConversationView) -> AgentAction | None:
    """Ask for the time column of a forecast over a table with several dates."""
    target, goal = _find_chosen_target(view), _goal_of(view)
    if target is None or not goal.lookahead or goal.time_phrase or _preferences(view).get("time_column"):
        return None
    dates = columns.date_columns(goal, target.table)
    return clarification.ask_time(dates) if len(dates) > 1 and not clarification.time_answer(view) else None


def ask_about_entities(view: ConversationView) -> AgentAction | None:
    """Ask if the model will meet new entities, which decides how it is validated."""
    target, goal = _find_chosen_target(view), _goal_of(view)
    if target is None or clarification.entities_answer(view) or _preferences(view).get("group_column"):
        return None
    is_settled = mentions_new_entities(goal.text) is not None or mentions_future(goal.text)
    if is_settled or goal.group_phrases or goal.lookahead or goal.outlook:
        return None
    excluded = {
        *(_preferences(view).get("exclude") or ()),
        *columns.excluded_columns(goal, target.table, target.column.name)[0],
    }
    column = columns.find_entity_column(target.table, target.column.name)
    return (
        clarification.ask_entities(column, target.table.rows)
        if column and column.name not in excluded
        else None
    )


def ask_about_dates(view: ConversationView) -> AgentAction | None:
    dates = _ambiguous_dates(view)
    return clarification.ask_date_order(dates) if dates and not clarification.date_order_answer(view) else None


def _ambiguous_dates(view: ConversationView) -> list[Column]:
    target, preferences = _find_chosen_target(view), _preferences(view)
    if target is None:
        return []
    settled_columns = {*(preferences.get("column_types") or {}), *(preferences.get("exclude") or ())}
    return [
        column
        for column in target.table.columns
        if column.is_date_order_open and column.name not in settled_columns
    ]


def ask_for_coin(view: ConversationView) -> AgentAction | None:
    target = _find_chosen_target(view)
    return trading.ask_coin(view, _goal_of(view), target) if target else None


def ask_for_horizon(view: ConversationView) -> AgentAction | None:
    target = _find_chosen_target(view)
    return trading.ask_horizon(view, _goal_of(view), target, _preferences(view)) if target else None


def ask_about_costs(view: ConversationView) -> AgentAction | None:
    target = _find_chosen_target(view)
    return trading.ask_costs(view, _goal_of(view), target) if target else None


def conclude(view: ConversationView) -> AgentAction:
    target = _find_chosen_target(view)
    is_stopped = clarification.STOP in (
        clarification.target_answer(view),
        clarification.without_dates_answer(view),
    )
    if trading.is_coin_declined(view):
        return finish(Plan(target="?", notes=[trading.describe_missing_coin(view, _goal_of(view))]))
    if target is None or is_stopped:
        reason = "There is nothing to predict." if is_stopped else NO_COLUMN
        return finish(Plan(target="?", notes=[reason]))
    preferences, _, notes = _resolve_preferences(view)
    if time_column := clarification.time_answer(view):
        preferences["time_column"] = time_column
    if date_order := clarification.date_order_answer(view):
        orders = {column.name: date_order for column in _ambiguous_dates(view)}
        preferences["column_types"] = {**orders, **(preferences.get("column_types") or {})}
    kind, meets = clarification.kind_answer(view), clarification.entities_answer(view)
    goal = replace(_goal_of(view), lookahead=trading.find_lookahead(view, _goal_of(view)))
    draft = make_plan(goal, _tables(view), target, preferences, kind, notes, meets)
    draft = trading.add_trading_terms(draft, view, goal, target)
    return finish(draft, message=_announce(draft, target))


RULES = (
    list_tables,
    read_schemas,
    list_prices,
    ask_about_preferences,
    answer_question,
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
decide = make_policy(RULES)


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


def _goal_of(view: ConversationView) -> Goal:
    return _parse_goal(str(view.brief.get("goal", "")))


def _resolve_preferences(view: ConversationView) -> tuple[dict[str, Any], list[UnknownColumn], list[str]]:
    return resolve_preferences(
        view.brief.get("preferences") or {}, _tables(view), clarification.preference_answers(view)
    )


def _preferences(view: ConversationView) -> dict[str, Any]:
    return _resolve_preferences(view)[0]


def _table_names(view: ConversationView) -> list[str]:
    listing = view.last_success("list_datasets")
    return [dataset["table"] for dataset in listing.value["datasets"]] if listing else []


def _tables(view: ConversationView) -> list[TableProfile]:
    """Return the uploaded tables; without any, the stored prices if the goal is about them."""
    uploaded = [make_table_profile(completed.value) for completed in view.successes("get_dataset_schema")]
    return uploaded or ([PRICES] if _is_about_prices(view) else [])


def _is_about_prices(view: ConversationView) -> bool:
    """Tell if the goal names a coin, or asks for a forecast while only prices are stored."""
    goal, series = _goal_of(view), stored_prices.stored_series(view)
    return bool(
        goal.is_about_coins
        or stored_prices.coins_in_goal(goal.text, series)
        or (series and (goal.lookahead or goal.outlook or trading.names_trading_terms(goal)))
    )


def _match_target(view: ConversationView) -> TargetMatch:
    """Match the target. A forecast of prices or bars without a named column means the close."""
    tables, goal = _tables(view), _goal_of(view)
    preferences = _preferences(view)
    match = find_target(goal, tables, preferences.get("target"), preferences.get("exclude") or ())
    is_bar_forecast = len(tables) == 1 and trading.has_bars(tables[0]) and bool(goal.lookahead or goal.outlook)
    if match.target is None and (PRICES in tables or is_bar_forecast):
        return find_target(goal, tables, "close")
    return match


def _find_chosen_target(view: ConversationView) -> ScoredColumn | None:
    match = _match_target(view)
    if match.target:
        return match.target
    answer = clarification.target_answer(view)
    return clarification.match_option(answer, match.options) if answer else None
