"""The offline policy of the planner: read tables and goal, ask about what remains open, then plan."""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from app.agents.planner import clarification
from app.agents.planner.planner_facts import Situation
from app.agents.planner.preferences import PlannerBrief
from app.agents.planner.rules import (
    effects,
    overview,
    periods,
    persons,
    prices,
    question,
    refusals,
    row_search,
)
from app.agents.planner.rules import target as target_rules
from app.agents.planner.rules.conclusion import conclude
from app.agents.planner.stored_prices import PRICES_TOOL
from app.agents.runtime.conversation import ConversationView, read_conversation
from app.agents.runtime.offline_policy import AgentAction, call, make_view_policy


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
    """Ask about a preference that names no column, or refuse it. Preferences are never guessed."""
    unknown = situation.resolved.unknown
    if not unknown or not situation.tables:
        return None
    if situation.preferences.clarify == "never":
        return refusals.refuse(clarification.describe_unknown(unknown[0]))
    return clarification.ask_preference(unknown[0])


RULES = (
    list_tables,
    read_schemas,
    list_prices,
    ask_about_preferences,
    refusals.refuse_unserved,
    # Before a column that resembles the words is taken for the outcome: `returned` goods of "who comes back".
    persons.plan_persons,
    # "Which orders are unusual" is a question, too, and would be asked back about: no query answers it.
    row_search.plan_unusual_rows,
    row_search.plan_asked_groups,
    periods.plan_period_forecast,
    effects.plan_effect_figures,
    question.ask_or_answer,
    # A query may be the procedure: "compute the Pearson correlation between amount and items".
    refusals.refuse_procedure,
    # "Describe the data" names no column, and would be refused as a goal without a target.
    row_search.plan_row_groups,
    overview.plan_overview,
    target_rules.refuse_unreadable,
    target_rules.ask_for_target,
    periods.ask_about_missing_dates,
    target_rules.ask_for_kind,
    target_rules.ask_about_bound,
    target_rules.ask_about_rows,
    target_rules.ask_about_phrases,
    periods.ask_about_time,
    periods.ask_about_dates,
    prices.ask_for_coin,
    prices.ask_for_horizon,
    prices.ask_about_costs,
    conclude,
)


def read_situation(messages: Sequence[BaseMessage]) -> Situation:
    conversation = read_conversation(messages)
    brief = PlannerBrief.model_validate(conversation.brief)
    return Situation(ConversationView(brief, conversation.completed_calls))


decide = make_view_policy(RULES, read_situation)
