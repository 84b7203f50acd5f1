"""Nodes that reach outside: requests and messages. What cannot be repeated is announced before it is sent."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from app.json_types import JsonValue
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import Call, CallResult, Question
from app.workflows.document import Node
from app.workflows.node_configs import HttpRequest, Notify
from app.workflows.requests.client import OutgoingRequest
from app.workflows.runs.context import Results, RunContext
from app.workflows.runs.result_values import fill_template
from app.workflows.runs.schemas import NodeResult
from app.workflows.runs.tables import MAX_PREVIEW_ROWS, input_table, store_table

AGENT = "workflow"
SEND_AGAIN, LEAVE = "send it again", "leave it"


async def send_once(
    ctx: RunContext, node: Node, is_repeatable: bool, send: Callable[[], Awaitable[CallResult]]
) -> CallResult:
    """Send something whose intent was recorded before, in a call of its own.

    After a crash in between nobody knows if it was sent: what is repeatable is sent again, with the same key;
    else the owner is asked, and without a new attempt the node ends as `unknown`.
    """
    place, number = _make_place(ctx, node), 1
    while not await _announce(ctx, node, place) and not is_repeatable:
        # The announcement was recorded, but no result: the crash came between.
        if not await _asks_to_resend(ctx, node, place):
            reason = "It is not known whether this was sent: the service stopped meanwhile."
            return CallResult(NodeResult(status="unknown", error=reason).model_dump(mode="json"), reason)
        # What is sent again is announced again: the next crash leaves another doubt.
        number += 1
        place = f"{_make_place(ctx, node)}.{number}"
    return await send()


async def _announce(ctx: RunContext, node: Node, place: str) -> bool:
    """Record that a node is about to be sent. False if that was recorded before."""
    is_first = False

    async def announce() -> CallResult:
        nonlocal is_first
        is_first = True
        return CallResult({"node": node.id}, f"{node.id} is about to be sent.")

    call = Call(f"choice:announce{place}", "choice", "announce_sending", AGENT, {"node": node.id})
    await ctx.step.call(call, announce)
    return is_first


async def _asks_to_resend(ctx: RunContext, node: Node, place: str) -> bool:
    """Ask the owner whether a node is to be sent again."""
    question = Question(
        f"resend{place}",
        AGENT,
        f"The service stopped while {node.id} was sent. It may have been sent. Send it again?",
        {"enum": [SEND_AGAIN, LEAVE]},
        options=[SEND_AGAIN, LEAVE],
        default=LEAVE,
    )
    return await ctx.step.ask(question) == SEND_AGAIN


def _make_place(ctx: RunContext, node: Node) -> str:
    """Return the end of the keys of a node: none where no other node sends in its step."""
    # A step of `for_each` sends for each of its items.
    if ctx.item:
        return f":{node.id}"
    # The last step sends all messages about a failure, the first of them by the keys that it has always had.
    reporters = [other.id for other in ctx.document.nodes if _reports_failure(other)]
    return f":{node.id}" if node.id in reporters[1:] else ""


def _reports_failure(node: Node) -> bool:
    return node.type == "notify" and node.config.get("when") == "failed"


async def send_request(ctx: RunContext, node: Node, config: HttpRequest) -> CallResult:
    """Send a request and store the table of its answer."""
    # Read for each attempt, so that it stands in no record of the run.
    secret = await ctx.services.read_secret(config.secret) if config.secret else None
    is_get = config.method == "GET"
    client = await ctx.services.client()

    async def send() -> CallResult:
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
        params: dict[str, JsonValue] = {"pointer": config.records, "rows": MAX_PREVIEW_ROWS, "unwrap": True}
        work = Computation("queries.records.read", params)
        return store_table(node, await ctx.services.computer.run(work, {"answer": blob.digest}))

    return await (send() if is_get else send_once(ctx, node, config.repeatable, send))


async def send_message(ctx: RunContext, node: Node, config: Notify, results: Results) -> CallResult:
    """Send a message about the table that reaches the node."""
    # All that can fail or last comes before the announcement: what was only being made was not sent.
    table = await input_table(ctx, node)
    text = fill_template(ctx, config.text, results) if config.text else _describe(ctx, config, table, results)
    to = config.to if config.secret is None else await ctx.services.read_secret(config.secret)
    send = (
        _prepare_mail(ctx, node, config, to, text, results)
        if config.channel == "email"
        else await _prepare_post(ctx, node, config, to or "", text, table)
    )

    async def send_and_describe() -> CallResult:
        attempts = await send()
        result = NodeResult(status="done", attempts=attempts, rows=table.rows if table else None)
        return CallResult(result.model_dump(mode="json"), f"{node.id} was sent.")

    return await send_once(ctx, node, config.repeatable, send_and_describe)


def _prepare_mail(
    ctx: RunContext, node: Node, config: Notify, to: str | None, text: str, results: Results
) -> Callable[[], Awaitable[int]]:
    """Return what sends the message and returns the number of its attempts."""
    subject = fill_template(ctx, config.subject, results) if config.subject else _subject(config)

    async def send() -> int:
        key = f"{ctx.session.id}.{node.id}"
        return await ctx.services.send_mail(to, subject, text, key, config.retries)

    return send


async def _prepare_post(
    ctx: RunContext, node: Node, config: Notify, to: str, text: str, table: NodeResult | None
) -> Callable[[], Awaitable[int]]:
    """Return what sends the message and returns the number of its attempts."""
    client = await ctx.services.client()
    request = OutgoingRequest(
        "POST",
        to,
        headers=_idempotency_key(ctx, node),
        json_body={"text": text} if config.channel == "slack" else _webhook_body(ctx, node, text, table),
        retries=config.retries,
        is_repeatable=config.repeatable,
    )

    async def send() -> int:
        return (await client.send(request)).attempts

    return send


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
    # Cells that JSON has no form for become texts.
    return json.loads(json.dumps({**body, "text": text, "table": content}, default=str))  # type: ignore[no-any-return]


def _idempotency_key(ctx: RunContext, node: Node) -> dict[str, str]:
    return {"Idempotency-Key": f"{ctx.session.id}:{node.id}"}
