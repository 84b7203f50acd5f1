"""The graph `chat`: one turn, executed as it stands or answered by the assistant."""

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from app.agents.assistant.answer_descriptions import describe_statements
from app.agents.assistant.brief import ProgramOutcome, QueryAnswer
from app.agents.assistant.offered_readings import list_suggestions
from app.agents.assistant.output import Reply
from app.agents.runtime.agent_loop import Agent, AgentRunOptions
from app.artifacts.workspace import Workspace
from app.charts.renderer import ChartRenderer
from app.errors import NotFound
from app.json_types import JsonValue
from app.modeling.facts.conversion import dump_facts, parse_facts
from app.sandbox.computation_runner import ComputationRunner
from app.sessions.graphs import GraphSpec, JournaledState, journaled
from app.sessions.recorded_facts import SessionRecords
from app.sessions.schemas import CHAT_GRAPH
from app.sessions.step_scope import Call, CallResult, SessionFacts, StepScope
from app.threads.direct_execution import FAILURE, USER, execute
from app.threads.next_messages import list_study_options, suggest_next_messages
from app.threads.roles import ASSISTANT
from app.tools.context.conversation_studies import STUDY_TOOLS, ConversationStudies
from app.tools.context.conversation_workflows import RUN_TOOLS, ConversationWorkflows, RunCard
from app.tools.context.tool_context import ChargeStorage, ToolContext
from app.tools.conversations.queries import EXECUTIONS
from app.tools.data.retrieval import get_dataset_schema
from app.tools.invoke import ToolAnswer
from app.workspaces.conversation import Conversation

VERSION = 4
"""Version of the graph: turns that have begun go on with the one that they began with."""
CONTINUED_VERSIONS = (1, 2, 3)
"""Earlier versions whose turns this graph goes on with: later ones only put other words to chat models."""


class TurnMemory(Protocol):
    """The memory of the assistant: the messages before one."""

    async def read(self, facts: SessionFacts) -> list[JsonValue]:
        """Return the turns before this one, oldest first, as JSON of `EarlierTurn`."""
        ...

    async def summarize(self, facts: SessionFacts) -> str:
        """Return a summary of the turns before those; empty without one."""
        ...


class ChatState(JournaledState, total=False):
    outcome: dict[str, Any]


@dataclass(frozen=True)
class ChatContext:
    """One turn: its data, the cells it computes in, the assistant and the turns before it.

    `studies`, `workflows`: None where they cannot be started or changed.
    """

    step: StepScope
    frames: Workspace
    conversation: Conversation
    computer: ComputationRunner
    assistant: Agent[Reply]
    memory: TurnMemory
    renderer: ChartRenderer
    studies: ConversationStudies | None
    records: SessionRecords
    workflows: ConversationWorkflows | None = None
    charge_storage: ChargeStorage | None = None

    def tool_context(self, agent: str) -> ToolContext:
        return ToolContext(
            agent,
            self.step,
            self.frames,
            self.conversation,
            self.computer,
            call="tool:0.0",
            conversation_tables=self.conversation,
            renderer=self.renderer,
            studies=self.studies,
            records=self.records,
            workflows=self.workflows,
            charge_storage=self.charge_storage,
        )


class AssistantTurn(NamedTuple):
    """The outcome of a turn of the assistant, and the answers of its tools."""

    outcome: dict[str, Any]
    answers: Sequence[ToolAnswer]


def make_graph_spec(
    assistant: Agent[Reply],
    computer: ComputationRunner,
    workspace_of: Callable[[SessionFacts], Workspace],
    conversation_of: Callable[[SessionFacts], Conversation],
    memory: TurnMemory,
    renderer: ChartRenderer,
    studies_of: Callable[[SessionFacts], ConversationStudies],
    records_of: Callable[[SessionFacts], SessionRecords],
    workflows_of: Callable[[SessionFacts], ConversationWorkflows],
    charge_of: Callable[[SessionFacts], ChargeStorage],
) -> GraphSpec:
    """Build the graph of turns."""

    def make_context(step: StepScope) -> ChatContext:
        facts = step.session
        return ChatContext(
            step,
            workspace_of(facts),
            conversation_of(facts),
            computer,
            assistant,
            memory,
            renderer,
            studies_of(facts),
            records_of(facts),
            workflows_of(facts),
            charge_of(facts),
        )

    graph: Any = StateGraph(ChatState)
    graph.add_node("answering", journaled("answering", _answer))
    graph.add_edge(START, "answering")
    graph.add_edge("answering", END)
    return GraphSpec(
        CHAT_GRAPH,
        VERSION,
        graph.compile(),
        # A turn begins with an empty state: its message is with the session.
        lambda _: {},
        make_context,
        lambda state: dict(state["outcome"]),
        CONTINUED_VERSIONS,
    )


async def _answer(state: ChatState, runtime: Runtime[ChatContext]) -> dict[str, Any]:
    return {"outcome": await answer_message(runtime.context)}


async def answer_message(chat: ChatContext) -> dict[str, Any]:
    """Execute a message as it stands, or have the assistant answer it. Returns its outcome."""
    mode = str(chat.step.session.preferences["mode"])
    return await (ask_analyst(chat) if mode == "auto" else _execute_directly(chat, mode))


async def _execute_directly(chat: ChatContext, mode: str) -> dict[str, Any]:
    code = str(chat.step.session.preferences["code"])
    value = await execute(chat.tool_context(USER), mode, code)
    failure: Any = value.get(FAILURE)
    # The code is kept for a failure too, so that the user can mend it.
    outcome = {"code": code, **({} if failure else _outcome_of(mode, value))}
    if failure:
        text = str(failure["message"])
        outcome |= {"failure": failure, **{k: v for k, v in value.items() if k in ("stdout", "stderr")}}
    elif mode == "python":
        text = _describe_program(parse_facts(ProgramOutcome, value))
    else:
        text = describe_statements(parse_facts(QueryAnswer, value))
        outcome |= {"plan": json.loads(code)} if mode == "plan" else {}
    chat.step.post_message(ASSISTANT, text)
    return {"text": text, **outcome}


async def ask_analyst(chat: ChatContext, withheld_tools: Sequence[str] = ()) -> dict[str, Any]:
    """Have the assistant answer the message of a step. Returns its outcome: text, table, charts and the like.

    `withheld_tools`: those that could only refuse.
    """
    return (await run_assistant(chat, withheld_tools)).outcome


async def run_assistant(
    chat: ChatContext, withheld_tools: Sequence[str] = (), rules_from: int | None = None
) -> AssistantTurn:
    """Have the assistant answer the message of a step, and return what its tools answered, too.

    `rules_from`: the number of the first turn of its rules, which then answer in place of its chat model.
    """
    context = await _read_context(chat)
    brief: dict[str, JsonValue] = {"message": chat.step.session.goal, **context}
    run_options = AgentRunOptions(withheld_tools=withheld_tools, is_by_rules=rules_from is not None)
    ctx = chat.tool_context(ASSISTANT)
    result = await chat.assistant.run(ctx, brief, first_turn=rules_from or 0, options=run_options)
    parts = {**_last_execution(result.answers), **_list_studies(result.answers)}
    workflow_parts = {**_find_saved_workflow(result.answers), **_find_run(result.answers)}
    text = result.output.text
    options = list_study_options(_study_cards(result.answers))
    suggestions = options or list_suggestions(text) or suggest_next_messages(parts)
    return AssistantTurn({"text": text, **parts, **workflow_parts, "suggestions": suggestions}, result.answers)


async def _read_context(chat: ChatContext) -> dict[str, JsonValue]:
    """Read the tables and the turns before this one, in a recorded call: studies and readings change later."""

    async def read() -> CallResult:
        ctx = chat.tool_context(ASSISTANT)
        tables = [(await get_dataset_schema(ctx, ref.table)).value for ref in await chat.conversation.list()]
        earlier = await chat.memory.read(chat.step.session)
        cards = [] if chat.studies is None else await chat.studies.list()
        studies: list[JsonValue] = [dump_facts(card) for card in cards]
        files: list[JsonValue] = [*sorted((await chat.conversation.read_snapshot()).files)]
        value: dict[str, JsonValue] = {"tables": tables, "earlier": earlier, "studies": studies, "files": files}
        # Recorded with the rest: a turn that goes on elsewhere puts the same words to its chat model.
        if summary := await chat.memory.summarize(chat.step.session):
            value["summary"] = summary
        return CallResult({**value, **await _read_workflows(chat, earlier)})

    value = await chat.step.call(Call("context", "choice", "read_context", ASSISTANT, {}), read)
    return value if isinstance(value, dict) else {}


async def _read_workflows(chat: ChatContext, earlier: Sequence[JsonValue]) -> dict[str, JsonValue]:
    """Return the user's workflows, and the lane of the message as rules see it."""
    if chat.workflows is None:
        return {}
    turns = [turn for turn in earlier if isinstance(turn, dict)]
    ids = [turn["workflow"] for turn in turns if turn.get("workflow")]
    run_ids = [str(turn["run"]) for turn in turns if turn.get("run")]
    cards = await chat.workflows.list()
    workflow_ids = [card.id for card in cards]
    current = next((str(earlier_id) for earlier_id in reversed(ids) if earlier_id in workflow_ids), None)
    # With a single workflow "run it again" can mean no other, even where no turn has named it.
    if current is None and len(workflow_ids) == 1:
        current = workflow_ids[0]
    lane = await chat.workflows.classify(chat.step.session.goal, current)
    # The workflow that the conversation is about comes first.
    ordered = sorted(cards, key=lambda card: card.id != current)
    runs: list[JsonValue] = [dump_facts(card) for card in await _read_last_run(chat.workflows, run_ids)]
    return {"workflows": [dump_facts(card) for card in ordered], "lane": dump_facts(lane), "runs": runs}


async def _read_last_run(workflows: ConversationWorkflows, run_ids: Sequence[str]) -> list[RunCard]:
    """Read the last run of a conversation. Empty without one, and once it is deleted."""
    if not run_ids:
        return []
    with contextlib.suppress(NotFound):
        return [(await workflows.read_run(run_ids[-1])).card]
    return []


def _find_run(answers: Sequence[ToolAnswer]) -> dict[str, Any]:
    """Return the run of a workflow that the turn began, answered or read last."""
    runs: list[Any] = [a.value for a in answers if a.request.name in RUN_TOOLS and a.refusal is None]
    names = ("id", "workflow", "name", "version")
    return {"run": {name: runs[-1][name] for name in names}} if runs else {}


def _find_saved_workflow(answers: Sequence[ToolAnswer]) -> dict[str, Any]:
    """Return the version of a workflow that the turn saved last."""
    saved: list[Any] = [a.value for a in answers if a.request.name == "patch_workflow" and a.refusal is None]
    names = ("id", "name", "version", "change", "difference", "next_runs")
    return {"workflow": {name: saved[-1][name] for name in names}} if saved else {}


def _list_studies(answers: Sequence[ToolAnswer]) -> dict[str, Any]:
    """Return the studies that the turn started, forked, answered or read; they stay with the thread."""
    ids = [str(card["id"]) for card in _study_cards(answers)]
    return {"studies": [*dict.fromkeys(ids)]} if ids else {}


def _study_cards(answers: Sequence[ToolAnswer]) -> list[Mapping[str, Any]]:
    return [
        answer.value
        for answer in answers
        if answer.request.name in STUDY_TOOLS and answer.refusal is None and isinstance(answer.value, dict)
    ]


def _last_execution(answers: Sequence[ToolAnswer]) -> dict[str, Any]:
    """Return the outcome of the last successful execution of the assistant, and the changes of all."""
    values: list[Mapping[str, Any]] = [
        answer.value for answer in answers if answer.refusal is None and isinstance(answer.value, dict)
    ]
    # Of all executions: a turn that creates a table and then reads another shows both.
    changes = [change for value in values for change in value.get("changes", ())]
    # The last result is the answer; those before it were looked at on the way to it.
    for answer in reversed(answers):
        if _has_result(answer) and isinstance(answer.value, dict):
            arguments = answer.request.arguments
            mode = {"execute_sql": "sql", "execute_python": "python"}.get(answer.request.name, "plan")
            outcome = _outcome_of(mode, answer.value)
            if mode == "plan":
                outcome["plan"] = arguments.get("plan")
            if mode == "python":
                outcome["code"] = arguments.get("code")
            if answer.request.name == "execute_pipeline":
                outcome["steps"] = arguments.get("steps")
            if answer.request.name == "make_chart":
                outcome["charts"] = [_describe_chart(answer.value, arguments)]
            outcome["changes"] = changes
            return {**outcome, "readings": list(arguments.get("readings", ()))}
    # Tables that were restored are no result, but a change.
    return {"changes": changes} if changes else {}


def _has_result(answer: ToolAnswer) -> bool:
    """Check for an execution that succeeded, or a run of a workflow with a table."""
    if answer.refusal is not None or not isinstance(answer.value, dict):
        return False
    is_run = answer.request.name in RUN_TOOLS and "digest" in answer.value
    return is_run or answer.request.name in EXECUTIONS


def _outcome_of(mode: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of an execution that the turn shows."""
    if mode == "python":
        variables = {name: list(value.get(name, ())) for name in ("variables", "not_kept", "changes")}
        return {"stdout": value["stdout"], "stderr": value["stderr"], "value": value["result"], **variables}
    table = {
        name: value.get(name)
        for name in ("columns", "rows", "row_count", "truncated", "digest", "rows_used", "rows_there")
    }
    changes = list(value.get("changes", ()))
    return {"table": table if value["columns"] else None, "sql": value["sql"], "changes": changes}


def _describe_chart(value: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the chart of an answer with its axes; its artifact is recorded by its digest."""
    described = {name: value.get(name) for name in ("kind", "title", "problem")}
    axes = {name: arguments[name] for name in ("x", "y", "color", "moving_average") if arguments.get(name)}
    return {"digest": value["chart"], **described, "axes": axes}


def _describe_program(outcome: ProgramOutcome) -> str:
    ended = "The program ended." if outcome.result is None else str(outcome.result)
    missing = ", ".join(f"{entry['name']} ({entry['reason']})" for entry in outcome.not_kept)
    not_kept = f"\n\nNot kept for later programs: {missing}." if missing else ""
    return f"{outcome.stdout.strip() or ended}{not_kept}"
