"""Tools of the assistant that start, answer, fork, compare and explain studies of the crew."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from app.datasets.dataset_source import DatasetRef
from app.errors import ToolRefused
from app.json_types import JsonValue
from app.modeling.facts.conversion import dump_facts
from app.modeling.problem.metrics import MetricName
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import CallResult
from app.tools.context.conversation_studies import ConversationStudies, StudyCard
from app.tools.context.tool_context import ToolContext
from app.tools.conversations.interactive_limits import INTERACTIVE_LIMITS, SERVICE_LIMITS
from app.tools.conversations.queries import ASSISTANT, compute_sql, with_rows
from app.tools.conversations.user_words import is_own_answer, preview_answer, request_consent
from app.tools.data.computed_facts import json_object
from app.tools.registry import ColumnName, tool

StudyId = Annotated[str, Field(description="Id of a study of this conversation.", max_length=36)]
QuestionKey = Annotated[str, Field(description="`key` of the question on the card.", max_length=200)]
"""Key of a question. A call that is repeated names the same question, and never answers the next one."""
MAX_EXPLAINED_COLUMNS = 60
"""Columns whose effect on one prediction is measured; each is one more row to predict."""
MAX_ROW = 5_000_000
"""Number of a row: a table of a conversation has no more."""


@tool(agents=ASSISTANT)
async def start_study(
    ctx: ToolContext, goal: Annotated[str, Field(min_length=3, max_length=10_000)]
) -> CallResult:
    """Start a study of the crew: it plans, trains and judges models for a goal such as `predict churn`.

    The study runs on its own and may ask the user. Say that it has begun; its result is read by later turns.
    """
    return _record(await _studies(ctx).start(_key(ctx), goal))


@tool(agents=ASSISTANT)
async def fork_study(
    ctx: ToolContext,
    study: StudyId,
    leave_out: Annotated[list[ColumnName], Field(max_length=500)] = [],  # noqa: B006 - never changed
    metric: MetricName | None = None,
    families: Annotated[list[str], Field(max_length=20)] = [],  # noqa: B006 - see above
) -> CallResult:
    """Run a finished study again with other settings, on the same rows: what if a column is left out?"""
    settings: dict[str, JsonValue] = {}
    if leave_out:
        settings["leave_out"] = [*leave_out]
    if metric is not None:
        settings["metric"] = metric
    if families:
        settings["families"] = [*families]
    if not settings:
        raise ToolRefused("Name what the fork changes: columns to leave out, a metric, or families of models.")
    return _record(await _studies(ctx).fork(_key(ctx), _read_id(study), settings))


@tool(agents=ASSISTANT)
async def answer_study(ctx: ToolContext, study: StudyId, question: QuestionKey, answer: str) -> CallResult:
    """Pass the user's answer on to a study that asks. The user approves one that is not in their words."""
    asking = (await _find(ctx, study)).question
    # Another question than this one is not answered by the call, whatever it says.
    if asking is not None and asking.key == question:
        call: Mapping[str, Any] = {"study": study, "question": question, "answer": answer}
        if not is_own_answer(ctx.step.session.goal, asking.options, answer):
            preview = preview_answer("the study", asking.text, answer)
            call = await request_consent(ctx, "answer_study", call, preview)
        study, question, answer = str(call["study"]), str(call["question"]), str(call["answer"])
        await _find(ctx, study)
    return _record(await _studies(ctx).answer(_read_id(study), question, answer))


async def _find(ctx: ToolContext, study: str) -> StudyCard:
    """Find a study of this conversation. Raises ToolRefused."""
    card = next((card for card in await _studies(ctx).list() if card.id == study), None)
    if card is None:
        raise ToolRefused("This conversation has no such study.")
    return card


@tool(agents=ASSISTANT)
async def read_study(ctx: ToolContext, study: StudyId) -> CallResult:
    """Read where a study stands, and its result: score, leaderboard and links."""
    return _record(await _find(ctx, study))


@tool(agents=ASSISTANT)
async def compare_studies(
    ctx: ToolContext, studies: Annotated[list[StudyId], Field(min_length=2, max_length=5)]
) -> CallResult:
    """Compare studies: what differs, their scores, and the difference on the same rows with its interval."""
    value = await _studies(ctx).compare([_read_id(study) for study in studies])
    return CallResult(value, f"{len(studies)} studies compared.")


@tool(agents=ASSISTANT)
async def explain_prediction(
    ctx: ToolContext,
    study: StudyId,
    row: Annotated[int, Field(ge=1, le=MAX_ROW, description="Number of the row in its table, from 1.")],
) -> CallResult:
    """Explain the prediction for one row: how much it changes if a column had its usual value."""
    model = await _studies(ctx).get_model(_read_id(study))
    tables = await ctx.conversation.tables()
    ref = find_table_with(tables.list_refs(), model.target)
    if ref is None:
        raise ToolRefused(f"No table of this conversation has the column {model.target} of the study.")
    table = await with_rows(ctx, tables, ref, INTERACTIVE_LIMITS)
    # DuckDB keeps the order of a file, so OFFSET counts its rows as the user sees them.
    sql = f'SELECT * FROM "{table.table}" LIMIT 1 OFFSET {row - 1}'  # noqa: S608 - a checked name
    selected: Any = json_object(await compute_sql(ctx, tables, sql, INTERACTIVE_LIMITS))
    if not selected["rows"]:
        raise ToolRefused(f"The table {table.table} has no row {row}; it has {table.rows:,}.")
    names = [str(column["name"]) for column in selected["columns"]]
    cells = dict(zip(names, selected["rows"][0], strict=True))
    work = Computation(
        "models.explain_row.explain_row", {"row": cells, "columns": MAX_EXPLAINED_COLUMNS}, trusted=False
    )
    inputs = {"model": model.digest, "table": table.digest}
    explained = json_object(await ctx.computer.run(work, inputs, SERVICE_LIMITS))
    value = {**explained, "row": row, "table": table.table, "target": model.target}
    return CallResult(value, f"Row {row} of {table.table} explained.")


def find_table_with(refs: Sequence[DatasetRef], column: str) -> DatasetRef | None:
    """Find a table that has a column; a view, whose rows are computed first, only where no other has it."""
    having = [ref for ref in refs if any(own["name"] == column for own in ref.columns)]
    return next((ref for ref in having if ref.digest), having[0] if having else None)


def _studies(ctx: ToolContext) -> ConversationStudies:
    if ctx.studies is None:
        raise ToolRefused("Studies are started from conversations only.")
    return ctx.studies


def _key(ctx: ToolContext) -> str:
    return f"{ctx.step.session.id}:{ctx.step.seq}:{ctx.call}"


def _read_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise ToolRefused(f"{text!r} is no id of a study.") from error


def _record(card: StudyCard) -> CallResult:
    return CallResult(dump_facts(card), f"The study {card.id} is {card.status}.")
