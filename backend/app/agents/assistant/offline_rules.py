"""The assistant without a provider: a table of rules."""

import re
from dataclasses import replace
from typing import NamedTuple

from app.agents.assistant.answer_descriptions import describe_answer, describe_chart, describe_statements
from app.agents.assistant.brief import ChangeAnswer, ChartAnswer, ChatBrief, QueryAnswer
from app.agents.assistant.follow_ups.changed_plan import UnclearChange
from app.agents.assistant.follow_ups.failed_changes import describe_failed_change
from app.agents.assistant.follow_ups.last_charts import draw_again, find_last_result
from app.agents.assistant.follow_ups.requests import read_follow_up, renames_column
from app.agents.assistant.message_parsing import list_options, list_profiles, parse_message, suggest_questions
from app.agents.assistant.offered_readings import describe_offer, find_taken_reading
from app.agents.assistant.studies import requests as study_requests
from app.agents.assistant.studies.descriptions import (
    describe_comparison,
    describe_explanation,
    describe_start,
    describe_study,
)
from app.agents.assistant.tables.exports import ExportRefusal, read_export
from app.agents.assistant.tables.file_requests import describe_files, read_file_request
from app.agents.assistant.tables.new_columns import UnclearColumn, parse_new_column
from app.agents.assistant.tables.overviews import plan_column_overview
from app.agents.assistant.tables.random_tables import UnclearTable, parse_made_table
from app.agents.assistant.workflows.requests import (
    WorkflowRequest,
    describe_saved,
    read_change_message,
    read_fetch,
    read_sent_data,
)
from app.agents.assistant.workflows.runs import run_saved_workflow
from app.agents.goals.refusals.languages import describe_language_refusal
from app.agents.goals.refusals.unserved_requests import find_unserved
from app.agents.questions.charts.chart_phrases import parse_chart_phrase
from app.agents.questions.charts.chart_plans import LastResult, PlannedChart, plan_chart
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.runtime.conversation import ConversationView
from app.agents.runtime.offline_policy import AgentAction, Rule, call, make_policy, say
from app.modeling.facts.conversion import parse_facts
from app.plans.describe import describe_plan
from app.plans.plan import Plan
from app.tools.context.conversation_studies import STUDY_TOOLS, StudyCard
from app.tools.context.conversation_workflows import MessageLane, WorkflowCard

View = ConversationView[ChatBrief]

_GREETING = re.compile(
    r"\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?(?: you)?(?: very much)?|thx|ok(?:ay)?|great"
    r"|cool|nice|bye|goodbye|yes|no|sure|perfect)(?: there| labcrew| a lot| so much)?\W*",
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
    if study_requests.read_option_answer(view.brief):
        return None  # "yes" and "no" may be what a study asks for
    if _GREETING.fullmatch(message):
        return say(f"Hello. {suggest_questions(view.brief)}")
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
        return say(f"I did not understand that. {planned.reason} {list_options(planned.options)}".strip())
    return call("make_chart", **planned.arguments())


def change_last_result(view: View) -> AgentAction | None:
    """Change the plan of the last result as a follow-up asks, and draw it if it was a chart."""
    tables = tuple(list_profiles(view.brief))
    try:
        changed = read_follow_up(view.brief.message, view.brief.earlier, tables)
    except UnclearChange as unclear:
        return say(str(unclear))
    if changed is None:
        return None
    planned: PlannedChart | UnparsedQuestion | None = None
    if changed.phrase is not None:
        planned = plan_chart(replace(changed.phrase, subject=""), tables, LastResult(changed.plan))
    elif changed.chart is not None:
        planned = draw_again(changed.chart, changed.plan, tables)
    if isinstance(planned, PlannedChart):
        readings = [*planned.readings, *changed.readings]
        return call("make_chart", **replace(planned, readings=readings).arguments())
    plan = changed.plan.model_dump(mode="json", exclude_none=True)
    return call("execute_query_plan", plan=plan, readings=[*changed.readings])


def ask_for_change(view: View) -> AgentAction | None:
    """Ask which change of the last result is meant, where a message is no question of its own."""
    parsed = parse_message(view.brief)
    question = parsed.plan if isinstance(parsed, ParsedQuestion) else None
    text = describe_failed_change(view.brief.message, view.brief.earlier, question)
    return say(text) if text else None


_GOES_ON = "The answer was passed on, and the study goes on. Ask for its result at any time."


def conclude_study(view: View) -> AgentAction | None:
    """Say what became of a call about studies."""
    if started := view.last_success("start_study", "fork_study"):
        return say(describe_start(started.read(StudyCard)))
    if view.was_called("answer_study") and (passed := view.last_success("answer_study")):
        card = passed.read(StudyCard)
        return say(f"The answer was passed on. {describe_study(card)}" if card.question else _GOES_ON)
    if read := view.last_success("read_study"):
        return say(describe_study(read.read(StudyCard)))
    if compared := view.last_success("compare_studies"):
        return say(describe_comparison(compared.value))
    if explained := view.last_success("explain_prediction"):
        return say(describe_explanation(explained.value))
    refusals = view.refusals(*STUDY_TOOLS, "compare_studies", "explain_prediction")
    return say(str(refusals[-1].refusal)) if refusals else None


def work_on_studies(view: View) -> AgentAction | None:
    """Start, answer, fork, compare or explain a study."""
    request = study_requests.read_study_message(view.brief, list_profiles(view.brief))
    if request is None:
        return None
    if isinstance(request, study_requests.StudyRefusal):
        return say(request.reason)
    return call(request.tool, **request.arguments)


def answer_in_words(view: View) -> AgentAction | None:
    """Pass a message that is nothing else on to a study that asks for words."""
    request = study_requests.read_free_answer(view.brief)
    return call(request.tool, **request.arguments) if request else None


def take_reading(view: View) -> AgentAction | None:
    """Answer the question before by the reading that the message takes of those that were offered."""
    reading = find_taken_reading(view.brief, parse_message)
    return _query(reading) if reading else None


def query_tables(view: View) -> AgentAction | None:
    parsed = parse_message(view.brief)
    return _query(parsed) if isinstance(parsed, ParsedQuestion) else None


def _query(parsed: ParsedQuestion) -> AgentAction:
    plan = parsed.plan.model_dump(mode="json", exclude_none=True)
    return call("execute_query_plan", plan=plan, readings=[*parsed.interpretations])


def ask_to_rephrase(view: View) -> AgentAction:
    parsed = parse_message(view.brief)
    if not isinstance(parsed, UnparsedQuestion):
        return say("I did not understand that.")
    # No reading of it is offered: its other words were not read.
    if refusal := describe_language_refusal(view.brief.message):
        return say(refusal)
    offer = describe_offer(parsed.readings) or list_options(parsed.options)
    return say(f"I did not understand that. {parsed.reason} {offer}".strip())


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


def _make_then(view: View, making: _Making) -> AgentAction:
    """Run the statement, read the schema of its table, and answer the rest of the message about that."""
    change = view.last_success("execute_sql")
    if change is None:
        if refusals := view.refusals("execute_sql"):
            return say(f"I could not make that. {refusals[-1].refusal}")
        return call("execute_sql", sql=making.statement)
    sentence = " ".join([making.sentence, *change.read(ChangeAnswer).list_copies()])
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
    plan = overview.plan.model_dump(mode="json", exclude_none=True)
    return call("execute_query_plan", plan=plan, readings=[overview.reading] if overview.reading else [])


def change_workflow(view: View) -> AgentAction | None:
    """Make or change a workflow as the message asks, and say what came of it."""
    if saved := view.last_success("patch_workflow"):
        return say(describe_saved(saved.read(WorkflowCard)))
    if refusals := view.refusals("patch_workflow"):
        return say(str(refusals[-1].refusal))
    request = read_change_message(view.brief)
    if request is None:
        return None
    data = None if view.brief.lane.is_edit else read_sent_data(view.brief.message)
    parsed = parse_message(replace(view.brief, message=data)) if data else None
    if isinstance(parsed, ParsedQuestion):  # it names its data, whatever there is already
        plan = parsed.plan.model_dump(mode="json", exclude_none=True)
        return call("patch_workflow", words=view.brief.message, plan=plan, name=data)
    if isinstance(parsed, UnparsedQuestion) and not _changes_saved(request):
        return say(f"I did not understand {data!r}. {parsed.reason} {list_options(parsed.options)}".strip())
    return say(request) if isinstance(request, str) else call(request.tool, **request.arguments)


def _changes_saved(request: WorkflowRequest | str) -> bool:
    return not isinstance(request, str) and "workflow" in request.arguments


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


FILE_TOOLS = ("list_files", "read_file", "write_file", "edit_file", "save_table")


def work_on_files(view: View) -> AgentAction | None:
    """List, read, write or change a file, and say what came of it."""
    if done := view.last_success(*FILE_TOOLS):
        return say(describe_files(done.value))
    if refusals := view.refusals(*FILE_TOOLS):
        return say(str(refusals[-1].refusal))
    if request := read_file_request(view.brief.message, view.brief.files):
        return call(request.tool, **request.arguments)
    tables = [str(table.get("table")) for table in view.brief.tables]
    export = read_export(view.brief.message, view.brief.earlier, tables, view.brief.files)
    if isinstance(export, ExportRefusal):
        return say(export.reason)
    return call("save_table", sql=export.sql, name=export.name) if export else None


RULES: tuple[Rule[ChatBrief], ...] = (
    accept_rejection,
    work_on_files,
    # Before `conclude`, which would take their statement for the query of an answer.
    make_table,
    make_column,
    conclude_study,
    run_saved_workflow,
    change_workflow,
    fetch_now,
    conclude,
    # "Yes" takes a reading that was offered, and is small talk otherwise.
    take_reading,
    answer_small_talk,
    decline_unserved,
    ask_for_tables,
    work_on_studies,
    describe_columns,
    change_last_result,
    draw_chart,
    ask_for_change,
    query_tables,
    answer_in_words,
    ask_to_rephrase,
)

decide = make_policy(RULES, lambda brief: parse_facts(ChatBrief, brief))
