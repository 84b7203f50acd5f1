"""The graph `job`: the intent of a prompt, then its answer or the change of a workflow."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from app.agent_jobs.kept_steps import list_answer_steps, make_answer_document
from app.agent_jobs.memory import JobMemory
from app.agent_jobs.message import JobMessage
from app.agent_jobs.model_lane import answer_by_model
from app.agent_jobs.patch_lane import ChangeServices, change_workflow, load_document
from app.agent_jobs.previous_results import PreviousTables, parse_results
from app.agent_jobs.service import JobService
from app.errors import LabError, NotFound, Unavailable
from app.json_types import JsonValue
from app.sessions.graphs import GraphSpec, JournaledState, journaled
from app.sessions.schemas import JOB_GRAPH
from app.sessions.step_scope import Call, CallResult, SessionFacts, StepScope
from app.threads.graph import ChatContext, answer_message
from app.workflows.conversations.lanes import read_intent
from app.workflows.document import WorkflowDocument

VERSION = 3
"""Version of the graph: jobs that have begun go on with the one that they began with."""
CONTINUED_VERSIONS = (1, 2)
"""Earlier versions whose jobs this graph goes on with: later ones only put other words to chat models."""
AGENT = "dispatcher"
MODEL = "model"
"""In place of a lane: the chat model decides it by the tool that it calls."""


class JobState(JournaledState, total=False):
    outcome: dict[str, Any]


@dataclass(frozen=True)
class JobServices:
    """Services of one owner. `previous`: the tables that came with the message."""

    jobs: JobService
    changes: ChangeServices
    memory: JobMemory
    previous: PreviousTables


@dataclass(frozen=True)
class JobContext:
    chat: ChatContext
    services: JobServices


def make_graph_spec(
    make_chat: Callable[[StepScope], ChatContext], services_of: Callable[[SessionFacts], JobServices]
) -> GraphSpec:
    """Build the graph of jobs. `make_chat`: makes the context in which the assistant answers."""

    def make_context(step: StepScope) -> JobContext:
        return JobContext(make_chat(step), services_of(step.session))

    graph: Any = StateGraph(JobState)
    graph.add_node("dispatching", journaled("dispatching", _dispatch))
    graph.add_edge(START, "dispatching")
    graph.add_edge("dispatching", END)
    return GraphSpec(
        JOB_GRAPH,
        VERSION,
        graph.compile(),
        lambda _: {},
        make_context,
        lambda state: dict(state["outcome"]),
        CONTINUED_VERSIONS,
    )


async def _dispatch(state: JobState, runtime: Runtime[JobContext]) -> dict[str, Any]:
    job = runtime.context
    message = await _read_message(job)
    decided = await _decide(job, message)
    if decided["lane"] == MODEL:
        return {"outcome": await _ask_model(job, message, decided)}
    return {"outcome": await _follow_rules(job, message, decided)}


async def _follow_rules(job: JobContext, message: JobMessage, decided: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a job in the lane that rules have chosen."""
    if decided["lane"] == "execute":
        outcome = await _execute(job, message, answer_message)
    elif decided["lane"] == "patch":
        outcome = await change_workflow(job.chat.step, job.services.changes, message)
    else:
        outcome = {"question": f"{decided['reason']} Is it for now, or a lasting change of a workflow?"}
    return {**outcome, "lane": decided["lane"]}


async def _ask_model(job: JobContext, message: JobMessage, decided: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a job in the lane that a chat model chooses. Where it fails, the rules of the assistant go on."""
    content = decided["document"]
    document = None if content is None else WorkflowDocument.model_validate(content)

    async def answer(chat: ChatContext) -> dict[str, Any]:
        return await answer_by_model(chat, job.services.changes, message, document)

    return await _execute(job, message, answer)


async def _read_message(job: JobContext) -> JobMessage:
    """Read the message, which never changes. Raises NotFound once it is deleted."""
    record = await job.services.jobs.find_by_session(job.chat.step.session.id)
    if record is None:
        raise NotFound("job_not_found", "The message of this job was deleted.")
    return record.read_message()


async def _decide(job: JobContext, message: JobMessage) -> Mapping[str, Any]:
    """Decide the lane in a recorded call: the saved workflow whose parts count may change later."""

    async def decide() -> CallResult:
        if str(job.chat.step.session.preferences["mode"]) != "auto":
            return CallResult({"lane": "execute", "reason": "It is code."})
        try:
            document = await load_document(job.services.changes, message)
        except LabError:  # the lane that needs the workflow says what is wrong
            document = None
        if not job.chat.assistant.is_offline:
            # Recorded, since the model makes its patch of this version.
            content = None if document is None else document.to_json()
            return CallResult({"lane": MODEL, "document": content}, "The chat model decides.")
        check = job.services.changes.check
        datasets = await check.read_datasets_by_id(job.chat.step.session.dataset_ids)
        intent = await read_intent(message.prompt, document, datasets, check)
        return CallResult({"lane": intent.lane, "reason": intent.reason}, intent.reason)

    request: dict[str, JsonValue] = {"prompt": message.prompt}
    value = await job.chat.step.call(Call("intent", "choice", "classify_intent", AGENT, request), decide)
    return value if isinstance(value, dict) else {}


async def _execute(
    job: JobContext, message: JobMessage, answer: Callable[[ChatContext], Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    try:
        tables = await job.services.previous.read(job.chat.step, message)
    # The step is tried again later; any other error would come again, and is the answer.
    except Unavailable:
        raise
    except LabError as error:
        return {"failure": {"code": error.code, "message": error.detail}}
    conversation = replace(job.chat.conversation, datasets=tables(job.chat.conversation.datasets))
    memory = job.services.memory.of_session(message.context.session_id)
    outcome = await answer(replace(job.chat, conversation=conversation, memory=memory))
    return {**outcome, "kept_steps": await _list_steps(job, message, outcome)}


async def _list_steps(job: JobContext, message: JobMessage, outcome: Mapping[str, Any]) -> list[Any]:
    """List the steps that make the table of an answer again, in a recorded call: datasets may go away."""

    async def list_steps() -> CallResult:
        check = job.services.changes.check
        datasets = await check.read_datasets_by_id(job.chat.step.session.dataset_ids)
        own_tables = [result.name for result in parse_results(message.context.previous_results)]
        document = make_answer_document(outcome, datasets, own_tables)
        if document is not None and await check.find_faults(document):
            document = None
        return CallResult(list_answer_steps(outcome, document))

    steps = await job.chat.step.call(Call("steps", "choice", "list_steps", AGENT, {}), list_steps)
    return steps if isinstance(steps, list) else []
