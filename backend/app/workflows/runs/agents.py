"""Nodes that have the assistant of conversations answer a prompt, through the graph `chat`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from app.counts import describe_count
from app.datasets.dataset_source import DatasetRef
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import Call, CallResult, SessionFacts
from app.threads.graph import ChatContext, ask_analyst
from app.tools.context.conversation_studies import STUDY_TOOLS
from app.tools.context.conversation_workflows import RUN_TOOLS
from app.workflows.document import Node
from app.workflows.node_configs import AskAgent
from app.workflows.runs.context import AGENT, Results, RunContext
from app.workflows.runs.node_step import NodeStep
from app.workflows.runs.result_values import fill_template
from app.workflows.runs.schemas import NodeResult
from app.workflows.runs.tables import compute_sql, list_input_frames, store_records, store_table
from app.workspaces.conversation import TableList

_WITHHELD = (
    *STUDY_TOOLS,
    *RUN_TOOLS,
    *("compare_studies", "explain_prediction", "execute_pipeline", "read_workflow", "patch_workflow"),
    *("list_files", "read_file", "write_file", "edit_file", "save_table", "restore_tables"),
)
"""Tools that a chat model is not offered here: a run has nodes for what they do, or nobody reads the files."""
_ABILITIES = "Without a chat model an agent answers questions about the tables of its inputs, and nothing else."


class _NoMemory:
    """The memory of a node: each prompt stands alone."""

    async def read(self, facts: SessionFacts) -> list[JsonValue]:
        return []

    async def summarize(self, facts: SessionFacts) -> str:
        return ""


async def ask_agent(ctx: RunContext, node: Node, config: AskAgent, results: Results) -> CallResult:
    """Have the assistant answer a prompt; each of its calls is recorded, so none is made twice after a crash.

    Raises InvalidInput for words that rules do not understand, and where no agent can be asked.
    """
    if ctx.services.make_chat is None:
        raise InvalidInput("agent_unavailable", "Agents are asked in runs of workflows only.")
    prompt = fill_template(ctx, config.prompt, results)
    step = NodeStep(ctx.step, replace(ctx.session, goal=prompt, preferences={}), node.id, ctx.attempt)
    chat = ctx.services.make_chat(step)
    conversation = replace(chat.conversation, datasets=TableList(await _read_inputs(ctx, node, step)))
    alone = replace(chat, conversation=conversation, memory=_NoMemory(), studies=None, workflows=None)
    return await _store_answer(ctx, node, alone, await ask_analyst(alone, _WITHHELD))


async def _store_answer(
    ctx: RunContext, node: Node, chat: ChatContext, outcome: Mapping[str, Any]
) -> CallResult:
    text, digest = str(outcome["text"]), (outcome.get("table") or {}).get("digest")
    # Rules answer with a table or with a refusal; their words would pass for an answer otherwise.
    if digest is None and chat.assistant.is_offline:
        raise InvalidInput("agent_not_understood", f"{text} {_ABILITIES}")
    if digest is None:
        stored = await store_records(ctx, node, [{"answer": text}])
    else:
        stored = store_table(node, await compute_sql(ctx, "SELECT * FROM answer", {"answer": digest}))
    charts: Sequence[Mapping[str, Any]] = outcome.get("charts") or ()
    result = NodeResult.model_validate(stored.value).model_copy(
        update={"answer": text, "chart": charts[0]["digest"] if charts else None}
    )
    return replace(stored, value=result.model_dump(mode="json"))


async def _read_inputs(ctx: RunContext, node: Node, step: NodeStep) -> list[DatasetRef]:
    """Read the tables of the inputs with their profiles, in a recorded call. Raises InvalidInput."""
    frames = await list_input_frames(ctx, node)
    if not frames:
        raise InvalidInput("table_missing", f"{', '.join(ctx.document.inputs_of(node.id))} gave no table.")

    async def describe() -> CallResult:
        work = Computation("queries.conversation_sql.describe_tables", {"optional": []}, trusted=False)
        described = await ctx.services.computer.run(
            work, {name: frame.digest for name, frame in frames.items()}
        )
        value: Any = described.value
        tables = value["workspace"]["tables"]
        profiles = {name: tables[name]["profile"] for name in frames}
        return CallResult(profiles, f"{describe_count(len(frames), 'table')}.")

    call = Call("choice:inputs", "choice", "read_inputs", AGENT, {"node": node.id, "tables": [*frames]})
    profiles: Any = await step.call(call, describe)
    return [
        DatasetRef(
            # An id that a replay finds again: the table is no stored dataset, and has none.
            uuid5(NAMESPACE_OID, f"table {name}"),
            name,
            name,
            frame.digest,
            frame.meta["rows"],
            frame.meta["columns"],
            profiles[name],
        )
        for name, frame in frames.items()
    ]
