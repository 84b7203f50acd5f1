"""Webhooks: a secret address begins a run of a workflow, with the JSON that it got as its payload."""

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID, uuid4, uuid5

from app.db.pool import Database
from app.errors import Conflict, InvalidInput, NotFound, TooLarge, TooMany, Unauthorized
from app.program_runs.schemas import WorkflowOrigin
from app.sessions.events.serialization import dumps
from app.workflows.document import WorkflowDocument
from app.workflows.fusion import parse
from app.workflows.node_configs import Trigger
from app.workflows.runs.schemas import WholeRun, WorkflowRunPreferences, make_whole_run
from app.workflows.statements import TRIGGERS
from app.workflows.triggers.limits import MAX_LIVE_RUNS

MAX_PAYLOAD_BYTES = 64 << 10
"""Size of a payload, which is stored with its run: a webhook tells of an event, tables are uploaded."""
MAX_SIGNATURE_AGE_S = 300
"""Seconds by which the time of a signature may differ from now: clocks differ, and messages wait."""
_TOKEN_BYTES = 32
"""Random bytes of a token."""

_FOREIGN = "a workflow of another account"

ReadSecret = Callable[[UUID, str], Awaitable[str]]


class HookRow(NamedTuple):
    """The trigger behind a token. JSON: `config`, `document`."""

    workflow_id: UUID
    node_id: str
    owner_id: UUID
    config: str
    version: int
    document: str


class CallerRow(NamedTuple):
    """A run that called a webhook. `chain`: JSON, what led to it."""

    owner_id: UUID
    name: str
    chain: str


@dataclass(frozen=True)
class HookCall:
    """A call of the address of a webhook. `key`: calls that share it begin one run.

    `run_id`: the run that calls.
    """

    body: bytes
    signature: str | None = None
    key: str | None = None
    run_id: UUID | None = None


@dataclass(frozen=True)
class HookedRun:
    """A run that a webhook asks for. `request`: None if an earlier call has begun it."""

    owner: UUID
    session_id: UUID
    request: WholeRun | None


@dataclass(frozen=True)
class Webhooks:
    db: Database
    read_secret: ReadSecret

    async def make_token(self, owner: UUID, workflow_id: UUID, node_id: str) -> str:
        """Make the token of a trigger, shown once; a former one opens no more. Raises NotFound."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        await self._set(owner, workflow_id, node_id, digest_token(token))
        return token

    async def revoke_token(self, owner: UUID, workflow_id: UUID, node_id: str) -> None:
        """Raises NotFound."""
        await self._set(owner, workflow_id, node_id, None)

    async def _set(self, owner: UUID, workflow_id: UUID, node_id: str, digest: str | None) -> None:
        if await self.db.value(TRIGGERS.set_token, workflow_id, node_id, owner, digest) is None:
            raise NotFound("trigger_not_found", f"This workflow has no webhook trigger {node_id}.")

    async def find(self, token: str) -> HookRow:
        """Raises NotFound for an unknown token."""
        row = await self.db.row(TRIGGERS.find_hook, digest_token(token))
        if row is None:
            raise NotFound("hook_not_found", "There is no webhook at this address.")
        return HookRow(**row)

    async def read(self, hook: HookRow, call: HookCall) -> HookedRun:
        """Return the run that a call asks for.

        Raises Unauthorized for a wrong signature, TooLarge and InvalidInput for a payload that the workflow
        does not take, Conflict for a key that came with another payload, TooMany while too many of its runs
        are live.
        """
        if len(call.body) > MAX_PAYLOAD_BYTES:
            raise TooLarge("payload_too_large", f"A payload has at most {MAX_PAYLOAD_BYTES:,} bytes.")
        trigger, signed = Trigger.model_validate_json(hook.config), None
        if trigger.secret is not None:
            try:
                secret = await self.read_secret(hook.owner_id, trigger.secret)
            except NotFound:  # which would tell a stranger the name of the secret
                raise _wrong_signature() from None
            signed = check_signature(secret, call, time.time())
        # After the signature: nothing of a stranger's text is parsed, and no fault in it is told.
        payload = _parse_payload(call.body)
        # A signed call begins one run: its key and the spelling of its header are signed by nobody, and who saw
        # the call could send it again with others.
        key = signed or call.key or call.signature
        session_id = uuid5(hook.workflow_id, f"{hook.node_id} hook {key}") if key else uuid4()
        # Before all that may have changed since the first call: the workflow, or the number of its live runs.
        if key and await self._has_begun(hook, session_id, payload):
            return HookedRun(hook.owner_id, session_id, None)
        document = WorkflowDocument.model_validate_json(hook.document)
        check_payload(document, payload)
        live = await self.db.value(
            TRIGGERS.count_live_runs, hook.owner_id, str(hook.workflow_id), MAX_LIVE_RUNS
        )
        if live >= MAX_LIVE_RUNS:
            raise TooMany("too_many_runs", f"This workflow has {MAX_LIVE_RUNS} runs that have not ended.")
        origin = WorkflowOrigin(id=hook.workflow_id, version=hook.version, node="")
        preferences = WorkflowRunPreferences(
            workflow=origin, trigger=hook.node_id, payload=payload, chain=await self._find_chain(hook, call)
        )
        return HookedRun(hook.owner_id, session_id, make_whole_run(document, preferences))

    async def _has_begun(self, hook: HookRow, session_id: UUID, payload: Any) -> bool:
        """Check if an earlier call has begun a run. Raises Conflict if its payload was another."""
        is_same = await self.db.value(
            TRIGGERS.find_hooked_run, session_id, hook.owner_id, dumps(payload, "payload")
        )
        if is_same is False:
            raise Conflict("idempotency_key_reused", "This Idempotency-Key was used for another payload.")
        return is_same is not None

    async def _find_chain(self, hook: HookRow, call: HookCall) -> list[str]:
        """Return the names of the workflows that led to a call, those of other accounts unnamed."""
        row = await self.db.row(TRIGGERS.find_caller, call.run_id) if call.run_id else None
        if row is None:
            return []
        caller = CallerRow(**row)
        chain = [*json.loads(caller.chain), caller.name]
        return chain if caller.owner_id == hook.owner_id else [_FOREIGN] * len(chain)


def digest_token(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def check_signature(secret: str, call: HookCall, now: float) -> str:
    """Check `t=<Unix time>,v1=<HMAC-SHA256 of "t.body" in hex>`, and return it in one spelling.

    Raises Unauthorized.
    """
    parts = dict(part.strip().partition("=")[::2] for part in (call.signature or "").split(","))
    at = parts.get("t", "")
    is_in_time = at.isdecimal() and len(at) < 20 and abs(now - int(at)) <= MAX_SIGNATURE_AGE_S
    expected = hmac.new(secret.encode(), f"{at}.".encode() + call.body, hashlib.sha256).hexdigest()
    # As bytes, since texts beyond ASCII raise; in constant time, so that answers tell nothing of the digest.
    if not is_in_time or not hmac.compare_digest(expected.encode(), parts.get("v1", "").encode()):
        raise _wrong_signature()
    return f"t={at},v1={expected}"


def _wrong_signature() -> Unauthorized:
    return Unauthorized("signature_wrong", "The signature of this call is wrong or too old.")


def _parse_payload(body: bytes) -> Any:
    """Raises InvalidInput for a body that is no JSON object and no list of them."""
    try:
        payload = json.loads(body or b"{}", parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("payload_unreadable", "The payload is no JSON.") from error
    records = payload if isinstance(payload, list) else [payload]
    if not all(isinstance(record, dict) for record in records):
        raise InvalidInput("payload_unreadable", "The payload is no JSON object and no list of objects.")
    return payload


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def check_payload(document: WorkflowDocument, payload: Any) -> None:
    """Check a payload against the fields of a workflow's `payload` nodes. Raises InvalidInput."""
    records = payload if isinstance(payload, list) else [payload]
    for node in document.nodes:
        if node.type == "payload":
            fields: Mapping[str, str] = parse(node).fields
            for place, record in enumerate(records):
                for name, kind in fields.items():
                    _check_field(record, place, name, kind)


_KINDS: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "number": (int, float),
    "boolean": (bool,),
}


def _check_field(record: Mapping[str, Any], place: int, name: str, kind: str) -> None:
    if name not in record:
        raise InvalidInput("payload_wrong", f"Record {place} has no field {name}.", field=name)
    value = record[name]
    # Python counts booleans among the integers.
    is_boolean = isinstance(value, bool)
    if value is not None and (not isinstance(value, _KINDS[kind]) or is_boolean != (kind == "boolean")):
        raise InvalidInput("payload_wrong", f"Record {place}: {name} is no {kind}.", field=name)
