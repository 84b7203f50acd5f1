"""The planner without a provider: read the tables, read the goal, ask what neither settles, then plan."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

from app.agents.goals import columns
from app.agents.goals.goal import Goal, read_goal
from app.agents.goals.tables import Column, Table, table_of
from app.agents.goals.target import Scored, TargetReading, find_target
from app.agents.planner import answering, clarification, stored_prices, trading
from app.agents.planner.output import Plan
from app.agents.planner.plan import MAX_CLASSES, PRICES, far, kind_is_unclear, make_plan
from app.agents.planner.preferences import Unknown, resolve_preferences
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.policy import AgentAction, call, finish, make_policy
from app.modeling.problem.goal_hints import mentions_future, mentions_new_entities

PRICES_TOOL = "get_available_coins"
NO_COLUMN = "None of the tables has a column that can be predicted."

_goal = lru_cache(maxsize=64)(read_goal)


def list_tables(view: ConversationView) -> AgentAction | None:
    return (
        None
        if view.was_called("list_datasets")
        else call("list_datasets", message="First I look at what there is.")
    )


def read_schemas(view: ConversationView) -> AgentAction | None:
    """Every table that has not been read, in one go."""
    read = {
        answered.arguments["dataset"]
        for answered in view.completed_calls
        if answered.name == "get_dataset_schema"
    }
    unread = [name for name in _table_names(view) if name not in read]
    if not unread:
        return None
    return AgentAction(tuple(("get_dataset_schema", {"dataset": name}) for name in unread))


def see_prices(view: ConversationView) -> AgentAction | None:
    """Without a table the goal may be about stored prices."""
    return None if _table_names(view) or view.was_called(PRICES_TOOL) else call(PRICES_TOOL)


def ask_about_preferences(view: ConversationView) -> AgentAction | None:
    """A preference is never guessed at: it is asked about when it names no column."""
    _, unknown, _ = _settled(view)
    return clarification.ask_wish(unknown[0]) if unknown and _tables(view) else None


def answer_a_question(view: ConversationView) -> AgentAction | None:
    wishes, _, _ = _settled(view)
    return answering.ask_or_answer(view, _read(view).text, wishes, _tables(view))


def ask_for_target(view: ConversationView) -> AgentAction | None:
    reading = _target(view)
    if reading.chosen or not reading.options or clarification.target_answer(view):
        return None
    return clarification.ask_target(_read(view), reading, several_tables=len(_tables(view)) > 1)


def ask_for_kind(view: ConversationView) -> AgentAction | None:
    target = _chosen(view)
    if target is None or _wishes(view).get("problem") or clarification.kind_answer(view):
        return None
    if clarification.target_answer(view) and target.column.distinct > MAX_CLASSES:
        return None  # the goal's own words were about something else
    return clarification.ask_kind(target.column) if kind_is_unclear(_read(view), target.column) else None


def ask_without_time(view: ConversationView) -> AgentAction | None:
    """A forecast needs dates; whether rows without them will do is for the user to say."""
    target, goal = _chosen(view), _read(view)
    if target is None or not goal.ahead or target.table.dates or _wishes(view).get("time_column"):
        return None
    return None if clarification.timeless_answer(view) else clarification.ask_timeless(target.column)


def ask_about_time(view: ConversationView) -> AgentAction | None:
    """A forecast over a table with several dates."""
    target, goal = _chosen(view), _read(view)
    if target is None or not goal.ahead or goal.time or _wishes(view).get("time_column"):
        return None
    dates = columns.moments(goal, target.table)
    return clarification.ask_time(dates) if len(dates) > 1 and not clarification.time_answer(view) else None


def ask_about_entities(view: ConversationView) -> AgentAction | None:
    """Rows of the same one: whether others will come decides how a model is judged."""
    target, goal = _chosen(view), _read(view)
    if target is None or clarification.entities_answer(view) or _wishes(view).get("group_column"):
        return None
    settled = mentions_new_entities(goal.text) is not None or mentions_future(goal.text)
    if settled or goal.groups or goal.ahead or goal.outlook:
        return None
    excluded = {
        *(_wishes(view).get("exclude") or ()),
        *columns.excluded(goal, target.table, target.column.name)[0],
    }
    found = columns.entity(target.table, target.column.name)
    return (
        clarification.ask_entities(found, target.table.rows) if found and found.name not in excluded else None
    )


def ask_about_dates(view: ConversationView) -> AgentAction | None:
    dates = _open_dates(view)
    return clarification.ask_order(dates) if dates and not clarification.order_answer(view) else None


def _open_dates(view: ConversationView) -> list[Column]:
    target, wishes = _chosen(view), _wishes(view)
    if target is None:
        return []
    settled = {*(wishes.get("column_types") or {}), *(wishes.get("exclude") or ())}
    return [column for column in target.table.columns if column.open_order and column.name not in settled]


def ask_whose(view: ConversationView) -> AgentAction | None:
    target = _chosen(view)
    return trading.ask_coin(view, _read(view), target) if target else None


def ask_how_far(view: ConversationView) -> AgentAction | None:
    target = _chosen(view)
    return trading.ask_horizon(view, _read(view), target, _wishes(view)) if target else None


def ask_about_costs(view: ConversationView) -> AgentAction | None:
    target = _chosen(view)
    return trading.ask_costs(view, _read(view), target) if target else None


def plan(view: ConversationView) -> AgentAction:
    target = _chosen(view)
    ended = clarification.NOTHING in (clarification.target_answer(view), clarification.timeless_answer(view))
    if trading.without_coin(view):
        return finish(Plan(target="?", notes=[trading.not_stored(view, _read(view))]))
    if target is None or ended:
        why = "Nothing was to be predicted." if ended else NO_COLUMN
        return finish(Plan(target="?", notes=[why]))
    wishes, _, notes = _settled(view)
    if time := clarification.time_answer(view):
        wishes["time_column"] = time
    if order := clarification.order_answer(view):
        orders = {column.name: order for column in _open_dates(view)}
        wishes["column_types"] = {**orders, **(wishes.get("column_types") or {})}
    kind, meets = clarification.kind_answer(view), clarification.entities_answer(view)
    goal = replace(_read(view), ahead=trading.ahead_of(view, _read(view)))
    made = make_plan(goal, _tables(view), target, wishes, kind, notes, meets)
    made = trading.with_market(made, view, goal, target)
    return finish(made, message=_announcement(made, target))


RULES = (
    list_tables,
    read_schemas,
    see_prices,
    ask_about_preferences,
    answer_a_question,
    ask_for_target,
    ask_without_time,
    ask_for_kind,
    ask_about_time,
    ask_about_entities,
    ask_about_dates,
    ask_whose,
    ask_how_far,
    ask_about_costs,
    plan,
)
decide = make_policy(RULES)


def _announcement(made: Plan, target: Scored) -> str:
    shape = f" ({target.column.distinct} classes)" if made.kind == "classification" and not made.horizon else ""
    if made.cut:
        shape = f" ({'above' if made.cut.above else 'below'} {made.cut.value:g} or not)"
    ahead = f" {far(made)}" if made.horizon else ""
    outlook = f"the {made.outlook} of " if made.outlook in ("direction", "change", "volatility") else ""
    source = "the stored prices" if made.source == "prices" else ", ".join(f"`{name}`" for name in made.tables)
    without = f", without {', '.join(f'`{name}`' for name in made.exclude)}" if made.exclude else ""
    return " ".join(
        [f"I will predict {outlook}`{made.target}`{shape}{ahead} from {source}{without}.", *made.notes]
    )


def _read(view: ConversationView) -> Goal:
    return _goal(str(view.brief.get("goal", "")))


def _settled(view: ConversationView) -> tuple[dict[str, Any], list[Unknown], list[str]]:
    return resolve_preferences(
        view.brief.get("preferences") or {}, _tables(view), clarification.wish_answers(view)
    )


def _wishes(view: ConversationView) -> dict[str, Any]:
    return _settled(view)[0]


def _table_names(view: ConversationView) -> list[str]:
    listed = view.last_success("list_datasets")
    return [dataset["table"] for dataset in listed.value["datasets"]] if listed else []


def _tables(view: ConversationView) -> list[Table]:
    """Uploaded tables; the lab's own prices when the goal is about them and no table was given."""
    uploaded = [table_of(answered.value) for answered in view.successes("get_dataset_schema")]
    return uploaded or ([PRICES] if _is_about_prices(view) else [])


def _is_about_prices(view: ConversationView) -> bool:
    """It names a coin, or looks ahead where there is nothing but prices."""
    goal, there = _read(view), stored_prices.stored(view)
    return bool(
        goal.about_coins
        or stored_prices.named(goal.text, there)
        or (there and (goal.ahead or goal.outlook or trading.names_terms(goal)))
    )


def _target(view: ConversationView) -> TargetReading:
    """Of prices, and of bars that are looked ahead from, the close is meant when the goal names no column."""
    tables, goal = _tables(view), _read(view)
    wishes = _wishes(view)
    reading = find_target(goal, tables, wishes.get("target"), wishes.get("exclude") or ())
    of_bars = len(tables) == 1 and trading.holds_bars(tables[0]) and bool(goal.ahead or goal.outlook)
    if reading.chosen is None and (PRICES in tables or of_bars):
        return find_target(goal, tables, "close")
    return reading


def _chosen(view: ConversationView) -> Scored | None:
    reading = _target(view)
    if reading.chosen:
        return reading.chosen
    answer = clarification.target_answer(view)
    return clarification.matching(answer, reading.options) if answer else None
