"""Tools of the assistant that run saved workflows, answer what a run asks, and read its result."""

import re
from typing import Annotated, Any

from pydantic import Field

from app.modeling.facts.conversion import dump_facts
from app.sessions.step_scope import CallResult
from app.tools.approval import Preview
from app.tools.context.conversation_workflows import FollowedRun
from app.tools.context.tool_context import ToolContext
from app.tools.conversations.queries import ASSISTANT
from app.tools.conversations.studies import QuestionKey
from app.tools.conversations.user_words import (
    asks_to_retry,
    is_own_answer,
    preview_answer,
    request_consent,
)
from app.tools.conversations.workflows import WorkflowName, get_workflows, keep_table, make_key
from app.tools.registry import tool

MAX_TABLE_NAME_CHARS = 48
"""Characters of the name of a table that is made of the name of a workflow."""
RunId = Annotated[str, Field(description="Id of a run of a workflow.", max_length=36)]


@tool(agents=ASSISTANT)
async def run_workflow(ctx: ToolContext, workflow: WorkflowName) -> CallResult:
    """Run a saved workflow once, now, with all that it sends and stores, and wait for its result for a while.

    Its table is one of the conversation from then on. The user approves a run that their words do not ask for.
    """
    workflows = get_workflows(ctx)
    # Runs send and store things: the user's own words, not the model's reading of them, save the approval.
    if not await workflows.asks_to_run(ctx.step.session.goal, workflow):
        card = await workflows.read(workflow)
        nodes = "\n".join(f"{node['id']} ({node['type']})" for node in card.nodes)
        preview = Preview(
            nodes,
            f"The workflow “{card.name}” runs once, with all that it sends and stores.",
            f"run the workflow “{card.name}”",
        )
        approved = await request_consent(ctx, "run_workflow", {"workflow": workflow}, preview)
        # The user may have named another workflow in the approval.
        workflow = str(approved["workflow"])
    return await _record(ctx, await workflows.run(ctx.step, make_key(ctx), workflow))


@tool(agents=ASSISTANT)
async def retry_run(ctx: ToolContext, run: RunId) -> CallResult:
    """Run a failed run again from the node that failed; what the nodes before it gave is kept.

    The user approves what their words do not ask for.
    """
    workflows = get_workflows(ctx)
    if not asks_to_retry(ctx.step.session.goal):
        card = (await workflows.read_run(run)).card
        nodes = "\n".join(f"{node.id} ({node.status})" for node in card.nodes)
        preview = Preview(
            nodes,
            f"The workflow “{card.name}” goes on from its failure, with all that it sends and stores.",
            f"retry the run of the workflow “{card.name}”",
        )
        run = str((await request_consent(ctx, "retry_run", {"run": run}, preview))["run"])
    return await _record(ctx, await workflows.retry_run(ctx.step, make_key(ctx), run))


@tool(agents=ASSISTANT)
async def answer_run(
    ctx: ToolContext,
    run: RunId,
    question: QuestionKey,
    answer: Annotated[str, Field(min_length=1, max_length=2_000)],
) -> CallResult:
    """Pass the user's answer on to a run that asks, and wait for its result for a while.

    The user approves an answer that is not in their words.
    """
    workflows = get_workflows(ctx)
    card = (await workflows.read_run(run)).card
    open_question = card.question
    # Another question than this one is not answered by the call, whatever it says.
    if open_question is not None and open_question.key == question:
        call = {"run": run, "question": question, "answer": answer}
        if not is_own_answer(ctx.step.session.goal, open_question.options, answer):
            source = f"the workflow “{card.name}”"
            call = {
                **await request_consent(
                    ctx, "answer_run", call, preview_answer(source, open_question.text, answer)
                )
            }
        run, question, answer = str(call["run"]), str(call["question"]), str(call["answer"])
    return await _record(ctx, await workflows.answer_run(ctx.step, run, question, answer))


@tool(agents=ASSISTANT)
async def read_run(ctx: ToolContext, run: RunId) -> CallResult:
    """Read where a run of a workflow stands: its nodes, its question, its result."""
    return await _record(ctx, await get_workflows(ctx).read_run(run))


async def _record(ctx: ToolContext, followed: FollowedRun) -> CallResult:
    """Return the card of a run; the table of one that has ended becomes one of the conversation."""
    card, table = followed.card, followed.table
    summary = f"The run of {card.name} is {card.outcome or card.status}."
    facts: Any = dump_facts(card)
    if table is None:
        return CallResult(facts, summary)
    name = await _name_table(ctx, card.name)
    value, artifacts = await keep_table(ctx, name, table)
    return CallResult({**facts, **value, "table": name}, summary, artifacts)


async def _name_table(ctx: ToolContext, workflow: str) -> str:
    """Name the table of a run by its workflow, beside datasets of that name."""
    stem = re.sub(r"[^a-z0-9]+", "_", workflow.lower()).strip("_")[:MAX_TABLE_NAME_CHARS].rstrip("_")
    name = stem if re.match(r"[a-z]", stem) else f"run_{stem}".rstrip("_")
    # Datasets only: the table of an earlier run of the same workflow is to be replaced.
    datasets = {ref.table for ref in (await ctx.conversation.tables()).datasets}
    return f"{name}_run" if name in datasets else name
