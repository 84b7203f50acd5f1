"""The assistant without a provider: a table of rules."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from app.agents.assistant.answer_descriptions import describe_answer, describe_chart, describe_statements
from app.agents.assistant.brief import ChangeAnswer, ChartAnswer, ChatBrief, EarlierTurn, QueryAnswer
from app.agents.assistant.file_rules import work_on_files
from app.agents.assistant.follow_up_rules import (
    ask_for_change,
    ask_once_more,
    call_plan,
    call_query,
    change_last_result,
    complete_question,
)
from app.agents.assistant.follow_ups.earlier_answers import asks_for_originals, count_undone
from app.agents.assistant.follow_ups.last_charts import find_last_result
from app.agents.assistant.follow_ups.requests import renames_column
from app.agents.assistant.message_parsing import list_options, list_profiles, parse_message, suggest_questions
from app.agents.assistant.offered_readings import describe_offer, find_taken_reading
from app.agents.assistant.open_questions import NOT_UNDERSTOOD
from app.agents.assistant.remarks import answer_remark
from app.agents.assistant.studies.requests import read_option_answer
from app.agents.assistant.study_rules import answer_in_words, conclude_study, work_on_studies
from app.agents.assistant.table_changes.change import UnclearTableChange
from app.agents.assistant.table_changes.requests import read_table_change
from app.agents.assistant.tables.new_columns import UnclearColumn, parse_new_column
from app.agents.assistant.tables.overviews import plan_column_overview
from app.agents.assistant.tables.random_tables import UnclearTable, parse_made_table
from app.agents.assistant.tables.row_displays import plan_row_display
from app.agents.assistant.workflow_rules import change_workflow
from app.agents.assistant.workflows.requests import (
    read_fetch,
)
from app.agents.assistant.workflows.runs import run_saved_workflow
from app.agents.goals.refusals.languages import describe_language_refusal
from app.agents.goals.refusals.unserved_requests import find_unserved
from app.agents.questions.charts.chart_phrases import parse_chart_phrase
from app.agents.questions.charts.chart_plans import plan_chart
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction, Rule, call, make_policy, say
from app.modeling.facts.conversion import parse_facts
from app.plans.describe import describe_plan
from app.plans.plan import Plan
from app.tools.context.conversation_workflows import MessageLane

View = ConversationView[ChatBrief]

_GREETING = re.compile(
    r"\W*(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| labcrew| a lot| so much)?\W*",
    re.IGNORECASE,
)
_ASSENT = re.compile(
    r"\W*(?:ok(?:ay)?|great|cool|nice|yes|no|sure|perfect|good|fine|wow|interesting)(?: one| job| work)?\W*",
    re.IGNORECASE,
)
_ABOUT_ITSELF = re.compile(
    r"\b(?:what (?:can|do) you do|who are you|what are you|how (?:do|does) (?:you|this|it) work"
    r"|how can you help|what can (?:i|one) (?:ask|do)|help me)\b|^\W*(?:help|\?)\W*$",
    re.IGNORECASE,
)
ABILITIES = (
    "I answer questions about your tables in words, with a table and the SQL behind it: counts, sums, means, "
    "rankings, trends, distributions, missing values and correlations, and draw them as charts. Studies "
    "predict, forecast, and find unusual rows and groups of similar ones. `SQL:`, `PYTHON:` and `PLAN:` run "
    "code as it stands."
)
_RESHAPES = re.compile(r"^\W{0,5}(?:\w{1,20} ){0,3}?(?:turn|change|switch|convert|put)\b", re.IGNORECASE)
"""Verbs of changes that a last result takes: `turn it into a line chart`."""


def accept_rejection(view: View) -> AgentAction | None:
    """Say that a call did not run because its user did not approve it."""
    # The refusal itself tells an agent how to go on, which is nothing for the user who gave the word.
    action = view.completed_calls[-1].rejected_action if view.completed_calls else None
    return say(f"I did not {action}, because you did not approve it.") if action else None


def conclude(view: View) -> AgentAction | None:
    """Say what the query gave, or why it gave nothing."""
    if chart := view.last_success("make_chart"):
        readings = [str(reading) for reading in chart.arguments.get("readings", ())]
        return say(describe_chart(chart.read(ChartAnswer), readings))
    answer = view.last_success("execute_query_plan", "execute_sql")
    if answer is not None:
        readings = [str(reading) for reading in answer.arguments.get("readings", ())]
        if answer.name == "execute_sql":  # of a chat model, which this policy took over from
            return say(describe_statements(answer.read(QueryAnswer), readings))
        description = describe_plan(Plan.model_validate(answer.arguments["plan"]))
        return say(describe_answer(answer.read(QueryAnswer), description, readings))
    if refusals := view.refusals("make_chart"):
        return say(f"The chart could not be drawn. {refusals[-1].refusal}")
    refusals = view.refusals("execute_query_plan", "execute_sql")
    return say(f"The query could not be run. {refusals[-1].refusal}") if refusals else None


def answer_small_talk(view: View) -> AgentAction | None:
    message = view.brief.message
    if read_option_answer(view.brief):
        return None  # "yes" and "no" may be what a study asks for
    if _GREETING.fullmatch(message):
        return say(f"Hello. {suggest_questions(view.brief)}")
    if _ASSENT.fullmatch(message):
        lead = "Ask on, or say what to change in the last answer." if view.brief.earlier else "Hello."
        return say(f"{lead} {suggest_questions(view.brief)}".strip())
    if _ABOUT_ITSELF.search(message):
        return say(f"{ABILITIES} {suggest_questions(view.brief)}")
    return None


def decline_unserved(view: View) -> AgentAction | None:
    """Say that a request for something else is not served, and what is."""
    message = view.brief.message
    # "Turn it into a line chart" and "call it margin" change the answer, and nothing outside.
    if (_RESHAPES.search(message) and parse_chart_phrase(message)) or renames_column(
        message, view.brief.earlier
    ):
        return None
    unserved = find_unserved(message)
    return say(f"{unserved.sentence} {suggest_questions(view.brief)}".strip()) if unserved else None


def ask_for_tables(view: View) -> AgentAction | None:
    if view.brief.tables:
        return None
    return say(
        "This conversation has no table yet. Upload one and name it in `dataset_ids`, then ask about it. "
        + ABILITIES
    )


def draw_chart(view: View) -> AgentAction | None:
    """Draw what the message asks for, or say which part of it is not understood."""
    phrase = parse_chart_phrase(view.brief.message)
    if phrase is None:
        return None
    planned = plan_chart(phrase, list_profiles(view.brief), find_last_result(view.brief.earlier))
    if isinstance(planned, UnparsedQuestion):
        return say(f"{NOT_UNDERSTOOD} {planned.reason} {list_options(planned.options)}".strip())
    return call("make_chart", **planned.arguments())


def take_reading(view: View) -> AgentAction | None:
    """Answer the question before by the reading that the message takes of those that were offered."""
    reading = find_taken_reading(view.brief, parse_message)
    return call_query(reading) if reading else None


def query_tables(view: View) -> AgentAction | None:
    parsed = parse_message(view.brief)
    return call_query(parsed) if isinstance(parsed, ParsedQuestion) else None


def ask_to_rephrase(view: View) -> AgentAction:
    parsed = parse_message(view.brief)
    if not isinstance(parsed, UnparsedQuestion):
        return say(NOT_UNDERSTOOD)
    # No reading of it is offered: its other words were not read.
    if refusal := describe_language_refusal(view.brief.message):
        return say(refusal)
    offer = describe_offer(parsed.readings) or list_options(parsed.options)
    return say(f"{NOT_UNDERSTOOD} {parsed.reason} {offer}".strip())


def make_column(view: View) -> AgentAction | None:
    """Make a column of a table, then do what the message asks for with it."""
    profiles = list_profiles(view.brief)
    request = parse_new_column(view.brief.message, profiles)
    if request is None:
        return None
    if isinstance(request, UnclearColumn):
        return say(f"I did not make a column. {request.reason}")
    profile = next(profile for profile in profiles if profile.name == request.table)
    statement = request.make_sql([column.name for column in profile.columns])
    return _make_then(view, _Making(request.table, statement, request.describe(), request.rest))


def undo_table_change(view: View) -> AgentAction | None:
    """Take changes of tables back, where the last thing that was done is one."""
    if restored := view.last_success("restore_tables"):
        return say(" ".join(str(change["text"]) for change in restored.read(ChangeAnswer).changes))
    if refusals := view.refusals("restore_tables"):
        return say(str(refusals[-1].refusal))
    brief = view.brief
    if asks_for_originals(brief.message) and any(turn.changes_tables for turn in brief.earlier):
        return call("restore_tables", changes=None)
    if not _follows_table_change(brief.earlier):
        return None
    steps = count_undone(brief.message)
    return call("restore_tables", changes=steps) if steps else None


def _follows_table_change(earlier: Sequence[EarlierTurn]) -> bool:
    """Tell if the last thing that was done changed tables, or is the first look at what such a change left."""
    turns = [turn for turn in earlier if turn.has_result or turn.changes_tables or turn.workflow]
    if not turns or turns[-1].workflow:
        return False
    return turns[-1].changes_tables or (len(turns) > 1 and turns[-2].changes_tables)


def change_table(view: View) -> AgentAction | None:
    """Change a table of the conversation, then do what the message asks for with it."""
    brief = view.brief
    if brief.lane.lane == "patch" and brief.lane.workflow is not None:
        return None  # a step of the workflow that the conversation is about
    request = read_table_change(brief.message, list_profiles(brief), brief.earlier, _question_parser(brief))
    if request is None:
        return None
    if isinstance(request, UnclearTableChange):
        return say(request.reason)
    return _make_then(
        view, _Making(request.table, request.statement, request.sentence, request.rest, request.rows_before)
    )


def make_table(view: View) -> AgentAction | None:
    """Make a table of random rows, then do what the message asks for with it."""
    request = parse_made_table(view.brief.message, [str(table["table"]) for table in view.brief.tables])
    if request is None:
        return None
    if isinstance(request, UnclearTable):
        return say(f"I did not make a table. {request.reason}")
    return _make_then(view, _Making(request.name, request.make_sql(), request.describe(), request.rest))


class _Making(NamedTuple):
    """A statement that makes a table or a column of it, in words, and what is asked for after it."""

    table: str
    statement: str
    sentence: str
    rest: str
    rows_before: int | None = None


def _make_then(view: View, making: _Making) -> AgentAction:
    """Run the statement, read the schema of its table, and answer the rest of the message about that."""
    change = view.last_success("execute_sql")
    if change is None:
        if refusals := view.refusals("execute_sql"):
            return say(f"I could not make that. {refusals[-1].refusal}")
        return call("execute_sql", sql=making.statement)
    answer = change.read(ChangeAnswer)
    counts = [answer.describe_rest(making.table, making.rows_before)] if making.rows_before is not None else []
    sentence = " ".join([making.sentence, *counts, *answer.list_copies()])
    if not making.rest:
        return say(sentence)
    schema = view.last_success("get_dataset_schema")
    if schema is None:
        return call("get_dataset_schema", dataset=making.table)
    others = [table for table in view.brief.tables if table.get("table") != making.table]
    brief = replace(view.brief, message=making.rest, tables=[schema.value, *others])
    later = view.completed_calls[view.completed_calls.index(schema) + 1 :]
    action = next(action for rule in RULES if (action := rule(ConversationView(brief, later))))
    return replace(action, message=f"{sentence} {action.message}") if not action.calls else action


def describe_columns(view: View) -> AgentAction | None:
    """Describe the columns of the tables: types, missing values and ranges."""
    overview = plan_column_overview(view.brief.message, list_profiles(view.brief))
    if overview is None:
        return None
    return call_plan(overview.plan, [overview.reading] if overview.reading else [])


def show_rows(view: View) -> AgentAction | None:
    """Show the rows of a table that the message names, all or some by chance."""
    brief = view.brief
    display = plan_row_display(brief.message, list_profiles(brief), _question_parser(brief))
    if display is None:
        return None
    return call_plan(display.plan, display.readings)


def _question_parser(brief: ChatBrief) -> Callable[[str], ParsedQuestion | UnparsedQuestion]:
    """Return the reading of words as a question about the tables of a conversation."""
    return lambda words: parse_message(replace(brief, message=words))


def fetch_now(view: View) -> AgentAction | None:
    """Send a request now, and answer what the message asks of its table."""
    if refusals := view.refusals("execute_pipeline"):
        return say(f"I could not fetch that. {refusals[-1].refusal}")
    request = read_fetch(view.brief)
    if request is None:
        return None
    fetched = view.last_success("execute_pipeline")
    if fetched is None:
        return call("execute_pipeline", steps=request.steps, name=request.table)
    if not request.asks:
        answer = describe_answer(fetched.read(QueryAnswer))
        return say(f"{answer} It is the table `{request.table}` from now on.")
    schema = view.last_success("get_dataset_schema")
    if schema is None:
        return call("get_dataset_schema", dataset=request.table)
    brief = replace(view.brief, message=request.asks, tables=[schema.value], lane=MessageLane())
    later = view.completed_calls[view.completed_calls.index(schema) + 1 :]
    return next(action for rule in RULES if (action := rule(ConversationView(brief, later))))


RULES: tuple[Rule[ChatBrief], ...] = (
    accept_rejection,
    work_on_files,
    # Before `conclude`, which would take their statement for the query of an answer.
    make_table,
    undo_table_change,
    # Before `make_column`, for which the month of a date would be the date itself.
    change_table,
    make_column,
    conclude_study,
    run_saved_workflow,
    change_workflow,
    fetch_now,
    conclude,
    # "Yes" takes a reading that was offered, and is small talk otherwise.
    take_reading,
    answer_remark,
    answer_small_talk,
    ask_once_more,
    decline_unserved,
    ask_for_tables,
    work_on_studies,
    describe_columns,
    show_rows,
    complete_question,
    change_last_result,
    draw_chart,
    ask_for_change,
    query_tables,
    answer_in_words,
    ask_to_rephrase,
)

decide = make_policy(RULES, lambda brief: parse_facts(ChatBrief, brief))
