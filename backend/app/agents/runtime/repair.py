"""Calls that a chat model did not write to the end: kept, so that the reason can come back to it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import ToolCall, tool_call

MAX_ARGUMENTS = 250_000
"""Characters of one call: the largest file that may be written, and room. More is not carried along."""

MAX_TEXT = 50_000
_CHARACTERS_A_TOKEN = 4

UNREADABLE = "unreadable_arguments"
"""The only argument of a call whose arguments were no JSON object; its value says why."""


def cut_short(reason: str, length: int) -> AIMessage:
    """What stands for an answer that nobody listened to the end of; its tokens are estimated by its length."""
    tokens = length // _CHARACTERS_A_TOKEN
    used = UsageMetadata(input_tokens=0, output_tokens=tokens, total_tokens=tokens)
    return AIMessage(f"[{reason}]", usage_metadata=used)


def with_own_ids(message: AIMessage, turn: int) -> AIMessage:
    """Calls without an id, or with one that another call has too, get one by their place."""
    ids = [call["id"] for call in message.tool_calls]
    if all(ids) and len(set(ids)) == len(ids):
        return message
    calls = [{**call, "id": f"call_{turn}_{i}"} for i, call in enumerate(message.tool_calls)]
    return message.model_copy(update={"tool_calls": calls})


def with_unreadable_calls(message: AIMessage, sent: Sequence[str]) -> AIMessage:
    """The message with every call that was made; `sent`: the arguments of each as a stream brought them.

    A provider refuses a conversation in which a call has no answer, so none may be dropped.
    """
    calls = list(message.tool_calls)
    if len(sent) == len(calls):
        calls = [_checked(call, text) for call, text in zip(calls, sent, strict=True)]
    broken = [
        tool_call(name=call["name"] or "", args=_why(call["args"] or ""), id=call["id"])
        for call in message.invalid_tool_calls
    ]
    bounded = [_bounded(call) for call in (*calls, *broken)]
    spoken: dict[str, Any] = {"tool_calls": bounded, "invalid_tool_calls": []}
    if len(message.text) > MAX_TEXT:
        spoken["content"] = f"{message.text[:MAX_TEXT]}…"
    return message.model_copy(update=spoken)


def unreadable(arguments: Mapping[str, Any]) -> str | None:
    """Why these arguments could not be read, in words that the model can act on; None when they could."""
    return str(arguments[UNREADABLE]) if list(arguments) == [UNREADABLE] else None


def _bounded(call: ToolCall) -> ToolCall:
    """What is too long is neither stored nor sent back, only that it was."""
    try:
        size = len(json.dumps(call["args"], ensure_ascii=False))
        reason = f"they have {size:,} characters, and at most {MAX_ARGUMENTS:,} are taken"
    except RecursionError:
        size, reason = MAX_ARGUMENTS + 1, "they are nested too deeply"
    if size <= MAX_ARGUMENTS:
        return call
    return {**call, "args": {UNREADABLE: f"The arguments could not be read: {reason}."}}


def _checked(call: ToolCall, text: str) -> ToolCall:
    try:
        whole = isinstance(json.loads(text or "{}"), dict)
    except (ValueError, RecursionError):
        whole = False
    return call if whole else {**call, "args": _why(text)}


def _why(text: str) -> dict[str, str]:
    try:
        json.loads(text)
    except ValueError as error:
        reason = f"they are not valid JSON ({error})"
    except RecursionError:
        reason = "they are nested too deeply"
    else:
        reason = "they are not a JSON object"
    return {UNREADABLE: f"The arguments could not be read: {reason}. They ended with {text[-60:]!r}."}
