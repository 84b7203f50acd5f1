"""Nodes that reach outside: requests and messages. What cannot be repeated is announced before it is sent."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from app.errors import InvalidInput
from app.sandbox.contract import Computation
from app.sessions.step_scope import Call, CallResult, Question
from app.workflows.document import Node
from app.workflows.node_configs import HttpRequest, Notify
from app.workflows.requests.client import OutgoingRequest
from app.workflows.runs.context import Results, RunContext
from app.workflows.runs.schemas import NodeResult
from app.workflows.runs.tables import MAX_PREVIEW_ROWS, input_table, store_table
from app.workflows.template_fields import FIELD, STUDY_FIELDS

AGENT = "workflow"
SEND_AGAIN, LEAVE = "send it again", "leave it"


async def send_once(
    ctx: RunContext, node: Node, is_repeatable: bool, send: Callable[[], Awaitable[CallResult]]
) -> CallResult:
    """Send something whose intent was recorded before, in a call of its own.

    After a crash in between nobody knows if it was sent: what is repeatable is sent again, with the same key;
    else the owner is asked, and without a new attempt the node ends as `unknown`.
    """
    is_first_attempt = False

    async def announce() -> CallResult:
        nonlocal is_first_attempt
        is_first_attempt = True
        return CallResult({"node": node.id}, f"{node.id} is about to be sent.")

    # A step of `for_each` sends for each of its items.
    place = f":{node.id}" if ctx.item else ""
    await ctx.step.call(
        Call(f"choice:announce{place}", "choice", "announce_sending", AGENT, {"node": node.id}),
        announce,
    )
    if not is_first_attempt and not is_repeatable:
        answer = await ctx.step.ask(
            Question(
                f"resend{place}",
                AGENT,
                f"The service stopped while {node.id} was sent. It may have been sent. Send it again?",
                {"enum": [SEND_AGAIN, LEAVE]},
                options=[SEND_AGAIN, LEAVE],
                default=LEAVE,
            )
        )
        if answer != SEND_AGAIN:
            reason = "It is not known whether this was sent: the service stopped meanwhile."
            return CallResult(NodeResult(status="unknown", error=reason).model_dump(mode="json"), reason)
    return await send()


async def send_request(ctx: RunContext, node: Node, config: HttpRequest) -> CallResult:
    """Send a request and store the table of its answer."""

    async def send() -> CallResult:
        secret = await ctx.services.read_secret(config.secret) if config.secret else None
        is_get = config.method == "GET"
        client = await ctx.services.client()
        answer = await client.send(
            OutgoingRequest(
                config.method,
                config.url,
                config.params,
                {**config.headers, **({} if is_get else _idempotency_key(ctx, node))},
                {} if secret is None else {config.header_of_secret: f"{config.scheme}{secret}"},
                config.json_body,
                config.timeout_s,
                config.retries,
                is_get or config.repeatable,
            )
        )
        blob = await ctx.services.frames.put(answer.content)
        work = Computation("records.read", {"pointer": config.records, "rows": MAX_PREVIEW_ROWS})
        return store_table(node, await ctx.services.computer.run(work, {"answer": blob.digest}))

    return await (send() if config.method == "GET" else send_once(ctx, node, config.repeatable, send))


async def send_message(ctx: RunContext, node: Node, config: Notify, results: Results) -> CallResult:
    """Send a message about the table that reaches the node."""

    async def send() -> CallResult:
        table = await input_table(ctx, node)
        inputs = ctx.document.inputs_of(node.id)
        names = [*inputs, *(ctx.names[source] for source in inputs if source in ctx.names)]
        values = results if table is None else {**results, **_add_table(results, names, table)}
        text = fill_template(config.text, values) if config.text else _describe(ctx, config, table, results)
        to = config.to if config.secret is None else await ctx.services.read_secret(config.secret)
        if config.channel == "email":
            subject = fill_template(config.subject, values) if config.subject else _subject(config)
            await ctx.services.send_mail(to, subject, text, f"{ctx.session.id}.{node.id}")
            result = NodeResult(status="done", attempts=1, rows=table.rows if table else None)
            return CallResult(result.model_dump(mode="json"), f"{node.id} was sent.")
        client = await ctx.services.client()
        answer = await client.send(
            OutgoingRequest(
                "POST",
                to or "",
                headers=_idempotency_key(ctx, node),
                json_body={"text": text}
                if config.channel == "slack"
                else _webhook_body(ctx, node, text, table),
                retries=config.retries,
                is_repeatable=config.repeatable,
            )
        )
        result = NodeResult(status="done", attempts=answer.attempts, rows=table.rows if table else None)
        return CallResult(result.model_dump(mode="json"), f"{node.id} was sent.")

    return await send_once(ctx, node, config.repeatable, send)


def fill_template(text: str, results: Results) -> str:
    """Fill `{{node.rows}}`, `{{node.column}}` of its first row, and what a study or a condition came to.

    Raises InvalidInput that names what is not there.
    """

    def fill(field: re.Match[str]) -> str:
        node_id, name = field[1], field[2]
        if node_id not in results:
            raise InvalidInput("template_wrong", f"The text names {node_id}, which has no result here.")
        result = results[node_id]
        names = [str(column["name"]) for column in result.columns]
        if name in names:
            return str(result.preview[0][names.index(name)]) if result.preview else ""
        values = _list_values(result)
        if name not in values:
            raise InvalidInput(
                "template_wrong", f"{node_id} has no {name}. It has: {', '.join([*values, *names][:20])}."
            )
        value = values[name]
        if value is None:
            return ""
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    return FIELD.sub(fill, text)


def _list_values(result: NodeResult) -> dict[str, Any]:
    """Return what a result has beside its table, by the names that texts use.

    What came to nothing has the fields of a study empty, so that a message about a failure can be sent.
    """
    values: dict[str, Any] = {"rows": result.rows, "status": result.status, "error": result.error}
    if result.figure is not None:
        values["figure"] = result.figure
    if result.study is not None or result.status != "done":
        values |= {name: getattr(result.study, name, None) for name in STUDY_FIELDS}
    return values


def _add_table(results: Results, names: Sequence[str], table: NodeResult) -> dict[str, NodeResult]:
    """Return the results of nodes that pass a table on, with that table."""
    facts = {"rows": table.rows, "columns": table.columns, "preview": table.preview}
    return {name: results.get(name, table).model_copy(update=facts) for name in names}


def _subject(config: Notify) -> str:
    return "A workflow has failed" if config.when == "failed" else "A workflow has run"


def _describe(ctx: RunContext, config: Notify, table: NodeResult | None, results: Results) -> str:
    if config.when == "failed":
        failed = [
            f"{node_id}: {result.error}" for node_id, result in results.items() if result.status == "failed"
        ]
        return "A run of the workflow has failed.\n" + "\n".join(failed)
    if table is None:
        return "The workflow has run."
    head = " | ".join(str(column["name"]) for column in table.columns)
    lines = [" | ".join(map(str, row)) for row in table.preview]
    return "\n".join([f"{table.rows:,} rows", head, *lines])


def _webhook_body(ctx: RunContext, node: Node, text: str, table: NodeResult | None) -> dict[str, Any]:
    origin = ctx.preferences.workflow
    content = (
        None if table is None else {"columns": table.columns, "rows": table.preview, "row_count": table.rows}
    )
    body = {"workflow": str(origin.id), "version": origin.version, "run": str(ctx.session.id), "node": node.id}
    return json.loads(json.dumps({**body, "text": text, "table": content}, default=str))  # type: ignore[no-any-return]


def _idempotency_key(ctx: RunContext, node: Node) -> dict[str, str]:
    return {"Idempotency-Key": f"{ctx.session.id}:{node.id}"}
