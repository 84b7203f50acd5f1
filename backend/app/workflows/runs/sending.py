"""Nodes that reach outside: requests and messages. What cannot be repeated is announced before it is sent."""

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from app.json_types import JsonValue
from app.sandbox.computation_runner import ComputationResult
from app.sandbox.exchange.contract import Computation
from app.sessions.step_scope import Call, CallResult, Question
from app.workflows.document import Node
from app.workflows.node_configs import HttpRequest, Notify
from app.workflows.requests.client import OutgoingRequest, ReceivedAnswer, RequestClient
from app.workflows.requests.withheld import WithheldSecret
from app.workflows.runs.answer_pages import KEY_HEADER, NextPage, PageReader, describe_next_page
from app.workflows.runs.attempts import send_repeatedly
from app.workflows.runs.context import AGENT, Results, RunContext
from app.workflows.runs.result_values import fill_template
from app.workflows.runs.schemas import NodeResult
from app.workflows.runs.tables import MAX_PREVIEW_ROWS, input_table, store_table

SEND_AGAIN, LEAVE = "send it again", "leave it"


async def send_once(
    ctx: RunContext,
    node: Node,
    is_repeatable: bool,
    send: Callable[[], Awaitable[CallResult]],
    attempt: int = 1,
) -> CallResult:
    """Send something whose intent was recorded before, in a call of its own for each attempt.

    After a crash in between nobody knows if it was sent: what is repeatable is sent again, with the same key;
    else the owner is asked, and without a new attempt the node ends as `unknown`.
    """
    first_place, number = f"{_make_place(ctx, node)}{f':attempt-{attempt}' if attempt > 1 else ''}", 1
    place = first_place
    while not await _announce(ctx, node, place) and not is_repeatable:
        # The announcement was recorded, but no result: the crash came between.
        if not await _asks_to_resend(ctx, node, place):
            reason = "It is not known whether this was sent: the service stopped meanwhile."
            return CallResult(NodeResult(status="unknown", error=reason).model_dump(mode="json"), reason)
        # What is sent again is announced again: the next crash leaves another doubt.
        number += 1
        place = f"{first_place}.{number}"
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

    request = OutgoingRequest(
        config.method,
        config.url,
        config.params,
        {**config.headers, **({} if is_get else _idempotency_key(ctx, node))},
        {} if secret is None else {config.header_of_secret: f"{config.scheme}{secret}"},
        config.json_body,
        config.timeout_s,
        WithheldSecret(secret),
    )
    # A request that failed may have been carried out: only what is repeatable is sent twice.
    attempts = 1 + (config.retries if is_get or config.repeatable else 0)

    async def send() -> CallResult:
        if config.pages is not None:
            pages = await PageReader(ctx, node, config, config.pages, client, request, attempts).read()
            names = {f"page_{number:04}": digest for number, digest in enumerate(pages.digests)}
            return store_table(node, await _read_records(ctx, config, names), pages.notes)
        answer = await _send_request(ctx, node, client, request, attempts)
        blob = await ctx.services.frames.put(answer.content)
        computed = await _read_records(ctx, config, {"answer": blob.digest})
        further = NextPage.model_validate(computed.value).next_page or (answer.next_link and "Link: rel=next")
        return store_table(node, computed, [describe_next_page(further)] if further else [])

    return await (send() if is_get else send_once(ctx, node, config.repeatable, send))


async def _send_request(
    ctx: RunContext, node: Node, client: RequestClient, request: OutgoingRequest, attempts: int
) -> ReceivedAnswer:
    async def send(_: int) -> ReceivedAnswer:
        return await client.send(request)

    return (await send_repeatedly(ctx, node, f"{node.id}:request", attempts, send))[0]


async def _read_records(ctx: RunContext, config: HttpRequest, pages: Mapping[str, str]) -> ComputationResult:
    params: dict[str, JsonValue] = {"pointer": config.records, "rows": MAX_PREVIEW_ROWS, "unwrap": True}
    return await ctx.services.computer.run(Computation("queries.records.read", params), pages)


async def send_message(ctx: RunContext, node: Node, config: Notify, results: Results) -> CallResult:
    """Send a message about the table that reaches the node."""
    # All that can fail or last comes before the announcement: what was only being made was not sent.
    table = await input_table(ctx, node)
    text = fill_template(ctx, config.text, results) if config.text else _describe(ctx, config, table, results)
    to = config.to if config.secret is None else await ctx.services.read_secret(config.secret)
    is_mail = config.channel == "email"
    prepare = _prepare_mail if is_mail else _prepare_post
    send = await prepare(ctx, node, config, Message(to, text, table), results)

    async def send_and_describe(attempt: int) -> CallResult:
        await send()
        result = NodeResult(status="done", attempts=attempt, rows=table.rows if table else None)
        return CallResult(result.model_dump(mode="json"), f"{node.id} was sent.")

    async def announce_and_send(attempt: int) -> CallResult:
        return await send_once(
            ctx, node, config.repeatable, partial(send_and_describe, attempt), attempt if is_mail else 1
        )

    # A mail that was not taken was not sent; a post that failed may have been carried out.
    attempts = 1 + (config.retries if is_mail or config.repeatable else 0)
    return (await send_repeatedly(ctx, node, f"{node.id}:message", attempts, announce_and_send))[0]


class Message(NamedTuple):
    """Recipient and content of a message. `to`: None for the owner."""

    to: str | None
    text: str
    table: NodeResult | None


Send = Callable[[], Awaitable[None]]


async def _prepare_mail(
    ctx: RunContext, node: Node, config: Notify, message: Message, results: Results
) -> Send:
    subject = fill_template(ctx, config.subject, results) if config.subject else _subject(config)
    key = f"{ctx.session.id}.{node.id}"
    return partial(ctx.services.send_mail, message.to, subject, message.text, key)


async def _prepare_post(
    ctx: RunContext, node: Node, config: Notify, message: Message, results: Results
) -> Send:
    client = await ctx.services.client()
    text = message.text
    body = {"text": text} if config.channel == "slack" else _webhook_body(ctx, node, text, message.table)
    request = OutgoingRequest("POST", message.to or "", headers=_idempotency_key(ctx, node), json_body=body)

    async def send() -> None:
        await client.send(request)

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
    return {KEY_HEADER: f"{ctx.session.id}:{node.id}"}
