"""Tools of the assistant for the two lanes: run steps now, or change a saved workflow for good."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from app.counts import describe_count
from app.errors import ToolRefused
from app.json_types import JsonValue
from app.modeling.facts.conversion import dump_facts
from app.plans.plan_document import PlanDocument
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import ArtifactDraft, CallResult
from app.tools.approval import Preview
from app.tools.context.conversation_workflows import (
    ComputedTable,
    ConversationWorkflows,
    RequestedChange,
    WorkflowCard,
)
from app.tools.context.pipeline_steps import MAX_STEPS, PipelineStep
from app.tools.context.tool_context import ToolContext
from app.tools.conversations.interactive_limits import SERVICE_LIMITS
from app.tools.conversations.queries import ASSISTANT
from app.tools.conversations.user_words import is_own_request, request_consent
from app.tools.conversations.workspace_changes import record_table
from app.tools.registry import tool

MAX_OPERATIONS = 100
"""Operations of one change."""

WorkflowName = Annotated[
    str, Field(min_length=1, max_length=200, description="Id or name of a saved workflow.")
]
Operation = Annotated[
    dict[str, Any],
    Field(description="RFC 6902: `op`, `path` below /nodes or /edges, `value`; /nodes/@id works."),
]


@tool(agents=ASSISTANT)
async def execute_pipeline(
    ctx: ToolContext,
    steps: Annotated[list[PipelineStep], Field(min_length=1, max_length=MAX_STEPS)],
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,47}$", description="Name of its table.")] = "result",
) -> CallResult:
    """Run steps once, now: each takes the table of the one before; the first is a source (`http_request`).

    A `join` or `union` takes the tables of the steps in its `inputs`: any that stand before it, by their names.

    Its table is one of the conversation from then on. Nothing is saved as a workflow. The user approves other
    requests than those of their words and of saved workflows.
    """
    contents = await _require_consent(ctx, [step.to_json() for step in steps], name)
    # It begins the ids of nodes, which admit these characters only.
    key = re.sub(r"[^A-Za-z0-9]+", "-", ctx.call)
    table = await get_workflows(ctx).execute(ctx.step, key, contents)
    value, artifacts = await keep_table(ctx, name, table)
    return CallResult(value, f"{describe_count(table.row_count, 'row')}.", artifacts)


async def _require_consent(
    ctx: ToolContext, steps: list[dict[str, JsonValue]], name: str
) -> list[dict[str, JsonValue]]:
    """Ask for requests that the user has not asked for: an address may carry what a model has read elsewhere.

    Returns the steps as approved. Raises ToolRefused on rejection.
    """
    configs: list[Any] = [step.get("config") for step in steps if step.get("type") == "http_request"]
    if not configs:
        return steps
    saved = [request["config"] for card in await get_workflows(ctx).list() for request in card.requests]
    others = [config for config in configs if not is_own_request(ctx.step.session.goal, saved, config)]
    if not others:
        return steps
    preview = Preview(
        "\n".join(json.dumps(config, ensure_ascii=False, indent=2) for config in others),
        "What is sent leaves this service: address, parameters, headers and secret.",
        f"send {describe_count(len(others), 'request')}",
    )
    approved = await request_consent(ctx, "execute_pipeline", {"steps": steps, "name": name}, preview)
    contents: list[dict[str, JsonValue]] = [*approved["steps"]]
    return contents


async def keep_table(
    ctx: ToolContext, name: str, table: ComputedTable
) -> tuple[dict[str, Any], list[ArtifactDraft]]:
    """Make a computed table one of the conversation. Returns it as the result of a turn, and its artifacts."""
    # The rows may come from a request to anywhere: they are read in isolation.
    work = Computation("queries.conversation_sql.describe_tables", {"optional": []}, trusted=False)
    described = await ctx.computer.run(work, {name: table.digest}, SERVICE_LIMITS)
    changes, artifacts = await record_table(ctx, await ctx.conversation.tables(), described)
    value: dict[str, Any] = {
        "columns": [*table.columns],
        "rows": [*table.rows],
        "row_count": table.row_count,
        "truncated": table.row_count > len(table.rows),
        "digest": table.digest,
        "sql": f"SELECT * FROM {name}",  # noqa: S608 - a checked name
        "changes": changes,
    }
    return value, artifacts


@tool(agents=ASSISTANT)
async def read_workflow(ctx: ToolContext, workflow: WorkflowName) -> CallResult:
    """Read the nodes and edges of a saved workflow."""
    return _record(await get_workflows(ctx).read(workflow), "Read")


async def _preview_patch(ctx: ToolContext, **arguments: Any) -> Preview:
    preview = await get_workflows(ctx).preview(make_key(ctx), _make_change(arguments))
    verb, action = ("is made", "make") if preview.is_new else ("is changed", "change")
    runs = f" Its next runs: {preview.schedule}." if preview.schedule else ""
    return Preview(
        f"{preview.summary}\n\n{preview.difference}",
        f"The workflow “{preview.workflow}” {verb}.{runs}",
        f"{action} the workflow “{preview.workflow}”",
    )


@tool(agents=ASSISTANT, preview=_preview_patch)
async def patch_workflow(
    ctx: ToolContext,
    words: Annotated[str, Field(max_length=2_000, description="The user's words for the change.")] = "",
    operations: Annotated[list[Operation], Field(max_length=MAX_OPERATIONS)] = [],  # noqa: B006 - never changed
    workflow: WorkflowName | None = None,
    plan: PlanDocument | None = None,
    sql: Annotated[str | None, Field(max_length=20_000)] = None,
    chart: dict[str, Any] | None = None,
    steps: Annotated[list[PipelineStep], Field(max_length=MAX_STEPS)] = [],  # noqa: B006 - see above
    name: Annotated[str | None, Field(max_length=200)] = None,
) -> CallResult:
    """Change a saved workflow for good, by `operations` or by the user's `words`. The user approves first.

    Without `workflow` a new one is made: of the `plan`, `sql` or `steps` of the answer that is to come again,
    with the words that say when.
    """
    arguments = {
        "words": words,
        "operations": operations,
        "workflow": workflow,
        "plan": plan,
        "sql": sql,
        "chart": chart,
        "steps": steps,
        "name": name,
    }
    return _record(await get_workflows(ctx).save(make_key(ctx), _make_change(arguments)), "Saved")


def _make_change(arguments: Mapping[str, Any]) -> RequestedChange:
    plan = arguments.get("plan")
    document = plan.model_dump(mode="json", exclude_none=True) if plan is not None else None
    steps = [step.to_json() for step in arguments["steps"]]
    return RequestedChange(**{**arguments, "plan": document, "steps": steps})


def get_workflows(ctx: ToolContext) -> ConversationWorkflows:
    if ctx.workflows is None:
        raise ToolRefused("Workflows are changed from conversations only.")
    return ctx.workflows


def make_key(ctx: ToolContext) -> str:
    return f"{ctx.step.session.id}:{ctx.step.seq}:{ctx.call}"


def _record(card: WorkflowCard, verb: str) -> CallResult:
    value: JsonValue = dump_facts(card)
    return CallResult(value, f"{verb} the workflow {card.name}, version {card.version}.")
