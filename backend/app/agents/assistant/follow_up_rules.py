"""Rules of the assistant for messages that change the last result, or belong to an open question."""

from collections.abc import Sequence
from dataclasses import replace

from app.agents.assistant.brief import ChatBrief
from app.agents.assistant.follow_ups.changed_plan import UnclearChange
from app.agents.assistant.follow_ups.failed_changes import describe_failed_change
from app.agents.assistant.follow_ups.last_charts import draw_again
from app.agents.assistant.follow_ups.requests import read_follow_up
from app.agents.assistant.follow_ups.rewritten_messages import describe_look, rewrite_message
from app.agents.assistant.message_parsing import list_profiles, parse_message
from app.agents.assistant.offered_readings import describe_offer
from app.agents.assistant.open_questions import (
    NOT_UNDERSTOOD,
    describe_older_result,
    join_open_question,
)
from app.agents.assistant.own_questions import asks_whole_question, names_subject
from app.agents.questions.charts.chart_phrases import parse_chart_phrase
from app.agents.questions.charts.chart_plans import LastResult, PlannedChart, plan_chart
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction, call, say
from app.plans.plan import Plan

View = ConversationView[ChatBrief]


def change_last_result(view: View) -> AgentAction | None:
    """Change the plan of the last result as a follow-up asks, and draw it if it was a chart."""
    tables = tuple(list_profiles(view.brief))
    message = view.brief.message
    if asks_whole_question(message):
        parsed = parse_message(view.brief)
        if isinstance(parsed, ParsedQuestion) and names_subject(message, parsed):
            return None
    try:
        changed = read_follow_up(message, view.brief.earlier, tables)
    except UnclearChange as unclear:
        return say(str(unclear))
    if changed is None:
        return None
    older = describe_older_result(view.brief.earlier)
    changed = replace(changed, readings=[*([older] if older else []), *changed.readings])
    planned: PlannedChart | UnparsedQuestion | None = None
    if changed.phrase is not None:
        planned = plan_chart(replace(changed.phrase, subject=""), tables, LastResult(changed.plan))
    elif changed.chart is not None:
        planned = draw_again(changed.chart, changed.plan, tables)
    if isinstance(planned, PlannedChart):
        readings = [*planned.readings, *changed.readings]
        return call("make_chart", **replace(planned, readings=readings).arguments())
    return call_plan(changed.plan, changed.readings)


def ask_once_more(view: View) -> AgentAction | None:
    """Answer the question of the last answer with the part that the message adds."""
    brief = view.brief
    if look := describe_look(brief.message, brief.earlier):
        return say(look)
    words = rewrite_message(brief.message, brief.earlier)
    if words is None:
        return None
    note = f"Read as: {words!r}."
    phrase = parse_chart_phrase(words)
    if phrase is None:
        parsed = parse_message(replace(brief, message=words))
        if not isinstance(parsed, ParsedQuestion):
            return None
        return call_query(parsed.model_copy(update={"interpretations": (note, *parsed.interpretations)}))
    planned = plan_chart(phrase, list_profiles(brief), LastResult())
    if not isinstance(planned, PlannedChart):
        return None
    return call("make_chart", **replace(planned, readings=[note, *planned.readings]).arguments())


def complete_question(view: View) -> AgentAction | None:
    """Answer a question that is open together with the message that adds a part to it."""
    joined = join_open_question(view.brief.message, view.brief.earlier)
    parsed = parse_message(replace(view.brief, message=joined)) if joined else None
    if isinstance(parsed, ParsedQuestion):
        note = f"Read as: {joined!r}."
        return call_query(parsed.model_copy(update={"interpretations": (note, *parsed.interpretations)}))
    if parsed is None or not parsed.readings:
        return None
    return say(f"{NOT_UNDERSTOOD} {parsed.reason} {describe_offer(parsed.readings)}")


def ask_for_change(view: View) -> AgentAction | None:
    """Ask which change of the last result is meant, where a message is no question of its own."""
    parsed = parse_message(view.brief)
    question = parsed.plan if isinstance(parsed, ParsedQuestion) else None
    text = describe_failed_change(view.brief.message, view.brief.earlier, question)
    return say(text) if text else None


def call_query(parsed: ParsedQuestion) -> AgentAction:
    """Call the tool of queries for a question that is understood."""
    return call_plan(parsed.plan, parsed.interpretations)


def call_plan(plan: Plan, readings: Sequence[str] = ()) -> AgentAction:
    document = plan.model_dump(mode="json", exclude_none=True)
    return call("execute_query_plan", plan=document, readings=[*readings])
